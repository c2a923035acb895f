"""The lag of a group, of its topics, and of its partitions, in records and in time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from ..severity import Severity, Threshold
from ..views.lag_summary import held_back, time_of
from .amounts import committed, critical, damage_text, largest, total, unknown_lag_of, unless_lost
from .check import Check, Evidence, Flag, Input
from .findings import Finding
from .values import LIMIT, parse_threshold, parse_time_threshold


def _total(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.lag:
        yield total(evidence.name, "lag", evidence.rows, limit, evidence.unknown_lag, damage_text(evidence.rows))


TOTAL = Check(
    "max-lag",
    "lag",
    Flag("Total lag.", LIMIT),
    "a limit",
    parse_threshold,
    judge=_total,
    inputs=frozenset({Input.EPOCH_ENDS}),
)


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
    name, offsets, limits = evidence.name, evidence.last.offsets, evidence.limits
    for glob, limit in limits.topic_lag:
        named = [row for row in evidence.left if row.topic == glob]  # a topic that no member subscribes to
        rows = [*evidence.rows, *named]
        topics = sorted({row.topic for row in rows if row.topic is not None and fnmatchcase(row.topic, glob)})
        for topic in topics:
            topic_rows = [row for row in rows if row.topic == topic]
            held = held_back(topic_rows, offsets.commits.pending or frozenset(), offsets.logs)
            unknown = unknown_lag_of(offsets.group, topic_rows, held, allow_uncommitted=limits.allow_uncommitted)
            finding = total(name, "topic-lag", topic_rows, limit, unknown, damage_text(topic_rows))
            yield finding._replace(topic=topic)
        if topics:
            continue
        is_left = any(row.topic is not None and fnmatchcase(row.topic, glob) for row in evidence.left)
        message = f"{'no member subscribes to a' if is_left else 'the group has no'} topic that matches {glob!r}"
        if limits.skip_missing_topics:
            yield Finding(name, "topic-lag", Severity.OK, f"skipped: {message}")
        else:
            yield Finding(name, "topic-lag", Severity.UNKNOWN, message, limit=limit)


TOPICS = Check(
    "max-topic-lag",
    "topic_lag",
    Flag("Total lag of each topic that matches GLOB. Repeatable.", f"GLOB={LIMIT}", repeated=True),
    "a table of globs and limits",
    _by_topic,
    _parse_flags,
    judge=_topics,
    inputs=frozenset({Input.EPOCH_ENDS}),
)


def _partitions(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.partition_lag:
        rows = committed(evidence.rows)
        lags = {place: None if row.lag is None else max(0, row.lag) for place, row in rows.items()}
        finding = largest(evidence.name, "partition-lag", lags, limit, "", evidence.unknown_lag)
        if damage := damage_text(rows.values()):
            finding = critical(finding, f"{finding.message}, {damage}")
        yield finding


PARTITIONS = Check(
    "max-partition-lag",
    "partition_lag",
    Flag("Lag of each partition.", LIMIT),
    "a limit",
    parse_threshold,
    judge=_partitions,
    inputs=frozenset({Input.EPOCH_ENDS}),
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
    inputs=frozenset({Input.UNREAD_TIMES, Input.EPOCH_ENDS}),
)
