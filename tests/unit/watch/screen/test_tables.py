"""Tables of a watch as text, at several widths, and lines of JSON."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from kgroups.model.duration import Milliseconds
from kgroups.model.outcome import Failure, Scope
from kgroups.model.status import Known, Trend, judge_status
from kgroups.watch.screen.columns import command_lines, sparkline
from kgroups.watch.screen.lines import write_tick
from kgroups.watch.screen.tables import draw
from kgroups.watch.state.cluster_totals import cluster_totals
from kgroups.watch.state.watching import WatchRow


def row(name: str, lag: int | None = 0, **fields: object) -> WatchRow:
    base = WatchRow(name, "Stable", 2, lag, 12.5, 30.0, Milliseconds(5000), 1, (1, 2, lag), frozenset(), False)
    return base._replace(**fields)


def picture(
    rows: Sequence[WatchRow],
    failures: Sequence[str] = (),
    width: int = 120,
    height: int = 20,
    headline: str = "h",
    **clusters: Any,
) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, color_system=None, legacy_windows=False)
    console.print(draw(rows, failures, headline, console, **clusters))
    return [line.rstrip() for line in out.getvalue().splitlines()]


ROWS = [row("alpha", 5), row("beta", 50, catch_up_ms=None, falls_behind=True), row("gamma\x1b[31m", None, rebalances=9)]


def test_table_is_sorted_by_lag_and_escaped() -> None:
    lines = picture(ROWS)
    assert lines[0] == "kgroups watch  3 groups: 3 unknown; total lag at least 55  h"
    assert [line.split()[0] for line in lines[2:5]] == ["beta", "alpha", r"gamma\x1b[31m"]
    assert "never" in lines[2] and "5s" in lines[3]


def test_table_of_several_clusters_names_the_cluster_of_each_group() -> None:
    lines = picture([row("a", 5, cluster="eu\x1b"), row("a", 50, cluster="us")], width=60)
    assert [line.split()[:3] for line in lines[1:4]] == [
        ["CLUSTER", "GROUP", "STATUS"],
        ["us", "a", "unknown"],
        [r"eu\x1b", "a", "unknown"],
    ]


def test_totals_of_clusters_are_a_table_with_all_failures() -> None:
    failures = [f"cluster dead-{number}: refused" for number in range(9)]
    rows = [row("a", 5, cluster="us"), row("b", None, cluster="us", known_lag=2, stale=True, state="Empty")]
    totals = cluster_totals(rows, ["us", "eu", "dead-1"], {"dead-1"})
    lines = picture(rows, failures, height=10, totals=totals, width=140)
    assert [" ".join(line.split()) for line in lines[2:5]] == [
        "dead-1 - - - - - - - - - - -",
        "eu 0 0 0 0 0 0 0 0 0 0 0",
        "us (stale) 2 0 0 1 1 0 0 2 - 7 1",
    ]
    assert lines[5:] == failures
    rows[0] = rows[0]._replace(ahead=1, data_lost=2)
    rows[0] = rows[0]._replace(status=judge_status(Known("Stable", 0, 5, 5), Trend.STUCK))
    lines = picture(rows, failures, height=10, totals=cluster_totals(rows, ["us"], {}), width=80)
    assert " ".join(lines[1].split()) == "CLUSTER #GROUPS CRITICAL LAGGING TOTAL-LAG KNOWN-LAG"
    assert " ".join(lines[2].split()) == "us (stale) 2 1 2 - 7 (1 ahead, 2 data lost)"
    assert picture(rows, failures, height=10, several=True)[-2:] == [failures[1], "7 more"]


UNKNOWN = row(
    "down", None, catch_up_ms=None, unknown_partitions=1, known_lag=0, last_lag=1000, lag_age_ms=Milliseconds(5000)
)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (UNKNOWN, "1,000 (5s ago)"),
        (UNKNOWN._replace(last_lag=None, lag_age_ms=None), "-"),
        (UNKNOWN._replace(known_lag=7, last_lag=None, lag_age_ms=None), "≥7"),
        (UNKNOWN._replace(known_lag=2000), "≥2,000"),
        (row("stale", 30, stale=True, last_lag=30, lag_age_ms=Milliseconds(9000)), "30 (9s ago)"),
        (row("ahead", 0, ahead=2), "0 (2 ahead)"),
        (row("lost", 30, data_lost=1), "30 (1 data lost)"),
        (row("fine", 30, last_lag=30, lag_age_ms=Milliseconds(0)), "30"),
    ],
)
def test_table_marks_unknown_lag(shown: WatchRow, text: str) -> None:
    lines = picture([shown], width=200)
    assert re.search(rf" 2 +{re.escape(text)}  ", lines[2])


def test_table_sorts_unknown_lag_by_shown_value() -> None:
    assert picture([*ROWS, UNKNOWN])[2].startswith("down")


@pytest.mark.parametrize("width", [40, 80, 99, 100, 200])
@pytest.mark.parametrize("height", [5, 10])
def test_table_never_exceeds_the_terminal(width: int, height: int) -> None:
    many = [row(f"group-with-a-very-long-name-{'x' * 60}-{number}", number) for number in range(50)]
    lines = picture(many, ["kgroups: broker 2: " + "refused " * 40] * 9, width, height, "h" * 300)
    assert len(lines) <= max(height, 8) and all(len(line) <= width for line in lines)
    assert any("more group" in line or "…" in line for line in lines)


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (20, "GROUP LAG"),
        (40, "GROUP LAG"),
        (60, "GROUP STATUS LAG"),
        (80, "GROUP STATUS STATE #MEMBERS LAG"),
        (100, "GROUP STATUS STATE #MEMBERS LAG IN/S OUT/S CATCH-UP"),
        (200, "GROUP STATUS STATE #MEMBERS LAG LAG HISTORY IN/S OUT/S CATCH-UP REBALANCES WHY"),
    ],
)
def test_table_long_name_truncates_no_number(width: int, columns: str) -> None:
    long = row("payments-service-prod-eu-west-1-consumer-group-orders", 1_234_567, state="PreparingRebalance")
    _, header, first, second = picture([long, row("a", 5)], width=width)
    assert " ".join(header.split()) == columns
    assert " 1,234,567" in first and re.search(r"^a .* 5\b", second)
    assert ("PreparingRebalance" in first) == ("STATE" in columns)


def test_table_short_names_leave_room_for_all_columns() -> None:
    header = picture(ROWS, width=80)[1]
    assert header.split() == ["GROUP", "STATUS", "STATE", "#MEMBERS", "LAG", "CATCH-UP", "REBALANCES"]


def test_command_breaks_only_between_words_and_keeps_values_with_their_options() -> None:
    command = "kgroups reset-offsets --from-file a-long-name.json --execute --group 'two words' -b b:9092"
    lines = list(command_lines(command, 40))
    assert lines == [
        "kgroups reset-offsets \\",
        "  --from-file a-long-name.json \\",
        "  --execute --group 'two words' \\",
        "  -b b:9092",
    ]
    assert shlex.split("\n".join(lines).replace("\\\n", "")) == shlex.split(command)
    assert list(command_lines(command, 200)) == [command]


def test_sparkline_scales_values() -> None:
    assert sparkline([0, 50, 100], 5) == "  ▁▅█"
    assert sparkline([None, -5, 0, 7], 4) == " ▁▁█"
    assert sparkline([0, 100], 2, ascii_only=True) == "_^"
    assert sparkline([], 3) == "   "


def test_tick_is_one_json_line() -> None:
    out = io.StringIO()
    write_tick([row("a", 3)], [Failure(Scope.BROKER, "2", "refused")], ["partial"], 7, 1000, out)
    (line,) = out.getvalue().splitlines()
    answer = json.loads(line)
    assert (answer["schema"], answer["tick"], answer["at"]) == ("kgroups/watch/v1", 7, 1000)
    assert answer["notices"] == ["partial"]
    assert answer["items"][0]["catch_up_ms"] == 5000 and answer["failures"][0]["name"] == "2"
    assert (answer["items"][0]["unknown_partitions"], answer["items"][0]["known_lag"]) == (0, None)


def test_tick_unknown_lag_is_null() -> None:
    out = io.StringIO()
    write_tick([UNKNOWN], [], [], 1, 1000, out)
    (item,) = json.loads(out.getvalue())["items"]
    names = ("total_lag", "catch_up_ms", "unknown_partitions", "known_lag", "last_lag", "lag_age_ms", "changed")
    assert [item[name] for name in names] == [None, None, 1, 0, 1000, 5000, []]
