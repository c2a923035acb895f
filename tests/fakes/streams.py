"""Responses of a fake broker about streams groups (KIP-1071) and topic deletion."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any
from uuid import UUID

from kio.schema.errors import ErrorCode

from kgroups.model.streams import AssignedTasks, InternalTopic, Subtopology, Tasks

from . import versions
from .answers import NO_TIME, OK, kept
from .cluster_state import FakeGroup, FakeMember
from .oracle import build, nested

if TYPE_CHECKING:
    from .broker import FakeBroker


def streams_group_describe(broker: FakeBroker, request: Any, kind: Any) -> Any:
    described = []
    for name in request.group_ids:
        if name in broker.state.omitted:
            continue
        group, error = kept(broker, "StreamsGroupDescribe", name)
        if not error and (not group or group.type != "Streams"):
            group, error = None, ErrorCode.group_id_not_found
        described.append(
            build(
                nested(kind, "DescribedGroup"),
                error_code=error,
                group_id=name,
                group_state=group.state if group else "",
                group_epoch=7,
                assignment_epoch=6,
                topology=_topology(kind, group) if group else None,
                members=tuple(_member(kind, each) for each in group.members) if group else (),
                assignor_name="sticky" if group else None,
                **_nodes(kind, group if request_has_nodes(request) else None),
            )
        )
    return build(kind, throttle_time=NO_TIME, groups=tuple(described))


def request_has_nodes(request: Any) -> bool:
    return bool(getattr(request, "include_topology_description", False))


def _nodes(kind: Any, group: FakeGroup | None) -> dict[str, Any]:
    """Return one source node per subtopology, if requested and supported by the version."""
    if group is None or group.subtopologies is None or not hasattr(sys.modules[kind.__module__], "TopologyDescription"):
        return {}
    empty: dict[str, Any] = {"sink_topic": None, "stores": (), "successors": ()}
    parts = tuple(
        build(
            nested(kind, "TopologyDescriptionSubtopology"),
            subtopology_id=part.name,
            nodes=(
                build(
                    nested(kind, "TopologyDescriptionNode"),
                    name=f"in-{part.name}",
                    node_type=1,
                    source_topics=part.sources,
                    **empty,
                ),
            ),
        )
        for part in group.subtopologies
    )
    described = build(nested(kind, "TopologyDescription"), subtopologies=parts, global_stores=())
    return {"topology_description": described, "topology_description_status": 3}


def _topology(kind: Any, group: FakeGroup) -> Any:
    parts = group.subtopologies
    answer = None if parts is None else tuple(_subtopology(kind, part) for part in parts)
    return build(nested(kind, "Topology"), epoch=3, subtopologies=answer)


def _subtopology(kind: Any, part: Subtopology) -> Any:
    return build(
        nested(kind, "Subtopology"),
        subtopology_id=part.name,
        source_topics=part.sources,
        repartition_sink_topics=part.repartition_sinks,
        state_changelog_topics=tuple(_internal(kind, topic) for topic in part.changelogs),
        repartition_source_topics=tuple(_internal(kind, topic) for topic in part.repartition_sources),
    )


def _internal(kind: Any, topic: InternalTopic) -> Any:
    configs = tuple(build(nested(kind, "KeyValue"), key=key, value=value) for key, value in topic.configs)
    return build(
        nested(kind, "TopicInfo"),
        name=topic.name,
        partitions=topic.partitions,
        replication_factor=topic.replication,
        topic_configs=configs,
    )


def _member(kind: Any, member: FakeMember) -> Any:
    assigned = _assigned(kind, member.tasks)
    return build(
        nested(kind, "Member"),
        member_id=member.member_id,
        member_epoch=7,
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.host,
        topology_epoch=3,
        process_id=f"process-of-{member.member_id}",
        user_endpoint=build(nested(kind, "Endpoint"), host="localhost", port=65000),
        client_tags=(build(nested(kind, "KeyValue"), key="zone", value="a"),),
        task_offsets=(),
        task_end_offsets=(),
        assignment=assigned,
        target_assignment=assigned,
        is_classic=False,
    )


def _assigned(kind: Any, tasks: AssignedTasks) -> Any:
    active, standby, warmup = (_tasks(kind, each) for each in tasks)
    return build(nested(kind, "Assignment"), active_tasks=active, standby_tasks=standby, warmup_tasks=warmup)


def _tasks(kind: Any, tasks: Tasks) -> tuple[Any, ...]:
    each = nested(kind, "TaskIds")
    return tuple(
        build(each, subtopology_id=entry.subtopology, partitions=entry.partitions) for entry in tasks.subtopologies
    )


def delete_topics(broker: FakeBroker, request: Any, kind: Any) -> Any:
    entry = nested(kind, "DeletableTopicResult")
    answered = []
    for asked in request.topics:
        name = asked.name
        error = broker.state.error("DeleteTopics", name)
        if not error:
            error = OK if broker.state.topics.pop(name, None) else ErrorCode.unknown_topic_or_partition
        if name not in broker.state.omitted:
            answered.append(build(entry, name=name, topic_id=UUID(int=1), error_code=error, error_message=None))
    return build(kind, throttle_time=NO_TIME, responses=tuple(answered))


BY_API = {
    versions.STREAMS_GROUP_DESCRIBE: streams_group_describe,
    versions.DELETE_TOPICS: delete_topics,
}
