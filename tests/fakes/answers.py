"""Responses of a fake broker to each API in any version; each value is set once for all versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from kio.schema.errors import ErrorCode
from kio.static.primitive import Records

from kgroups.model.offsets import Commit
from kgroups.protocol.apis.describe_configs import DYNAMIC_GROUP, GROUP
from kgroups.protocol.apis.metadata import UNAVAILABLE

from . import versions
from .cluster_state import FakeGroup, FakeMember, FakeTopic, assignment_bytes, subscription_bytes
from .oracle import build, nested

if TYPE_CHECKING:
    from .broker import FakeBroker

STATIC_BROKER = 4
OK = ErrorCode.none
NO_TIME = timedelta(0)


def api_versions(broker: FakeBroker, request: Any, kind: Any, error: ErrorCode = OK) -> Any:
    entry = nested(kind, "ApiVersion")
    keys = tuple(build(entry, api_key=k, min_version=lo, max_version=hi) for k, (lo, hi) in broker.ranges.items())
    features = {}
    if broker.state.features is not None and hasattr(kind, "finalized_features"):
        key = nested(kind, "FinalizedFeatureKey")
        levels = broker.state.features.items()
        features = {
            "finalized_features_epoch": 1,
            "finalized_features": tuple(
                build(key, name=name, max_version_level=level, min_version_level=0) for name, level in levels
            ),
        }
    return build(kind, error_code=error, api_keys=keys, throttle_time=NO_TIME, **features)


def metadata(broker: FakeBroker, request: Any, kind: Any) -> Any:
    node = nested(kind, "MetadataResponseBroker")
    named = list(broker.state.topics) if request.topics is None else [entry.name for entry in request.topics]
    asked = [*named, *broker.state.unasked]
    return build(
        kind,
        throttle_time=NO_TIME,
        brokers=tuple(
            build(node, node_id=peer.id, host="127.0.0.1", port=peer.advertised or peer.port, rack=None)
            for peer in broker.peers.values()
        ),
        cluster_id=broker.state.cluster_id,
        controller_id=0,
        cluster_authorized_operations=broker.state.operations,
        topics=tuple(_topic(broker, kind, name) for name in asked if name not in broker.state.omitted),
    )


def _topic(broker: FakeBroker, kind: Any, name: str) -> Any:
    topic = broker.state.topics.get(name)
    error = broker.state.error("Metadata", name) or (OK if topic else ErrorCode.unknown_topic_or_partition)
    partition = nested(kind, "MetadataResponsePartition")
    leaders = list(broker.stale.get(name, topic.leaders)) if topic and not error else []
    for index, seen in (topic.leader_seen if topic else {}).items():
        if seen and leaders:
            leaders[index] = seen.pop(0)
    partitions = tuple(
        build(
            partition,
            error_code=OK if leader >= 0 else ErrorCode.leader_not_available,
            partition_index=index,
            leader_id=leader,
            leader_epoch=topic.epochs.get(index, 0) if topic and name not in broker.stale else 0,
            replica_nodes=(0,),
            isr_nodes=(0,),
        )
        for index, leader in enumerate(leaders)
    )
    return build(
        nested(kind, "MetadataResponseTopic"),
        error_code=error,
        name=name,
        topic_id=UUID(int=topic.topic_id if topic and not error else 0),
        partitions=partitions,
        topic_authorized_operations=broker.state.authorized.get(name, UNAVAILABLE),
    )


def find_coordinator(broker: FakeBroker, request: Any, kind: Any) -> Any:
    if hasattr(request, "coordinator_keys"):
        entry = nested(kind, "Coordinator")
        wanted = [name for name in request.coordinator_keys if name not in broker.state.omitted]
        found = tuple(build(entry, key=name, **_place(broker, name)) for name in wanted)
        return build(kind, throttle_time=NO_TIME, coordinators=found)
    return build(kind, throttle_time=NO_TIME, **_place(broker, request.key))


def _place(broker: FakeBroker, name: str) -> dict[str, Any]:
    error = broker.state.error("FindCoordinator", name)
    if error:
        return {"error_code": error, "error_message": None, "node_id": -1, "host": "", "port": -1}
    group = broker.state.groups.get(name)
    at = broker.peers[group.coordinator if group else len(name) % len(broker.peers)]
    return {
        "error_code": OK,
        "error_message": None,
        "node_id": at.id,
        "host": "127.0.0.1",
        "port": at.advertised or at.port,
    }


def _lists(broker: FakeBroker, group: FakeGroup) -> bool:
    if broker.state.coordinators is not None:
        return not broker.state.hindrance(broker.id, group.name)
    return broker.id in (group.coordinator, group.dead_on)


def list_groups(broker: FakeBroker, request: Any, kind: Any) -> Any:
    entry = nested(kind, "ListedGroup")
    states = {word.casefold() for word in getattr(request, "states_filter", ())}
    types = {word.casefold() for word in getattr(request, "types_filter", ())}
    listed = [
        (g, "Dead" if g.dead_on == broker.id else g.state) for g in broker.state.groups.values() if _lists(broker, g)
    ]
    groups = tuple(
        build(entry, group_id=g.name, protocol_type=g.protocol_type, group_state=state, group_type=g.type)
        for g, state in listed
        if (not states or state.casefold() in states) and (not types or g.type.casefold() in types)
    )
    error = broker.state.error("ListGroups", str(broker.id))
    return build(kind, throttle_time=NO_TIME, error_code=error, groups=groups)


def kept(broker: FakeBroker, api: str, name: str) -> tuple[FakeGroup | None, ErrorCode]:
    """A group as this broker knows it, or the error that it gives."""
    group = broker.state.groups.get(name)
    error = broker.state.error(api, name) or broker.state.hindrance(broker.id, name)
    if broker.state.coordinators is None and not error and group and group.coordinator != broker.id:
        error = ErrorCode.not_coordinator
    return (None, error) if error else (group, OK)


def describe_groups(broker: FakeBroker, request: Any, kind: Any) -> Any:
    entry = nested(kind, "DescribedGroup")
    member = nested(kind, "DescribedGroupMember")
    described = []
    for name in request.groups:
        if name in broker.state.omitted:
            continue
        group, error = kept(broker, "DescribeGroups", name)
        if group and group.type != "Classic":
            group = None
        if not group and not error and kind.__version__ >= 6:
            error = ErrorCode.group_id_not_found
        described.append(
            build(
                entry,
                error_code=error,
                group_id=name,
                group_state=group.state if group else "" if error else "Dead",
                protocol_type=group.protocol_type if group else "",
                protocol_data=group.protocol if group else "",
                members=tuple(_classic_member(member, each) for each in group.members) if group else (),
                authorized_operations=broker.state.authorized.get(name, UNAVAILABLE),
            )
        )
    return build(kind, throttle_time=NO_TIME, groups=tuple(described))


def _classic_member(kind: Any, member: FakeMember) -> Any:
    return build(
        kind,
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.host,
        member_metadata=subscription_bytes(member.holds) if member.metadata is None else member.metadata,
        member_assignment=assignment_bytes(member.holds) if member.garbage is None else member.garbage,
    )


def consumer_group_describe(broker: FakeBroker, request: Any, kind: Any) -> Any:
    entry = nested(kind, "DescribedGroup")
    described = []
    for name in request.group_ids:
        if name in broker.state.omitted:
            continue
        group, error = kept(broker, "ConsumerGroupDescribe", name)
        if not error and (not group or group.type != "Consumer"):
            group, error = None, ErrorCode.group_id_not_found
        described.append(
            build(
                entry,
                error_code=error,
                group_id=name,
                group_state=group.state if group else "",
                group_epoch=7,
                assignment_epoch=7,
                assignor_name=group.protocol if group else "",
                members=tuple(_consumer_member(kind, each) for each in group.members) if group else (),
            )
        )
    return build(kind, throttle_time=NO_TIME, groups=tuple(described))


def _consumer_member(kind: Any, member: FakeMember) -> Any:
    part = nested(kind, "TopicPartitions")
    held = tuple(
        build(part, topic_id=UUID(int=1), topic_name=topic, partitions=partitions)
        for topic, partitions in member.holds.items()
    )
    assignment = build(nested(kind, "Assignment"), topic_partitions=held)
    return build(
        nested(kind, "Member"),
        member_id=member.member_id,
        instance_id=member.instance_id,
        member_epoch=7,
        client_id=member.client_id,
        client_host=member.host,
        subscribed_topic_names=tuple(member.holds),
        assignment=assignment,
        target_assignment=assignment,
        member_type=1,
    )


def offset_fetch(broker: FakeBroker, request: Any, kind: Any) -> Any:
    if not hasattr(request, "groups"):
        error, topics = _committed(broker, request, request.group_id, kind, "")
        return build(kind, throttle_time=NO_TIME, topics=topics, error_code=error)
    entry = nested(kind, "OffsetFetchResponseGroup")
    groups = []
    for asked in request.groups:
        if asked.group_id not in broker.state.omitted:
            error, topics = _committed(broker, request, asked.group_id, kind, "s")
            groups.append(build(entry, group_id=asked.group_id, topics=topics, error_code=error))
    return build(kind, throttle_time=NO_TIME, groups=tuple(groups))


def _committed(
    broker: FakeBroker, request: Any, name: str, kind: Any, plural: str
) -> tuple[ErrorCode, tuple[Any, ...]]:
    """``plural``: Kafka's definition names the structs inside a batched answer so."""
    topic, partition = nested(kind, f"OffsetFetchResponseTopic{plural}"), f"OffsetFetchResponsePartition{plural}"
    group, error = kept(broker, "OffsetFetch", name)
    by_topic: dict[str, list[Any]] = {}
    for (topic_name, index), value in (group.commits if group else {}).items():
        made = value if isinstance(value, Commit) else Commit(index, value, 4)
        unstable = getattr(request, "require_stable", False) and group and (topic_name, index) in group.pending
        commit = build(
            nested(kind, partition),
            partition_index=index,
            committed_offset=-1 if unstable else made.offset,
            committed_leader_epoch=-1 if made.leader_epoch is None or unstable else made.leader_epoch,
            metadata="" if unstable else made.metadata,
            error_code=ErrorCode.unstable_offset_commit if unstable else OK,
        )
        by_topic.setdefault(topic_name, []).append(commit)
    return error, tuple(build(topic, name=name, partitions=tuple(found)) for name, found in by_topic.items())


def list_offsets(broker: FakeBroker, request: Any, kind: Any) -> Any:
    topic, partition = nested(kind, "ListOffsetsTopicResponse"), nested(kind, "ListOffsetsPartitionResponse")
    topics = []
    for asked in request.topics:
        known = broker.state.topics.get(asked.name)
        found = []
        for entry in asked.partitions:
            index = entry.partition_index
            error = broker.state.error("ListOffsets", f"{asked.name}-{index}")
            if not known or index >= len(known.leaders):
                error = ErrorCode.unknown_topic_or_partition
            elif known.leaders[index] != broker.id:
                error = ErrorCode.not_leader_or_follower
            offset = -1 if error or not known else _offset(known, request, entry.timestamp)
            epoch = -1 if error or not known else known.epoch
            found.append(
                build(
                    partition, partition_index=index, error_code=error, offset=offset, timestamp=-1, leader_epoch=epoch
                )
            )
        topics.append(build(topic, name=asked.name, partitions=tuple(found)))
    return build(kind, throttle_time=NO_TIME, topics=tuple(topics))


def offset_for_leader_epoch(broker: FakeBroker, request: Any, kind: Any) -> Any:
    topic, partition = nested(kind, "OffsetForLeaderTopicResult"), nested(kind, "EpochEndOffset")
    topics = []
    for asked in request.topics:
        known = broker.state.topics.get(asked.topic)
        found = []
        for entry in asked.partitions:
            index = entry.partition
            error = broker.state.error("OffsetForLeaderEpoch", f"{asked.topic}-{index}")
            if not known or index >= len(known.leaders):
                error = ErrorCode.unknown_topic_or_partition
            elif known.leaders[index] != broker.id:
                error = ErrorCode.not_leader_or_follower
            epoch, end = (-1, -1) if error or not known else _epoch_end(known, index, entry.leader_epoch)
            found.append(build(partition, partition=index, error_code=error, leader_epoch=epoch, end_offset=end))
        topics.append(build(topic, topic=asked.topic, partitions=tuple(found)))
    return build(kind, throttle_time=NO_TIME, topics=tuple(topics))


def _epoch_end(topic: FakeTopic, partition: int, epoch: int) -> tuple[int, int]:
    """As in Kafka's LeaderEpochFileCache."""
    starts = topic.history.get(partition, {topic.epoch: topic.start})
    later = [start for each, start in sorted(starts.items()) if each > epoch]
    if not later:
        return (epoch, topic.end) if epoch in starts else (-1, -1)
    return max((each for each in starts if each <= epoch), default=epoch), min(later[0], topic.end)


def _offset(topic: FakeTopic, request: Any, timestamp: int) -> int:
    if timestamp == -2:
        return topic.start
    if timestamp >= 0:
        return next((offset for offset, time in sorted(topic.times.items()) if time >= timestamp), -1)
    return topic.end if topic.stable is None or not getattr(request, "isolation_level", 0) else topic.stable


def fetch(broker: FakeBroker, request: Any, kind: Any) -> Any:
    """As brokers do: a batch that does not fit is left out or cut off, but the first of all is given whole."""
    topic, partition = nested(kind, "FetchableTopicResponse"), nested(kind, "PartitionData")
    topics, given = [], 0
    for asked in request.topics:
        known = broker.state.topics.get(asked.topic)
        found = []
        for entry in asked.partitions:
            error = broker.state.error("Fetch", f"{asked.topic}-{entry.partition}")
            if not known or entry.partition >= len(known.leaders):
                error = ErrorCode.unknown_topic_or_partition
            elif known.leaders[entry.partition] != broker.id:
                error = ErrorCode.not_leader_or_follower
            elif not error and not known.start <= entry.fetch_offset <= known.end:
                error = ErrorCode.offset_out_of_range
            room = min(entry.partition_max_bytes, request.max_bytes - given)
            records = b"" if error or not known else _records(known, entry, request.isolation_level, room, not given)
            given += len(records)
            found.append(
                build(
                    partition,
                    partition_index=entry.partition,
                    error_code=error,
                    high_watermark=-1 if error or not known else known.end,
                    last_stable_offset=-1 if error or not known else _stable(known),
                    aborted_transactions=_aborted(kind, known) if known and request.isolation_level else None,
                    records=Records(records),
                )
            )
        topics.append(build(topic, topic=asked.topic, partitions=tuple(found)))
    return build(kind, throttle_time=NO_TIME, error_code=broker.state.error("Fetch", ""), responses=tuple(topics))


def _stable(topic: FakeTopic) -> int:
    return topic.end if topic.stable is None else topic.stable


def _records(topic: FakeTopic, entry: Any, isolation: int, room: int, first: bool) -> bytes:
    end = _stable(topic) if isolation else topic.end
    log = topic.logs.get(entry.partition, ())
    there = [batch.data for batch in log if batch.last >= entry.fetch_offset and batch.base < end]
    if not there or len(there[0]) > room:
        return there[0] if there and first else b""
    return b"".join(there)[:room]


def _aborted(kind: Any, topic: FakeTopic) -> tuple[Any, ...]:
    each = nested(kind, "AbortedTransaction")
    return tuple(build(each, producer_id=one.producer_id, first_offset=one.first_offset) for one in topic.aborted)


def offset_commit(broker: FakeBroker, request: Any, kind: Any) -> Any:
    group, error = kept(broker, "OffsetCommit", request.group_id)
    if group and group.members and not request.member_id:
        error = ErrorCode.unknown_member_id
    entry, topic = nested(kind, "OffsetCommitResponsePartition"), nested(kind, "OffsetCommitResponseTopic")
    topics = []
    names = {each.topic_id: each.name for each in broker.state.topics.values()}
    for asked in request.topics:
        answered = []
        by_id = hasattr(asked, "topic_id")
        name = names.get(asked.topic_id.int) if by_id else asked.name
        for each in asked.partitions:
            pair = (name, each.partition_index)
            code = error or broker.state.error("OffsetCommit", f"{pair[0]}-{pair[1]}")
            if not code and name is None:
                code = ErrorCode.unknown_topic_id
            if not code:
                group = group or broker.state.group(request.group_id, broker.id)
                epoch = getattr(each, "committed_leader_epoch", -1)
                group.commits[pair] = Commit(
                    pair[1], each.committed_offset, None if epoch < 0 else epoch, each.committed_metadata or ""
                )
            answered.append(build(entry, partition_index=pair[1], error_code=code))
        which = {"topic_id": asked.topic_id} if by_id else {"name": asked.name}
        topics.append(build(topic, **which, partitions=tuple(answered)))
    return build(kind, throttle_time=NO_TIME, topics=tuple(topics))


def offset_delete(broker: FakeBroker, request: Any, kind: Any) -> Any:
    group, error = kept(broker, "OffsetDelete", request.group_id)
    if not group:
        return build(kind, throttle_time=NO_TIME, error_code=error or ErrorCode.group_id_not_found, topics=())
    read = {topic for member in group.members for topic in member.holds}
    entry, topic = nested(kind, "OffsetDeleteResponsePartition"), nested(kind, "OffsetDeleteResponseTopic")
    topics = []
    for asked in request.topics:
        code = ErrorCode.group_subscribed_to_topic if asked.name in read else OK
        for each in asked.partitions:
            if not code:
                group.commits.pop((asked.name, each.partition_index), None)
        answered = tuple(
            build(entry, partition_index=each.partition_index, error_code=code) for each in asked.partitions
        )
        topics.append(build(topic, name=asked.name, partitions=answered))
    return build(kind, throttle_time=NO_TIME, error_code=OK, topics=tuple(topics))


def delete_groups(broker: FakeBroker, request: Any, kind: Any) -> Any:
    entry = nested(kind, "DeletableGroupResult")
    results = []
    for name in request.groups_names:
        group, error = kept(broker, "DeleteGroups", name)
        if not error:
            error = ErrorCode.group_id_not_found if not group else ErrorCode.non_empty_group if group.members else OK
        if not error:
            del broker.state.groups[name]
        if name not in broker.state.omitted:
            results.append(build(entry, group_id=name, error_code=error))
    return build(kind, throttle_time=NO_TIME, results=tuple(results))


def leave_group(broker: FakeBroker, request: Any, kind: Any) -> Any:
    group, error = kept(broker, "LeaveGroup", request.group_id)
    entry = nested(kind, "MemberResponse")
    answered = []
    for asked in request.members:
        found = [
            member
            for member in (group.members if group else ())
            if (member.instance_id or "", "" if member.instance_id else member.member_id)
            == (asked.group_instance_id or "", asked.member_id)
        ]
        if group:
            group.members = tuple(member for member in group.members if member not in found)
        code = OK if found else ErrorCode.unknown_member_id
        identity = {"member_id": asked.member_id, "group_instance_id": asked.group_instance_id}
        answered.append(build(entry, error_code=code, **identity))
    return build(kind, throttle_time=NO_TIME, error_code=error, members=tuple(answered))


def describe_configs(broker: FakeBroker, request: Any, kind: Any) -> Any:
    """Groups inherit the settings of the resource with the empty name; those are static settings of the broker."""
    entry, part = nested(kind, "DescribeConfigsResult"), nested(kind, "DescribeConfigsResourceResult")
    synonym = nested(kind, "DescribeConfigsSynonym")
    results = []
    for asked in request.resources:
        error = broker.state.error("DescribeConfigs", asked.resource_name)
        of_group = asked.resource_type == GROUP
        own = {} if error else broker.state.settings.get(asked.resource_name, {})
        inherited = broker.state.settings.get("", {}) if of_group and not error else {}
        answer = inherited | own
        same = {"read_only": False, "is_default": False, "is_sensitive": False, "documentation": None}
        wanted = answer if asked.configuration_keys is None else asked.configuration_keys
        configs = []
        for name in (name for name in wanted if name in answer):
            values = [(DYNAMIC_GROUP if of_group else 0, own.get(name))] if name in own else []
            values += [(STATIC_BROKER, inherited[name])] if name in inherited else []
            synonyms = tuple(build(synonym, name=name, value=value, source=source) for source, value in values)
            source, value = values[0]
            shown = synonyms if request.include_synonyms else ()
            configs.append(build(part, name=name, value=value, config_source=source, synonyms=shown, **same))
        identity = {"resource_type": asked.resource_type, "resource_name": asked.resource_name}
        results.append(build(entry, error_code=error, error_message=None, configs=tuple(configs), **identity))
    return build(kind, throttle_time=NO_TIME, results=tuple(results))


def incremental_alter_configs(broker: FakeBroker, request: Any, kind: Any) -> Any:
    """Reject settings that no group has, and the value "invalid"."""
    entry = nested(kind, "AlterConfigsResourceResponse")
    results = []
    for asked in request.resources:
        group = asked.resource_name
        error, message = broker.state.error("IncrementalAlterConfigs", group), None
        for change in asked.configs:
            if not error and change.name not in broker.state.settings.get("", {}):
                error, message = ErrorCode.invalid_config, f"Unknown group config name: {change.name}"
            elif not error and change.value == "invalid":
                error, message = ErrorCode.invalid_config, f"Invalid value invalid for configuration {change.name}"
        if not error and not request.validate_only:
            own = broker.state.settings.setdefault(group, {})
            for change in asked.configs:
                own.pop(change.name, None)
                if change.config_operation == 0:
                    own[change.name] = change.value
        identity = {"resource_type": asked.resource_type, "resource_name": group}
        results.append(build(entry, error_code=error, error_message=message, **identity))
    return build(kind, throttle_time=NO_TIME, responses=tuple(results))


def describe_acls(broker: FakeBroker, request: Any, kind: Any) -> Any:
    error = broker.state.error("DescribeAcls", "") or broker.state.acls_error
    return build(kind, throttle_time=NO_TIME, error_code=error, error_message=None, resources=())


def describe_log_dirs(broker: FakeBroker, request: Any, kind: Any) -> Any:
    entry, topic = nested(kind, "DescribeLogDirsResult"), nested(kind, "DescribeLogDirsTopic")
    part = nested(kind, "DescribeLogDirsPartition")
    wanted = None if request.topics is None else {each.topic: each.partitions for each in request.topics}
    error = broker.state.error("DescribeLogDirs", str(broker.id))
    topics = tuple(
        build(
            topic,
            name=name,
            partitions=tuple(
                build(part, partition_index=at, partition_size=each.sizes.get(at, 0), offset_lag=0, is_future_key=False)
                for at, leader in enumerate(each.leaders)
                if leader == broker.id and (wanted is None or at in wanted[name])
            ),
        )
        for name, each in broker.state.topics.items()
        if broker.id in each.leaders and (wanted is None or name in wanted)
    )
    places = () if error else (build(entry, error_code=OK, log_dir="/log", topics=topics),)
    return build(kind, throttle_time=NO_TIME, error_code=error, results=places)


BY_API: Mapping[int, Callable[[Any, Any, Any], Any]] = {
    versions.API_VERSIONS: api_versions,
    versions.METADATA: metadata,
    versions.FIND_COORDINATOR: find_coordinator,
    versions.LIST_GROUPS: list_groups,
    versions.DESCRIBE_GROUPS: describe_groups,
    versions.CONSUMER_GROUP_DESCRIBE: consumer_group_describe,
    versions.OFFSET_FETCH: offset_fetch,
    versions.LIST_OFFSETS: list_offsets,
    versions.FETCH: fetch,
    versions.OFFSET_FOR_LEADER_EPOCH: offset_for_leader_epoch,
    versions.OFFSET_COMMIT: offset_commit,
    versions.OFFSET_DELETE: offset_delete,
    versions.DELETE_GROUPS: delete_groups,
    versions.LEAVE_GROUP: leave_group,
    versions.DESCRIBE_CONFIGS: describe_configs,
    versions.DESCRIBE_ACLS: describe_acls,
    versions.DESCRIBE_LOG_DIRS: describe_log_dirs,
    versions.INCREMENTAL_ALTER_CONFIGS: incremental_alter_configs,
}


def keys_of(request: Any) -> tuple[str, ...]:
    """The groups or topics that a request is about."""
    if hasattr(request, "group_id") and not hasattr(request, "groups"):
        return (request.group_id,)
    if hasattr(request, "resources"):
        return tuple(entry.resource_name for entry in request.resources)
    for name in ("coordinator_keys", "groups_names", "group_ids", "groups", "topics"):
        value = getattr(request, name, None)
        if value:
            return tuple(each if isinstance(each, str) else _name(each) for each in value)
    single = getattr(request, "key", None) or getattr(request, "group_id", None)
    return (single,) if single else ()


def _name(entry: Any) -> str:
    for field in ("group_id", "name", "topic"):
        if hasattr(entry, field):
            return str(getattr(entry, field))
    raise TypeError(type(entry).__name__)
