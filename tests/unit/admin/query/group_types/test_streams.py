from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.change.apply.delete_now import delete_topics
from kgroups.admin.client import Client
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.query.topology_nodes import describe_nodes
from kgroups.model.cluster import Node
from kgroups.model.groups import Group
from kgroups.model.operations.results import DeletedTopic, TopicDeletion
from kgroups.model.outcome import Outcome
from tests.fakes import broker as faults
from tests.fakes.asking import ask, describe, describe_offsets, errors, names, rows
from tests.fakes.broker import FakeCluster
from tests.fakes.streams_shop import IDLE, OTHER, RUNNING, open_shop


@pytest.fixture
def shop() -> FakeCluster:
    fake = FakeCluster(2, "4.3.1")
    open_shop(fake)
    return fake


@pytest.mark.parametrize("selection", [Selection(everything=True), Selection(names=(RUNNING, IDLE, OTHER, "plain"))])
def test_describe_streams_groups_next_to_classic_groups(shop: FakeCluster, selection: Selection) -> None:
    answer = describe(shop, selection)
    assert (names(answer), answer.failures, answer.notices) == ([RUNNING, IDLE, OTHER, "plain"], (), ())
    app = answer.items[0]
    assert (app.type, app.state, app.group_epoch, app.target_assignment_epoch) == ("Streams", "Stable", 7, 6)
    assert app.topology and (app.topology.epoch, app.topology.sources) == (3, {"orders", "small"})
    first, second = app.members or ()
    assert first.streams and second.streams
    assert [str(each) for each in first.streams.tasks] == ["0:0,2;1:0", "1:1", ""]
    assert (second.streams.tasks.warmup.size, second.streams.process) == (1, "process-of-m-2")
    assert (first.streams.endpoint, dict(first.streams.tags)) == ("localhost:65000", {"zone": "a"})
    assert answer.items[3].topology is None


def test_streams_tasks_map_only_to_existing_partitions(shop: FakeCluster) -> None:
    """``small`` has one partition, and its subtopology four tasks."""
    first, second = describe(shop, Selection(names=(RUNNING,))).items[0].members or ()
    assert str(first.assignment) == "app-x-repartition:0;orders:0,2;small:0"
    assert str(second.assignment) == "app-x-repartition:1;orders:1,3"
    assert str(first.target) == str(first.assignment)


def test_streams_tasks_without_topic_metadata_map_one_to_one(shop: FakeCluster) -> None:
    shop.state.fail("Metadata", "small", ErrorCode.topic_authorization_failed)
    first, _ = describe(shop, Selection(names=(RUNNING,))).items[0].members or ()
    assert str(first.assignment) == "app-x-repartition:0;orders:0,2;small:0,2"


def test_describe_offsets_has_the_topic_role(shop: FakeCluster) -> None:
    answer = describe_offsets(shop, Selection(names=(RUNNING, "plain")))
    assert not answer.failures
    found = {(row.group, row.topic, row.partition): row for row in rows(answer)}
    assert found[RUNNING, "orders", 0][4:8] == (40, 0, 100, 60)
    assert (found[RUNNING, "orders", 0].consumer_id, found[RUNNING, "orders", 0].topic_role) == ("m-1", "source")
    assert found[RUNNING, "orders", 3][4:8] == (None, 0, 100, None)
    assert found[RUNNING, "app-x-repartition", 0].topic_role == "repartition source"
    assert found["plain", "orders", 0].topic_role is None


def test_describe_streams_group_before_topology_is_ready(shop: FakeCluster) -> None:
    shop.state.groups[RUNNING].subtopologies = None
    (app,) = describe(shop, Selection(names=(RUNNING,))).items
    assert app.topology and app.topology.subtopologies is None
    assert [member.assignment.size for member in app.members or ()] == [0, 0]


def test_describe_vanished_streams_group_keeps_the_others(shop: FakeCluster) -> None:
    shop.state.fail("StreamsGroupDescribe", RUNNING, ErrorCode.group_id_not_found)
    answer = describe(shop)
    assert (names(answer), errors(answer)) == ([IDLE, OTHER, "plain"], {RUNNING: "GROUP_ID_NOT_FOUND"})


def delete(fake: FakeCluster, *topics: str) -> Outcome[DeletedTopic]:
    owner = Group(IDLE, "Streams", "Empty", "streams", "", Node(0, "h", 1))
    return ask(fake, lambda admin: delete_topics(admin.cluster, [TopicDeletion(owner, topic) for topic in topics]))


def results(answer: Outcome[DeletedTopic]) -> dict[str, str]:
    return {item.topic: item.result.value for item in answer.items}


def test_delete_topics_reports_each_topic(shop: FakeCluster) -> None:
    shop.state.fail("DeleteTopics", "old-x-repartition", ErrorCode.topic_deletion_disabled)
    answer = delete(shop, "old-x-changelog", "old-x-repartition", "never-there")
    assert results(answer) == {
        "old-x-changelog": "applied",
        "old-x-repartition": "failed",
        "never-there": "failed",
    }
    assert errors(answer) == {
        "old-x-repartition": "TOPIC_DELETION_DISABLED",
        "never-there": "UNKNOWN_TOPIC_OR_PARTITION",
    }
    assert "old-x-changelog" not in shop.state.topics and "old-x-repartition" in shop.state.topics
    assert len(shop.asked("DeleteTopics")) == 1


def test_delete_topics_without_response_is_unknown_and_not_resent(shop: FakeCluster) -> None:
    for broker in shop.brokers.values():
        broker.fault("DeleteTopics", faults.close)
    answer = delete(shop, "old-x-changelog")
    assert results(answer) == {"old-x-changelog": "unknown"}
    assert len(shop.asked("DeleteTopics")) == 1


@pytest.mark.parametrize(
    ("code", "result"), [(ErrorCode.request_timed_out, "unknown"), (ErrorCode.topic_authorization_failed, "failed")]
)
def test_delete_topics_timed_out_on_controller_is_unknown(shop: FakeCluster, code: ErrorCode, result: str) -> None:
    shop.state.fail("DeleteTopics", "old-x-changelog", code)
    assert results(delete(shop, "old-x-changelog")) == {"old-x-changelog": result}


def test_delete_topics_missing_in_response_is_unknown(shop: FakeCluster) -> None:
    shop.state.omitted.add("old-x-changelog")
    assert results(delete(shop, "old-x-changelog")) == {"old-x-changelog": "unknown"}


def test_delete_topics_of_no_topics_sends_nothing(shop: FakeCluster) -> None:
    assert (delete(shop).items, shop.asked("DeleteTopics")) == ((), [])


async def with_nodes(admin: Client) -> Outcome[Group]:
    described = await admin.describe(Selection(names=(RUNNING, "plain")))
    return await describe_nodes(admin.cluster, described.items)


@pytest.mark.parametrize(("version", "nodes"), [("4.4.0", ["in-0 (orders, small)", "in-1"]), ("4.3.1", None)])
def test_describe_nodes_from_kafka_4_4_on(version: str, nodes: list[str] | None) -> None:
    fake = FakeCluster(2, version)
    open_shop(fake)
    answer = ask(fake, with_nodes)
    app, plain = answer.items
    assert (names(answer), answer.failures, plain.topology) == ([RUNNING, "plain"], (), None)
    assert app.protocol == ("sticky" if nodes else "")
    assert app.topology
    found = app.topology.nodes and [str(part) for _, part in app.topology.nodes.subtopologies]
    assert found == nodes


def test_describe_nodes_failure_keeps_the_group() -> None:
    fake = FakeCluster(2, "4.4.0")
    open_shop(fake)
    node = Node(fake.state.groups[RUNNING].coordinator, "h", 1)
    fake.state.fail("StreamsGroupDescribe", RUNNING, ErrorCode.group_authorization_failed)
    app = Group(RUNNING, "Streams", "Stable", "streams", "", node)
    answer = ask(fake, lambda admin: describe_nodes(admin.cluster, [app]))
    assert (answer.items, errors(answer)) == ((app,), {RUNNING: "GROUP_AUTHORIZATION_FAILED"})
