"""Assignments and subscriptions of members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

_PREVIEW = 32


class TopicPartitions(NamedTuple):
    """Some partitions of one topic, ascending."""

    topic: str
    partitions: tuple[int, ...]


class Raw(NamedTuple):
    """Bytes that a client put into the group's metadata and that cannot be decoded, and why."""

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
    """Client data in addition to topics, or instead of them: user data of an assignor, state of a Connect worker, etc.

    It is a named tuple of :mod:`kgroups.model.embedded`, or :class:`Raw`. Its text has one line.
    """

    def facts(self) -> Mapping[str, object]:
        """Return the columns that it adds to a row of members, by key."""

    def facts_with(self, given: object) -> Mapping[str, object]:
        """Return the columns that follow only from the subscription's user data and that of the assignment, by key.

        :param given: the user data of the member's assignment.
        """
        return {}


class Assignment(NamedTuple):
    """The partitions assigned to a member. If the bytes cannot be decoded, ``raw`` is set instead of ``topics``.

    ``version`` is that of the client's bytes, ``note`` what is unusual about them. Both are ``None`` if the broker
    reports the assignment itself. ``readable``: whether a broker can parse the client's bytes, which it does only to
    convert the group to another type (KIP-848); ``None``: unknown.
    """

    topics: tuple[TopicPartitions, ...] = ()
    raw: Raw | None = None
    version: int | None = None
    user_data: UserData | None = None
    note: str | None = None
    readable: bool | None = True

    @property
    def size(self) -> int | None:
        """The number of partitions; ``None`` if the assignment cannot be decoded."""
        return None if self.raw else sum(len(entry.partitions) for entry in self.topics)

    def pairs(self) -> Iterator[tuple[str, int]]:
        """Yield each (topic, partition), sorted."""
        for entry in self.topics:
            for partition in entry.partitions:
                yield entry.topic, partition

    def __str__(self) -> str:
        """Return ``t0:0,1,2;t1:4``, as the Java tool prints it; size and hex if it cannot be decoded."""
        if self.raw:
            return str(self.raw)
        return ";".join(f"{entry.topic}:{','.join(map(str, entry.partitions))}" for entry in self.topics)


class Subscription(NamedTuple):
    """The subscription of a member.

    ``owned`` has the partitions that it reported as its own at the last rebalance (KIP-429, KIP-792).
    ``rack`` is the member's rack (KIP-881). The other fields are as in :class:`Assignment`.
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
    readable: bool | None = True

    def __str__(self) -> str:
        if self.raw:
            return str(self.raw)
        parts = [",".join(self.topics)] if self.topics else []
        if self.regex:
            parts.append(f"/{self.regex}/")
        return " ".join(parts)


def assignment_of(pairs: Iterable[tuple[str, Iterable[int]]]) -> Assignment:
    """Return an assignment of (topic, partitions) pairs in any order; merge pairs with the same topic."""
    merged: dict[str, set[int]] = {}
    for topic, partitions in pairs:
        merged.setdefault(topic, set()).update(partitions)
    return Assignment(tuple(TopicPartitions(topic, tuple(sorted(merged[topic]))) for topic in sorted(merged)))
