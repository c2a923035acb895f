import io
import re
from collections.abc import Callable
from typing import Any

import pytest

from kgroups.model.cluster import Node
from kgroups.model.outcome import Outcome
from kgroups.model.views.list_row import ListRow
from kgroups.model.views.member_rows import StateRow
from kgroups.model.views.offset_row import OffsetRow
from kgroups.render.member_views import STATE
from kgroups.render.output import write_outcome
from kgroups.render.table import Table
from kgroups.render.terminal import MAX_ROWS, MIN_TEXT_WIDTH, fit, write_terminal
from kgroups.render.views import LIST, OFFSETS, Tier, View

NODE = Node(1, "h", 9092)
Render = Callable[..., str]
Golden = Callable[[str, str], None]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def color_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def shown(outcome: Outcome[Any], view: View, width: int | None = 200, tier: Tier = Tier.BASE) -> str:
    stream = Terminal()
    write_outcome(outcome, view, fmt="table", stream=stream, width=width, tier=tier)
    return stream.getvalue()


def test_table_offsets_match_golden_in_color(offsets: Outcome[OffsetRow], golden: Golden) -> None:
    golden("render/offsets-base.table", shown(offsets, OFFSETS))


def test_table_on_narrow_terminal_folds_names(offsets: Outcome[OffsetRow], golden: Golden) -> None:
    golden("render/offsets-base-120.table", shown(offsets, OFFSETS, width=120))


def test_table_wide_list_matches_golden(groups: Outcome[ListRow], golden: Golden) -> None:
    golden("render/list-wide.table", shown(groups, LIST, tier=Tier.WIDE))


@pytest.mark.parametrize("width", [40, 60, 80])
def test_table_too_wide_to_fold_is_plain_and_complete(offsets: Outcome[OffsetRow], width: int) -> None:
    text = shown(offsets, OFFSETS, width=width)
    assert "\x1b" not in text
    assert "committed beyond the end of the log" in text
    assert text.splitlines()[0].split()[0] == "GROUP"
    assert len(text.splitlines()) == 1 + len(offsets.items)


@pytest.mark.parametrize("width", range(30, 220, 5))
def test_table_of_any_width_loses_no_character(states: Outcome[StateRow], width: int) -> None:
    rows = tuple(row._replace(group=row.group + "-" + "x" * 40) for row in states.items)
    raw = shown(Outcome(rows), STATE, width=width)
    text = re.sub(r"\x1b\[[0-9;]*m", "", raw)
    folded = "".join(line.split()[0] for line in text.splitlines() if line[0] != " ")
    assert all(row.group in folded for row in rows)
    if raw != text:
        assert all(len(line) <= width for line in text.splitlines())


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_table_has_no_color_if_disabled(
    groups: Outcome[ListRow], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    coloured = shown(groups, LIST, tier=Tier.WIDE)
    assert "\x1b[32m" in coloured
    assert "\x1b[33m" in coloured
    monkeypatch.setenv(name, value)
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", shown(groups, LIST, tier=Tier.WIDE))


def test_table_in_a_file_has_no_color_and_no_folding(offsets: Outcome[OffsetRow], render: Render) -> None:
    text = render(offsets, OFFSETS, fmt="table")
    assert "\x1b" not in text
    assert len(text.splitlines()) == 1 + len(offsets.items)


def test_table_uses_the_terminal_width_by_default(groups: Outcome[ListRow], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert "\x1b" not in shown(groups, LIST, width=None, tier=Tier.WIDE)
    monkeypatch.setenv("COLUMNS", "200")
    assert "\x1b" in shown(groups, LIST, width=None, tier=Tier.WIDE)


def test_table_markup_in_names_is_literal(render: Render) -> None:
    rows = (ListRow("[bold red]x[/] :smile:", None, "", None, NODE),)
    assert "[bold red]x[/] :smile:" in shown(Outcome(rows), LIST)


def test_table_of_many_rows_is_plain(states: Outcome[StateRow]) -> None:
    row = states.items[1]
    few = shown(Outcome((row,) * MAX_ROWS), STATE)
    many = shown(Outcome((row,) * (MAX_ROWS + 1)), STATE)
    assert "\x1b" in few
    assert "\x1b" not in many
    assert len(many.splitlines()) == MAX_ROWS + 2


def test_table_without_items_has_only_the_header() -> None:
    assert shown(Outcome(), STATE).count("\n") == 1
    stream = Terminal()
    write_terminal(Table(STATE, STATE.columns, (), headers=False), stream, 80)
    assert stream.getvalue().strip() == ""


def test_fit_shrinks_the_widest_column_first() -> None:
    assert fit([10, 50, 30], [10, MIN_TEXT_WIDTH, MIN_TEXT_WIDTH], 100) == [10, 50, 30]
    assert fit([10, 50, 30], [10, MIN_TEXT_WIDTH, MIN_TEXT_WIDTH], 80) == [10, 40, 30]
    assert fit([10, 50, 30], [10, MIN_TEXT_WIDTH, MIN_TEXT_WIDTH], 60) == [10, 25, 25]
    assert fit([10, 50, 30], [10, MIN_TEXT_WIDTH, MIN_TEXT_WIDTH], 42) == [10, 16, 16]
    assert fit([10, 50, 30], [10, MIN_TEXT_WIDTH, MIN_TEXT_WIDTH], 41) is None
