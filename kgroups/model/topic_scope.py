"""Selected partitions of topics: ``orders`` (all partitions) or ``orders:0,2-5``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kgroups.errors import UsageError

from .groups import check_sendable

TopicScope = Mapping[str, frozenset[int] | None]
"""Topic -> its selected partitions; ``None``: all of them."""

WIDEST = 100_000
"""The maximum number of partitions in a range; no topic has that many."""

_RANGE = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10}))?")


def parse_topic_scope(texts: Iterable[str], option: str = "--topic") -> TopicScope:
    """Return the union of several ``TOPIC[:PARTITIONS]``, the values of an option.

    :raises UsageError: for an invalid topic or partition; the message quotes it.
    """
    scope: dict[str, frozenset[int] | None] = {}
    for text in texts:
        topic, colon, ids = text.partition(":")
        if not topic.strip():
            raise UsageError(f"{option}: {text!r} has no topic name; use TOPIC or TOPIC:0,2-5")
        check_sendable(topic, option)
        partitions = _partitions(text, ids, option) if colon else None
        known = scope.get(topic, frozenset())
        scope[topic] = None if partitions is None or known is None else known | partitions
    return scope


def _partitions(text: str, ids: str, option: str) -> frozenset[int]:
    found: set[int] = set()
    for part in ids.split(","):
        match = _RANGE.fullmatch(part.strip())
        if not match:
            raise UsageError(f"{option}: {part!r} in {text!r} is not a partition number or a range such as 2-5")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise UsageError(f"{option}: the range {part!r} in {text!r} is in descending order")
        if last - first >= WIDEST or last >= 2**31:
            raise UsageError(f"{option}: {part!r} in {text!r}: the number is too large")
        found.update(range(first, last + 1))
    return frozenset(found)


def in_scope(scope: TopicScope | None, topic: str, partition: int) -> bool:
    """Return whether a partition is selected; a scope of ``None`` selects all topics."""
    if scope is None:
        return True
    return topic in scope and ((partitions := scope[topic]) is None or partition in partitions)
