"""What the rules find in what was seen of one group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from ..groups import GroupId, GroupState, GroupType
from ..places import place_name
from ..views.lag_summary import By, shares, time_of
from ..views.offset_row import GroupOffsets, OffsetRow
from .amounts import Unread, committed, largest, so_many, some, total, undecoded, unread_of
from .commits import commit_ages, trend
from .findings import Finding, Place, Seen
from .limits import Limits
from .severity import Severity


def judge(seen: Sequence[Seen], limits: Limits) -> list[Finding]:
    """What the rules find in a group: one finding or more for each expectation, those that are met too.

    :param seen: looks at the group in their order of time, at least one. All but the trend goes by the last.
    """
    last = seen[-1]
    rows = [row for share in shares(last.offsets, By.GROUP) for row in share.rows]
    unread = unread_of(last.offsets.group, rows, allow_uncommitted=limits.allow_uncommitted)
    return [
        *_of_the_group(last.offsets, limits),
        *([_stopped(last)] if limits.stopped else ()),
        *(_assigned(last.offsets, rows) if limits.assigned else ()),
        *_of_lags(last, rows, limits, unread),
        *(commit_ages(last, rows, limits.commit_age, unread) if limits.commit_age else ()),
        *(trend(seen, unread) if limits.trend else ()),
    ]


def _of_the_group(offsets: GroupOffsets, limits: Limits) -> Iterator[Finding]:
    group = offsets.group
    name = group.group_id
    yield Finding(name, "exists", Severity.OK, "the group exists")
    if limits.states:
        allowed = "|".join(sorted(limits.states))
        yield _either(name, "state", group.state in limits.states, f"{group.state}", f"{allowed} is expected")
    if limits.type is not None:
        yield _either(name, "type", group.type == limits.type, f"{group.type}", f"{limits.type} is expected")
    if limits.assignor is not None:
        said = group.protocol or "no assignor"
        yield _either(name, "assignor", group.protocol == limits.assignor, said, f"{limits.assignor} is expected")
    if limits.members is None and limits.min_members is None:
        return
    if group.members is None:
        yield Finding(name, "members", Severity.UNKNOWN, f"the members of a {group.type} group cannot be told")
        return
    count = len(group.members)
    if limits.members is not None:
        well, expected = count == limits.members, f"exactly {limits.members:,} expected"
    else:
        well, expected = count >= (limits.min_members or 0), f"at least {limits.min_members:,} expected"
    yield _either(name, "members", well, so_many(count, "member"), expected)._replace(value=count)


def _either(group: GroupId, check: str, well: bool, said: str, expected: str) -> Finding:
    if well:
        return Finding(group, check, Severity.OK, said)
    return Finding(group, check, Severity.CRITICAL, f"{said}; {expected}")


def _stopped(seen: Seen) -> Finding:
    """Whether nobody uses the group: no member, and no client that commits without being one."""
    group = seen.offsets.group
    name = group.group_id
    if group.state not in (GroupState.EMPTY, GroupState.DEAD):
        return Finding(name, "stopped", Severity.CRITICAL, f"{group.state or 'state unknown'}; no members are expected")
    if seen.outsiders:
        return Finding(name, "stopped", Severity.CRITICAL, f"no members, but {seen.outsiders}")
    if seen.outsiders_unread:
        said = f"no members; whether other clients commit is unknown: {seen.outsiders_unread}"
        return Finding(name, "stopped", Severity.UNKNOWN, said)
    return Finding(name, "stopped", Severity.OK, "no members, and no other client commits")


def _assigned(offsets: GroupOffsets, rows: Sequence[OffsetRow]) -> Iterator[Finding]:
    """Partitions that nobody holds, or two; unknown where that cannot be told."""
    name = offsets.group.group_id
    kind = offsets.group.protocol_type
    if offsets.group.members is None:
        said = f"the members of a {offsets.group.type} group cannot be told"
        yield Finding(name, "assigned", Severity.UNKNOWN, said)
        return
    if offsets.group.members and kind not in _WITH_PARTITIONS:
        said = f"does not apply: a group of protocol type {kind!r} holds no partitions of topics"
        yield Finding(name, "assigned", Severity.UNKNOWN, said)
        return
    sharing = offsets.group.type == GroupType.SHARE
    claims = (
        _shared(offsets)
        if sharing
        else Counter(
            (row.topic, row.partition)
            for row in rows
            if row.topic is not None and row.partition is not None and row.consumer_id
        )
    )
    places = {(row.topic, row.partition) for row in rows if row.topic is not None and row.partition is not None}
    opaque = undecoded(offsets.group)
    alone = [] if opaque else sorted(place_name(*place) for place in places - claims.keys())
    twice = sorted(place_name(*each) for each, count in claims.items() if count > 1 and not sharing)
    faults = [
        *([f"{so_many(len(alone), 'partition')} without a member: {some(alone)}"] if alone else ()),
        *([f"{so_many(len(twice), 'partition')} claimed twice: {some(twice)}"] if twice else ()),
    ]
    if opaque:
        faults.append(f"the assignment of {so_many(opaque, 'member')} is not decoded")
    elif not places:
        faults.append("the group has no partitions: no committed offset, and no assignment")
    held = "a member" if sharing else "one member"
    said = "; ".join(faults) or f"each of {so_many(len(places), 'partition')} has {held}"
    broken = len(alone) + len(twice)
    severity = Severity.CRITICAL if broken else Severity.UNKNOWN if faults else Severity.OK
    yield Finding(name, "assigned", severity, said, broken if severity is not Severity.UNKNOWN else None)


_WITH_PARTITIONS = frozenset({"consumer", "share", "streams"})
"""Protocol types whose members hold partitions of topics."""


def _shared(offsets: GroupOffsets) -> Counter[Place]:
    """How many members of a share group have each partition: no row of its offsets names one."""
    members = offsets.group.members or ()
    return Counter((entry.topic, at) for each in members for entry in each.assignment.topics for at in entry.partitions)


def _of_lags(seen: Seen, rows: Sequence[OffsetRow], limits: Limits, unread: Unread) -> Iterator[Finding]:
    name = seen.offsets.group.group_id
    if limits.lag:
        yield total(name, "lag", rows, limits.lag, unread)
    for glob, limit in limits.topic_lag:
        topics = sorted({row.topic for row in rows if row.topic is not None and fnmatchcase(row.topic, glob)})
        for topic in topics:
            some = [row for row in rows if row.topic == topic]
            yield total(name, "topic-lag", some, limit, unread.among(some))._replace(topic=topic)
        if not topics:
            yield Finding(name, "topic-lag", Severity.UNKNOWN, f"the group has no topic like {glob!r}", limit=limit)
    if limits.partition_lag:
        lags = {place: row.lag for place, row in committed(rows).items()}
        yield largest(name, "partition-lag", lags, limits.partition_lag, "", unread)
    if limits.time_lag:
        times = {place: time_of(row, seen.ages) for place, row in committed(rows).items()}
        ages = {place: time.age for place, time in times.items()}
        reasons = {place: time.remark for place, time in times.items() if time.age is None and time.remark}
        yield largest(name, "time-lag", ages, limits.time_lag, "ms", unread, reasons)
