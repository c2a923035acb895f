from __future__ import annotations

from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.model.cluster import Node
from kgroups.protocol.apis.metadata import UNAVAILABLE, Metadata, operations_of
from kgroups.protocol.error_codes import KafkaError
from tests.fakes.replies import OK, asked, heard, part, reply


@pytest.mark.parametrize("version", range(1, 11))
def test_metadata_creates_no_topics_and_reads_leaders(version: int) -> None:
    request = asked(Metadata(("t",)), version)
    assert [topic.name for topic in request.topics] == ["t"] and not getattr(
        request, "allow_auto_topic_creation", False
    )
    assert asked(Metadata(), version).topics == ()
    broker = part(3, version, "MetadataResponseBroker", node_id=2, host="h", port=1, rack=None)

    def partition(index: int, leader: int, error: ErrorCode) -> Any:
        name = "MetadataResponsePartition"
        return part(3, version, name, partition_index=index, leader_id=leader, error_code=error)

    partitions = (
        partition(0, 2, OK),
        partition(1, 2, ErrorCode.replica_not_available),
        partition(2, -1, ErrorCode.leader_not_available),
        partition(3, -1, OK),
    )
    topic = part(3, version, "MetadataResponseTopic", name="t", topic_id=None, error_code=OK, partitions=partitions)
    whole = reply(
        3,
        version,
        brokers=(broker,),
        controller_id=2,
        cluster_id="c",
        topics=(topic,),
        cluster_authorized_operations=256,
    )
    found = heard(Metadata(("t",)), whole)
    assert found.controller == 2
    assert found.operations == (frozenset({"DESCRIBE"}) if version >= 8 else None)
    assert found.nodes == (Node(2, "h", 1),)
    assert found.cluster_id == ("c" if version >= 2 else None)
    leaders = found.topics[0].leaders
    assert (leaders[0], leaders[1]) == (2, 2)
    assert [isinstance(leaders[index], KafkaError) for index in (2, 3)] == [True, True]


@pytest.mark.parametrize("version", range(1, 11))
@pytest.mark.parametrize("wanted", [False, True])
def test_metadata_requests_authorized_operations_from_v8(version: int, wanted: bool) -> None:
    request = asked(Metadata(operations=wanted), version)
    assert getattr(request, "include_cluster_authorized_operations", None) == (wanted if version >= 8 else None)


@pytest.mark.parametrize(
    ("bits", "operations"),
    [
        (0, set()),
        (1 << 8, {"DESCRIBE"}),
        (1 << 3 | 1 << 6 | 1 << 8, {"READ", "DELETE", "DESCRIBE"}),
        (1 << 30, set()),  # an operation of a Kafka to come
    ],
)
def test_operations_are_read_from_bits(bits: int, operations: set[str]) -> None:
    assert operations_of(bits) == operations


def test_operations_that_are_unavailable_are_none() -> None:
    assert operations_of(UNAVAILABLE) is None
