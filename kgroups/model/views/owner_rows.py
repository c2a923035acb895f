"""The rows of ``kgroups owners``: who reads each partition."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from ..counts import count, some
from ..groups import Group, GroupState, GroupType
from ..topic_scope import TopicScope, in_scope
from .offset_row import GroupOffsets, OffsetRow
from .offsets import offset_rows
from .share_rows import NOT_READ_YET


class OwnerRow(NamedTuple):
    """One partition that a group has an assignment or a committed offset on; several members may claim it.

    ``group`` is ``None`` if no group does. ``topic`` is ``None`` for a group that the principal cannot describe, and
    for a member without partitions if no topic is selected.
    """

    topic: str | None
    partition: int | None
    group: str | None
    type: str | None = None
    state: str | None = None
    consumer_id: str | None = None
    host: str | None = None
    client_id: str | None = None
    group_instance_id: str | None = None
    current_offset: int | None = None
    lag: int | None = None
    note: str | None = None


def owner_rows(offsets: GroupOffsets, scope: TopicScope | None) -> Iterator[OwnerRow]:
    """Yield the owners of the selected partitions in one group.

    :param scope: ``None``: all partitions, and the members without partitions.
    """
    group = offsets.group
    rows = offset_rows(offsets)
    if group.type == GroupType.SHARE:  # brokers report no start offset of a partition before its first read
        known = {(row.topic, row.partition) for row in rows}
        assigned = {
            (entry.topic, at)
            for member in group.members or ()
            for entry in member.assignment.topics
            for at in entry.partitions
        }
        rows = [*rows, *(OffsetRow(group.group, topic, at, note=NOT_READ_YET) for topic, at in assigned - known)]
    for row in rows:
        if row.topic is None and scope is not None:
            continue
        if row.topic is not None and not in_scope(scope, row.topic, row.partition or 0):
            continue
        owner = OwnerRow(
            row.topic,
            row.partition,
            group.group,
            group.type,
            group.state or None,
            row.consumer_id,
            row.host,
            row.client_id,
            row.group_instance_id,
            row.current_offset if row.start_offset is None else row.start_offset,
            row.lag,
        )
        if group.type == GroupType.SHARE and row.topic is not None:
            yield from _sharers(group, owner, row.note)
        else:
            yield owner._replace(note=_joined(_without_owner(group, owner), row.note))


def _sharers(group: Group, row: OwnerRow, note: str | None) -> Iterator[OwnerRow]:
    """Yield a row for each member of a share group that reads a partition."""
    members = [
        member
        for member in sorted(group.members or ())
        for entry in member.assignment.topics
        if entry.topic == row.topic and row.partition in entry.partitions
    ]
    if not members:
        yield row._replace(note=_joined(_without_owner(group, row), note))
    shared = f"shared by {count(len(members), 'member')}" if len(members) > 1 else None
    for member in members:
        yield row._replace(
            consumer_id=member.member_id,
            host=member.host,
            client_id=member.client_id,
            group_instance_id=member.instance_id,
            note=_joined(shared, note),
        )


def _without_owner(group: Group, row: OwnerRow) -> str | None:
    """Return why no member owns a partition; ``None`` if one does."""
    if row.consumer_id is not None:
        return "no partitions" if row.topic is None else None
    if group.members is None:
        return "members unknown"
    if group.state in GroupState.JOINING:
        return "no owner while the group rebalances"
    if group.members:
        return f"no member owns it; the group has {count(len(group.members), 'member')}"
    return "no member"


def _joined(first: str | None, second: str | None) -> str | None:
    return "; ".join(filter(None, (first, second))) or None


def unread_rows(
    topic: str, partitions: Collection[int], groups: Collection[str], *, certain: bool
) -> Iterator[OwnerRow]:
    """Yield the rows of partitions on which no group has an assignment or a committed offset.

    :param groups: those that have the topic: their lag includes these partitions.
    :param certain: whether no group can be missing in the result.
    """
    note = "no group reads it" if certain else "no group found, but some groups are unknown"
    if groups:
        note = f"no owner, and no committed offset; groups with the topic: {some(sorted(groups))}"
    for partition in sorted(partitions):
        yield OwnerRow(topic, partition, None, note=note)
