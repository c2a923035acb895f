"""Report data gathered from derived tables: from rows written by hand, and from the jobs' output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from kgroups.history.arrow import arrow_schema
from kgroups.history.derived import (
    ANOMALIES,
    COMMIT_RATE,
    COMPLETENESS,
    EXPIRING,
    GROUP_STATES,
    LAG,
    LATEST_OFFSETS,
    MEMBERSHIPS,
    REBALANCES,
    STALE,
    VERDICTS,
)
from kgroups.history.engine.duck import DuckDB
from kgroups.history.report.data import (
    Anomaly,
    Bounds,
    Consumer,
    Cost,
    Expiring,
    GroupRow,
    Kept,
    Lane,
    LogPart,
    Member,
    Offender,
    PartitionRow,
    Period,
    ReportData,
    Stale,
)
from kgroups.history.report.findings import unknown
from kgroups.history.report.gather import gather
from kgroups.history.report.gather.lists import rebalances
from kgroups.history.report.page import page
from kgroups.history.tables import Table
from kgroups.history.transform.definitions import DERIVED
from tests.fakes.history import SPAN, History, Row, at

HOUR = Period(at(0), at(3600))
FEW = Bounds(groups=2, points=20, rates=1, rebalances=3, rows=4, names=2, pages=4, samples=20, listed=8)


def scene(history: History) -> None:
    history.snapshot("page-classic", 10, 1, ["a", "b=static"])
    history.commit("page-classic", 20, 100)
    history.commit("page-classic", 40, 120)
    history.head(50, 150)


@contextmanager
def engine_with(rows: Mapping[Table, list[Row]]) -> Iterator[DuckDB]:
    """An engine with derived tables of these rows."""
    with DuckDB() as engine:
        for table in DERIVED.values():
            engine.load_arrow(table, pa.Table.from_pylist(rows.get(table, []), schema=arrow_schema(table)))
        engine.define("retention", "select 1000 as retention_ms, 'rule' as retention_source")
        yield engine


def lag(group: str, minute: float, lag: int, *, partition: int = 0, behind: int | None = None) -> Row:
    return {"sampled_at": at(60 * minute), "group": group, "topic": "t", "partition": partition, "lag": lag,
            "time_lag_ms": behind}  # fmt: skip


def rebalance(group: str, minute: float, joined: list[str] | None, pause: int | None = None) -> Row:
    return {"group": group, "kind": "classic", "log_time": at(60 * minute), "log_partition": 0,
            "log_offset": round(minute), "generation": 1, "members": 3, "joined": joined,
            "left": None if joined is None else [], "pause_ms": pause}  # fmt: skip


def rate(group: str, minute: float, commits: int, progress: int | None) -> Row:
    return {"group": group, "bucket": at(60 * minute), "commits": commits, "progress": progress}


def verdict(group: str, status: str, lag: int, partition: int = 0) -> Row:
    return {"group": group, "topic": "t", "partition": partition, "status": status, "group_status": status,
            "last_lag": lag}  # fmt: skip


def use(group: str, status: str, state: str | None, minute: float = 50, **more: Any) -> Row:
    age = round((60 - minute) * 60_000)
    return {"group": group, "kind": "classic", "status": status, "state": state, "partitions": 2,
            "last_commit": at(60 * minute), "commit_age_ms": age, **more}  # fmt: skip


def member(group: str, client: str, *, until: datetime | None = None, instance: str | None = None) -> Row:
    return {"group": group, "member_id": client, "client_id": client, "client_host": "/10.0.0.1", "until": until,
            "instance_id": instance, "since": at(0)}  # fmt: skip


def rows() -> dict[Table, list[Row]]:
    return {
        LAG: [
            # One partition is ahead of the end: the lag of the group is unknown.
            lag("big", 30, 500, behind=9000), lag("big", 30.5, 900, behind=100), lag("big", 59, 10, behind=70),
            lag("big", 59, -50, partition=1, behind=None),
            lag("middle", 30, 300), lag("middle", 59, 300), lag("small", 59, 1),
        ],
        COMMIT_RATE: [rate("big", 31, 60, 100), rate("big", 33, 6, None), rate("middle", 31, 30, 5),
                      rate("small", 40, 1, 1)],
        REBALANCES: [
            rebalance("big", 32, ["a", "b", "c"], 5), rebalance("big", 33, None, 7), rebalance("big", 34, []),
            rebalance("big", 35, []), rebalance("middle", 31, ["x"]), rebalance("middle", 36, []),
            rebalance("small", 45, []),
        ],
        GROUP_STATES: [
            {"group": "big", "state": "Empty", "since": at(-60), "until": at(60)},
            {"group": "big", "state": "Stable", "since": at(60), "until": None},
        ],
        MEMBERSHIPS: [
            member("big", "c"), member("big", "a"), member("big", "b", instance="static"),
            member("big", "gone", until=at(5)),
        ],
        VERDICTS: [verdict("big", "WARN", 10), verdict("big", "WARN", -50, 1), verdict("middle", "STOP", 300),
                   verdict("small", "OK", 1)],
        STALE: [use("big", "LIVE", "Stable"), use("middle", "STALE", None, 10), use("small", "EMPTY", "Empty"),
                use("new", "LIVE", None), use("dead", "DELETED", "Dead", 20, deleted_at=at(1500))],
        EXPIRING: [
            {"group": "small", "topic": "t", "partition": each, "empty_since": at(0), "expires_at": at(4000 + each),
             "left_ms": 400_000 + 1000 * each}
            for each in range(3)
        ],
        ANOMALIES: [
            {"anomaly": "rewind", "group": "big", "since": at(10), "until": at(10), "topic": "t", "partition": 0,
             "expected": 90, "found": 80},
            {"anomaly": "rewind", "group": "big", "since": at(11), "until": at(11), "topic": "t", "partition": 1,
             "expected": 50, "found": 30},
            {"anomaly": "rewind", "group": "middle", "since": at(12), "until": at(12), "topic": "t", "partition": 0},
            {"anomaly": "rebalance_storm", "group": "big", "since": at(13), "until": at(14)},
            {"anomaly": "coverage_gap", "since": at(15), "until": at(16), "log_partition": 3},
        ],
        COMPLETENESS: [
            {"log_partition": 0, "from_offset": 0, "records": 10, "density": 1.0, "missing": 0, "known_since": at(3000),
             "last_time": at(3500), "hung": 0},
            {"log_partition": 1, "from_offset": 90, "records": 20, "density": 1.0, "missing": 5, "known_since": at(900),
             "last_time": at(3550), "hung": 2},
        ],
        LATEST_OFFSETS: [
            {"group": group, "topic": topic, "partition": partition, "commit_time": at(minute * 60)}
            for group, topic, partition, minute in (
                ("big", "t", 0, 50), ("big", "t", 1, 51), ("middle", "a", 0, 10), ("small", "t", 0, 59),
                ("old", "a", 0, 5), ("older", "a", 0, 1),
            )
        ],
    }  # fmt: skip


@pytest.fixture(scope="module")
def report_data() -> ReportData:
    with engine_with(rows()) as engine:
        return gather(engine, HOUR, "cluster", FEW)


def test_report_lag_is_the_worst_of_each_bucket_for_top_groups(report_data: ReportData) -> None:
    found = report_data.lag
    assert [(series.group, series.peak, series.last) for series in found.series.rows] == [
        ("big", 900, 10),
        ("middle", 300, 300),
    ]
    assert [(series.verdict, series.flagged) for series in found.series.rows] == [("WARN", True), ("STOP", True)]
    assert found.series.total == 3
    assert sum(len(series.points) for series in found.series.rows) <= FEW.points
    assert found.bucket == timedelta(minutes=10)
    assert [tuple(point) for point in found.series.rows[0].points] == [(at(1800), 900, 9000), (at(3000), 10, 70)]


def test_report_time_lag_is_unknown_not_zero_where_only_partitions_without_lag_have_one() -> None:
    partly = [lag("g", 59, 5), lag("g", 59, 0, partition=1, behind=0), lag("h", 59, 0, behind=0)]
    with engine_with({LAG: partly, STALE: [use("g", "LIVE", None), use("h", "LIVE", None)]}) as engine:
        found = gather(engine, HOUR, "cluster", FEW)
    assert {row.group: row.behind_ms for row in found.groups.rows.rows} == {"g": None, "h": 0}


def test_report_sums_up_what_is_wrong(report_data: ReportData) -> None:
    assert report_data.cost == Cost(1, 3, 70, 1, at(10), None, None)
    assert [(row.group, row.status) for row in report_data.groups.rows.rows] == [
        ("middle", "CRITICAL"), ("big", "WARNING"), ("small", "WARNING"), ("new", "UNKNOWN"),
    ]  # fmt: skip
    lost = {"anomaly": "data_lost", "since": at(20), "topic": "t", "partition": 0}
    rows = [
        lost | {"group": group, "expected": 40, "found": found} for group, found in (("g", 10), ("g", 25), ("h", 0))
    ]
    verdicts = [verdict("g", "OK", 0) | {"since": at(30)}, verdict("h", "STOP", 9) | {"committed_at": at(5)}]
    uses = [use("g", "LIVE", None), use("h", "LIVE", None)]
    lags = [lag("g", 1, 0), lag("h", 1, 9)]
    with engine_with({ANOMALIES: rows, STALE: uses, VERDICTS: verdicts, LAG: lags}) as engine:
        found = gather(engine, HOUR, "cluster", FEW)
    assert found.cost == Cost(9, 0, None, 1, at(5), 70, 0)
    assert [(row.group, row.status, row.since, row.lost) for row in found.groups.rows.rows] == [
        ("h", "CRITICAL", at(5), 40), ("g", "CRITICAL", at(20), 30),
    ]  # fmt: skip


def test_report_charts_start_with_the_history(report_data: ReportData) -> None:
    assert report_data.period == HOUR
    assert report_data.shown == Period(at(1800), at(3600))


def test_report_commits_of_top_groups_and_of_all_others(report_data: ReportData) -> None:
    busiest, others = report_data.rate.series.rows
    assert (busiest.group, busiest.commits, others.group, others.commits) == ("big", 66, None, 31)
    assert report_data.rate.series.total == 3
    assert [point.progress for point in busiest.points] == [None]  # unknown in a part is unknown
    assert [tuple(point) for point in others.points] == [(at(1800), 30, 5), (at(2400), 1, 1)]
    assert report_data.rate.bucket == timedelta(minutes=5)


def test_report_rebalances_are_the_latest_of_top_groups(report_data: ReportData) -> None:
    found = report_data.rebalances
    assert found.lanes == Kept((Lane("big", 4, 7), Lane("middle", 2, None)), 3)
    assert [(mark.group, mark.time) for mark in found.marks.rows] == [
        ("big", at(34 * 60)),
        ("big", at(35 * 60)),
        ("middle", at(36 * 60)),
    ]
    assert found.marks.total == 7


def test_report_rebalance_has_first_names_and_unknown_values() -> None:
    with engine_with(rows()) as engine:
        found, _ = rebalances(engine, FEW._replace(rebalances=100))
    first, second = [mark for mark in found.marks.rows if mark.group == "big"][:2]
    assert (first.joined, first.joined_names, first.left, first.left_names) == (3, ("a", "b"), 0, ())
    assert (second.joined, second.joined_names, second.left, second.pause_ms) == (None, (), None, 7)


def test_unknown_group_has_its_own_reason() -> None:
    unread = {**use("hidden", "UNKNOWN", "Unknown"), "unread_since": at(60)}
    stale = [
        use("new", "LIVE", "Stable"), unread, {**use("shared", "LIVE", "Stable"), "kind": "share", "partitions": 0},
        {**use("members", "LIVE", "Stable"), "partitions": 0}, use("unsampled", "LIVE", "Stable"),
        use("known", "LIVE", "Stable"),
    ]  # fmt: skip
    verdicts = [verdict("new", "UNKNOWN", 1), verdict("hidden", "UNKNOWN", 1), verdict("known", "OK", 0)]
    with engine_with({STALE: stale, VERDICTS: verdicts}) as engine:
        found = gather(engine, HOUR, "cluster")
    assert {row.group: row.unjudged for row in found.groups.rows.rows} == {
        "new": "samples", "hidden": "transaction", "shared": "share", "members": "commits", "unsampled": "heads",
        "known": None,
    }  # fmt: skip
    assert sorted(each.unjudged or "" for each in found.groups.tallies) == [
        "", "commits", "heads", "samples", "share", "transaction"
    ]  # fmt: skip
    assert unknown(found) == 5


def test_report_groups_are_ordered_by_verdict(report_data: ReportData) -> None:
    assert [row.group for row in report_data.groups.rows.rows] == ["middle", "big", "small", "new"]
    assert report_data.groups.rows.rows[1] == GroupRow(
        "big", "classic", "Stable", at(60), "LIVE", "WARN", None, 70, 2, 3, at(3000),
        status="WARNING", anomalies=("rebalance_storm", "rewind"), since=at(10), reread=30,
    )  # fmt: skip
    assert report_data.groups.rows.rows[3].verdict is None
    assert [each.use for each in report_data.groups.tallies].count("DELETED") == 1
    assert [each.expiring for each in report_data.groups.tallies].count(True) == 1
    assert sum(each.groups for each in report_data.groups.tallies if each.anomalous) == 2
    assert (report_data.groups.number(), report_data.groups.number(verdict="WARN"), report_data.groups.rows.total) == (
        4,
        1,
        4,
    )


def test_report_consumers_list_current_members_first(report_data: ReportData) -> None:
    assert report_data.consumers.total == 5
    assert [(row.topic, row.group) for row in report_data.consumers.rows] == [
        ("a", "middle"), ("a", "old"), ("t", "big"), ("t", "small"),
    ]  # fmt: skip
    assert report_data.consumers.rows[2] == Consumer("t", "big", 2, 3, ("a@/10.0.0.1", "c@/10.0.0.1"), at(51 * 60))


def test_report_anomalies_are_latest_first_with_counts(report_data: ReportData) -> None:
    found = report_data.anomalies
    assert found.rows.total == 5
    assert found.rows.rows[0] == Anomaly("coverage_gap", None, at(15), at(16), None, None, None, None)
    assert [tuple(each) for each in found.counts] == [
        ("coverage_gap", 1, 0, ()),
        ("rebalance_storm", 1, 1, ("big",)),
        ("rewind", 3, 2, ("big", "middle")),
    ]
    assert found.offenders == Kept(
        (Offender("big", 3, ("rebalance_storm", "rewind")), Offender("middle", 1, ("rewind",))), 2
    )


def test_report_lists_stale_groups_and_expiring_offsets(report_data: ReportData) -> None:
    assert report_data.stale == Kept(
        (
            Stale("middle", "classic", "STALE", None, 2, at(600), 3_000_000, None),
            Stale("small", "classic", "EMPTY", "Empty", 2, at(3000), 600_000, None),
            Stale("dead", "classic", "DELETED", "Dead", 2, at(1200), 2_400_000, at(1500)),
        ),
        3,
    )
    assert report_data.expiring == Kept((Expiring("small", "t", 3, at(0), at(4000), 400_000),), 1)


def test_report_completeness_ignores_partitions_without_history(report_data: ReportData) -> None:
    found = report_data.completeness
    assert (found.known_since, found.unknown, found.missing, found.hung) == (at(900), 0, 5, 2)
    assert (found.records, found.last_time) == (30, at(3550))
    assert found.parts.rows[-1] == LogPart(0, 10, 1.0, 0, at(3000), at(3500), 0, True)


def test_report_has_a_page_for_each_of_the_worst_groups(report_data: ReportData) -> None:
    assert [page.row for page in report_data.pages.rows] == list(report_data.groups.rows.rows)
    assert report_data.pages.total == 4
    middle, big, *_ = report_data.pages.rows
    assert [tuple(point) for point in middle.points] == [(at(1800), 300, None), (at(3480), 300, None)]
    assert middle.partitions == Kept(
        (
            PartitionRow("t", 0, "STOP", 300, None, None, None),
            PartitionRow("a", 0, None, None, None, at(600), None),
        ),
        2,
    )
    assert big.partitions.rows[0] == PartitionRow("t", 0, "WARN", 10, None, at(3000), None)
    assert big.members == Kept((Member("a@/10.0.0.1", at(0)), Member("c@/10.0.0.1", at(0))), 3)
    assert ([mark.time for mark in big.rebalances.rows], big.rebalances.total) == ([at(35 * 60), at(34 * 60)], 4)
    assert ([each.since for each in big.anomalies.rows], big.anomalies.total) == ([at(13), at(11)], 3)
    assert (big.expiring, middle.members) == (Kept((), 0), Kept((), 0))


def test_report_page_lists_expiring_offsets_by_topic() -> None:
    with engine_with(rows()) as engine:
        found = gather(engine, HOUR, "cluster", FEW)
    small = next(page for page in found.pages.rows if page.row.group == "small")
    assert small.expiring == found.expiring
    assert next(page for page in found.pages.rows if page.row.group == "new").partitions == Kept((), 0)


def test_report_lag_of_only_unknown_samples_is_unknown() -> None:
    unknown = {**verdict("g", "UNKNOWN", 0), "last_lag": None}
    with engine_with({VERDICTS: [unknown], STALE: [use("g", "LIVE", "Stable")]}) as engine:
        (page,) = gather(engine, HOUR, "cluster").pages.rows
    assert (page.row.lag, page.partitions.rows[0].lag) == (None, None)


def test_report_counts_what_can_be_read_and_is_known_at_the_end() -> None:
    lags = [
        lag("lost", 1, 90) | {"log_start": 50, "log_end": 90, "committed_offset": 0},
        lag("ahead", 1, -990),
        lag("hidden", 1, 30),
        lag("hidden", 2, 0) | {"lag": None},
    ]
    groups = ("lost", "ahead", "hidden")
    verdicts = [verdict(group, "UNKNOWN", 30) for group in groups]
    with engine_with({LAG: lags, VERDICTS: verdicts, STALE: [use(group, "LIVE", None) for group in groups]}) as engine:
        found = gather(engine, HOUR, "cluster")
    assert (found.cost.lag, found.cost.unknown) == (40, 2)
    assert {page.row.group: [page.row.lag, page.partitions.rows[0].lag] for page in found.pages.rows} == {
        "lost": [40, 40], "ahead": [None, None], "hidden": [None, None],
    }  # fmt: skip


def test_report_of_no_history_says_so() -> None:
    with engine_with({}) as engine:
        found = gather(engine, HOUR, None)
    assert found.empty and found.shown == HOUR
    assert "No history found" in page(found)


def test_report_accepts_tables_of_the_definitions(derived: Callable[[str], list[Row]]) -> None:
    with engine_with({table: derived(name) for name, table in DERIVED.items()}) as engine:
        found = gather(engine, Period(*SPAN), "cluster")
    assert "page-classic" in {row.group for row in found.groups.rows.rows}
    assert "page-classic" in page(found)
