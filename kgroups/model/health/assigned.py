"""Whether each partition is assigned to exactly one member."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..counts import count, some
from ..groups import GroupId, GroupState, GroupType
from ..offsets import LogProblem, place_name
from ..severity import Severity
from ..status import never_seen_text
from ..stays import Instances
from ..subscriptions import not_owners
from ..views.offset_row import GroupOffsets, OffsetRow
from .amounts import undecoded
from .check import Check, Evidence, Flag
from .findings import Finding, Place
from .values import parse_flag


def _judge(evidence: Evidence) -> Iterator[Finding]:
    return _assigned(evidence.last.offsets, evidence.rows)


def _assigned(offsets: GroupOffsets, rows: Sequence[OffsetRow]) -> Iterator[Finding]:
    """Judge whether partitions have no member, or several; UNKNOWN if that cannot be determined."""
    name = offsets.group.group
    protocol_type = offsets.group.protocol_type
    if offsets.group.members is None:
        message = f"the members of {offsets.group.type} groups are not reported"
        yield Finding(name, "assigned", Severity.UNKNOWN, message)
        return
    if offsets.group.members and protocol_type not in _WITH_PARTITIONS:
        message = f"does not apply: members of protocol type {protocol_type!r} have no partitions"
        yield Finding(name, "assigned", Severity.UNKNOWN, message)
        return
    is_share_group = offsets.group.type == GroupType.SHARE
    claims = (
        _shared(offsets)
        if is_share_group
        else Counter(
            (row.topic, row.partition)
            for row in rows
            if row.topic is not None and row.partition is not None and row.consumer_id
        )
    )
    left = {member.member_id for member in offsets.group.members if member.has_left}
    reserved = sorted(
        place_name(row.topic, row.partition or 0) for row in rows if row.topic is not None and row.consumer_id in left
    )
    places = {(row.topic, row.partition) for row in rows if row.topic is not None and row.partition is not None}
    opaque = undecoded(offsets.group)
    free = set() if opaque else places - claims.keys()
    absent = {
        place
        for place in free
        if offsets.logs.problems.get(place) is LogProblem.MISSING and place[0] not in offsets.commits.topics
    }
    unassigned = sorted(place_name(*place) for place in free - absent)
    twice = sorted(place_name(*each) for each, claimed in claims.items() if claimed > 1 and not is_share_group)
    unread = _unread(offsets, rows)
    faults = [
        *([f"{count(len(unassigned), 'partition')} not assigned: {some(unassigned)}"] if unassigned else ()),
        *([never_seen_text(absent)] if absent else ()),
        *([f"{count(len(twice), 'partition')} assigned twice: {some(twice)}"] if twice else ()),
        *([f"{_to_nonsubscribers(unread)}: {some(unread)}"] if unread else ()),
        *(
            [f"{count(len(reserved), 'partition')} reserved for static members that left: {some(reserved)}"]
            if reserved
            else ()
        ),
    ]
    if opaque:
        faults.append(f"the assignment of {count(opaque, 'member')} cannot be decoded")
    elif not places:
        faults.append("the group has no partitions: no committed offset, and no assignment")
    elif offsets.group.state in GroupState.JOINING and not faults:
        faults.append(f"the group is rebalancing ({offsets.group.state}): its members had the partitions before")
    owner = "a member" if is_share_group else "one member"
    message = "; ".join(faults) or f"each of {count(len(places), 'partition')} has {owner}"
    broken = len({*unassigned, *twice, *unread}) + len(absent)
    severity = Severity.CRITICAL if broken else Severity.UNKNOWN if faults else Severity.OK
    yield Finding(name, "assigned", severity, message, broken if severity is not Severity.UNKNOWN else None)


def _unread(offsets: GroupOffsets, rows: Sequence[OffsetRow]) -> list[str]:
    """Return the partitions of which no owner subscribes to the topic."""
    nonsubscribers = not_owners(offsets.group)
    if not nonsubscribers:
        return []
    read: dict[Place, bool] = {}
    for row in rows:
        if row.topic is not None and row.partition is not None and row.consumer_id:
            place = row.topic, row.partition
            read[place] = read.get(place, False) or (row.consumer_id, row.topic) not in nonsubscribers
    return sorted(place_name(*place) for place, is_read in read.items() if not is_read)


def _to_nonsubscribers(names: Sequence[str]) -> str:
    return f"{count(len(names), 'partition')} assigned to members that do not subscribe to the topic"


def with_instances(finding: Finding, instances: Mapping[GroupId, Instances]) -> Finding:
    """Return a finding with what is known about instance IDs: who shares one loses its partitions again and again."""
    known = instances.get(finding.group)
    if finding.check != "assigned" or known is None:
        return finding
    if known.shared:
        words = "; ".join(map(str, known.shared))
        message = words if finding.severity is Severity.OK else f"{finding.message}; {words}"
        return finding._replace(severity=Severity.CRITICAL, message=message)
    if known.unknown and finding.severity is Severity.OK:
        return finding._replace(
            message=f"{finding.message}; unknown whether clients share instance IDs: {known.unknown}"
        )
    return finding


_WITH_PARTITIONS = frozenset({"consumer", "share", "streams"})
"""Protocol types whose members own partitions of topics."""


def _shared(offsets: GroupOffsets) -> Counter[Place]:
    """Count the members of a share group that have each partition: rows of its offsets contain no members."""
    members = offsets.group.members or ()
    return Counter((entry.topic, at) for each in members for entry in each.assignment.topics for at in entry.partitions)


CHECK = Check(
    "assigned",
    "assigned",
    Flag("Require every partition to be assigned to exactly one member."),
    "true or false",
    parse_flag,
    judge=_judge,
)
