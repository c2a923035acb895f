"""Responses of a fake broker about share groups (KIP-932). A start offset below 0 means none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from kio.schema.errors import ErrorCode

from kgroups.model.offsets import Commit

from . import versions
from .answers import NO_TIME, OK, kept
from .cluster_state import FakeGroup, FakeMember
from .oracle import build, nested

if TYPE_CHECKING:
    from .broker import FakeBroker

_ID = UUID(int=1)


def share_group_describe(broker: FakeBroker, request: Any, kind: Any) -> Any:
    entry = nested(kind, "DescribedGroup")
    described = []
    for name in request.group_ids:
        if name in broker.state.omitted:
            continue
        group, error = kept(broker, "ShareGroupDescribe", name)
        if not error and (not group or group.type != "Share"):
            group, error = None, ErrorCode.group_id_not_found
        described.append(
            build(
                entry,
                error_code=error,
                group_id=name,
                group_state=group.state if group else "",
                group_epoch=7,
                assignment_epoch=6,
                assignor_name="simple" if group else "",
                members=tuple(_member(kind, each) for each in group.members) if group else (),
            )
        )
    return build(kind, throttle_time=NO_TIME, groups=tuple(described))


def _member(kind: Any, member: FakeMember) -> Any:
    part = nested(kind, "TopicPartitions")
    held = tuple(
        build(part, topic_id=_ID, topic_name=topic, partitions=partitions) for topic, partitions in member.holds.items()
    )
    return build(
        nested(kind, "Member"),
        member_id=member.member_id,
        rack_id="rack-1",
        member_epoch=7,
        client_id=member.client_id,
        client_host=member.host,
        subscribed_topic_names=tuple(member.holds),
        assignment=build(nested(kind, "Assignment"), topic_partitions=held),
    )


def describe_share_group_offsets(broker: FakeBroker, request: Any, kind: Any) -> Any:
    entry = nested(kind, "DescribeShareGroupOffsetsResponseGroup")
    topic = nested(kind, "DescribeShareGroupOffsetsResponseTopic")
    groups = []
    for asked in request.groups:
        group, error = kept(broker, "DescribeShareGroupOffsets", asked.group_id)
        starts: dict[str, list[Any]] = {}
        for pair in group.commits if group else ():
            starts.setdefault(pair[0], []).append(_start(broker, kind, group, pair))
        topics = tuple(
            build(topic, topic_name=name, topic_id=_ID, partitions=tuple(found)) for name, found in starts.items()
        )
        groups.append(build(entry, group_id=asked.group_id, topics=topics, error_code=error))
    return build(kind, throttle_time=NO_TIME, groups=tuple(groups))


def _start(broker: FakeBroker, kind: Any, group: Any, pair: tuple[str, int]) -> Any:
    made = group.commits[pair]
    offset = made.offset if isinstance(made, Commit) else made
    return build(
        nested(kind, "DescribeShareGroupOffsetsResponsePartition"),
        partition_index=pair[1],
        start_offset=offset,
        leader_epoch=4,
        lag=group.lags.get(pair, broker.state.topics[pair[0]].end - offset if offset >= 0 else -1),
        error_code=broker.state.error("DescribeShareGroupOffsets", f"{pair[0]}-{pair[1]}"),
    )


def alter_share_group_offsets(broker: FakeBroker, request: Any, kind: Any) -> Any:
    group, error = _idle(broker, "AlterShareGroupOffsets", request.group_id)
    topic = nested(kind, "AlterShareGroupOffsetsResponseTopic")
    entry = nested(kind, "AlterShareGroupOffsetsResponsePartition")
    topics = []
    for asked in () if error else request.topics:
        answered = []
        for each in asked.partitions:
            pair = (asked.topic_name, each.partition_index)
            code = broker.state.error("AlterShareGroupOffsets", f"{pair[0]}-{pair[1]}")
            if asked.topic_name not in broker.state.topics:
                code = ErrorCode.unknown_topic_or_partition
            if not code:
                group = group or broker.state.group(request.group_id, broker.id, type="Share", protocol_type="share")
                group.commits[pair] = each.start_offset
            answered.append(build(entry, partition_index=pair[1], error_code=code))
        topics.append(build(topic, topic_name=asked.topic_name, topic_id=_ID, partitions=tuple(answered)))
    return build(kind, throttle_time=NO_TIME, error_code=error, responses=tuple(topics))


def delete_share_group_offsets(broker: FakeBroker, request: Any, kind: Any) -> Any:
    group, error = _idle(broker, "DeleteShareGroupOffsets", request.group_id)
    if not group and not error:
        error = ErrorCode.group_id_not_found
    topic = nested(kind, "DeleteShareGroupOffsetsResponseTopic")
    topics = []
    for asked in () if error or not group else request.topics:
        held = [pair for pair in group.commits if pair[0] == asked.topic_name]
        for pair in held:
            del group.commits[pair]
        code = OK if held else ErrorCode.unknown_topic_or_partition
        topics.append(build(topic, topic_name=asked.topic_name, topic_id=_ID, error_code=code))
    return build(kind, throttle_time=NO_TIME, error_code=error, responses=tuple(topics))


def _idle(broker: FakeBroker, api: str, name: str) -> tuple[FakeGroup | None, ErrorCode]:
    group, error = kept(broker, api, name)
    if group and group.type != "Share":
        return None, ErrorCode.group_id_not_found
    if group and group.members:
        return None, ErrorCode.non_empty_group
    return group, error


BY_API = {
    versions.SHARE_GROUP_DESCRIBE: share_group_describe,
    versions.DESCRIBE_SHARE_GROUP_OFFSETS: describe_share_group_offsets,
    versions.ALTER_SHARE_GROUP_OFFSETS: alter_share_group_offsets,
    versions.DELETE_SHARE_GROUP_OFFSETS: delete_share_group_offsets,
}
