"""The total lag of each topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from .amounts import total
from .check import Check, Evidence, Flag
from .findings import Finding
from .severity import Severity, Threshold
from .values import LIMIT, parse_threshold


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


def _judge(evidence: Evidence) -> Iterator[Finding]:
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


CHECK = Check(
    "max-topic-lag",
    "topic_lag",
    Flag("Total lag of each topic that matches GLOB. Repeatable.", f"GLOB={LIMIT}", repeated=True),
    "a table of globs and limits",
    _by_topic,
    _parse_flags,
    judge=_judge,
)
