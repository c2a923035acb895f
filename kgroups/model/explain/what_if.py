"""Simulate changes of members, assignor, or topics, by running assignors offline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kgroups.model.assignment import Assignment, assignment_of
from kgroups.model.assignors import INCREMENTAL, OF_BROKERS, OF_CLIENTS
from kgroups.model.assignors.shape import Assigned, Assignor, TopicPartition

from ..counts import count
from .change import Change, InvalidChange, SimulatedGroup, apply
from .facts import GroupFacts, subscribed_topics
from .participants import current, participants_of, run_to_fixed_point


class Shift(NamedTuple):
    """The effect on one member: its number of partitions now and then, and the partitions that it gains and loses.

    ``status``: ``new``, ``leaves``, or ``None`` for a member that stays.
    """

    consumer_id: str
    status: str | None
    now: int
    then: int
    gets: Assignment
    gives_up: Assignment


class WhatIf(NamedTuple):
    """The result of a simulation.

    ``moved``: partitions from members that stay. ``taken_over``: from members that leave. ``added``: that have no owner
    now. ``dropped``: that would have no owner. ``paused``: not read during the change. ``rebalances``: their number.
    """

    changes: tuple[str, ...]
    assignor: str
    members: int
    partitions: int
    moved: int
    taken_over: int
    added: int
    dropped: int
    paused: int
    rebalances: int
    stop_the_world: bool
    text: str
    shifts: tuple[Shift, ...]


class NotEnoughData(Exception):
    """The known facts do not suffice for a simulation; the message says why."""


def simulate(facts: GroupFacts, changes: Sequence[Change]) -> WhatIf:
    """Simulate changes, applied in order.

    A new member has the most common subscription, and the last member ID in sort order. If ``members`` decreases, the
    last members in that order leave.

    :raises InvalidChange: if a change does not apply to this group.
    :raises NotEnoughData: if necessary facts are unknown.
    """
    _check(facts)
    before = current(facts)
    now = SimulatedGroup(tuple(participants_of(facts)), dict(facts.topics), facts.group.protocol)
    then = apply(now, changes)
    modern, assign = _assignor(facts, then.assignor)
    after, rounds = run_to_fixed_point(assign, then.members, then.topics)
    return _result(before, after, now, then, modern, rounds, tuple(change.text for change in changes))


def _check(facts: GroupFacts) -> None:
    state = facts.group.state
    if facts.group.members is None or (facts.members and not facts.of_consumers):
        raise NotEnoughData("its members are not consumers and do not use a consumer assignor")
    if not facts.members:
        raise NotEnoughData("it has no members, so the subscriptions are unknown")
    if not facts.has_subscriptions:
        raise NotEnoughData(
            f"its state is {state}: subscriptions and assignments are not reported; retry when it is Stable"
        )
    for member in facts.members:
        for what, raw in (
            ("assignment", (member.target or member.assignment).raw),
            ("subscription", member.subscription.raw),
        ):
            if raw:
                raise NotEnoughData(f"the {what} of member '{member.member_id}' is unknown: {raw.reason}")
    undescribed = sorted(
        {topic for member in facts.members for topic in subscribed_topics(facts, member)} & facts.undescribed
    )
    if undescribed:
        raise NotEnoughData(f"the number of partitions of topic {undescribed[0]!r} is unknown")


def _assignor(facts: GroupFacts, name: str) -> tuple[bool, Assignor]:
    """Return whether the broker assigns, and the assignor; a classic group may use uniform, to simulate its upgrade."""
    if facts.is_modern:
        if name in OF_BROKERS:
            return True, OF_BROKERS[name]
        raise InvalidChange(
            f"'{name}' is not available in KIP-848 groups; the broker's assignors are {', '.join(OF_BROKERS)}: "
            "use assignor=NAME"
        )
    if name in OF_CLIENTS:
        return False, OF_CLIENTS[name]
    if name in OF_BROKERS:
        return True, OF_BROKERS[name]
    raise InvalidChange(f"unknown assignor '{name}': use assignor=NAME, one of {', '.join(OF_CLIENTS)}")


def _result(
    before: Assigned,
    after: Assigned,
    now: SimulatedGroup,
    then: SimulatedGroup,
    modern: bool,
    rounds: int,
    changes: tuple[str, ...],
) -> WhatIf:
    owner = {pair: name for name, pairs in before.items() for pair in pairs}
    next_owner = {pair: name for name, pairs in after.items() for pair in pairs}
    gone = {member.member_id for member in then.left}
    changed = [pair for pair, name in next_owner.items() if owner.get(pair) not in (None, name)]
    moved = [pair for pair in changed if owner[pair] not in gone]
    dropped = owner.keys() - next_owner.keys()
    incremental = modern or (then.assignor in INCREMENTAL and now.assignor == then.assignor)
    paused = len(changed) + len(dropped) if incremental else len(owner)
    what_if = WhatIf(
        changes=changes,
        assignor=then.assignor,
        members=len(then.members),
        partitions=len(next_owner),
        moved=len(moved),
        taken_over=len(changed) - len(moved),
        added=len(next_owner.keys() - owner.keys()),
        dropped=len(dropped),
        paused=paused,
        rebalances=rounds,
        stop_the_world=not incremental,
        text="",
        shifts=tuple(_shifts(before, after, gone)),
    )
    return what_if._replace(text=_sentence(what_if, now, modern))


def _shifts(before: Assigned, after: Assigned, gone: set[str]) -> Iterator[Shift]:
    for name in sorted({*before, *after}):
        had, has = set(before.get(name, ())), set(after.get(name, ()))
        status = "leaves" if name in gone else None if name in before else "new"
        yield Shift(name, status, len(had), len(has), _as_assignment(has - had), _as_assignment(had - has))


def _as_assignment(pairs: set[TopicPartition]) -> Assignment:
    return assignment_of((topic, (number,)) for topic, number in pairs)


def _sentence(what_if: WhatIf, now: SimulatedGroup, modern: bool) -> str:
    parts = [f"{count(what_if.moved, 'partition')} of {what_if.partitions:,} would move from members that stay"]
    if what_if.taken_over:
        parts.append(f"{what_if.taken_over:,} from members that leave")
    if what_if.added:
        parts.append(f"{what_if.added:,} that are unassigned now would get a member")
    if what_if.dropped:
        parts.append(f"{what_if.dropped:,} would become unassigned")
    changes = ", ".join(what_if.changes)
    head = f"with {changes} ({count(what_if.members, 'member')}, {what_if.assignor}): {', '.join(parts)}"
    return f"{head}; {_manner(what_if, now, modern)}"


def _manner(what_if: WhatIf, now: SimulatedGroup, modern: bool) -> str:
    """Return how the rebalance proceeds, and which members stop meanwhile."""
    only = "members continue to read the partitions that they keep"
    if modern:
        how = f"incrementally, each member revokes and adds partitions step by step (KIP-848): {only}"
    elif not what_if.stop_the_world:
        how = f"incrementally, in {count(what_if.rebalances, 'rebalance')} (KIP-429): {only}"
    else:
        paused = count(what_if.paused, "partition")
        how = f"stop-the-world: no member reads any of {paused} until the rebalance is complete"
    if now.assignor == what_if.assignor:
        return how
    if modern:
        return f"{how}. This requires a restart of all members with group.protocol=consumer"
    if what_if.assignor in INCREMENTAL:
        return (
            "this requires two restarts of all members: first with both assignors, then without the old one; after "
            "that the group rebalances incrementally"
        )
    return f"{how}. This requires two restarts of all members: first with both assignors, then without the old one"
