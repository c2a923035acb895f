"""Messages that are newer than kio, against the bytes that Kafka's own classes write. Needs no broker."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping

import pytest

from kgroups.model.streams import Nodes, ProcessingNode
from kgroups.protocol.apis import streams_group_describe
from kgroups.protocol.apis.delete_groups import DeleteGroups
from kgroups.protocol.apis.streams_group_describe import StreamsGroup, StreamsGroupDescribe
from kgroups.protocol.error_codes import Code, KafkaError
from kgroups.sandbox import kafka_version
from kgroups.sandbox.jars import ensure_jars
from tests.fakes import newer_schemas  # noqa: F401  # kio is to know them
from tests.fakes.oracle import read_response, write
from tests.integration.java_program import java_command

VERSION = "4.4.0"

PROGRAM = """
import java.util.*;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.message.StreamsGroupDescribeResponseData.*;
import org.apache.kafka.common.protocol.*;

public class Newer {
    static TopologyDescriptionNode node(String name, int type, String sink, List<String> topics, List<String> stores) {
        return new TopologyDescriptionNode().setName(name).setNodeType((byte) type).setSinkTopic(sink)
            .setSourceTopics(topics).setStores(stores).setSuccessors(List.of(name + "-next", "last"));
    }

    static void show(String name, Message message, int version) {
        var written = MessageUtil.toByteBufferAccessor(message, (short) version).buffer();
        byte[] bytes = new byte[written.remaining()];
        written.get(bytes);
        System.out.println(name + " " + HexFormat.of().formatHex(bytes));
    }

    public static void main(String[] none) {
        var described = new DescribedGroup().setGroupId("app").setGroupState("Stable").setGroupEpoch(7)
            .setAssignmentEpoch(6).setTopology(new Topology().setEpoch(3).setSubtopologies(List.of()))
            .setAssignorName("sticky").setTopologyDescriptionStatus((byte) 3)
            .setTopologyDescription(new TopologyDescription()
                .setSubtopologies(List.of(new TopologyDescriptionSubtopology().setSubtopologyId("0").setNodes(List.of(
                    node("in", 1, null, List.of("orders", "small"), List.of()),
                    node("out", 3, "sums", List.of(), List.of("counts"))))))
                .setGlobalStores(List.of(new TopologyDescriptionGlobalStore()
                    .setSource(node("global-in", 1, null, List.of("rates"), List.of()))
                    .setProcessor(node("global", 2, null, List.of(), List.of("rates"))))));
        var bare = new DescribedGroup().setGroupId("bare").setTopologyDescriptionStatus((byte) 1);
        show("streams", new StreamsGroupDescribeResponseData().setGroups(List.of(described, bare)), 1);
        show("streams-request", new StreamsGroupDescribeRequestData().setGroupIds(List.of("app"))
            .setIncludeTopologyDescription(true), 1);
        var results = new DeleteGroupsResponseData.DeletableGroupResultCollection();
        results.add(new DeleteGroupsResponseData.DeletableGroupResult().setGroupId("gone"));
        results.add(new DeleteGroupsResponseData.DeletableGroupResult().setGroupId("kept").setErrorCode((short) 134)
            .setErrorMessage("the plugin failed"));
        show("delete", new DeleteGroupsResponseData().setResults(results), 3);
        show("delete-request", new DeleteGroupsRequestData().setGroupsNames(List.of("gone", "kept")), 3);
    }
}
"""


@pytest.fixture(scope="module")
def kafka_bytes(
    require_kafka: Callable[[str], None], jdk: None, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, bytes]:
    """Bytes that Kafka's classes write, by message name."""
    require_kafka(VERSION)
    program = tmp_path_factory.mktemp("newer") / "Newer.java"
    program.write_text(PROGRAM)
    jars = ensure_jars(kafka_version(VERSION))
    done = subprocess.run(java_command(program, [jars]), capture_output=True, text=True, timeout=120, check=True)
    return {name: bytes.fromhex(digits) for name, digits in (line.split() for line in done.stdout.splitlines())}


def test_requests_match_kafka_bytes(kafka_bytes: Mapping[str, bytes]) -> None:
    assert StreamsGroupDescribe(("app",), nodes=True).encode(1) == kafka_bytes["streams-request"]
    assert DeleteGroups(("gone", "kept")).encode(3) == kafka_bytes["delete-request"]


def test_responses_round_trip_through_newer_schemas(kafka_bytes: Mapping[str, bytes]) -> None:
    response = read_response(streams_group_describe.API, 1, kafka_bytes["streams"], 0)
    assert write(response) == kafka_bytes["streams"]


def test_streams_groups_have_assignor_and_nodes(kafka_bytes: Mapping[str, bytes]) -> None:
    groups = StreamsGroupDescribe(("app", "bare")).decode(1, kafka_bytes["streams"], 0)
    app, bare = groups["app"], groups["bare"]
    assert isinstance(app, StreamsGroup) and isinstance(bare, StreamsGroup)
    assert (app.assignor, bare.assignor, bare.topology) == ("sticky", None, None)
    assert app.topology and app.topology.nodes
    source = ProcessingNode("in", 1, ("orders", "small"), None, (), ("in-next", "last"))
    sink = ProcessingNode("out", 3, (), "sums", ("counts",), ("out-next", "last"))
    assert app.topology.nodes.status == 3
    assert app.topology.nodes.subtopologies == (("0", Nodes((source, sink))),)
    (store,) = app.topology.nodes.global_stores
    assert (store.source.source_topics, store.processor.stores) == (("rates",), ("rates",))
    assert str(sink) == "out (sums) [counts] -> out-next, last"


def test_failed_deletion_has_the_broker_reason(kafka_bytes: Mapping[str, bytes]) -> None:
    assert DeleteGroups(("gone", "kept")).decode(3, kafka_bytes["delete"], 0) == {
        "gone": "gone",
        "kept": KafkaError(Code.group_deletion_failed, "the plugin failed"),
    }
