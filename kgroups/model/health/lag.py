"""The lag of a group, of its topics, and of its partitions, in records and in time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from ..severity import Severity, Threshold
from ..views.lag_summary import time_of
from .amounts import committed, critical, largest, total, unless_lost
from .check import Check, Evidence, Flag, Input
from .findings import Finding
from .values import LIMIT, parse_threshold, parse_time_threshold


def _total(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.lag:
        yield total(evidence.name, "lag", evidence.rows, limit, evidence.unknown_lag, evidence.ahead(evidence.rows))


TOTAL = Check("max-lag", "lag", Flag("Total lag.", LIMIT), "a limit", parse_threshold, judge=_total)


def _by_topic(value: object) -> tuple[tuple[str, Threshold], ...]:
    if not isinstance(value, dict):
        raise ValueError
    return tuple((glob, parse_threshold(limit)) for glob, limit in value.items())


def _parse_flags(texts: Sequence[str]) -> tuple[tuple[str, Any], ...]:
    return tuple(map(_parse_flag, texts))


def _parse_flag(text: str) -> tuple[str, Threshold]:
    glob, equals, limit = text.rpartition("=")
    if not (glob and equals):
        raise ValueError(f"{text!r} is not GLOB={LIMIT}, such as 'orders-*=1000'")
    return glob, parse_threshold(limit)


def _topics(evidence: Evidence) -> Iterator[Finding]:
    name, rows = evidence.name, evidence.rows
    for glob, limit in evidence.limits.topic_lag:
        topics = sorted({row.topic for row in rows if row.topic is not None and fnmatchcase(row.topic, glob)})
        for topic in topics:
            topic_rows = [row for row in rows if row.topic == topic]
            unknown = evidence.unknown_lag.among(topic_rows)
            finding = total(name, "topic-lag", topic_rows, limit, unknown, evidence.ahead(topic_rows))
            yield finding._replace(topic=topic)
        if not topics and evidence.limits.skip_missing_topics:
            yield Finding(name, "topic-lag", Severity.OK, f"skipped: the group has no topic that matches {glob!r}")
        elif not topics:
            yield Finding(
                name, "topic-lag", Severity.UNKNOWN, f"the group has no topic that matches {glob!r}", limit=limit
            )


TOPICS = Check(
    "max-topic-lag",
    "topic_lag",
    Flag("Total lag of each topic that matches GLOB. Repeatable.", f"GLOB={LIMIT}", repeated=True),
    "a table of globs and limits",
    _by_topic,
    _parse_flags,
    judge=_topics,
)


def _partitions(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.partition_lag:
        rows = committed(evidence.rows)
        lags = {place: None if row.lag is None else max(0, row.lag) for place, row in rows.items()}
        finding = largest(evidence.name, "partition-lag", lags, limit, "", evidence.unknown_lag)
        if ahead := evidence.ahead(rows.values()):
            finding = critical(finding, f"{finding.message}, {ahead}")
        yield finding


PARTITIONS = Check(
    "max-partition-lag",
    "partition_lag",
    Flag("Lag of each partition.", LIMIT),
    "a limit",
    parse_threshold,
    judge=_partitions,
)


def _times(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.time_lag:
        rows = committed(evidence.rows)
        times = {place: time_of(row, evidence.last.ages) for place, row in rows.items()}
        ages = {place: time.age for place, time in times.items()}
        reasons = {place: time.remark for place, time in times.items() if time.age is None and time.remark}
        finding = largest(evidence.name, "time-lag", ages, limit, "ms", evidence.unknown_lag, reasons)
        yield unless_lost(finding, rows.values())


TIMES = Check(
    "max-time-lag",
    "time_lag",
    Flag("Age of the first unread record, such as 30s,5m.", LIMIT),
    "a limit",
    parse_time_threshold,
    judge=_times,
    inputs=frozenset({Input.UNREAD_TIMES}),
)
