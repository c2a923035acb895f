"""Parse the changes of ``--what-if``, and apply them to a simulated group."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from kgroups.model.assignors import OF_BROKERS, OF_CLIENTS
from kgroups.model.assignors.shape import Participant, Topic, static_first

MOST_MEMBERS = 10_000
MOST_PARTITIONS = 200_000
"""Larger groups would take minutes to simulate, and do not exist."""

FORMS = "members=+1, members=-1, members=5, member=-ID, assignor=NAME, partitions=TOPIC:+3 or partitions=TOPIC:12"


class Change(NamedTuple):
    """A change.

    ``kind``: members, member, assignor, or partitions. ``name``: that of the member, assignor, or topic. ``amount``:
    the difference if ``relative``, otherwise the new number.
    """

    text: str
    kind: str
    name: str = ""
    amount: int = 0
    relative: bool = False


class InvalidChange(ValueError):
    """A change that is not possible; the message says why."""


def parse_change(text: str) -> Change:
    """Parse a change.

    :raises InvalidChange: if it has none of the known forms.
    """
    kind, _, rest = text.strip().partition("=")
    if kind == "members" and (amount := _number(rest)):
        return Change(text, kind, "", *amount)
    if kind == "member" and rest.startswith("-") and len(rest) > 1:
        return Change(text, kind, rest[1:])
    if kind == "assignor" and rest in {*OF_CLIENTS, *OF_BROKERS}:
        return Change(text, kind, rest)
    if kind == "assignor":
        raise InvalidChange(
            f"unknown assignor {rest!r}; use one of {', '.join(dict.fromkeys((*OF_CLIENTS, *OF_BROKERS)))}"
        )
    topic, colon, count = rest.rpartition(":")
    if kind == "partitions" and colon and topic and (amount := _number(count)):
        return Change(text, kind, topic, *amount)
    raise InvalidChange(f"invalid change {text!r}; use one of {FORMS}")


def _number(text: str) -> tuple[int, bool] | None:
    """Return the number, and whether it has a sign."""
    match = re.fullmatch(r"([+-]?)([0-9]{1,9})", text)
    return (int(text), bool(match[1])) if match else None


class SimulatedGroup(NamedTuple):
    """A simulated group: its members, topics, and assignor, and the members that left."""

    members: tuple[Participant, ...]
    topics: dict[str, Topic]
    assignor: str
    left: tuple[Participant, ...] = ()


def apply(group: SimulatedGroup, changes: Sequence[Change]) -> SimulatedGroup:
    """Apply changes in order.

    :raises InvalidChange: if one is not possible.
    """
    for change in changes:
        group = _APPLY[change.kind](group, change)
    return group


def _members(group: SimulatedGroup, change: Change) -> SimulatedGroup:
    count = len(group.members) + change.amount if change.relative else change.amount
    if not 1 <= count <= MOST_MEMBERS:
        raise InvalidChange(f"{change.text}: results in {count:,} members; supported are 1 to {MOST_MEMBERS:,}")
    ordered = static_first(group.members)
    if count <= len(ordered):
        return group._replace(members=_in_order(group, ordered[:count]), left=(*group.left, *ordered[count:]))
    topics = Counter(member.topics for member in group.members).most_common(1)[0][0]
    taken = {member.member_id for member in (*group.members, *group.left)}
    names = (name for number in range(1, 2 * MOST_MEMBERS) if (name := f"~new-{number}") not in taken)
    new = [Participant(next(names), topics) for _ in range(count - len(ordered))]
    return group._replace(members=(*group.members, *new))


def _in_order(group: SimulatedGroup, kept: Sequence[Participant]) -> tuple[Participant, ...]:
    """Return members in the order in which the broker reports them, because assignors depend on it."""
    ids = {member.member_id for member in kept}
    return tuple(member for member in group.members if member.member_id in ids)


def _member(group: SimulatedGroup, change: Change) -> SimulatedGroup:
    leaving = [member for member in group.members if change.name in (member.member_id, member.instance_id)]
    if not leaving:
        matching = [member for member in group.members if member.member_id.startswith(change.name)]
        if len(matching) > 1:
            raise InvalidChange(f"{change.text}: matches the IDs of {len(matching):,} members")
        leaving = matching
    if not leaving:
        raise InvalidChange(f"{change.text}: the group has no such member")
    if len(group.members) == 1:
        raise InvalidChange(f"{change.text}: the group has no other member")
    kept = [member for member in group.members if member not in leaving]
    return group._replace(members=tuple(kept), left=(*group.left, *leaving))


def _assignor(group: SimulatedGroup, change: Change) -> SimulatedGroup:
    return group._replace(assignor=change.name)


def _partitions(group: SimulatedGroup, change: Change) -> SimulatedGroup:
    topic = group.topics.get(change.name)
    if topic is None or not any(change.name in member.topics for member in group.members):
        raise InvalidChange(f"{change.text}: no member subscribes to an existing topic {change.name!r}")
    count = topic.partitions + change.amount if change.relative else change.amount
    if count < topic.partitions:
        raise InvalidChange(f"{change.text}: the topic has {topic.partitions:,} partitions; they cannot be removed")
    others = sum(each.partitions for name, each in group.topics.items() if name != change.name)
    if others + count > MOST_PARTITIONS:
        raise InvalidChange(
            f"{change.text}: results in {others + count:,} partitions; supported are at most {MOST_PARTITIONS:,}"
        )
    return group._replace(topics={**group.topics, change.name: topic._replace(partitions=count)})


_APPLY = {"members": _members, "member": _member, "assignor": _assignor, "partitions": _partitions}
