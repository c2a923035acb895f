"""The types of arguments and results of assignors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

TopicPartition = tuple[str, int]


class Participant(NamedTuple):
    """A member as an assignor sees it.

    ``owned`` is the previous assignment that a classic member reports in its subscription or user data, or the target
    assignment of a KIP-848 member. ``generation`` is that of ``owned``, ``None`` if the member does not report it.
    """

    member_id: str
    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...] = ()
    generation: int | None = None
    instance_id: str | None = None


class Topic(NamedTuple):
    """The number of partitions of a topic, and its ID.

    ``id`` (128 bits, unsigned) affects the order of topics in the broker's assignors; 0: unknown.
    """

    partitions: int
    id: int = 0


Topics = Mapping[str, Topic]
"""The existing topics; other subscribed topics are ignored."""

Assigned = dict[str, list[TopicPartition]]
"""Member ID -> partitions, in no significant order; every member is a key."""

Assignor = Callable[[Sequence[Participant], Topics], Assigned]


def in_java(text: str) -> bytes:
    """Return a sort key with the order of Java's strings, which compares UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def by_name(names: Iterable[str]) -> list[str]:
    return sorted(names, key=in_java)


def static_first(members: Iterable[Participant]) -> list[Participant]:
    """Return static members by instance ID, then the others by member ID.

    This is the order of range and roundrobin; restarts of static members do not change it.
    """
    return sorted(members, key=_static_first)


def _static_first(member: Participant) -> tuple[bool, bytes]:
    dynamic = member.instance_id is None
    return dynamic, in_java(member.member_id if member.instance_id is None else member.instance_id)
