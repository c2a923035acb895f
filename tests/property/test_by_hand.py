"""What is read by hand is read as by way of kio's entities, which are the oracle; requests are in ``test_apis``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgroups.errors import RemoteProtocolError
from kgroups.model.cluster import Node
from kgroups.protocol.apis import api_versions, fetch, list_offsets, metadata
from kgroups.protocol.apis.fetch import Fetched
from kgroups.protocol.apis.metadata import ClusterMetadata, TopicLeaders
from kgroups.protocol.error_codes import Code, KafkaError, kafka_error
from kgroups.protocol.record_batch import Aborted
from kgroups.protocol.schema import read_response, response_type, write
from kgroups.protocol.versions import Api, BrokerVersions, VersionRange
from tests.property.strategies import CALLS, damaged, entities

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


BY_KIO: dict[Api, Callable[[Any], Any]] = {
    api_versions.API: versions_of,
    fetch.API: fetched_of,
    list_offsets.API: offsets_of,
    metadata.API: metadata_of,
}
every_version = pytest.mark.parametrize(
    ("api", "version"),
    [
        pytest.param(api, version, id=f"{api}-v{version}")
        for api in BY_KIO
        for version in range(api.oldest, api.newest + 1)
    ],
)
ARGUMENTS: dict[Api, tuple[Any, ...]] = {list_offsets.API: ({},), fetch.API: ({},)}


@every_version
@FEWER
@given(data=st.data())
def test_a_response_is_read_as_by_kio(api: Api, version: int, data: st.DataObject) -> None:
    call = CALLS[api](*ARGUMENTS.get(api, ()))
    response = data.draw(entities(response_type(api.key, version)))
    assert call.decode(version, write(response), 0) == BY_KIO[api](response)


@every_version
@FEWER
@given(data=st.data())
def test_rubbish_is_refused_or_read_as_by_kio(api: Api, version: int, data: st.DataObject) -> None:
    """Where kio refuses, we may read: tags, errors and fields that are stepped over are not looked into."""
    call = CALLS[api](*ARGUMENTS.get(api, ()))
    rubbish = data.draw(damaged(entities(response_type(api.key, version)).map(write)))
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
