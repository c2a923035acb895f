"""``kafka-streams-groups --describe --topology`` compared with the text that Kafka's tool makes of the same response.

Brokers store topologies only with a plugin, and Kafka has none.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from kgroups.dropins.text.streams import topology_text
from kgroups.model.cluster import Node
from kgroups.model.groups import Group
from kgroups.protocol.apis.streams_group_describe import StreamsGroup, StreamsGroupDescribe
from kgroups.sandbox import kafka_version
from kgroups.sandbox.jars import ensure_tools_jars
from tests.integration.java_program import java_command

VERSION = "4.4.0"

PROGRAM = """
import java.util.*;
import org.apache.kafka.clients.admin.StreamsGroupDescription;
import org.apache.kafka.clients.admin.internals.*;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.message.*;
import org.apache.kafka.common.message.StreamsGroupDescribeResponseData.*;
import org.apache.kafka.common.protocol.*;
import org.apache.kafka.common.requests.StreamsGroupDescribeResponse;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.tools.streams.TopologyDescriptionFormatter;

public class Topologies {
    static TopologyDescriptionNode node(String name, int type, List<String> topics, String sink, List<String> stores,
            String... successors) {
        return new TopologyDescriptionNode().setName(name).setNodeType((byte) type).setSinkTopic(sink)
            .setSourceTopics(topics).setStores(stores).setSuccessors(List.of(successors));
    }

    public static void main(String[] none) {
        var part = new TopologyDescriptionSubtopology().setSubtopologyId("0").setNodes(List.of(
            node("KSTREAM-SOURCE-1", 1, List.of("small", "orders"), null, List.of(), "KSTREAM-MAP-3", "KSTREAM-MAP-2"),
            node("KSTREAM-SOURCE-0", 1, List.of("rates"), null, List.of(), "KSTREAM-MAP-2"),
            node("KSTREAM-MAP-2", 2, List.of(), null, List.of("sums", "counts"), "SINK-4", "SINK-5"),
            node("KSTREAM-MAP-3", 2, List.of(), null, List.of()),
            node("SINK-4", 3, List.of(), "out", List.of()),
            node("SINK-5", 3, List.of(), null, List.of())));
        var empty = new TopologyDescriptionSubtopology().setSubtopologyId("1").setNodes(List.of());
        var stores = List.of(new TopologyDescriptionGlobalStore()
            .setSource(node("global-in", 1, List.of("rates"), null, List.of(), "global"))
            .setProcessor(node("global", 2, List.of(), null, List.of("rates-store"))));
        var described = new DescribedGroup().setGroupId("app").setGroupState("Stable")
            .setTopology(new Topology().setEpoch(3).setSubtopologies(List.of()))
            .setTopologyDescriptionStatus((byte) 3).setTopologyDescription(
                new TopologyDescription().setSubtopologies(List.of(part, empty)).setGlobalStores(stores));
        var data = new StreamsGroupDescribeResponseData().setGroups(List.of(described));
        var written = MessageUtil.toByteBufferAccessor(data, (short) 1).buffer();
        byte[] bytes = new byte[written.remaining()];
        written.get(bytes);
        System.out.println(HexFormat.of().formatHex(bytes));
        var key = CoordinatorKey.byGroupId("app");
        var result = new DescribeStreamsGroupsHandler(false, true, new LogContext()).handleResponse(
            new Node(1, "h", 1), Set.of(key), new StreamsGroupDescribeResponse(data));
        System.out.println(TopologyDescriptionFormatter.format(
            result.completedKeys.get(key).topologyDescription().get()));
    }
}
"""


def test_topology_text_matches_java(require_kafka: Callable[[str], None], jdk: None, tmp_path: Path) -> None:
    require_kafka(VERSION)
    program = tmp_path / "Topologies.java"
    program.write_text(PROGRAM)
    command = java_command(program, [ensure_tools_jars(kafka_version(VERSION))])
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    digits, _, text = done.stdout.partition("\n")
    group = StreamsGroupDescribe(("app",), nodes=True).decode(1, bytes.fromhex(digits), 0)["app"]
    assert isinstance(group, StreamsGroup)
    shown = Group("app", "Streams", "Stable", "streams", "", Node(1, "h", 1), (), topology=group.topology)
    assert "".join(topology_text(shown, verbose=False)) == text
