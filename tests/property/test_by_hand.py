"""What is read by hand is read as by way of kio's entities, which are the oracle; requests are in ``test_apis``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgroups.errors import RemoteProtocolError
from kgroups.model.assignment import Assignment, Subscription, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupType, Member, canonical_word
from kgroups.protocol.apis import (
    api_versions,
    consumer_group_describe,
    describe_groups,
    fetch,
    find_coordinator,
    list_groups,
    list_offsets,
    metadata,
)
from kgroups.protocol.apis.consumer_group_describe import ConsumerGroup
from kgroups.protocol.apis.describe_groups import ClassicGroup
from kgroups.protocol.apis.fetch import Fetched
from kgroups.protocol.apis.list_groups import GroupList, ListedEntry
from kgroups.protocol.apis.metadata import ClusterMetadata, TopicLeaders
from kgroups.protocol.embedded.registry import decode_member
from kgroups.protocol.error_codes import Code, KafkaError, kafka_error
from kgroups.protocol.record_batch import Aborted
from kgroups.protocol.schema import read_response, response_type, write, write_request
from kgroups.protocol.versions import Api, BrokerVersions, VersionRange
from tests.property.strategies import CALLS, calls, damaged, entities, names

FEWER = settings(max_examples=max(10, settings.default.max_examples // 2))


def versions_of(response: Any) -> BrokerVersions:
    return BrokerVersions(
        {entry.api_key: VersionRange(entry.min_version, entry.max_version) for entry in response.api_keys}
    )


def offsets_of(response: Any) -> dict[tuple[str, int], int | KafkaError]:
    return {
        (topic.name, entry.partition_index): kafka_error(entry.error_code) if entry.error_code else entry.offset
        for topic in response.topics
        for entry in topic.partitions
    }


def metadata_of(response: Any) -> ClusterMetadata:
    nodes = tuple(sorted(Node(entry.node_id, entry.host, entry.port) for entry in response.brokers))
    topics = tuple(leaders_of(topic) for topic in response.topics if topic.name is not None)
    return ClusterMetadata(getattr(response, "cluster_id", None), nodes, topics)


def leaders_of(topic: Any) -> TopicLeaders:
    leaders = {
        entry.partition_index: entry.leader_id
        if entry.leader_id >= 0
        else kafka_error(entry.error_code or Code.leader_not_available)
        for entry in topic.partitions
    }
    return TopicLeaders(topic.name, kafka_error(topic.error_code) if topic.error_code else None, leaders)


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
        asked, held = decode_member(group.protocol_type, member.member_metadata, member.member_assignment)
        instance_id = getattr(member, "group_instance_id", None)
        who = (member.member_id, member.client_id, member.client_host)
        members.append(Member(*who, held, instance_id=instance_id, subscription=asked))
    return ClassicGroup(group.group_id, group.group_state, group.protocol_type, group.protocol_data, tuple(members))


def consumer_groups_of(response: Any) -> dict[str, ConsumerGroup | KafkaError]:
    """Of what is told of one group twice, the best: a description before an error before a GROUP_ID_NOT_FOUND."""
    told: dict[str, Any] = {}
    for worth in ((False, False), (False, True), (True, True)):
        for group in response.groups:
            if (not group.error_code, group.error_code != Code.group_id_not_found) == worth:
                told[group.group_id] = consumer_group_of(group)
    return told


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


def assignment_told(assignment: Any) -> Assignment:
    return assignment_of((entry.topic_name, entry.partitions) for entry in assignment.topic_partitions)


BY_KIO: dict[Api, Callable[[Any], Any]] = {
    api_versions.API: versions_of,
    fetch.API: fetched_of,
    consumer_group_describe.API: consumer_groups_of,
    describe_groups.API: classic_groups_of,
    find_coordinator.API: coordinators_of,
    list_groups.API: list_of,
    list_offsets.API: offsets_of,
    metadata.API: metadata_of,
}

WRITTEN_BY_KIO: dict[Api, Callable[[Any], dict[str, Any]]] = {
    consumer_group_describe.API: lambda call: {"group_ids": call.groups, "include_authorized_operations": False},
    describe_groups.API: lambda call: {"groups": call.groups, "include_authorized_operations": False},
    find_coordinator.API: lambda call: {"key": call.groups[0], "key_type": 0, "coordinator_keys": call.groups},
    list_groups.API: lambda call: {"states_filter": call.states, "types_filter": call.types},
}
"""Of the requests that are flat: what their fields are to hold."""
every_version = pytest.mark.parametrize(
    ("api", "version"),
    [
        pytest.param(api, version, id=f"{api}-v{version}")
        for api in BY_KIO
        for version in range(api.oldest, api.newest + 1)
    ],
)
ARGUMENTS: dict[Api, tuple[Any, ...]] = {
    consumer_group_describe.API: ((),),
    describe_groups.API: ((),),
    fetch.API: ({},),
    find_coordinator.API: (("asked",),),
    list_offsets.API: ({},),
}


@pytest.mark.parametrize("api", WRITTEN_BY_KIO, ids=str)
@given(data=st.data())
def test_a_request_is_what_kio_writes(api: Api, data: st.DataObject) -> None:
    call = data.draw(calls(api))
    for version in range(api.oldest, api.newest + 1):
        assert call.encode(version) == write_request(api, version, **WRITTEN_BY_KIO[api](call))


@st.composite
def responses(draw: st.DrawFn, api: Api, version: int) -> Any:
    """Any; and of lists of groups also those in which many are of few kinds, as they mostly are."""
    response = draw(entities(response_type(api.key, version)))
    for array, key in (("groups", "group_id"), ("coordinators", "key")):
        if kinds := getattr(response, array, ()):
            more = draw(st.lists(st.tuples(st.sampled_from(kinds), names), max_size=9))
            response = replace(response, **{array: (*kinds, *(replace(kind, **{key: name}) for kind, name in more))})
    return response


@every_version
@FEWER
@given(data=st.data())
def test_a_response_is_read_as_by_kio(api: Api, version: int, data: st.DataObject) -> None:
    call = CALLS[api](*ARGUMENTS.get(api, ()))
    response = data.draw(responses(api, version))
    assert call.decode(version, write(response), 0) == BY_KIO[api](response)


@every_version
@FEWER
@given(data=st.data())
def test_rubbish_is_refused_or_read_as_by_kio(api: Api, version: int, data: st.DataObject) -> None:
    """Where kio refuses, we may read: tags, errors and fields that are stepped over are not looked into."""
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
