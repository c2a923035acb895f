import io
import re
from collections.abc import Callable

import pytest

from kgroups.model.cluster import Node
from kgroups.model.outcome import Outcome
from kgroups.model.views.list_row import ListRow
from kgroups.model.views.member_rows import MemberRow, StateRow
from kgroups.model.views.offset_row import OffsetRow
from kgroups.render.cells import cell_text, display_width
from kgroups.render.list_view import LIST
from kgroups.render.member_views import MEMBERS, STATE
from kgroups.render.offset_view import OFFSETS
from kgroups.render.plain import write_plain
from kgroups.render.selection import columns_for, sort_rows
from kgroups.render.table import CHUNK_ROWS, Table
from kgroups.render.views import Align, Tier, View

NODE = Node(1, "h", 9092)
Render = Callable[..., str]
Golden = Callable[[str, str], None]

TIERS = (Tier.BASE, Tier.VERBOSE, Tier.WIDE)


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.name.lower())
def test_plain_offsets_match_golden(offsets: Outcome[OffsetRow], tier: Tier, render: Render, golden: Golden) -> None:
    golden(f"render/offsets-{tier.name.lower()}.plain", render(offsets, OFFSETS, fmt="plain", tier=tier))


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.name.lower())
def test_plain_members_match_golden(members: Outcome[MemberRow], tier: Tier, render: Render, golden: Golden) -> None:
    golden(f"render/members-{tier.name.lower()}.plain", render(members, MEMBERS, fmt="plain", tier=tier))


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.name.lower())
def test_plain_state_matches_golden(states: Outcome[StateRow], tier: Tier, render: Render, golden: Golden) -> None:
    golden(f"render/state-{tier.name.lower()}.plain", render(states, STATE, fmt="plain", tier=tier))


def test_plain_list_matches_golden(groups: Outcome[ListRow], render: Render, golden: Golden) -> None:
    golden("render/list-wide.plain", render(groups, LIST, fmt="plain", tier=Tier.WIDE))


def test_plain_list_has_only_names(groups: Outcome[ListRow], render: Render) -> None:
    assert render(groups, LIST, fmt="plain") == "billing\nevil\\x1b[31m\\u202egroup\norders\n東京\n"
    assert render(Outcome(), LIST, fmt="plain") == ""


def test_plain_single_column_keeps_its_header(offsets: Outcome[OffsetRow], render: Render) -> None:
    assert render(offsets, OFFSETS, fmt="plain", columns="lag", sort="lag") == "LAG\n-10\n0\n50\n-\n-\n"
    assert render(offsets, OFFSETS, fmt="plain", columns="lag", headers=False).startswith("0\n")


@pytest.mark.parametrize("view", [OFFSETS, MEMBERS, STATE], ids=lambda view: view.name)
def test_plain_without_items_has_only_the_header(view: View, render: Render) -> None:
    assert render(Outcome(), view, fmt="plain").splitlines()[0].startswith("GROUP  ")
    assert render(Outcome(), view, fmt="plain").count("\n") == 1
    assert render(Outcome(), view, fmt="plain", headers=False) == ""


@pytest.mark.parametrize("headers", [True, False])
@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.name.lower())
def test_plain_columns_are_aligned_without_trailing_blanks(
    offsets: Outcome[OffsetRow],
    members: Outcome[MemberRow],
    states: Outcome[StateRow],
    tier: Tier,
    headers: bool,
    render: Render,
) -> None:
    for outcome, view in ((offsets, OFFSETS), (members, MEMBERS), (states, STATE)):
        columns = columns_for(view, tier, rows=outcome.items)
        lines = render(outcome, view, fmt="plain", tier=tier, headers=headers).splitlines()
        assert len(lines) == len(outcome.items) + headers
        assert all(line == line.rstrip() for line in lines)
        # No sample has two blanks in a row, so that what lies between two blanks is a cell.
        cells = [list(re.finditer(r"\S+(?: \S+)*", line)) for line in lines]
        assert {len(line) for line in cells} == {len(columns)}
        for at, column in enumerate(columns[:-1]):
            edge = re.Match.end if column.align is Align.RIGHT else re.Match.start
            assert len({edge(line[at]) for line in cells}) == 1, column.header
        texts = [[cell.group() for cell in line] for line in cells[headers:]]
        rows = sort_rows(outcome.items, view, None)
        assert texts == [[cell_text(column.value(row)) for column in columns] for row in rows]


def test_plain_numbers_are_right_aligned_in_the_last_column(offsets: Outcome[OffsetRow], render: Render) -> None:
    text = render(offsets, OFFSETS, fmt="plain", columns="lag,current_offset", sort="-lag")
    assert text == (
        "LAG  CURRENT-OFFSET\n 50             100\n  0         1234567\n"
        "-10             160\n  -               -\n  -               -\n"
    )


def test_plain_wide_and_combining_characters_are_aligned(render: Render) -> None:
    rows = [ListRow(group, "T", "", None, NODE) for group in ("東京", "ab", "e\u0301", "größe", "東京東京東京")]
    lines = render(Outcome(tuple(rows)), LIST, fmt="plain", columns="group,type").splitlines()
    assert {display_width(line) for line in lines[1:]} == {15}


def test_plain_percent_sign_is_literal(render: Render) -> None:
    rows = (OffsetRow("100%s", topic="%d", partition=1, consumer_id="%", client_id="%%"),)
    assert (
        render(Outcome(rows), OFFSETS, fmt="plain", columns="group,topic,client_id", headers=False) == "100%s  %d  %%\n"
    )


def test_plain_widths_are_equal_in_all_chunks() -> None:
    rows = [
        ListRow("g" * (1 + number // CHUNK_ROWS), "Classic", "", None, NODE) for number in range(CHUNK_ROWS * 6 + 1)
    ]
    stream = io.StringIO()
    write_plain(Table(LIST, LIST.columns[:2], rows), stream)
    lines = stream.getvalue().splitlines()
    assert len(lines) == len(rows) + 1
    assert {len(line) for line in lines[1:]} == {len("ggggggg  Classic")}
