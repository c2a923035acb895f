"""Who holds which partitions, and what a member asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

_PREVIEW = 32


class TopicPartitions(NamedTuple):
    """Some partitions of one topic, ascending."""

    topic: str
    partitions: tuple[int, ...]


class Raw(NamedTuple):
    """Bytes that a client put into the group's metadata and that could not be decoded, with the reason."""

    data: bytes
    reason: str

    def facts(self) -> Mapping[str, object]:
        return {}

    def facts_with(self, given: object) -> Mapping[str, object]:
        return {}

    def __str__(self) -> str:
        shown = self.data[:_PREVIEW].hex()
        more = "…" if len(self.data) > _PREVIEW else ""
        return f"{len(self.data)} bytes 0x{shown}{more}"


class UserData(Protocol):
    """What a client puts beside or instead of topics: an assignor's user data, the state of a Connect worker, …

    A named tuple of :mod:`kgroups.model.embedded`, or :class:`Raw`; as text, its words on one line.
    """

    def facts(self) -> Mapping[str, object]:
        """What it adds to a row of members, by key."""

    def facts_with(self, given: object) -> Mapping[str, object]:
        """The same of what only follows from both, what a member told and what it was given."""
        return {}


class Assignment(NamedTuple):
    """The partitions that a member holds. ``raw`` stands instead of ``topics`` where the bytes could not be read.

    ``version`` is that of the client's bytes, ``note`` what is odd about them; a broker's own words have neither.
    """

    topics: tuple[TopicPartitions, ...] = ()
    raw: Raw | None = None
    version: int | None = None
    user_data: UserData | None = None
    note: str | None = None

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
    """What a member asked for. ``owned`` is what it told that it held at the last rebalance (KIP-429, KIP-792).

    ``rack`` is where it runs (KIP-881); the rest is as in :class:`Assignment`.
    """

    topics: tuple[str, ...] = ()
    regex: str | None = None
    owned: Assignment = Assignment()
    generation: int | None = None
    raw: Raw | None = None
    rack: str | None = None
    version: int | None = None
    user_data: UserData | None = None
    note: str | None = None

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
