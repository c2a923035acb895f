import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgroups.config.effective import EffectiveSetting
from kgroups.model.assignment import Assignment, Subscription, TopicPartitions
from kgroups.model.cluster import Node
from kgroups.model.outcome import Outcome
from kgroups.model.translation.parity import Compared
from kgroups.model.views.lag_rows import GroupLagRow, Tally
from kgroups.model.views.list_row import ListRow
from kgroups.model.views.member_rows import MemberRow, StateRow
from kgroups.model.views.offset_row import OffsetRow
from kgroups.model.views.operation_rows import ResetRow
from kgroups.model.views.summary_row import SummaryRow
from kgroups.model.views.translation_rows import TranslateRow
from kgroups.render.act_views import RESET_OFFSETS
from kgroups.render.check_view import SETTINGS
from kgroups.render.lag_views import GROUP_LAG, LAG_VIEWS
from kgroups.render.list_view import LIST
from kgroups.render.member_views import MEMBERS, STATE
from kgroups.render.offset_view import OFFSETS
from kgroups.render.output import write_outcome
from kgroups.render.summary_view import header_parts
from kgroups.render.table import Table
from kgroups.render.terminal import MAX_ROWS, fit, write_terminal
from kgroups.render.translation_views import PARITY, TRANSLATE
from kgroups.render.views import Tier, View

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


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


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


@pytest.mark.parametrize("width", [40, 60])
def test_columns_that_do_not_fit_follow_the_row(offsets: Outcome[OffsetRow], width: int) -> None:
    text = plain(shown(offsets, OFFSETS, width=width))
    assert max(map(len, text.splitlines())) <= width
    assert text.splitlines()[0].split()[0] == "GROUP"
    assert "  NOTE: committed beyond the end of the" in text
    assert "LAG: -10" in text or "LAG" in text.splitlines()[0].split()


@pytest.mark.parametrize("width", range(30, 220, 5))
def test_table_of_any_width_loses_no_name(states: Outcome[StateRow], width: int) -> None:
    rows = tuple(row._replace(group=row.group + "-" + "x" * 40) for row in states.items)
    text = plain(shown(Outcome(rows), STATE, width=width))
    assert {row.group for row in rows} <= set(text.split())
    assert all(len(line.rstrip()) <= width or line.strip() in {row.group for row in rows} for line in text.splitlines())


def test_name_that_is_wider_than_its_column_has_a_line_of_its_own() -> None:
    tally = Tally(7, 7, "t", 0, 7, 1, 1, 0, 0, 0, None, None, 7)
    names = [*(f"g{number:02}" for number in range(20)), "payments-" + "x" * 60]
    rows = tuple(GroupLagRow(name, "Stable", 1, *tally) for name in names)
    stream = Terminal()
    dropped = write_outcome(Outcome(rows), GROUP_LAG, fmt="table", stream=stream, width=80)
    lines = plain(stream.getvalue()).splitlines()
    assert dropped == ()
    assert lines[-2] == names[-1]
    assert lines[-1] == lines[-3].replace("g19", "   ")


def test_name_on_a_line_of_its_own_is_not_repeated() -> None:
    name = "payments-" + "x" * 60
    rows = tuple(ResetRow(name, "orders", partition, 7, 9, 2, None) for partition in range(3))
    lines = plain(shown(Outcome(rows), RESET_OFFSETS, width=80)).splitlines()
    assert [line.split() for line in lines] == [
        ["GROUP", "TOPIC", "PARTITION", "OLD-OFFSET", "NEW-OFFSET", "DISTANCE"],
        [name],
        *(["orders", str(partition), "7", "9", "2"] for partition in range(3)),
    ]


@pytest.mark.parametrize("width", [100, 120])
def test_names_follow_the_row_if_the_table_then_has_fewer_lines(width: int) -> None:
    file = "/etc/kafka/clients/kgroups/production/eu/client.properties"
    rows = tuple(
        EffectiveSetting(f"sasl.jaas.config: {key}", "x" * 40, f"{file}, line {line}", "principal name")
        for line, key in enumerate(("username", "password"), 1)
    )
    lines = plain(shown(Outcome(rows), SETTINGS, width=width)).splitlines()
    assert [line.split() for line in lines] == [
        ["SETTING", "VALUE", "MEANING"],
        [*rows[0].key.split(), rows[0].value, "principal", "name"],
        ["ORIGIN:", *rows[0].origin.split()],
        [*rows[1].key.split(), rows[1].value, "principal", "name"],
        ["ORIGIN:", *rows[1].origin.split()],
    ]


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
    for width in (40, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        assert shown(groups, LIST, width=None, tier=Tier.WIDE) == shown(groups, LIST, width, tier=Tier.WIDE)


def test_table_markup_in_names_is_literal(render: Render) -> None:
    rows = (ListRow("[bold red]x[/] :smile:", None, "", None, NODE),)
    assert "[bold red]x[/] :smile:" in shown(Outcome(rows), LIST)


def test_table_of_many_rows_is_laid_out_as_one_of_few(states: Outcome[StateRow]) -> None:
    row = states.items[1]
    header, line, *_ = shown(Outcome((row,)), STATE, width=80).splitlines()
    assert shown(Outcome((row,) * 1000), STATE, width=80).splitlines() == [header, *[line] * 1000]


def test_table_in_a_file_with_many_rows_is_plain(states: Outcome[StateRow], render: Render) -> None:
    rows = Outcome((states.items[1],) * (MAX_ROWS + 1))
    assert render(rows, STATE, fmt="table") == render(rows, STATE, fmt="plain")


def test_table_without_items_has_only_the_header() -> None:
    stream = Terminal()
    assert write_outcome(Outcome(), OFFSETS, fmt="table", stream=stream, width=80, group_headers={}) == ()
    assert shown(Outcome(), STATE).count("\n") == 1
    stream = Terminal()
    write_terminal(Table(STATE, STATE.columns, (), headers=False), stream, 80)
    assert stream.getvalue().strip() == ""


def test_fit_shrinks_the_widest_column_first() -> None:
    assert fit([10, 50, 30], [10, 16, 16], 100) == [10, 50, 30]
    assert fit([10, 50, 30], [10, 16, 16], 80) == [10, 40, 30]
    assert fit([10, 50, 30], [10, 16, 16], 60) == [10, 25, 25]
    assert fit([10, 50, 30], [10, 16, 16], 42) == [10, 16, 16]


MEMBER = "orders-range-0-0c6c8721-8090-4a6c-b4ec-5e9f904b92c7"
WIDTHS = [80, 120, 200]


@pytest.fixture
def long_ids() -> Outcome[OffsetRow]:
    owner = {"consumer_id": MEMBER, "host": "/127.0.0.1", "client_id": "orders-range-0"}
    numbers = {"current_offset": 100, "log_end_offset": 150, "lag": 50}
    note = "data lost: 30 offsets deleted before they were read"
    rows = (
        OffsetRow("ahead", topic="clicks", partition=0, note=note, **{**numbers, "lag": -50}),
        OffsetRow("orders-range", topic="orders", partition=0, **numbers, **owner),
        OffsetRow("orders-range", topic="orders", partition=1, **numbers, **owner),
    )
    return Outcome(rows)


def shown_with_headers(outcome: Outcome[Any], view: View, width: int) -> tuple[str, tuple[str, ...]]:
    stream = Terminal()
    row = SummaryRow("orders-range", "Stable", "Classic", 3, "range", Node(3, "127.0.0.1", 21734), 100)
    empty = SummaryRow("ahead", "Empty", "Classic", 0, None, Node(1, "127.0.0.1", 22470), None)
    headers = {each.group: tuple(header_parts(each)) for each in (empty, row)}
    dropped = write_outcome(outcome, view, fmt="table", stream=stream, width=width, group_headers=headers)
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()), dropped


@pytest.mark.parametrize("width", WIDTHS)
def test_describe_on_a_terminal_folds_no_id_and_wraps_inside_no_word(
    long_ids: Outcome[OffsetRow], width: int, golden: Golden
) -> None:
    text, dropped = shown_with_headers(long_ids, OFFSETS, width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    words = {word for line in lines for word in line.split()}
    for header, value in (("CONSUMER-ID", MEMBER), ("HOST", "/127.0.0.1"), ("CLIENT-ID", "orders-range-0")):
        assert (value in words) == (header in words) == (header not in dropped), header
    assert {"lost:", "deleted", "before"} <= words
    golden(f"render/offsets-headers-{width}.table", text)


def test_last_of_the_drops_is_kept_where_it_fits(long_ids: Outcome[OffsetRow]) -> None:
    kept = {}
    for width in range(60, 201):
        _, dropped = shown_with_headers(long_ids, OFFSETS, width)
        kept[width] = [header for header in ("HOST", "CONSUMER-ID", "CLIENT-ID") if header not in dropped]
    assert list(dict.fromkeys(map(tuple, kept.values()))) == [
        (),
        ("HOST",),  # narrower than the others
        ("CLIENT-ID",),
        ("HOST", "CLIENT-ID"),
        ("CONSUMER-ID", "CLIENT-ID"),
        ("HOST", "CONSUMER-ID", "CLIENT-ID"),
    ]
    assert kept[120] == ["HOST", "CLIENT-ID"]


def test_columns_of_verbose_are_kept_and_those_without_values_are_omitted_first() -> None:
    nothing = MemberRow(*[None] * len(MemberRow._fields))
    row = nothing._replace(
        group="g",
        consumer_id=MEMBER,
        host="/127.0.0.1",
        client_id="orders-range-0",
        partitions=2,
        current_assignment=Assignment((TopicPartitions("orders", (0, 1)),)),
        subscription=Subscription(("orders",)),
        reconciling=False,
    )
    stream = Terminal()
    dropped = write_outcome(
        Outcome((row,)), MEMBERS, fmt="table", stream=stream, width=80, tier=Tier.VERBOSE, group_headers={"g": ()}
    )
    header = plain(stream.getvalue()).splitlines()[1].split()
    assert {"CLIENT-ID", "CURRENT-ASSIGNMENT", "SUBSCRIPTION"} <= set(header)
    assert {"CONSUMER-ID", "RECONCILING"} <= set(dropped)


@pytest.mark.parametrize("options", [{"tier": Tier.WIDE}, {"columns": "group,topic,consumer_id,host,client_id"}])
def test_chosen_columns_are_never_omitted(long_ids: Outcome[OffsetRow], options: Any) -> None:
    stream = Terminal()
    assert write_outcome(long_ids, OFFSETS, fmt="table", stream=stream, width=60, **options) == ()
    assert MEMBER in stream.getvalue() and "HOST" in stream.getvalue()


@pytest.mark.parametrize("width", WIDTHS)
def test_lag_on_a_terminal_omits_columns_instead_of_wrapping(width: int) -> None:
    tally = Tally(None, 20, "billing", 3, 5, 2, 2, 0, 0, 1, None, "lag at least 30", 30)
    row = GroupLagRow("billing-deleted-topic", "Stable", 12, *tally)
    stream = Terminal()
    dropped = write_outcome(Outcome((row,)), GROUP_LAG, fmt="table", stream=stream, width=width)
    text = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    assert max(map(len, text.splitlines())) <= width
    assert {"billing-deleted-topic", "Stable", "TOTAL-LAG", "BEHIND", "DATA-LOST", "least"} <= set(text.split())
    assert dropped == ("#MEMBERS", "MAX-LAG", "#PARTITIONS", "UNCOMMITTED")[: 3 if width == 80 else 0]


@pytest.mark.parametrize(
    ("view", "file"),
    [(OFFSETS, "list-and-describe"), (MEMBERS, "list-and-describe"), *((lag, "lag") for lag in LAG_VIEWS.values())],
)
def test_order_of_omitted_columns_is_documented(view: View, file: str) -> None:
    page = " ".join(Path(f"docs/{file}.md").read_text(encoding="utf-8").split())
    headers = {column.key: column.header for column in view.columns}
    assert ", ".join(headers[key] for key in view.drops) in page


@pytest.mark.parametrize("width", [80, 200])
def test_colors_of_translated_offsets_are_those_of_what_is_wrong(width: int) -> None:
    translated = (
        TranslateRow("a", "t", 0, 1, "t", None, 1, "record", 0, 0, "records were found"),
        TranslateRow("b", "t", 0, 1, "t", None, None, "impossible", None, None, "not copied yet"),
    )
    compared = (
        Compared("a", "t", 0, 1, "t", 1, 1, "same", 0, "records were found"),
        Compared("b", "t", 0, 1, "t", 2, 1, "ahead", 1, "records were found"),
    )
    found = re.compile(r"\x1b\[(?!0m|1m)[0-9;]*m[^\x1b]*").findall
    assert [each.strip() for each in found(shown(Outcome(translated), TRANSLATE, width))] == ["\x1b[31mimpossible"]
    verdicts = [each.strip() for each in found(shown(Outcome(compared), PARITY, width))]
    assert verdicts == ["\x1b[32msame", "\x1b[1;31mahead"]
