"""Findings and the headline of the page."""

from __future__ import annotations

import re
import shlex
from datetime import timedelta
from html import unescape

import click
import pytest

from kgroups.cli.frame.lazy_command import LazyCommand
from kgroups.cli.main import cli
from kgroups.history.report.commands import explain, history
from kgroups.history.report.data import Groups, Kept, Lag, LagPoint, LagSeries, ReportData, Tally
from kgroups.history.report.findings import CRITICAL, NOTE, WARNING, findings, growing, headline
from tests.fakes.report import BIDI, HOSTILE, at, busy_day, nothing


def said(data: ReportData) -> list[tuple[str, str]]:
    return [(each.level, unescape(re.sub(r"<[^>]*>", "", each.text))) for each in findings(data)]


def test_findings_are_ordered_by_severity() -> None:
    found = said(busy_day())
    assert [level for level, _ in found] == [CRITICAL] * 3 + [WARNING] * 8 + [NOTE] * 3
    assert found[0][1] == (
        "1 group is stuck: billing (1.26 M records, 7 h behind) – commits, but of the same offsets, while records "  # noqa: RUF001
        "wait, perhaps behind an open transaction."
    )
    assert found[3][1].startswith("3 groups fall behind: fraud-scoring (140 k records, 15 min 33 s behind), ")
    assert HOSTILE in found[3][1]
    assert found[-1][1] == "History is whole since 2026-02-28T14:30:00Z; before that unknown."


def test_findings_have_evidence_and_name_the_unknown() -> None:
    texts = [text for _, text in said(busy_day())]
    assert "1 group rebalanced in storms: fraud-scoring (9 rebalances within 10 minutes, 5 are the bound)." in texts
    unknown = [text for text in texts if "unknown: " in text]
    assert unknown[0].endswith("mail-sender – too few samples of the lag.")  # noqa: RUF001
    assert unknown[1].startswith("1 group is unknown: a-group-with-a-name")
    assert unknown[1].endswith(" – history has no lag of share groups.")  # noqa: RUF001


def test_group_of_unknown_verdict_with_growing_lag_is_counted_once() -> None:
    data = lagging(1, 2, 1, 9, 8, 7, 20, 15, 30, 40, 35, 50)
    row = busy_day().groups.rows.rows[0]._replace(group="slow", verdict="UNKNOWN", status="UNKNOWN", unjudged="samples")
    groups = Groups(Kept((row,), 1), (Tally("LIVE", "Stable", "UNKNOWN", 1, unjudged="samples"),))
    unjudged = data._replace(groups=groups)
    assert headline(unjudged, findings(unjudged)) == "1 of 1 group needs attention"


def tallied(*tallies: Tally) -> ReportData:
    return nothing()._replace(groups=Groups(Kept((), sum(each.groups for each in tallies)), tallies))


def test_findings_count_groups_without_names() -> None:
    assert said(tallied(Tally("LIVE", "Stable", "WARN", 5))) == [
        (WARNING, "5 groups fall behind – lag grew, and never shrank.")  # noqa: RUF001
    ]
    day = busy_day()
    many = day.groups._replace(tallies=(Tally("LIVE", "Stable", "WARN", 9),))
    texts = [text for _, text in said(day._replace(groups=many))]
    assert any(text.startswith("9 groups fall behind: ") and " and 6 more" in text for text in texts)


def test_headline_summarizes_findings() -> None:
    def line(*tallies: Tally) -> str:
        data = tallied(*tallies)
        return headline(data, findings(data))

    ok, warn = Tally("LIVE", "Stable", "OK", 3), Tally("LIVE", "Stable", "WARN", 1)
    assert line(ok) == "All 3 groups keep up"
    assert line(ok._replace(groups=1)) == "The one group keeps up"
    assert line(ok, warn) == "1 of 4 groups needs attention"
    assert line(warn._replace(groups=2)) == "2 of 2 groups need attention"
    assert line(Tally("LIVE", None, None, 2, unjudged="commits")) == "All 2 groups are unknown"
    assert line(ok, Tally("DELETED", "Dead", None, 7)) == "All 3 groups keep up"
    calm = tallied(ok)._replace(anomalies=busy_day().anomalies)
    assert headline(calm, findings(calm)) == "All 3 groups keep up, but not all is well"  # others had the anomalies
    assert line(ok, Tally("LIVE", "Stable", "UNKNOWN", 2, unjudged="samples")) == "3 of 5 groups keep up; 2 are unknown"
    assert (
        line(warn, Tally("LIVE", "Stable", "UNKNOWN", 1, unjudged="samples"))
        == "1 of 2 groups needs attention; 1 is unknown"
    )
    assert line(Tally("LIVE", None, None, 1, unjudged="commits")) == "The one group is unknown"


def test_headline_counts_stale_and_expiring_groups_once() -> None:
    def line(*tallies: Tally) -> str:
        data = tallied(*tallies)
        return headline(data, findings(data))

    ok = Tally("LIVE", "Stable", "OK", 3)
    assert line(ok, Tally("STALE", "Stable", "OK", 2)) == "2 of 5 groups need attention"
    assert line(ok, Tally("EMPTY", "Empty", "OK", 1, expiring=True)) == "1 of 4 groups needs attention"
    assert line(ok, Tally("STALE", "Stable", "STOP", 1, expiring=True)) == "1 of 4 groups needs attention"
    assert line(Tally("DELETED", "Dead", "STOP", 1, expiring=True, anomalous=True), ok) == "All 3 groups keep up"
    assert line(ok, Tally("LIVE", "Stable", "OK", 2, anomalous=True)) == "2 of 5 groups need attention"
    assert line(ok, Tally("LIVE", "Stable", "STOP", 1, expiring=True, anomalous=True)) == (
        "1 of 4 groups needs attention"
    )
    growing_and_stale = lagging(1, 2, 1, 9, 8, 7, 20, 15, 30, 40, 35, 50)
    series = growing_and_stale.lag.series.rows[0]._replace(flagged=True)
    data = growing_and_stale._replace(
        lag=growing_and_stale.lag._replace(series=Kept((series,), 1)),
        groups=Groups(Kept((), 1), (Tally("STALE", "Stable", "OK", 1),)),
    )
    assert headline(data, findings(data)) == "1 of 1 group needs attention"


@pytest.mark.parametrize("holes", [{"unknown": 2}, {"missing": 5}, {"hung": 9}])
def test_headline_is_unknown_where_history_is_incomplete(holes: dict[str, int]) -> None:
    def line(*tallies: Tally) -> str:
        data = tallied(*tallies)
        data = data._replace(completeness=data.completeness._replace(**holes))
        return headline(data, findings(data))

    ok = Tally("LIVE", "Stable", "OK", 3)
    assert line(ok) == "Unknown whether all 3 groups keep up: history is incomplete"
    assert line(ok._replace(groups=1)) == "Unknown whether the one group keeps up: history is incomplete"
    assert line(ok, Tally("LIVE", "Stable", "UNKNOWN", 1, unjudged="samples")) == (
        "Unknown whether all 4 groups keep up: history is incomplete"
    )
    assert line(ok, Tally("LIVE", "Stable", "WARN", 1)) == "1 of 4 groups needs attention; history is incomplete"
    assert line() == "No group is known"


def test_headline_says_since_when_groups_are_known_to_keep_up() -> None:
    data = tallied(Tally("LIVE", "Stable", "OK", 3))
    late = data._replace(completeness=data.completeness._replace(known_since=at(2.5)))
    assert headline(late, findings(late)) == "All 3 groups keep up since 2026-02-28T14:30:00Z, before is unknown"


def test_findings_name_the_next_command() -> None:
    span = "--since 2026-02-28T12:00:00Z --until 2026-03-01T12:00:00Z"
    commands = [each.command for each in findings(busy_day())]
    assert commands[0] == "kgroups explain --group billing"
    hostile = "'" + HOSTILE.replace("'", "'\"'\"'") + "'"
    assert f"kgroups history lag --group fraud-scoring --group {hostile} --group search-indexer {span}" in commands
    assert f"kgroups history rebalances --group fraud-scoring {span}" in commands
    assert f"kgroups history show coverage {span}" in commands
    assert (
        "kgroups history show expiring --group old-reader --group nightly-export --until 2026-03-01T12:00:00Z"
        in commands
    )
    assert all(command.isprintable() for command in commands)


def test_commands_are_valid() -> None:
    commands = [each.command for each in findings(busy_day())]
    for command in [*commands, explain([]), history("lag", busy_day().period, ["x" * 2000, BIDI])]:
        _, *arguments = shlex.split(command)
        words = 1 + (arguments[0] == "history")
        group: click.Command = cli
        for name in arguments[:words]:
            assert isinstance(group, click.Group)
            found = group.commands[name]
            group = found.load() if isinstance(found, LazyCommand) else found
        store = ["--store", "x"] if words == 2 else []
        group.make_context("x", [*arguments[words:], *store])


def test_complete_history_is_no_finding() -> None:
    day = nothing()
    assert said(day) == []
    compacted = day._replace(completeness=day.completeness._replace(unknown=2))
    assert said(compacted)[0][1].startswith("History is not whole in 2 partitions of the log")


def lagging(*lags: int, behind_ms: int | None = 120_000) -> ReportData:
    points = tuple(LagPoint(at(hour), lag, behind_ms) for hour, lag in enumerate(lags))
    series = LagSeries("slow", max(lags), lags[-1], points)
    return tallied(Tally("LIVE", "Stable", "OK", 1))._replace(lag=Lag(Kept((series,), 1), timedelta(hours=1)))


def test_steadily_growing_lag_is_a_finding() -> None:
    data = lagging(1, 2, 1, 9, 8, 7, 20, 15, 30, 40, 35, 50)
    assert said(data) == [
        (
            WARNING,
            "1 group lags more and more: slow (50 records, 2 min behind) – more in each quarter of this time than "  # noqa: RUF001
            "before.",
        )
    ]
    assert headline(data, findings(data)) == "1 of 1 group needs attention"


@pytest.mark.parametrize(
    "data",
    [
        lagging(1, 2, 3, 4),
        lagging(5, 5, 5, 5, 5, 5, 5, 5),
        lagging(1, 1, 9, 9, 5, 5, 10, 10),
        lagging(10, 10, 11, 11, 12, 12, 13, 13),
        lagging(1, 1, 2, 2, 3, 3, 4, 4, behind_ms=59_999),
    ],
    ids=["few", "level", "wave", "slow", "new"],
)
def test_fluctuating_lag_is_no_finding(data: ReportData) -> None:
    assert said(data) == []


def test_group_has_one_finding_for_its_lag() -> None:
    day = busy_day()
    assert "billing" not in {series.group for series in growing(day)}
    unblamed = day._replace(groups=day.groups._replace(rows=Kept((), 38)))
    assert "billing" in {series.group for series in growing(unblamed)}


def test_counts_of_truncated_rows_are_minimums() -> None:
    day = busy_day()
    texts = [text for _, text in said(day._replace(expiring=Kept(day.expiring.rows, 300)))]
    assert any(text.startswith("Offsets of at least 2 groups expire soon: ") for text in texts)
