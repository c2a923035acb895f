"""The members: static members, reconciliation, upgrades to KIP-848, racks, and clients that are not members."""

from __future__ import annotations

from collections.abc import Iterator

from kgroups.model.duration import Milliseconds

from ..counts import count, some
from ..offsets import place_name
from ..stays import SharedInstance
from ..views.lag_summary import pending_remark
from .facts import GroupFacts
from .findings import Finding, info, problem, warning


def find(facts: GroupFacts) -> Iterator[Finding]:
    yield from _static(facts)
    if facts.members:
        yield from _upgrade(facts)
        yield from _left(facts)
        yield from _reconciling(facts)
        yield from _racks(facts)
    yield from _outsiders(facts)


def _static(facts: GroupFacts) -> Iterator[Finding]:
    static = [member.instance_id for member in facts.members if member.instance_id is not None]
    yield from map(_shared_instance, facts.instances.shared)
    if not static or facts.instances.shared:  # no member that restarts gets its partitions back then
        return
    if len(static) == len(facts.members):
        session = facts.timeouts.session.number if facts.timeouts else None
        limit = "" if session is None else f" of {Milliseconds(session)}"
        whole = "its only member is" if len(static) == 1 else f"all {len(static):,} members are"
        unknown = f", unless another client uses its ID, which is unknown: {facts.instances.unknown}"
        yield info(
            "static-members",
            f"{whole} static: a member that restarts within its session timeout{limit} gets its partitions back "
            "without a rebalance" + (unknown if facts.instances.unknown else ""),
        )
    else:
        yield warning(
            "static-members",
            f"{_of(len(static), facts, 'is', 'are')} static ({some(static)}); each restart of "
            "another member causes a rebalance",
            static,
        )


def _shared_instance(found: SharedInstance) -> Finding:
    return problem("shared-instance-id", str(found), [found.instance_id])


def _of(number: int, facts: GroupFacts, one: str, many: str) -> str:
    """Return ``1 of 3 members is``, or ``2 of 3 members are``."""
    return f"{number:,} of {count(len(facts.members), 'member')} {one if number == 1 else many}"


def _upgrade(facts: GroupFacts) -> Iterator[Finding]:
    """Yield a finding about members of a KIP-848 group that still use the classic protocol."""
    classic = [member.member_id for member in facts.members if member.upgraded is False]
    if classic:
        yield warning(
            "upgrade-under-way",
            f"{_of(len(classic), facts, 'still uses', 'still use')} the classic protocol: an upgrade "
            f"to KIP-848, or a downgrade, is in progress ({some(classic)})",
            classic,
        )


def _left(facts: GroupFacts) -> Iterator[Finding]:
    """Yield a finding about static members that have left, whose partitions no member reads until they are back."""
    left = [member.instance_id or member.member_id for member in facts.members if member.has_left]
    if left:
        session = (
            f" of {Milliseconds(facts.timeouts.session.number)}"
            if facts.timeouts and facts.timeouts.session.number
            else ""
        )
        yield warning(
            "static-members-left",
            f"{_of(len(left), facts, 'is a static member that has', 'are static members that have')} left "
            f"({some(left)}): no member reads their partitions, which are reserved until the session timeout{session} "
            "is over",
            left,
        )


def _reconciling(facts: GroupFacts) -> Iterator[Finding]:
    group = facts.group
    late = [
        member.member_id
        for member in facts.members
        if not member.has_left
        if (member.target is not None and member.target.topics != member.assignment.topics)
        or (None not in (member.member_epoch, group.group_epoch) and member.member_epoch != group.group_epoch)
    ]
    if late:
        yield warning(
            "reconciling",
            f"{_of(len(late), facts, 'does', 'do')} not yet have the target assignment "
            f"({some(late)}): revocation or assignment of partitions is in progress; the group epoch is "
            f"{group.group_epoch}",
            late,
        )


def _racks(facts: GroupFacts) -> Iterator[Finding]:
    racks = {rack for member in facts.members if (rack := member.rack_id or member.subscription.rack)}
    if racks:
        yield info(
            "racks",
            f"members report {count(len(racks), 'rack')} ({some(sorted(racks))}); explain ignores racks",
        )


def _outsiders(facts: GroupFacts) -> Iterator[Finding]:
    """Yield findings about clients that are not members, such as consumers that use ``assign()``, and Flink."""
    pending = facts.commits.pending if facts.commits else None
    if pending:
        (text,) = pending_remark(pending)
        names = [place_name(*place) for place in sorted(pending)]
        if facts.members:
            yield info("open-transaction", f"{text}: they are committed when it is", names)
        else:
            text = f"it has no members, but {text}: its client is running, or did not end it; the group is in use"
            yield warning("open-transaction", text, names)
    if facts.outsiders:
        yield warning(
            "not-stopped",
            "it has no members, but a client that is not a member commits offsets for it, such as a consumer that uses "
            f"assign(), or Flink: {facts.outsiders}; the group is in use, and that client would overwrite a reset of "
            "its offsets",
        )
