"""What every assignor takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

TopicPartition = tuple[str, int]


class Participant(NamedTuple):
    """A member as an assignor sees it.

    ``owned`` is what it held: what a classic member told in its subscription or user data, or a KIP-848 member's target
    assignment. ``generation`` is that of ``owned``, ``None`` where the member did not tell.
    """

    member_id: str
    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...] = ()
    generation: int | None = None
    instance_id: str | None = None


class Topic(NamedTuple):
    """How many partitions it has. ``id`` (128 bits, unsigned) decides where the broker's assignors choose among topics;
    0 is not known."""

    partitions: int
    id: int = 0


Topics = Mapping[str, Topic]
"""The topics that exist; others that members ask for are passed over."""

Assigned = dict[str, list[TopicPartition]]
"""Member id -> partitions, in no order that means anything; every member is in it."""

Assignor = Callable[[Sequence[Participant], Topics], Assigned]


def in_java(text: str) -> bytes:
    """A key by which text sorts as in Java, which compares units of UTF-16."""
    return text.encode("utf-16-be", "surrogatepass")


def by_name(names: Iterable[str]) -> list[str]:
    return sorted(names, key=in_java)


def static_first(members: Iterable[Participant]) -> list[Participant]:
    """Static members by instance id, then the others by member id: the order of range and roundrobin, which outlives
    restarts of static members."""
    return sorted(members, key=_static_first)


def _static_first(member: Participant) -> tuple[bool, bytes]:
    dynamic = member.instance_id is None
    return dynamic, in_java(member.member_id if member.instance_id is None else member.instance_id)
