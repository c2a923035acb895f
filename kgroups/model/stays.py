"""Who was a member of a group when, from its records: restarts, and instance IDs that two clients use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from .counts import some
from .groups import Group
from .moments import moment_text

REPEATED = 3
"""Restarts, or turns of two clients, that are no coincidence."""
RECENT = 600_000
"""Milliseconds in which instance IDs that two clients use are searched for."""


class Presence(NamedTuple):
    """A member in a record. ``client``: its client ID and host."""

    instance_id: str | None
    client: str

    @classmethod
    def of(cls, instance_id: str | None, client_id: str, host: str) -> Presence:
        return cls(instance_id, f"{client_id}@{host.removeprefix('/')}")


class Stay(NamedTuple):
    """One membership, in milliseconds since 1970.

    ``since``: ``None`` if it began before the first record that was read. ``until``: ``None`` if it has not ended.
    """

    member_id: str
    presence: Presence
    since: int | None
    until: int | None = None

    @property
    def name(self) -> str:
        """The properties of a member that survive its restart."""
        return self.presence.instance_id or self.presence.client


class StayRecorder:
    """Turns the records of one group, oldest first, into stays."""

    def __init__(self) -> None:
        self._present: dict[str, Stay] = {}
        self._ended: list[Stay] = []
        self._begun = False

    def snapshot(self, time: int, members: Mapping[str, Presence]) -> None:
        """Record all members, as the record of a classic group has them."""
        for member_id in self._present.keys() - members.keys():
            self.left(time, member_id)
        since = time if self._begun else None
        for member_id, presence in members.items():
            self._joined(since, member_id, presence)
        self._begun = True

    def joined(self, time: int, member_id: str, presence: Presence) -> None:
        """Record one member, as the record of a member of another group type has it."""
        self._joined(time, member_id, presence)

    def _joined(self, since: int | None, member_id: str, presence: Presence) -> None:
        before = self._present.get(member_id)
        self._present[member_id] = Stay(member_id, presence, before.since if before else since)

    def left(self, time: int, member_id: str) -> None:
        if stay := self._present.pop(member_id, None):
            self._ended.append(stay._replace(until=time))

    @property
    def ended(self) -> int:
        """The number of stays that have ended."""
        return len(self._ended)

    def forget(self, before: int) -> None:
        """Drop the stays that ended before a time."""
        self._ended = [stay for stay in self._ended if stay.until is None or stay.until >= before]

    @property
    def stays(self) -> Sequence[Stay]:
        """All stays, in the order in which they began."""
        return sorted((*self._ended, *self._present.values()), key=lambda stay: (stay.since or 0, stay.until or 2**63))


def restarts(stays: Sequence[Stay], since: int) -> int:
    """Return how many members joined and left after a moment, each followed by another member that joined.

    A group that grows or shrinks has none. Nor has one whose members are all restarted, even twice, or replaced by
    others: one must have left more often than members of its name were there at once; or, of those whose name no other
    member has, one must have come after another one had left. returns.sql of history has the same rule.
    """
    joins = [stay.since for stay in stays if stay.since is not None]
    over = [
        stay
        for stay in stays
        if stay.since is not None and since < stay.since and stay.until is not None and stay.until <= max(joins)
    ]
    by_name: dict[str, list[Stay]] = {}
    for stay in stays:
        by_name.setdefault(stay.name, []).append(stay)
    times = Counter(stay.name for stay in over)
    first = min((stay.until or 0 for stay in over), default=0)
    for stay in over:
        own = by_name[stay.name]
        if times[stay.name] > _at_once(own) or (len(own) == 1 and (stay.since or 0) >= first):
            return len(over)
    return 0


def _at_once(stays: Iterable[Stay]) -> int:
    """Return how many of the stays there were at one time, at most. At one time, members leave before others join."""
    began = [(stay.since or 0, 1) for stay in stays]
    ended = [(stay.until, -1) for stay in stays if stay.until is not None]
    return max(accumulate(change for _, change in sorted([*began, *ended])))


class SharedInstance(NamedTuple):
    """An instance ID whose member was replaced repeatedly.

    ``clients``: those that took turns; one if all have the same name. ``turns``: how often the member was replaced,
    since a time in milliseconds.
    """

    instance_id: str
    clients: tuple[str, ...]
    turns: int
    since: int

    @property
    def is_certain(self) -> bool:
        """Whether two clients use it; otherwise, one client may restart repeatedly."""
        return len(self.clients) > 1

    def __str__(self) -> str:
        since = moment_text(self.since)
        if self.is_certain:
            return (
                f"{len(self.clients):,} clients use group.instance.id {self.instance_id} ({some(self.clients)}): each "
                f"fences the other and takes its partitions, {self.turns:,} times since {since}; give each client its "
                "own"
            )
        return (
            f"the member with group.instance.id {self.instance_id} was replaced {self.turns:,} times since {since}: "
            f"two clients use this ID and fence each other, or one restarts repeatedly ({some(self.clients)})"
        )


class Instances(NamedTuple):
    """What is known about the instance IDs of a group: those that two clients use, and why others are unknown."""

    shared: tuple[SharedInstance, ...] = ()
    unknown: str | None = None


def is_static(group: Group) -> bool:
    """Return whether a group has members with an instance ID, which another client can use, too."""
    return any(member.instance_id for member in group.members or ())


def shared_instances(stays: Iterable[Stay]) -> list[SharedInstance]:
    """Return the instance IDs that two clients use in turn, each of which fences the other; sorted by ID.

    ``stays`` are in the order in which they began.

    A client that replaces another one for good is none: one of them must come back. Without different names of clients,
    only the number of replacements counts.
    """
    found = []
    by_instance: dict[str, list[Stay]] = {}
    for stay in stays:
        if stay.presence.instance_id:
            by_instance.setdefault(stay.presence.instance_id, []).append(stay)
    for instance_id, own in sorted(by_instance.items()):
        taken = [after for before, after in pairwise(own) if before.until is not None and before.until == after.since]
        turns = [after for before, after in pairwise(own) if before.presence.client != after.presence.client]
        clients = dict.fromkeys(stay.presence.client for stay in own)
        if len(turns) >= REPEATED and len(turns) >= len(clients):
            found.append(SharedInstance(instance_id, tuple(clients), len(turns), turns[0].since or 0))
        elif len(clients) == 1 and len(taken) >= REPEATED:
            found.append(SharedInstance(instance_id, tuple(clients), len(taken), taken[0].since or 0))
    return found
