"""LibrdkafkaClient over an AdminClient that returns objects of confluent_kafka from memory."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import Mock

import hypothesis.strategies as st
import pytest
from confluent_kafka import ConsumerGroupState, ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AclOperation,
    AdminClient,
    ConfigEntry,
    ConsumerGroupDescription,
    ConsumerGroupListing,
    ListConsumerGroupsResult,
    MemberAssignment,
    MemberDescription,
)
from hypothesis import given

from kgroups.admin.query.list_groups import ListFilter
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.rdkafka import conversions
from kgroups.admin.rdkafka.client import LibrdkafkaClient
from kgroups.admin.records import find_unread
from kgroups.config.secret import MASK
from kgroups.config.settings import ClientSettings
from kgroups.errors import ClusterUnreachable, UnsupportedVersion
from kgroups.model.assignment import assignment_of
from kgroups.model.cluster import Node
from kgroups.model.offsets import Commit, GroupCommits, Isolation, LogOffsets
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.permissions import DESCRIBE_CLUSTER, OMITTED_COMMITS_NOTICE, OMITTED_GROUPS_NOTICE
from kgroups.model.placement import partition_of
from kgroups.model.time_lag import FirstUnread, Position
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.model.views.offsets import offset_rows
from kgroups.net.connector import Connector, ReadyConnection
from kgroups.protocol.error_codes import Code, kafka_error
from kgroups.protocol.versions import BrokerVersions, VersionRange
from tests.fakes.versions import KAFKA

ONE = Node(1, "one", 9092)
TWO = Node(2, "two", 9093)
EVERYTHING = Selection(everything=True)
CONSUMER, CLASSIC = 1, 2
AUTHORIZER = "authorizer.class.name"


@dataclass
class BrokerNode:
    id: int
    host: str
    port: int


def node(of: Node) -> Any:
    return BrokerNode(of.id, of.host, of.port)


@dataclass
class Partition:
    id: int
    leader: Any


@dataclass
class Topic:
    name: str
    partitions: list[Partition]


def topic(name: str, *leaders: Node | None) -> Topic:
    return Topic(name, [Partition(at, leader and node(leader)) for at, leader in enumerate(leaders)])


def listing(name: str, state: str = "STABLE", kind: int | None = CLASSIC, *, simple: bool = False) -> Any:
    return ConsumerGroupListing(name, simple, ConsumerGroupState[state], kind)


def member(name: str, *held: tuple[str, int], target: tuple[tuple[str, int], ...] | None = None) -> Any:
    return MemberDescription(
        name,
        "client",
        "/host",
        MemberAssignment([TopicPartition(*pair) for pair in held]),
        None,
        None if target is None else MemberAssignment([TopicPartition(*pair) for pair in target]),
    )


def description(name: str, *members: Any, state: str = "STABLE", kind: int = CLASSIC, at: Node = ONE) -> Any:
    return ConsumerGroupDescription(name, False, list(members), "range", ConsumerGroupState[state], node(at), type=kind)


def missing(name: str) -> Any:
    return ConsumerGroupDescription(name, True, [], "", ConsumerGroupState.DEAD, node(ONE), type=CLASSIC)


def commits(name: str, *entries: tuple[str, int, int]) -> Any:
    return ConsumerGroupTopicPartitions(name, [TopicPartition(*entry) for entry in entries])


def commit_with(metadata: bytes | None) -> Any:
    """The commits of group ``a``, one, with metadata as confluent-kafka reads it."""

    class Entry:
        topic, partition, offset, leader_epoch, error = "t", 0, 5, -1, None

        @property
        def metadata(self) -> str | None:
            return metadata if metadata is None else metadata.decode()

    answer = commits("a")
    answer.topic_partitions = [Entry()]
    return answer


def refusal(code: int, text: str = "Broker: it was refused") -> KafkaException:
    return KafkaException(KafkaError(code, text))


SILENCE = object()
"""An answer that never comes."""


@dataclass
class FakeClient:
    """An AdminClient; an answer that is an exception is raised, a list is used up one by one, its last for good."""

    listed: Any = ()
    errors: Any = ()
    operations: Any = (AclOperation.DESCRIBE,)
    groups: dict[str, Any] = field(default_factory=dict)
    committed: dict[str, Any] = field(default_factory=dict)
    topics: dict[str, Any] = field(default_factory=dict)
    ends: dict[tuple[str, int], Any] = field(default_factory=dict)
    configs: Any = field(default_factory=lambda: {AUTHORIZER: ConfigEntry(AUTHORIZER, "")})
    asked: list[tuple[Any, ...]] = field(default_factory=list)

    def describe_configs(self, wanted: list[Any], request_timeout: float) -> dict[Any, Future[Any]]:
        (each,) = wanted
        return {each: future(self.configs)}

    def list_consumer_groups(self, request_timeout: float) -> Future[Any]:
        self.asked.append(("list", request_timeout))
        return future(ListConsumerGroupsResult(list(self.listed), list(self.errors)))

    def describe_consumer_groups(self, names: list[str], request_timeout: float) -> dict[str, Future[Any]]:
        self.asked.append(("describe", *names))
        return {name: future(self.groups[name]) for name in names}

    def list_consumer_group_offsets(self, asked: list[Any], request_timeout: float) -> dict[str, Future[Any]]:
        self.asked.append(("commits", asked[0].group_id))
        return {each.group_id: future(self.committed.get(each.group_id, commits(each.group_id))) for each in asked}

    def describe_topics(self, topics: Any, request_timeout: float) -> dict[str, Future[Any]]:
        return {name: future(self.topics.get(name, refusal(3))) for name in topics.topic_names}

    def list_offsets(
        self, wanted: dict[TopicPartition, Any], request_timeout: float, isolation_level: Any = None
    ) -> dict[TopicPartition, Future[Any]]:
        self.asked.append(("offsets", isolation_level.value, sorted((each.topic, each.partition) for each in wanted)))
        return {each: future(self._end(each, type(spec).__name__)) for each, spec in wanted.items()}

    def _end(self, each: TopicPartition, spec: str) -> Any:
        found = self.ends[each.topic, each.partition]
        return found if isinstance(found, Exception) or found is SILENCE else LogEnd(found[spec == "LatestSpec"])

    def describe_cluster(self, include_authorized_operations: bool, request_timeout: float) -> Future[Any]:
        assert include_authorized_operations
        return future(self.operations if isinstance(self.operations, Exception) else Rights(self.operations))

    def poll(self, timeout: float) -> int:
        return 0

    def cluster_id(self, timeout: float) -> str:
        return "the-cluster"


@dataclass
class Rights:
    authorized_operations: Any


@dataclass
class LogEnd:
    offset: int


def future(answer: Any) -> Future[Any]:
    made: Future[Any] = Future()
    made.set_running_or_notify_cancel()
    if isinstance(answer, list):
        answer = answer.pop(0) if len(answer) > 1 else answer[0]
    if isinstance(answer, Exception):
        made.set_exception(answer)
    elif answer is not SILENCE:
        made.set_result(answer)
    return made


Opened = Callable[..., LibrdkafkaClient]


@pytest.fixture
def connect_admin(monkeypatch: pytest.MonkeyPatch) -> Opened:
    def connect(client: FakeClient, broker_timeout: float = 0.2, without: int | None = None) -> LibrdkafkaClient:
        async def link(self: Connector, *_: object) -> ReadyConnection:
            ranges = {key: VersionRange(*each) for key, each in KAFKA["4.3.1"].items() if key != without}
            return ReadyConnection(Mock(), BrokerVersions(ranges))

        monkeypatch.setattr(Connector, "link", link)
        monkeypatch.setattr("kgroups.admin.rdkafka.client.AdminClient", lambda options: client)
        settings = ClientSettings((("one", 9092),), timeout=5.0, broker_timeout=broker_timeout)
        return asyncio.run(LibrdkafkaClient.connect(settings))

    return connect


# Groups of these names hash to these partitions of two, as Java has it: "a" to 97 % 2, "b" to 98 % 2.
PLACES = {"__consumer_offsets": topic("__consumer_offsets", TWO, ONE)}


class TestListGroups:
    def test_coordinators_follow_kafka_rule_if_a_sample_agrees(self, connect_admin: Opened) -> None:
        names = ("a", "c", "e", "g", "b")
        described = {name: description(name, at=TWO if name == "b" else ONE) for name in names}
        client = FakeClient(listed=map(listing, names), groups=described, topics=PLACES)
        outcome = asyncio.run(connect_admin(client).list_selected(Selection(among=ListFilter())))
        assert {group.group: group.coordinator for group in outcome.items} == {
            "a": ONE,
            "b": TWO,
            "c": ONE,
            "e": ONE,
            "g": ONE,
        }
        assert [group.group for group in outcome.items] == ["a", "b", "c", "e", "g"]
        assert sum(asked[0] == "describe" for asked in client.asked) == 3

    @pytest.mark.parametrize(
        ("operations", "state", "partial"),
        [
            ((AclOperation.DESCRIBE,), "STABLE", False),
            ((AclOperation.CREATE,), "STABLE", True),
            (None, "STABLE", True),  # nothing is allowed
            (None, "UNKNOWN", False),  # an old broker, which does not tell
            (KafkaException(KafkaError(31)), "STABLE", False),
        ],
    )
    def test_list_without_describe_on_cluster_notes_hidden_groups(
        self, connect_admin: Opened, operations: Any, state: str, partial: bool
    ) -> None:
        client = FakeClient(
            listed=[listing("a", state)], groups={"a": description("a")}, topics=PLACES, operations=operations
        )
        outcome = asyncio.run(connect_admin(client).list_selected(Selection(among=ListFilter())))
        assert (OMITTED_GROUPS_NOTICE in outcome.notices) is partial
        assert outcome.missing_acls() == ([DESCRIBE_CLUSTER] if partial else [])

    @pytest.mark.parametrize(
        ("configs", "hidden"),
        [
            ({AUTHORIZER: ConfigEntry(AUTHORIZER, "")}, False),
            ({AUTHORIZER: ConfigEntry(AUTHORIZER, "StandardAuthorizer")}, True),
            ({}, True),
            (refusal(31), True),
            (SILENCE, True),
        ],
        ids=["no authorizer", "authorizer", "untold", "refused", "silence"],
    )
    def test_commits_may_be_hidden_unless_there_is_no_authorizer(
        self, connect_admin: Opened, configs: Any, hidden: bool
    ) -> None:
        admin = connect_admin(FakeClient(groups={"a": description("a")}, topics=PLACES, configs=configs))
        answer = asyncio.run(admin.describe_offsets(Selection(("a",)), isolation=Isolation.READ_UNCOMMITTED))
        assert (OMITTED_COMMITS_NOTICE in answer.notices, bool(answer.items[0].hidden)) == (hidden, hidden)

    def test_coordinators_are_all_looked_up_if_the_sample_disagrees(self, connect_admin: Opened) -> None:
        names = ("a", "b", "c", "d", "e")
        described = {name: description(name, at=ONE) for name in names}
        client = FakeClient(listed=map(listing, names), groups=described, topics=PLACES)
        client.groups["a"] = description("a", at=TWO)
        outcome = asyncio.run(connect_admin(client).list_selected(Selection(among=ListFilter())))
        assert [group.coordinator for group in outcome.items] == [TWO, ONE, ONE, ONE, ONE]

    def test_list_notes_group_types_librdkafka_omits(self, connect_admin: Opened) -> None:
        wanted = ListFilter(types=("Share", "Classic"), protocol_types=("connect",))
        outcome = asyncio.run(connect_admin(FakeClient(topics=PLACES)).list_selected(Selection(among=wanted)))
        assert outcome.notices == (
            "librdkafka lists only consumer groups; Connect, share, and streams groups are missing",
        )
        assert [failure.message for failure in outcome.failures] == [
            "librdkafka does not list Share groups",
            "librdkafka does not list groups of protocol type 'connect'",
        ]

    def test_list_filters_and_formats_like_the_wire_client(self, connect_admin: Opened) -> None:
        client = FakeClient(
            listed=[
                listing("a", "PREPARING_REBALANCING"),
                listing("b", "EMPTY", simple=True),
                listing("c", "STABLE", CONSUMER),
            ],
            topics=PLACES,
        )
        client.groups = {"a": description("a"), "b": description("b", at=TWO), "c": description("c")}
        admin = connect_admin(client)
        outcome = asyncio.run(admin.list_selected(Selection()))
        assert [(group.state, group.type, group.protocol_type) for group in outcome.items] == [
            ("PreparingRebalance", "Classic", "consumer"),
            ("Empty", "Classic", ""),
            ("Stable", "Consumer", "consumer"),
        ]
        client.listed = [listing("a", "PREPARING_REBALANCING"), listing("b", "EMPTY", simple=True)]
        outcome = asyncio.run(admin.list_selected(Selection(among=ListFilter(states=("Empty",)))))
        assert [group.group for group in outcome.items] == ["b"]

    def test_list_describes_for_states_on_old_brokers(self, connect_admin: Opened) -> None:
        names = ("a", "c", "e", "g", "i")
        client = FakeClient(listed=[listing(name, "UNKNOWN", 0) for name in names], topics=PLACES)
        client.groups = {name: description(name) for name in names} | {"g": missing("g")}
        wanted = ListFilter(with_states=True, with_types=True)
        outcome = asyncio.run(connect_admin(client).list_selected(Selection(among=wanted)))
        assert [(group.group, group.state, group.type) for group in outcome.items] == [
            (name, "Stable", None) for name in ("a", "c", "e", "i")
        ]
        assert outcome.failures == ()
        assert any("TYPE is unknown" in notice for notice in outcome.notices)

    def test_list_type_filter_on_old_brokers_is_a_failure(self, connect_admin: Opened) -> None:
        client = FakeClient(listed=[listing("a", kind=0)], groups={"a": description("a")}, topics=PLACES)
        outcome = asyncio.run(connect_admin(client).list_selected(Selection(among=ListFilter(types=("Consumer",)))))
        assert outcome.items == ()
        assert [failure.scope for failure in outcome.failures] == [Scope.CLUSTER]

    def test_list_failing_broker_keeps_other_groups(self, connect_admin: Opened) -> None:
        client = FakeClient(listed=[listing("a")], groups={"a": description("a")}, topics=PLACES)
        client.errors = [refusal(KafkaError._TIMED_OUT), refusal(KafkaError.CLUSTER_AUTHORIZATION_FAILED)]
        outcome = asyncio.run(connect_admin(client).list_selected(Selection(among=ListFilter())))
        assert [group.group for group in outcome.items] == ["a"]
        assert [(failure.name, failure.error) for failure in outcome.failures] == [
            ("the-cluster", None),
            ("the-cluster", "CLUSTER_AUTHORIZATION_FAILED"),
        ]

    def test_list_leaderless_offsets_partitions_are_a_failure(self, connect_admin: Opened) -> None:
        client = FakeClient(topics={"__consumer_offsets": topic("__consumer_offsets", ONE, None)})
        outcome = asyncio.run(connect_admin(client).list_selected(Selection(among=ListFilter())))
        assert [failure.error for failure in outcome.failures] == ["LEADER_NOT_AVAILABLE"]


class TestDescribe:
    def test_describe_members_of_both_types(self, connect_admin: Opened) -> None:
        client = FakeClient(topics=PLACES)
        client.groups = {
            "a": description("a", member("m", ("t", 1), ("t", 0))),
            "c": description("c", member("n", ("t", 0), target=(("t", 0), ("t", 1))), kind=CONSUMER),
        }
        outcome = asyncio.run(connect_admin(client).describe(Selection(names=("c", "a"))))
        classic, consumer = outcome.items
        held = assignment_of([("t", [0, 1])])
        assert (classic.type, classic.protocol, classic.coordinator) == ("Classic", "range", ONE)
        assert classic.members and classic.members[0].assignment == held
        assert classic.members[0].target is None
        assert consumer.members and consumer.members[0].target == held
        assert consumer.members[0].subscription.owned == consumer.members[0].assignment
        assert consumer.group_epoch is None
        assert any("epochs" in notice for notice in outcome.notices)

    def test_describe_missing_group_is_a_failure(self, connect_admin: Opened) -> None:
        client = FakeClient(groups={"nope": missing("nope")}, topics=PLACES)
        outcome = asyncio.run(connect_admin(client).describe(Selection(names=("nope",))))
        assert outcome.failures == (
            kafka_error(Code.group_id_not_found).failure(Scope.GROUP, "nope", api="DescribeGroups"),
        )
        assert any("share" in notice for notice in outcome.notices)

    def test_describe_vanished_listed_group_is_a_failure(self, connect_admin: Opened) -> None:
        client = FakeClient(listed=[listing("a")], groups={"a": missing("a")}, topics=PLACES)
        outcome = asyncio.run(connect_admin(client).describe(EVERYTHING))
        assert [failure.message for failure in outcome.failures] == ["the group vanished while it was being described"]

    def test_describe_errors_have_kafka_names_and_our_messages(self, connect_admin: Opened) -> None:
        client = FakeClient(topics=PLACES)
        client.groups = {
            "a": refusal(KafkaError.GROUP_AUTHORIZATION_FAILED),
            "b": refusal(KafkaError._INVALID_ARG, "GroupId b is not a consumer group (connect)."),
            "c": description("c"),
        }
        outcome = asyncio.run(connect_admin(client).describe(Selection(names=("a", "b", "c"))))
        assert [group.group for group in outcome.items] == ["c"]
        assert [(failure.error, failure.code, failure.message) for failure in outcome.failures] == [
            ("GROUP_AUTHORIZATION_FAILED", 30, "not authorized: needs DESCRIBE on GROUP a"),
            (None, None, "librdkafka: GroupId b is not a consumer group (connect)."),
        ]

    def test_error_that_librdkafka_holds_does_not_keep_the_client(self, connect_admin: Opened) -> None:
        error = refusal(KafkaError.GROUP_AUTHORIZATION_FAILED)
        client = FakeClient(topics=PLACES, groups={"a": error})
        assert asyncio.run(connect_admin(client).describe(Selection(names=("a",)))).failures
        assert error.__traceback__ is None

    def test_describe_retries_loading_coordinator(self, connect_admin: Opened) -> None:
        loading = refusal(KafkaError.COORDINATOR_LOAD_IN_PROGRESS)
        client = FakeClient(groups={"a": [loading, description("a")]}, topics=PLACES)
        outcome = asyncio.run(connect_admin(client, 1.0).describe(Selection(names=("a",))))
        assert [group.group for group in outcome.items] == ["a"]

    def test_describe_gives_up_on_coordinator_that_keeps_loading(self, connect_admin: Opened) -> None:
        loading = refusal(KafkaError.COORDINATOR_LOAD_IN_PROGRESS)
        client = FakeClient(groups={"a": [loading]}, topics=PLACES)
        outcome = asyncio.run(connect_admin(client).describe(Selection(names=("a",))))
        assert [failure.error for failure in outcome.failures] == ["COORDINATOR_LOAD_IN_PROGRESS"]

    @pytest.mark.parametrize("name", ["", "a\0b", "x" * 40_000, "\udcff"])
    def test_describe_names_invalid_for_librdkafka_are_not_sent(self, connect_admin: Opened, name: str) -> None:
        client = FakeClient(topics=PLACES)
        outcome = asyncio.run(connect_admin(client).describe(Selection(names=(name,))))
        assert [failure.name for failure in outcome.failures] == [name]
        assert client.asked == []

    def test_describe_hung_coordinator_costs_one_timeout(self, connect_admin: Opened) -> None:
        hung = [f"{at}a" for at in range(0, 1000, 2)]  # all on the same partition of two, as is "a"
        names = [name for name in hung if partition_of(name, 2) == 1]
        client = FakeClient(groups={**dict.fromkeys(names, SILENCE), "b": description("b", at=TWO)}, topics=PLACES)
        admin = connect_admin(client)
        began = time.monotonic()
        outcome = asyncio.run(admin.describe(Selection(names=(*names, "b"))))
        assert time.monotonic() - began < 10.0, "one after the other they would cost a minute"
        assert [group.group for group in outcome.items] == ["b"]
        assert {failure.message for failure in outcome.failures} == {
            "no response in time (--broker-timeout is 0.2 s)",
        }
        assert len(outcome.failures) == len(names) > 128


class TestDescribeOffsets:
    def ask(self, admin: LibrdkafkaClient, selection: Selection, **options: Any) -> Any:
        options = {"isolation": Isolation.READ_UNCOMMITTED} | options
        return asyncio.run(admin.describe_offsets(selection, **options))

    @pytest.fixture
    def client(self) -> Iterator[FakeClient]:
        yield FakeClient(
            listed=[listing("a"), listing("b")],
            groups={"a": description("a", member("m", ("t", 0))), "b": description("b", at=TWO)},
            committed={"a": commits("a", ("t", 0, 5), ("t", 1, -1001)), "b": commits("b", ("u", 0, 7))},
            topics={**PLACES, "t": topic("t", ONE, TWO), "u": topic("u", ONE)},
            ends={("t", 0): (2, 9), ("t", 1): (0, 1), ("u", 0): (8, 20)},
        )

    def test_describe_offsets_has_rows_with_lag(self, connect_admin: Opened, client: FakeClient) -> None:
        outcome = self.ask(connect_admin(client), EVERYTHING, isolation=Isolation.READ_COMMITTED)
        rows = [row for item in outcome.items for row in offset_rows(item)]
        assert [(row.group, row.topic, row.current_offset, row.log_start_offset, row.lag) for row in rows] == [
            ("a", "t", 5, 2, 4),
            ("b", "u", 7, 8, 13),
        ]
        assert outcome.failures == ()
        assert [asked for asked in client.asked if asked[0] == "offsets"] == [
            ("offsets", 0, [("t", 0), ("u", 0)]),  # the high watermarks
            ("offsets", 1, [("t", 0), ("u", 0)]),
            ("offsets", 1, [("t", 0), ("u", 0)]),
        ]

    def test_describe_offsets_of_one_named_group(self, connect_admin: Opened, client: FakeClient) -> None:
        (item,) = self.ask(connect_admin(client), Selection(names=("b",))).items
        assert item.commits.topics == {"u": (Commit(0, 7),)}
        assert item.logs.offsets == {"u": {0: LogOffsets(8, 20)}}

    def test_describe_offsets_of_selected_topics(self, connect_admin: Opened, client: FakeClient) -> None:
        outcome = self.ask(connect_admin(client), Selection(topics=frozenset({"u"})))
        assert [item.group.group for item in outcome.items] == ["b"]
        assert ("offsets", 0, [("u", 0)]) in client.asked

    def test_describe_offsets_of_whole_topics(self, connect_admin: Opened, client: FakeClient) -> None:
        outcome = self.ask(connect_admin(client), Selection(names=("a",)), whole_topics=True)
        assert outcome.items[0].logs.offsets == {"t": {0: LogOffsets(2, 9), 1: LogOffsets(0, 1)}}

    def test_find_unread_requires_the_wire_client(self, connect_admin: Opened, client: FakeClient) -> None:
        place = Position("t", 0, 5)
        find = partial(find_unread, connect_admin(client), isolation=Isolation.READ_UNCOMMITTED)
        found, (failure,) = asyncio.run(find([place]))
        assert found == {place: FirstUnread(failed=failure.message)} and "--transport wire" in failure.message
        assert asyncio.run(find([])) == ({}, ())

    def test_describe_offsets_unreadable_commits_are_a_failure(self, connect_admin: Opened, client: FakeClient) -> None:
        client.committed["a"] = refusal(KafkaError.GROUP_AUTHORIZATION_FAILED)
        outcome = self.ask(connect_admin(client), EVERYTHING)
        assert [item.group.group for item in outcome.items] == ["b"]
        assert [(failure.name, failure.api) for failure in outcome.failures] == [("a", "OffsetFetch")]

    def test_describe_offsets_holes_match_the_wire_client(self, connect_admin: Opened, client: FakeClient) -> None:
        client.committed["a"] = commits("a", ("t", 0, 1), ("t", 9, 1), ("gone", 0, 1), ("gone", 1, 1), ("down", 0, 1))
        client.topics["down"] = topic("down", None)
        client.ends["t", 0] = refusal(KafkaError.TOPIC_AUTHORIZATION_FAILED)
        outcome = self.ask(connect_admin(client), Selection(names=("a",)))
        assert [(failure.scope, failure.name, failure.error, failure.broker) for failure in outcome.failures] == [
            (Scope.PARTITION, "down-0", "LEADER_NOT_AVAILABLE", None),
            (Scope.TOPIC, "gone", "UNKNOWN_TOPIC_OR_PARTITION", None),
            (Scope.PARTITION, "t-0", "TOPIC_AUTHORIZATION_FAILED", 1),
            (Scope.PARTITION, "t-9", "UNKNOWN_TOPIC_OR_PARTITION", None),
        ]
        assert set(outcome.items[0].logs.holes) == {("down", 0), ("gone", 0), ("gone", 1), ("t", 0), ("t", 9)}

    def test_describe_offsets_hung_leader_delays_no_other(self, connect_admin: Opened, client: FakeClient) -> None:
        client.committed["a"] = commits("a", ("t", 0, 1), ("t", 1, 1))
        client.ends["t", 1] = SILENCE
        outcome = self.ask(connect_admin(client), Selection(names=("a",)))
        assert outcome.items[0].logs.offsets == {"t": {0: LogOffsets(2, 9)}}
        assert [(failure.name, failure.broker) for failure in outcome.failures] == [("t-1", 2)]


class TestConnect:
    def test_connect_reads_the_cluster_id(self, connect_admin: Opened) -> None:
        assert connect_admin(FakeClient(topics=PLACES)).cluster_id == "the-cluster"

    def test_connect_without_permission_on_offsets_topic_works(self, connect_admin: Opened) -> None:
        client = FakeClient(topics={"__consumer_offsets": refusal(KafkaError.TOPIC_AUTHORIZATION_FAILED)})
        client.listed, client.groups = [listing("a")], {"a": description("a")}
        outcome = asyncio.run(connect_admin(client).list_selected(Selection(among=ListFilter())))
        assert [group.coordinator for group in outcome.items] == [ONE]

    def test_connect_to_closed_port_is_unreachable(self, capfd: pytest.CaptureFixture[str]) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound and not listening: refuses
            port = taken.getsockname()[1]
            settings = ClientSettings((("127.0.0.1", port),), timeout=5.0, broker_timeout=5.0)
            with pytest.raises(ClusterUnreachable, match=f"127.0.0.1:{port}.*Connection refused") as raised:
                asyncio.run(LibrdkafkaClient.connect(settings))
        assert "\n" not in str(raised.value)
        assert capfd.readouterr() == ("", "")

    def test_connect_to_silent_server_times_out(self) -> None:
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            settings = ClientSettings((("127.0.0.1", silent.getsockname()[1]),), timeout=0.3, broker_timeout=60.0)
            began = time.monotonic()
            with pytest.raises(ClusterUnreachable, match="no response within"):
                asyncio.run(LibrdkafkaClient.connect(settings))
            assert time.monotonic() - began < 20.0

    def test_connect_accepts_extreme_timeouts(self) -> None:
        for timeout in (0.001, 10.0, 100_000.0):
            settings = ClientSettings((("127.0.0.1", 1),), timeout=timeout, broker_timeout=timeout)
            with pytest.raises(ClusterUnreachable):
                asyncio.run(LibrdkafkaClient.connect(settings))
        assert AdminClient  # the real one


class TestWords:
    @pytest.mark.parametrize(
        ("name", "partition"),
        [
            ("a", 97 % 50),
            ("", 0),
            ("polygenelubricants", 0),  # its hashCode is Integer.MIN_VALUE, which Utils.abs makes 0
            ("hello world", 1794106052 % 50),
            ("zzzzzz", 685785664 % 50),
            ("\U0001f600", 1772899 % 50),
        ],
    )
    def test_partition_of_matches_java(self, name: str, partition: int) -> None:
        assert partition_of(name, 50) == partition

    def test_reasons_are_short_and_unique(self) -> None:
        output = "h:9/bootstrap: Connect to ipv4#127.0.0.1:9 failed: Connection refused (after %dms in state CONNECT)"
        assert conversions.reasons([output % 0, output % 7]) == [
            "h:9: Connect to ipv4#127.0.0.1:9 failed: Connection refused"
        ]

    def test_expected_signature_is_masked(self) -> None:
        output = "h:9: SASL SCRAM authentication failed: ServerSignature mismatch (server's %s != ours c2VjcmV0PQ==)"
        for server in ("AAAA", "A) != ours B", "", "x\ny"):
            (shown,) = conversions.reasons([output % server])
            assert "c2VjcmV0" not in shown and "ours [hidden]" in shown.replace(MASK, "[hidden]")


class TestNumbers:
    """Numbers of librdkafka that mean nothing are neither offsets nor zero."""

    @staticmethod
    def ask(connect_admin: Opened, **rest: Any) -> Outcome[GroupOffsets]:
        shop: dict[str, Any] = {
            "groups": {"a": description("a", member("m", ("t", 0)), state="STABLE")},
            "committed": {"a": commits("a", ("t", 0, 50))},
            "topics": {"t": topic("t", ONE), **PLACES},
            "ends": {("t", 0): (10, 100)},
        }
        admin = connect_admin(FakeClient(**(shop | rest)))
        return asyncio.run(admin.describe_offsets(Selection(("a",)), isolation=Isolation.READ_UNCOMMITTED))

    @given(st.integers(-(2**63), -1))
    def test_log_offset_below_zero_is_unknown(self, offset: int) -> None:
        found = conversions.log_offset_of(("t", 0), LogEnd(offset))
        assert isinstance(found, Failure) and found.message == f"librdkafka returned no offset ({offset})"

    @given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**31), 2**31 - 1))
    def test_commit_is_an_offset_or_none_or_a_failure(self, offset: int, partition: int) -> None:
        found = conversions.commits_of("a", commits("a", ("t", partition, offset)))
        if partition >= 0 and offset >= 0:
            assert found == GroupCommits("a", {"t": (Commit(partition, offset),)})
        elif partition >= 0 and offset in (-1, -1001):
            assert found == GroupCommits("a", {})
        else:
            assert isinstance(found, Failure) and f"partition {partition}, offset {offset}" in found.message

    @pytest.mark.parametrize("ends", [(10, -1001), (-1001, 100), (-1, -1)])
    def test_marker_instead_of_log_offset_is_a_failure(self, connect_admin: Opened, ends: tuple[int, int]) -> None:
        answer = self.ask(connect_admin, ends={("t", 0): ends})
        (row,) = offset_rows(answer.items[0])
        assert (row.log_end_offset, row.lag) == ((100, 50) if ends[1] == 100 else (None, None))
        assert ["librdkafka returned no offset" in failure.message for failure in answer.failures] == [True]

    def test_error_of_a_partition_is_a_failure_of_the_group(self, connect_admin: Opened) -> None:
        class Entry:
            topic, partition, offset, leader_epoch, metadata = "t", 0, -1001, -1, None
            error = KafkaError(88)

        answer = commits("a")
        answer.topic_partitions = [Entry()]
        (failure,) = self.ask(connect_admin, committed={"a": answer}).failures
        assert (failure.name, failure.error) == ("a", "UNSTABLE_OFFSET_COMMIT")

    def test_leader_below_zero_is_no_leader(self, connect_admin: Opened) -> None:
        answer = self.ask(connect_admin, topics={"t": topic("t", Node(-1, "", -1)), **PLACES})
        assert [failure.error for failure in answer.failures] == ["LEADER_NOT_AVAILABLE"]

    def test_coordinator_below_zero_is_a_failure(self, connect_admin: Opened) -> None:
        answer = self.ask(connect_admin, groups={"a": description("a", at=Node(-1, "", -1))})
        assert [failure.error for failure in answer.failures] == ["COORDINATOR_NOT_AVAILABLE"]

    @pytest.mark.parametrize("read", [b"AgAAAaIB", b"AgAAAaIBE", b"AgAAAaIB\x81"])
    def test_commits_with_garbled_metadata_have_unknown_metadata(self, read: bytes) -> None:
        assert conversions.commits_of("a", commit_with(read)) == GroupCommits("a", {"t": (Commit(0, 5, None, None),)})

    @pytest.mark.parametrize("read", [b"", None])
    def test_commits_without_metadata_have_empty_metadata(self, read: bytes | None) -> None:
        assert conversions.commits_of("a", commit_with(read)) == GroupCommits("a", {"t": (Commit(0, 5, None, ""),)})


class TestMissingApis:
    """librdkafka is not asked for a request that a broker does not support."""

    APIS: ClassVar = {"Metadata": 3, "ListGroups": 16, "DescribeGroups": 15, "OffsetFetch": 9, "ListOffsets": 2} | {
        "FindCoordinator": 10,
        "ConsumerGroupDescribe": 69,
    }
    SENT: ClassVar = {"ListGroups": "list", "DescribeGroups": "describe", "OffsetFetch": "commits"} | {
        "ListOffsets": "offsets"
    }

    @staticmethod
    def client() -> FakeClient:
        return FakeClient(
            listed=[listing("a"), listing("k", kind=CONSUMER)],
            groups={"a": description("a", member("m", ("t", 0))), "k": missing("k")},
            committed={"a": commits("a", ("t", 0, 50))},
            topics={"t": topic("t", ONE), **PLACES},
            ends={("t", 0): (10, 100)},
        )

    @pytest.mark.parametrize("lacking", [api for api in APIS if api != "Metadata"])
    def test_missing_api_is_named_and_not_requested(self, connect_admin: Opened, lacking: str) -> None:
        client = self.client()
        admin = connect_admin(client, without=self.APIS[lacking])
        answer = asyncio.run(admin.describe_offsets(EVERYTHING, isolation=Isolation.READ_UNCOMMITTED))
        assert f"one:9092: the broker does not support {lacking}" in {failure.message for failure in answer.failures}
        assert self.SENT.get(lacking) not in {asked[0] for asked in client.asked}
        if lacking == "FindCoordinator":
            assert not {"describe", "commits"} & {asked[0] for asked in client.asked}

    @pytest.mark.parametrize("lacking", [47, 42, 8, 90])
    def test_missing_api_that_is_not_used_changes_nothing(self, connect_admin: Opened, lacking: int) -> None:
        admin = connect_admin(self.client(), without=lacking)
        answer = asyncio.run(admin.describe_offsets(EVERYTHING, isolation=Isolation.READ_UNCOMMITTED))
        assert [item.group.group for item in answer.items] == ["a"]
        assert [failure.error for failure in answer.failures] == ["GROUP_ID_NOT_FOUND"]

    def test_missing_metadata_ends_the_command(self, connect_admin: Opened) -> None:
        with pytest.raises(UnsupportedVersion, match="one:9092: the broker does not support Metadata"):
            connect_admin(self.client(), without=3)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the names of threads are Linux's to tell")
def test_connect_failure_leaves_no_threads() -> None:
    """A thread would use OpenSSL while the exiting process shuts it down, and crash."""

    def threads() -> set[str]:
        return {task.name for task in Path("/proc/self/task").iterdir() if name_of(task).startswith("rdk:")}

    def name_of(task: Path) -> str:
        with suppress(OSError):
            return (task / "comm").read_text()
        return ""

    before = threads()
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    settings = ClientSettings((("127.0.0.1", port),), timeout=5.0, broker_timeout=1.0)
    with pytest.raises(ClusterUnreachable) as caught:
        asyncio.run(LibrdkafkaClient.connect(settings))
    assert caught.value.__traceback__, "which refers to all that it came through"
    assert threads() <= before
