"""Hand-written readers compared with kio as the oracle; requests are in ``test_apis``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgroups.errors import RemoteProtocolError
from kgroups.model.assignment import Assignment, Subscription, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupType, Member, canonical_word
from kgroups.model.offsets import Commit, GroupCommits
from kgroups.model.outcome import Scope
from kgroups.model.quotas import Quota
from kgroups.model.streams import (
    AssignedTasks,
    GlobalStore,
    InternalTopic,
    Nodes,
    ProcessingNode,
    StreamsMember,
    Subtopology,
    SubtopologyTasks,
    Tasks,
    Topology,
    TopologyNodes,
    TopologyStatus,
)
from kgroups.protocol.apis import (
    alter_share_group_offsets,
    api_versions,
    consumer_group_describe,
    delete_groups,
    delete_share_group_offsets,
    delete_topics,
    describe_acls,
    describe_client_quotas,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_producers,
    describe_share_group_offsets,
    describe_transactions,
    fetch,
    find_coordinator,
    incremental_alter_configs,
    list_groups,
    list_offsets,
    list_transactions,
    metadata,
    offset_for_leader_epoch,
    sasl_authenticate,
    sasl_handshake,
    share_group_describe,
    streams_group_describe,
)
from kgroups.protocol.apis.consumer_group_describe import ConsumerGroup
from kgroups.protocol.apis.describe_configs import DescribeGroupConfigs, Entry, Resource, Synonym
from kgroups.protocol.apis.describe_groups import ClassicGroup
from kgroups.protocol.apis.describe_producers import Producer
from kgroups.protocol.apis.describe_transactions import Transaction
from kgroups.protocol.apis.fetch import Fetched
from kgroups.protocol.apis.list_groups import GroupList, ListedEntry
from kgroups.protocol.apis.metadata import UNAVAILABLE, ClusterMetadata, TopicLeaders, operations_of
from kgroups.protocol.apis.offset_for_leader_epoch import EpochEnd
from kgroups.protocol.apis.share_group_describe import ShareGroup
from kgroups.protocol.apis.streams_group_describe import StreamsGroup
from kgroups.protocol.embedded.registry import decode_member
from kgroups.protocol.error_codes import Code, KafkaError, kafka_error
from kgroups.protocol.record_batch import Aborted
from kgroups.protocol.versions import Api, BrokerVersions, VersionRange
from tests.fakes.oracle import read, read_response, request_type, response_type, write, write_request
from tests.property.strategies import CALLS, calls, damaged, entities, names

EPOCH = datetime.fromtimestamp(0, UTC)
FEWER = settings(max_examples=max(10, settings.default.max_examples // 2))


def versions_of(response: Any) -> BrokerVersions:
    ranges = {entry.api_key: VersionRange(entry.min_version, entry.max_version) for entry in response.api_keys}
    throttle = getattr(response, "throttle_time", timedelta()) if response.__version__ >= 2 else timedelta()
    features = None
    if response.__version__ >= 3 and response.finalized_features_epoch >= 0:
        features = {each.name: each.max_version_level for each in response.finalized_features}
    return BrokerVersions(ranges, max(0, throttle // timedelta(milliseconds=1)) / 1000, features)


def offsets_of(response: Any) -> dict[tuple[str, int], list_offsets.Found | KafkaError]:
    return {
        (topic.name, entry.partition_index): kafka_error(entry.error_code)
        if entry.error_code
        else list_offsets.Found(entry.offset, epoch if (epoch := getattr(entry, "leader_epoch", -1)) >= 0 else None)
        for topic in response.topics
        for entry in topic.partitions
    }


def epoch_ends_of(response: Any) -> dict[tuple[str, int], EpochEnd | KafkaError]:
    return {
        (topic.topic, entry.partition): kafka_error(entry.error_code)
        if entry.error_code
        else EpochEnd(entry.leader_epoch, entry.end_offset)
        for topic in response.topics
        for entry in topic.partitions
    }


def settings_of(response: Any) -> dict[Resource, dict[str, str | None] | KafkaError]:
    words = describe_configs._MESSAGES
    return {
        Resource(entry.resource_type, entry.resource_name): kafka_error(entry.error_code, entry.error_message, words)
        if entry.error_code
        else {config.name: config.value for config in entry.configs}
        for entry in response.results
    }


def entries_of(response: Any) -> dict[str, tuple[Entry, ...] | KafkaError]:
    words = describe_configs._MESSAGES
    return {
        entry.resource_name: kafka_error(entry.error_code, entry.error_message, words)
        if entry.error_code
        else tuple(
            Entry(each.name, each.value, each.config_source, tuple(map(synonym_of, each.synonyms)))
            for each in entry.configs
        )
        for entry in response.results
    }


def synonym_of(each: Any) -> Synonym:
    return Synonym(each.name, each.value, each.source)


def altered_configs_of(response: Any) -> dict[str, str | KafkaError]:
    words = incremental_alter_configs._MESSAGES
    return {
        entry.resource_name: kafka_error(entry.error_code, entry.error_message, words)
        if entry.error_code
        else entry.resource_name
        for entry in response.responses
    }


def sizes_of(response: Any) -> dict[tuple[str, int], int] | KafkaError:
    errors = (getattr(response, "error_code", 0), *(entry.error_code for entry in response.results))
    if error := next(filter(None, errors), 0 if response.results else Code.cluster_authorization_failed):
        return kafka_error(error)
    return {
        (topic.name, each.partition_index): each.partition_size
        for entry in response.results
        for topic in entry.topics
        for each in topic.partitions
        if not each.is_future_key
    }


def producers_of(response: Any) -> dict[tuple[str, int], tuple[Producer, ...] | KafkaError]:
    return {
        (topic.name, entry.partition_index): kafka_error(entry.error_code, entry.error_message)
        if entry.error_code
        else tuple(
            Producer(
                each.producer_id,
                each.last_timestamp,
                started if (started := each.current_txn_start_offset) >= 0 else None,
            )
            for each in entry.active_producers
        )
        for topic in response.topics
        for entry in topic.partitions
    }


def acls_of(response: Any) -> int | KafkaError:
    if response.error_code:
        return kafka_error(response.error_code, response.error_message)
    return sum(len(each.acls) for each in response.resources)


def quotas_of(response: Any) -> tuple[Quota, ...] | KafkaError:
    if response.error_code:
        return kafka_error(response.error_code, response.error_message)
    return tuple(
        Quota(
            {each.entity_type: each.entity_name for each in entry.entity},
            {each.key: each.value for each in entry.values},
        )
        for entry in response.entries or ()
    )


def transactions_of(response: Any) -> dict[str, Transaction | KafkaError]:
    return {
        entry.transactional_id: kafka_error(entry.error_code)
        if entry.error_code
        else Transaction(
            entry.producer_id,
            entry.transaction_state,
            entry.transaction_timeout // timedelta(milliseconds=1),
            started if (started := (entry.transaction_start_time - EPOCH) // timedelta(milliseconds=1)) >= 0 else None,
        )
        for entry in response.transaction_states
    }


def transactional_ids_of(response: Any) -> dict[int, str] | KafkaError:
    if response.error_code:
        return kafka_error(response.error_code)
    return {entry.producer_id: entry.transactional_id for entry in response.transaction_states}


def metadata_of(response: Any) -> ClusterMetadata:
    nodes = tuple(sorted(Node(entry.node_id, entry.host, entry.port) for entry in response.brokers))
    topics = tuple(leaders_of(topic) for topic in response.topics)
    answer = operations_of(getattr(response, "cluster_authorized_operations", UNAVAILABLE))
    return ClusterMetadata(getattr(response, "cluster_id", None), nodes, topics, answer, response.controller_id)


def leaders_of(topic: Any) -> TopicLeaders:
    answer = getattr(topic, "topic_id", None)
    topic_id = answer.int if answer else 0
    leaders = {
        entry.partition_index: entry.leader_id
        if entry.leader_id >= 0
        else kafka_error(entry.error_code or Code.leader_not_available)
        for entry in topic.partitions
    }
    epochs = {entry.partition_index: entry.leader_epoch for entry in topic.partitions if hasattr(entry, "leader_epoch")}
    out_of_sync = frozenset(
        entry.partition_index for entry in topic.partitions if len(entry.isr_nodes) != len(entry.replica_nodes)
    )
    error = kafka_error(topic.error_code) if topic.error_code else None
    operations = operations_of(getattr(topic, "topic_authorized_operations", UNAVAILABLE))
    return TopicLeaders(topic.name, error, leaders, topic_id, epochs, out_of_sync, operations)


def fetched_of(response: Any) -> dict[tuple[str, int], Fetched | KafkaError]:
    found: dict[tuple[str, int], Fetched | KafkaError] = {}
    for topic in () if getattr(response, "error_code", None) else response.responses:
        for entry in topic.partitions:
            aborted = tuple(Aborted(each.producer_id, each.first_offset) for each in entry.aborted_transactions or ())
            found[topic.topic, entry.partition_index] = (
                kafka_error(entry.error_code)
                if entry.error_code
                else Fetched(entry.high_watermark, entry.last_stable_offset, aborted, entry.records or b"")
            )
    return found


def list_of(response: Any) -> GroupList:
    entries = tuple(
        ListedEntry(
            entry.group_id,
            entry.protocol_type,
            getattr(entry, "group_state", None) or None,
            type_of(getattr(entry, "group_type", None)),
        )
        for entry in response.groups
    )
    return GroupList(kafka_error(response.error_code) if response.error_code else None, entries)


def type_of(word: str | None) -> str | None:
    return (canonical_word(word, GroupType.ALL) or word) if word else None


def coordinators_of(response: Any) -> dict[str, Node | KafkaError]:
    entries = response.coordinators if hasattr(response, "coordinators") else (response,)
    return {
        getattr(entry, "key", "asked"): kafka_error(entry.error_code, getattr(entry, "error_message", None))
        if entry.error_code
        else Node(entry.node_id, entry.host, entry.port)
        for entry in entries
    }


def classic_groups_of(response: Any) -> dict[str, ClassicGroup | KafkaError]:
    return {group.group_id: classic_group_of(group) for group in response.groups}


def classic_group_of(group: Any) -> ClassicGroup | KafkaError:
    if group.error_code:
        return kafka_error(group.error_code, getattr(group, "error_message", None))
    members = []
    for member in group.members:
        asked, held = decode_member(
            group.protocol_type, member.member_metadata, member.member_assignment, group.protocol_data
        )
        who = (member.member_id, member.client_id, member.client_host, held)
        instance_id = getattr(member, "group_instance_id", None)
        described = Member(*who, instance_id, asked.rack, asked)
        sizes: tuple[int, int] | tuple[None, None] = (len(member.member_metadata), len(member.member_assignment))
        if group.group_state != "Stable":
            sizes = (None, None)
        members.append(described._replace(metadata_bytes=sizes[0], assignment_bytes=sizes[1]))
    return ClassicGroup(group.group_id, group.group_state, group.protocol_type, group.protocol_data, tuple(members))


def consumer_groups_of(response: Any) -> dict[str, ConsumerGroup | KafkaError]:
    """Return the best of several results for a group: a description before an error before GROUP_ID_NOT_FOUND."""
    answer: dict[str, Any] = {}
    for worth in ((False, False), (False, True), (True, True)):
        for group in response.groups:
            if (not group.error_code, group.error_code != Code.group_id_not_found) == worth:
                answer[group.group_id] = consumer_group_of(group)
    return answer


def consumer_group_of(group: Any) -> ConsumerGroup | KafkaError:
    if group.error_code:
        return kafka_error(group.error_code, group.error_message)
    epochs = (group.group_epoch, group.assignment_epoch)
    members = tuple(map(member_of, group.members))
    return ConsumerGroup(group.group_id, group.group_state, group.assignor_name, *epochs, members)


def member_of(member: Any) -> Member:
    held = assignment_told(member.assignment)
    topics = tuple(sorted(member.subscribed_topic_names))
    return Member(
        member.member_id,
        member.client_id,
        member.client_host,
        held,
        member.instance_id,
        member.rack_id,
        Subscription(topics, member.subscribed_topic_regex or None, held),
        member.member_epoch,
        assignment_told(member.target_assignment),
        {0: False, 1: True}.get(getattr(member, "member_type", -1)),
    )


def share_groups_of(response: Any) -> dict[str, ShareGroup | KafkaError]:
    return {group.group_id: share_group_of(group) for group in response.groups}


def share_group_of(group: Any) -> ShareGroup | KafkaError:
    if group.error_code:
        return kafka_error(group.error_code, group.error_message)
    epochs = (group.group_epoch, group.assignment_epoch)
    members = tuple(map(sharer_of, group.members))
    return ShareGroup(group.group_id, group.group_state, group.assignor_name, *epochs, members)


def sharer_of(member: Any) -> Member:
    held = assignment_told(member.assignment)
    return Member(
        member.member_id,
        member.client_id,
        member.client_host,
        held,
        rack_id=member.rack_id,
        subscription=Subscription(tuple(sorted(member.subscribed_topic_names)), owned=held),
        member_epoch=member.member_epoch,
    )


def starts_of(response: Any) -> dict[str, GroupCommits | KafkaError]:
    return {
        group.group_id: kafka_error(group.error_code, group.error_message) if group.error_code else starts_told(group)
        for group in response.groups
    }


def starts_told(group: Any) -> GroupCommits:
    entries = [(topic.topic_name, entry) for topic in group.topics for entry in topic.partitions]
    starts: dict[str, tuple[Commit, ...]] = {}
    unset: dict[str, tuple[int, ...]] = {}
    lags, failures = {}, {}
    for topic, entry in entries:
        at = entry.partition_index
        if entry.error_code:
            error = kafka_error(entry.error_code, entry.error_message)
            error = error._replace(message=f"group '{group.group_id}': {error.message}")
            failures[topic, at] = error.failure(Scope.PARTITION, f"{topic}-{at}", api="DescribeShareGroupOffsets")
        if entry.start_offset < 0 or entry.error_code:
            unset[topic] = (*unset.get(topic, ()), at)
            continue
        epoch = None if entry.leader_epoch < 0 else entry.leader_epoch
        starts[topic] = (*starts.get(topic, ()), Commit(at, entry.start_offset, epoch))
        if hasattr(entry, "lag"):
            lags[topic, at] = entry.lag
    return GroupCommits(group.group_id, starts, unset, lags, failures, frozenset())


def altered_of(response: Any) -> dict[str, Any]:
    words = alter_share_group_offsets._MESSAGES
    return {
        "g": kafka_error(response.error_code, response.error_message, words)
        if response.error_code
        else {
            (topic.topic_name, entry.partition_index): kafka_error(entry.error_code, entry.error_message, words)
            if entry.error_code
            else None
            for topic in response.responses
            for entry in topic.partitions
        }
    }


def forgotten_of(response: Any) -> dict[str, Any]:
    """The broker's own words, but for what takes an ACL."""

    def reported(code: int, message: str | None) -> KafkaError:
        ours = kafka_error(code, message, delete_share_group_offsets._MESSAGES)
        return ours if code in delete_share_group_offsets._MESSAGES or not message else ours._replace(message=message)

    return {
        "g": reported(response.error_code, response.error_message)
        if response.error_code
        else {
            topic.topic_name: reported(topic.error_code, topic.error_message) if topic.error_code else None
            for topic in response.responses
        }
    }


def assignment_told(assignment: Any) -> Assignment:
    return assignment_of((entry.topic_name, entry.partitions) for entry in assignment.topic_partitions)


def mechanisms_of(response: Any) -> sasl_handshake.Mechanisms:
    return sasl_handshake.Mechanisms(Code(response.error_code), response.mechanisms)


def authentication_of(response: Any) -> sasl_authenticate.Authentication:
    lifetime = getattr(response, "session_lifetime", timedelta()) // timedelta(milliseconds=1) / 1000
    answer = (Code(response.error_code), response.error_message, response.auth_bytes)
    return sasl_authenticate.Authentication(*answer, lifetime if lifetime > 0 else None)


def streams_groups_of(response: Any) -> dict[str, StreamsGroup | KafkaError]:
    """As :func:`consumer_groups_of`."""
    answer: dict[str, Any] = {}
    for worth in ((False, False), (False, True), (True, True)):
        for group in response.groups:
            if (not group.error_code, group.error_code != Code.group_id_not_found) == worth:
                answer[group.group_id] = streams_group_of(group)
    return answer


def streams_group_of(group: Any) -> StreamsGroup | KafkaError:
    if group.error_code:
        return kafka_error(group.error_code, group.error_message)
    topology = None
    if group.topology:
        parts = group.topology.subtopologies
        topology = Topology(
            group.topology.epoch, None if parts is None else tuple(map(subtopology_of, parts)), nodes_of_topology(group)
        )
    members = tuple(map(streams_member_of, group.members))
    answer = (group.group_id, group.group_state, group.group_epoch, group.assignment_epoch, topology, members)
    return StreamsGroup(*answer, getattr(group, "assignor_name", None))


def nodes_of_topology(group: Any) -> TopologyNodes | None:
    status = getattr(group, "topology_description_status", None)
    if status is None:
        return None
    described = group.topology_description
    return TopologyNodes(
        TopologyStatus(status),
        tuple((part.subtopology_id, Nodes(map(node_of, part.nodes))) for part in described.subtopologies)
        if described
        else (),
        tuple(GlobalStore(node_of(store.source), node_of(store.processor)) for store in described.global_stores)
        if described
        else (),
    )


def node_of(node: Any) -> ProcessingNode:
    topics, stores, successors = map(tuple, (node.source_topics, node.stores, node.successors))
    return ProcessingNode(node.name, node.node_type, topics, node.sink_topic, stores, successors)


def subtopology_of(part: Any) -> Subtopology:
    return Subtopology(
        part.subtopology_id,
        tuple(part.source_topics),
        tuple(map(internal_of, part.repartition_source_topics)),
        tuple(part.repartition_sink_topics),
        tuple(map(internal_of, part.state_changelog_topics)),
    )


def internal_of(topic: Any) -> InternalTopic:
    configs = tuple(sorted((entry.key, entry.value) for entry in topic.topic_configs))
    return InternalTopic(topic.name, topic.partitions, topic.replication_factor, configs)


def streams_member_of(member: Any) -> Member:
    endpoint = member.user_endpoint
    mine = StreamsMember(
        member.process_id,
        member.topology_epoch,
        tasks_of(member.assignment),
        tasks_of(member.target_assignment),
        member.is_classic,
        f"{endpoint.host}:{endpoint.port}" if endpoint else None,
        tuple(sorted((tag.key, tag.value) for tag in member.client_tags)),
    )
    return Member(
        member.member_id,
        member.client_id,
        member.client_host,
        Assignment(),
        member.instance_id,
        member.rack_id,
        Subscription(),
        member.member_epoch,
        Assignment(),
        not member.is_classic,
        mine,
    )


def tasks_of(assignment: Any) -> AssignedTasks:
    kinds = (assignment.active_tasks, assignment.standby_tasks, assignment.warmup_tasks)
    return AssignedTasks(
        *(
            Tasks(tuple(sorted(SubtopologyTasks(each.subtopology_id, tuple(sorted(each.partitions))) for each in kind)))
            for kind in kinds
        )
    )


def deleted_topics_of(response: Any) -> dict[str, str | KafkaError]:
    return {
        entry.name: kafka_error(entry.error_code, getattr(entry, "error_message", None), delete_topics._MESSAGES)
        if entry.error_code
        else entry.name
        for entry in response.responses
        if entry.name is not None
    }


def deleted_groups_of(response: Any) -> dict[str, str | KafkaError]:
    return {
        entry.group_id: deletion_error_of(entry) if entry.error_code else entry.group_id for entry in response.results
    }


def deletion_error_of(entry: Any) -> KafkaError:
    if message := getattr(entry, "error_message", None):
        return KafkaError(Code(entry.error_code), message)
    return kafka_error(entry.error_code, messages=delete_groups._MESSAGES)


BY_KIO: dict[Api, Callable[[Any], Any]] = {
    alter_share_group_offsets.API: altered_of,
    delete_share_group_offsets.API: forgotten_of,
    describe_share_group_offsets.API: starts_of,
    share_group_describe.API: share_groups_of,
    api_versions.API: versions_of,
    fetch.API: fetched_of,
    consumer_group_describe.API: consumer_groups_of,
    delete_topics.API: deleted_topics_of,
    describe_configs.API: settings_of,
    describe_groups.API: classic_groups_of,
    describe_log_dirs.API: sizes_of,
    describe_acls.API: acls_of,
    describe_client_quotas.API: quotas_of,
    describe_producers.API: producers_of,
    describe_transactions.API: transactions_of,
    list_transactions.API: transactional_ids_of,
    find_coordinator.API: coordinators_of,
    incremental_alter_configs.API: altered_configs_of,
    list_groups.API: list_of,
    list_offsets.API: offsets_of,
    offset_for_leader_epoch.API: epoch_ends_of,
    metadata.API: metadata_of,
    sasl_authenticate.API: authentication_of,
    sasl_handshake.API: mechanisms_of,
    streams_group_describe.API: streams_groups_of,
    delete_groups.API: deleted_groups_of,
}

WRITTEN_BY_KIO: dict[Api, Callable[[Any], dict[str, Any]]] = {
    consumer_group_describe.API: lambda call: {"group_ids": call.groups, "include_authorized_operations": False},
    describe_groups.API: lambda call: {"groups": call.groups, "include_authorized_operations": False},
    describe_acls.API: lambda call: {
        "resource_type_filter": 2,
        "resource_name_filter": call.topic,
        "pattern_type_filter": 3,
        "principal_filter": None,
        "host_filter": None,
        "operation": 1,
        "permission_type": 1,
    },
    describe_client_quotas.API: lambda call: {"components": (), "strict": False},
    describe_transactions.API: lambda call: {"transactional_ids": call.transactional_ids},
    list_transactions.API: lambda call: {"state_filters": (), "producer_id_filters": call.producer_ids},
    find_coordinator.API: lambda call: {"key": call.groups[0], "key_type": 0, "coordinator_keys": call.groups},
    share_group_describe.API: lambda call: {"group_ids": call.groups, "include_authorized_operations": False},
    streams_group_describe.API: lambda call: {
        "group_ids": call.groups,
        "include_authorized_operations": False,
        "include_topology_description": call.nodes,
    },
    delete_groups.API: lambda call: {"groups_names": call.groups},
    list_groups.API: lambda call: {"states_filter": call.states, "types_filter": call.types},
    sasl_authenticate.API: lambda call: {"auth_bytes": call.message},
    sasl_handshake.API: lambda call: {"mechanism": call.mechanism},
}
"""Of the requests that are flat: what their fields are to hold."""


def versions_of_kio(api: Api) -> range:
    """Of DescribeAcls, kio lacks v0, that of Kafka 1.1."""
    return range(max(api.oldest, int(api == describe_acls.API)), api.newest + 1)


every_version = pytest.mark.parametrize(
    ("api", "version"),
    [pytest.param(api, version, id=f"{api}-v{version}") for api in BY_KIO for version in versions_of_kio(api)],
)
ARGUMENTS: dict[Api, tuple[Any, ...]] = {
    alter_share_group_offsets.API: ("g", {}),
    delete_share_group_offsets.API: ("g", ()),
    describe_share_group_offsets.API: ((),),
    share_group_describe.API: ((),),
    consumer_group_describe.API: ((),),
    delete_topics.API: ((),),
    describe_configs.API: ({},),
    describe_groups.API: ((),),
    describe_acls.API: ("t",),
    describe_client_quotas.API: (),
    describe_producers.API: ({},),
    describe_transactions.API: ((),),
    list_transactions.API: ((),),
    streams_group_describe.API: ((),),
    delete_groups.API: ((),),
    fetch.API: ({},),
    find_coordinator.API: (("asked",),),
    incremental_alter_configs.API: ({},),
    list_offsets.API: ({},),
    offset_for_leader_epoch.API: ({},),
    sasl_authenticate.API: (b"",),
    sasl_handshake.API: ("asked",),
}


@pytest.mark.parametrize("api", WRITTEN_BY_KIO, ids=str)
@given(data=st.data())
def test_request_matches_kio(api: Api, data: st.DataObject) -> None:
    call = data.draw(calls(api))
    for version in versions_of_kio(api):
        assert call.encode(version) == write_request(api, version, **WRITTEN_BY_KIO[api](call))


@st.composite
def responses(draw: st.DrawFn, api: Api, version: int) -> Any:
    """Any; and of lists of groups also those in which many are of few kinds, as they mostly are, and without errors."""
    response = draw(entities(response_type(api.key, version)))
    for array, key in (("groups", "group_id"), ("coordinators", "key")):
        if kinds := getattr(response, array, ()):
            if hasattr(kinds[0], "error_code") and draw(st.booleans()):
                kinds = tuple(replace(kind, error_code=type(kind.error_code)(0)) for kind in kinds)
            more = draw(st.lists(st.tuples(st.sampled_from(kinds), names), max_size=9))
            response = replace(response, **{array: (*kinds, *(replace(kind, **{key: name}) for kind, name in more))})
    return response


@every_version
@FEWER
@given(data=st.data())
def test_response_matches_kio(api: Api, version: int, data: st.DataObject) -> None:
    call = CALLS[api](*ARGUMENTS.get(api, ()))
    response = data.draw(responses(api, version))
    assert call.decode(version, write(response), 0) == BY_KIO[api](response)


@every_version
@FEWER
@given(data=st.data())
def test_damaged_response_is_rejected_or_matches_kio(api: Api, version: int, data: st.DataObject) -> None:
    """kgroups may read what kio rejects: it does not look into tags, errors, and fields that it skips."""
    call = CALLS[api](*ARGUMENTS.get(api, ()))
    rubbish = data.draw(damaged(responses(api, version).map(write)))
    try:
        found = call.decode(version, rubbish, 0)
    except RemoteProtocolError as error:
        assert f"{api}Response" in str(error)
        with pytest.raises(RemoteProtocolError):
            read_response(api, version, rubbish, 0)
    else:
        try:
            expected = BY_KIO[api](read_response(api, version, rubbish, 0))
        except RemoteProtocolError:
            return
        assert found == expected


@pytest.mark.parametrize("version", range(describe_configs.API.oldest, describe_configs.API.newest + 1))
@FEWER
@given(data=st.data())
def test_configs_of_groups_match_kio_with_their_synonyms(version: int, data: st.DataObject) -> None:
    call = DescribeGroupConfigs(tuple(data.draw(st.lists(names, max_size=3, unique=True))))
    request = read(request_type(describe_configs.API.key, version), call.encode(version), 0)[0]
    assert [(each.resource_type, each.resource_name) for each in request.resources] == [
        (describe_configs.GROUP, name) for name in call.groups
    ]
    assert request.include_synonyms and write(request) == call.encode(version)
    response = data.draw(responses(describe_configs.API, version))
    assert call.decode(version, write(response), 0) == entries_of(response)
