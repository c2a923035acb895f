"""The rows of the offsets view. Each row contains its whole key; a missing value is ``None``."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from operator import attrgetter, itemgetter

from ..groups import Group, GroupType, Member
from ..lag import EPOCH_AHEAD, compute_lag, diverged_remark, remark, waiting_remark
from ..offsets import LogOffsets
from .offset_row import GroupOffsets, OffsetRow, offset_row

UNSET = "the committed offset is -1"
LEFT = "the owner has left, and the partition is reserved for it until its session timeout is over"
PENDING = "an open transaction is going to replace the commit"

_NO_LOG = LogOffsets()
_NO_LOGS: Mapping[int, LogOffsets] = {}
_NO_HIGH: Mapping[int, int] = {}
_MemberFields = tuple[str | None, str | None, str | None, str | None]
_NO_OWNER: tuple[_MemberFields, ...] = ((None, None, None, None),)
_Owners = dict[str, dict[int, tuple[_MemberFields, ...]]]

_by_partition = itemgetter(1, 2)
_member_id = attrgetter("member_id")


def offset_rows(offsets: GroupOffsets) -> list[OffsetRow]:
    """Return the rows of the offsets view of one group, sorted by topic and partition.

    A partition that several members claim has one row for each, as in the Java tool. Members without partitions come
    last; their rows contain only the member.
    """
    if offsets.group.type == GroupType.SHARE:
        from .share_rows import share_rows

        return share_rows(offsets)
    group, logs, holes = offsets.group.group, offsets.logs.offsets, offsets.logs.holes
    owners, idle = _owners(offsets.group, offsets.topics)
    roles = _roles(offsets.group)
    marks, nonsubscribers, high = _marks(offsets, owners), _nonsubscribers(offsets.group), offsets.logs.high
    rows: list[OffsetRow] = []
    for topic, commits in offsets.commits.topics.items():
        topic_logs, topic_owners, role = logs.get(topic, _NO_LOGS), owners.get(topic, {}), roles.get(topic)
        epochs, topic_high = offsets.logs.epochs.get(topic), high.get(topic, _NO_HIGH)
        for partition, committed, epoch, _ in commits:
            log, high_mark = topic_logs.get(partition, _NO_LOG), topic_high.get(partition)
            start, end = log
            lag = compute_lag(committed, end)
            note = (holes.get((topic, partition)) if holes else None) or remark(committed, log, high_mark)
            # An inlined is_epoch_ahead: a call per commit takes as long as everything else.
            if epochs and epoch and epoch > epochs.get(partition, epoch):
                lag, note = None, EPOCH_AHEAD
            if marks and (mark := marks.get((topic, partition))):
                note = _joined(note, mark)
            for name, host, client, instance in topic_owners.pop(partition, _NO_OWNER):
                # fmt: off
                fields = (
                    group, topic, partition, epoch, committed, start, end, lag,
                    name, host, client, instance, note, None, role, high_mark, None,
                )
                # fmt: on
                rows.append(offset_row(fields))
    if offsets.commits.unset or any(owners.values()):
        rows += _without_commit(offsets, owners, roles)
    rows.sort(key=_by_partition)
    if nonsubscribers:
        rows = [_with_note_on_owner(row, nonsubscribers) for row in rows]
    rows = _with_divergence(_with_members_that_left(rows, offsets.group), offsets.logs.epoch_ends)
    for member in idle:
        raw = member.assignment.raw
        note = f"assignment not decoded: {raw}" if raw else None
        name, host, client, instance = _member_fields(member)
        rows.append(
            OffsetRow(group, consumer_id=name, host=host, client_id=client, group_instance_id=instance, note=note)
        )
    return rows


def count_left_out(offsets: GroupOffsets) -> int:
    """Count the partitions of topics with commits that have no row, although records are, or may be, unread there.

    Records may be unread where the log was not requested.
    """
    commits, logs, sizes = offsets.commits.topics, offsets.logs.offsets, offsets.logs.sizes
    if sum(sizes.get(topic, 0) for topic in commits) <= sum(map(len, commits.values())):  # as for nearly all
        return 0
    owners, _ = _owners(offsets.group, offsets.topics)
    unset = offsets.commits.unset
    number = 0
    for topic, committed in commits.items():
        shown = {entry.partition for entry in committed}.union(owners.get(topic, ()), unset.get(topic, ()))
        topic_logs = logs.get(topic, _NO_LOGS)
        rest = (topic_logs.get(at, _NO_LOG) for at in range(sizes.get(topic, 0)) if at not in shown)
        number += sum(log.start is None or log.start != log.end for log in rest)
    return number


def _with_divergence(rows: list[OffsetRow], ends: Mapping[tuple[str, int, int], int]) -> list[OffsetRow]:
    """Return the rows, with the first record that was replaced after the group read it, if any was.

    After an unclean election, a leader that lacked the last records of an epoch writes others at the same offsets.
    """
    return [_diverged(row, ends) for row in rows] if ends else rows


def _diverged(row: OffsetRow, ends: Mapping[tuple[str, int, int], int]) -> OffsetRow:
    if row.topic is None or row.partition is None or row.leader_epoch is None or row.current_offset is None:
        return row
    at = ends.get((row.topic, row.partition, row.leader_epoch))
    if at is None or at >= row.current_offset or row.lag is None or row.lag < 0:  # beyond the end, there are none yet
        return row
    return row._replace(diverged_at=at, note=_joined(row.note, diverged_remark(at, row.current_offset)))


def _marks(offsets: GroupOffsets, owned: Container[str]) -> dict[tuple[str, int], str]:
    """Return the notes about commits that do not follow from the log; for nearly all groups, there are none.

    :param owned: the topics that members own partitions of.
    """
    marks = dict.fromkeys(offsets.commits.pending or (), PENDING)
    if flight := offsets.commits.in_flight:
        marks = {place: f"batch {flight.batch} is in flight up to {end:,}" for place, end in flight.ends.items()}
    if offsets.logs.stable:
        for topic, commits in offsets.commits.topics.items():
            for commit in commits:
                if waiting := offsets.logs.waiting(topic, commit.partition, commit.offset):
                    place = topic, commit.partition
                    marks[place] = _joined(marks.get(place), waiting_remark(waiting))
    if offsets.group.members and any(topic not in owned for topic in offsets.commits.topics):
        from ..subscriptions import NOT_SUBSCRIBED, left_topics

        for topic in left_topics(offsets.group, offsets.commits.topics):
            for commit in offsets.commits.topics[topic]:
                place = topic, commit.partition
                marks[place] = _joined(marks.get(place), NOT_SUBSCRIBED)
    return marks


def _nonsubscribers(group: Group) -> Container[tuple[str | None, str | None]]:
    """Return the members that own partitions of topics that they do not subscribe to, each with such a topic."""
    for member in group.members or ():
        for entry in member.assignment.topics:
            if entry.topic not in member.subscription.topics:
                from ..subscriptions import not_owners

                return not_owners(group)
    return ()


def _with_note_on_owner(row: OffsetRow, nonsubscribers: Container[tuple[str | None, str | None]]) -> OffsetRow:
    """Return the row, with a note if the owner does not subscribe to the topic."""
    if (row.consumer_id, row.topic) not in nonsubscribers:
        return row
    return row._replace(note=_joined(row.note, "the owner does not subscribe to this topic"))


def _with_members_that_left(rows: list[OffsetRow], group: Group) -> list[OffsetRow]:
    """Return the rows, with a note on the partitions of static members that have left."""
    left = {member.member_id for member in group.members or () if member.has_left}
    if not left:  # as in nearly all groups
        return rows
    return [row._replace(note=_joined(row.note, LEFT)) if row.consumer_id in left else row for row in rows]


def _joined(note: str | None, more: str) -> str:
    return f"{note}; {more}" if note else more


def _without_commit(offsets: GroupOffsets, owners: _Owners, roles: Mapping[str, str]) -> Iterator[OffsetRow]:
    """Yield rows of partitions without a commit: a member owns them, or their committed offset is -1."""
    group, logs, holes = offsets.group.group, offsets.logs.offsets, offsets.logs.holes
    unset = {(topic, at) for topic, partitions in offsets.commits.unset.items() for at in partitions}
    claimed = {(topic, at): claims for topic, each in owners.items() for at, claims in each.items()}
    for pair in sorted({*claimed, *unset}):
        topic, partition = pair
        log = logs.get(topic, _NO_LOGS).get(partition, _NO_LOG)
        note = holes.get(pair) or (UNSET if pair in unset else None)
        for name, host, client, instance in claimed.get(pair, _NO_OWNER):
            yield OffsetRow(
                group,
                topic=topic,
                partition=partition,
                log_start_offset=log.start,
                log_end_offset=log.end,
                consumer_id=name,
                host=host,
                client_id=client,
                group_instance_id=instance,
                note=note,
                topic_role=roles.get(topic),
            )


def _roles(group: Group) -> Mapping[str, str]:
    """Return topic -> its role in a Kafka Streams application."""
    if group.topology is None:
        return _NO_ROLES
    topology = group.topology
    return {topic: role for topic in (*topology.sources, *topology.internal) if (role := topology.role(topic))}


_NO_ROLES: Mapping[str, str] = {}


def _member_fields(member: Member) -> _MemberFields:
    return (member.member_id, member.host, member.client_id, member.instance_id)


def _owners(group: Group, topics: frozenset[str]) -> tuple[_Owners, list[Member]]:
    """Return the owners of each partition, and the members without partitions, both sorted by member ID.

    :param topics: consider only these topics; empty: all.
    """
    owners: _Owners = {}
    idle: list[Member] = []
    for member in sorted(group.members or (), key=_member_id):
        claim = (_member_fields(member),)
        for topic, partitions in member.assignment.topics:
            if not topics or topic in topics:
                claimed = owners.setdefault(topic, {})
                for partition in partitions:
                    claimed[partition] = claimed[partition] + claim if partition in claimed else claim
        if not member.assignment.topics and not topics:
            idle.append(member)
    return owners, idle
