"""Who holds which partitions, and what a member asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

_PREVIEW = 32


class TopicPartitions(NamedTuple):
    """Some partitions of one topic, ascending."""

    topic: str
    partitions: tuple[int, ...]


class Raw(NamedTuple):
    """Bytes that a client put into the group's metadata and that could not be decoded, with the reason."""

    data: bytes
    reason: str

    def __str__(self) -> str:
        shown = self.data[:_PREVIEW].hex()
        more = "…" if len(self.data) > _PREVIEW else ""
        return f"{len(self.data)} bytes 0x{shown}{more}"


class Assignment(NamedTuple):
    """The partitions that a member holds. ``raw`` stands instead of ``topics`` where the bytes could not be read."""

    topics: tuple[TopicPartitions, ...] = ()
    raw: Raw | None = None

    @property
    def size(self) -> int | None:
        """How many partitions; ``None`` when it could not be decoded."""
        return None if self.raw else sum(len(entry.partitions) for entry in self.topics)

    def pairs(self) -> Iterator[tuple[str, int]]:
        """Every (topic, partition), sorted."""
        for entry in self.topics:
            for partition in entry.partitions:
                yield entry.topic, partition

    def __str__(self) -> str:
        """``t0:0,1,2;t1:4``, as the Java tool writes it; size and hex when it could not be decoded."""
        if self.raw:
            return str(self.raw)
        return ";".join(f"{entry.topic}:{','.join(map(str, entry.partitions))}" for entry in self.topics)


class Subscription(NamedTuple):
    """What a member asked for. ``owned`` is what it told that it held at the last rebalance (KIP-429, KIP-792)."""

    topics: tuple[str, ...] = ()
    regex: str | None = None
    owned: Assignment = Assignment()
    generation: int | None = None
    raw: Raw | None = None

    def __str__(self) -> str:
        if self.raw:
            return str(self.raw)
        parts = [",".join(self.topics)] if self.topics else []
        if self.regex:
            parts.append(f"/{self.regex}/")
        return " ".join(parts)


def assignment_of(pairs: Iterable[tuple[str, Iterable[int]]]) -> Assignment:
    """An assignment from (topic, partitions) pairs in any order; a topic named twice is joined."""
    merged: dict[str, set[int]] = {}
    for topic, partitions in pairs:
        merged.setdefault(topic, set()).update(partitions)
    return Assignment(tuple(TopicPartitions(topic, tuple(sorted(merged[topic]))) for topic in sorted(merged)))
