"""The values of ``--topic`` and ``--input-topic``: topics, with partitions or without."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .joptsimple import OptionError

_PARTITION = re.compile(r"[+-]?[0-9]{1,10}")


def topics_of(words: Iterable[str]) -> dict[str, frozenset[int] | None]:
    """Parse ``t`` and ``t:0,1``; return topic -> partitions, ``None`` for all partitions.

    :raises OptionError: if an argument has neither form.
    """
    scope: dict[str, frozenset[int] | None] = {}
    for topic, partitions in map(topic_of, words):
        known = scope.get(topic, frozenset())
        scope[topic] = None if partitions is None or known is None else known | set(partitions)
    return scope


def topic_of(word: str) -> tuple[str, tuple[int, ...] | None]:
    """Parse one topic: its partitions as they are named, none in ``t:,``; ``None`` for all partitions."""
    topic, colon, ids = word.partition(":")
    if ":" in ids or (colon and not ids) or not topic or not _is_utf_8(topic):
        raise OptionError(f"Invalid topic arg '{word}', expected topic name and partitions")
    if not colon:
        return topic, None
    parts = ids.rstrip(",").split(",") if ids.strip(",") else []
    for part in parts:
        if not _PARTITION.fullmatch(part) or int(part) >= 2**31:
            raise OptionError(f"Invalid partition '{part}' specified in topic arg '{word}''")
    return topic, tuple(map(int, parts))


def named_partitions(words: Iterable[str]) -> list[tuple[str, int]]:
    """Return the partitions that are named, in their order, as often as they are named."""
    return [(topic, partition) for topic, partitions in map(topic_of, words) for partition in partitions or ()]


def _is_utf_8(text: str) -> bool:
    """Return whether an argument was valid UTF-8: Python represents other bytes as surrogates."""
    return not any("\ud800" <= char <= "\udfff" for char in text)
