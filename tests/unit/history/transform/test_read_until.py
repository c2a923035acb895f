"""What was not read of the log is unknown: a collector that stopped is not a group that stopped."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from kgroups.history.engine.duck import DuckDB
from kgroups.history.rules import Rules
from kgroups.history.transform.definitions import Span
from tests.fakes.history import History, at, derived_in

RULES = Rules(samples=5, stale_after=timedelta(minutes=5))
UNREAD = "unknown: the log was read until 2026-03-01T12:02:00Z"


def rows(history: History, name: str, until: float, *columns: str) -> list[tuple[Any, ...]]:
    with DuckDB() as engine:
        found = derived_in(engine, history, [name], Span(at(-3600), at(until)), RULES)(name)
    return [tuple(row[column] for column in columns) for row in found]


def stopped(read_until: float = 120) -> History:
    """A group that commits each second, one that ended, one that is empty, and one in a quiet partition of the log."""
    history = History()
    history.commit("ended", -900, 1)
    history.snapshot("ended", -901, 1, ["a"])
    history.snapshot("empty", -900, 2)
    history.commit("quiet", -900, 1, log_partition=1)
    for second in range(120):
        history.commit("live", second, second, partition=1)
    history.read(0, (0, history.next_offset(0)), history.next_offset(0), (-900, 119), sampled_at=at(read_until))
    history.read(1, (0, 1), 1, (-900, -900), sampled_at=at(-800))
    return history


def test_group_is_not_stale_because_the_collector_stopped() -> None:
    assert rows(stopped(), "stale", 121, "group", "status", "remark") == [
        ("empty", "EMPTY", None),
        ("ended", "STALE", None),
        ("live", "LIVE", None),
        ("quiet", "STALE", None),
    ]
    later = rows(stopped(), "stale", 900, "group", "status", "remark", "commit_age_ms", "read_until")
    assert later == [(group, "UNKNOWN", UNREAD, None, at(120)) for group in ("empty", "ended", "live", "quiet")]


def test_group_is_unknown_while_the_log_is_not_read_for_long_enough_without_its_commits() -> None:
    # Its last commit is 301 s old, but only 1 s of these was read.
    assert rows(stopped(), "stale", 415, "group", "status")[1:3] == [("ended", "STALE"), ("live", "LIVE")]
    assert rows(stopped(), "stale", 420, "group", "status", "remark")[1:3] == [
        ("ended", "STALE", None),
        ("live", "UNKNOWN", UNREAD),
    ]


def test_empty_range_shows_that_a_partition_without_records_was_read() -> None:
    history = History()
    history.commit("quiet", 0, 1)
    history.read(0, (0, 1), 1, (0, 0))
    history.read(0, (1, 1), 0, (900, 900))
    assert rows(history, "stale", 901, "status", "read_until") == [("STALE", at(900))]
    # A transaction ended there, and its records are not read yet.
    history.rows["coverage"][-1]["from_offset"] = history.rows["coverage"][-1]["to_offset"] = 7
    history.rows["coverage"][-1]["last_stable_offset"] = history.rows["coverage"][-1]["high_watermark"] = 7
    assert rows(history, "stale", 901, "status", "read_until") == [("UNKNOWN", at(0))]


def test_batch_that_does_not_reach_the_end_shows_its_last_record() -> None:
    history = stopped()
    history.rows["coverage"][0]["last_stable_offset"] = 5000
    assert rows(history, "stale", 430, "group", "status", "read_until")[2] == ("live", "UNKNOWN", at(119))


def test_lag_after_the_log_was_read_is_unknown() -> None:
    history = stopped()
    for second in range(100, 900, 50):
        history.head(second, 5000, partition=1)
    lags = rows(history, "lag", 900, "group", "sampled_at", "lag", "remark")
    assert lags[0] == ("live", at(100), 4900, None)
    assert lags[-1] == ("live", at(850), None, UNREAD)
    assert rows(history, "verdicts", 900, "group", "status", "remark") == [("live", "UNKNOWN", UNREAD)]


def test_verdict_of_old_samples_is_unknown() -> None:
    history = stopped()
    for second in range(10, 60, 10):
        history.head(second, second, partition=1)
    assert rows(history, "verdicts", 121, "status") == [("OK",)]
    remark = "unknown: the last sample is older than the rule stale-after"
    assert rows(history, "verdicts", 1000, "status", "remark") == [("UNKNOWN", remark)]
