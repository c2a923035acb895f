"""Which groups are Kafka Streams applications under the classic protocol, and which internal topics are theirs."""

from __future__ import annotations

from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupType
from kgroups.model.streams_groups import STREAMS_ASSIGNOR, classic_applications, owner_of

NODE = Node(1, "broker", 9092)


def group(
    name: str, protocol: str = "", kind: str | None = GroupType.CLASSIC, protocol_type: str = "consumer"
) -> Group:
    return Group(name, kind, "Stable" if protocol else "Empty", protocol_type, protocol, NODE)


def test_internal_topic_is_that_of_the_longest_name() -> None:
    names = {"app", "app-eu", "other"}
    assert owner_of("app-eu-store-changelog", names) == "app-eu"
    assert owner_of("app-us-store-changelog", names) == "app"
    assert owner_of("app-changelog", names) is None  # it has no name of a store
    assert owner_of("app-eu-changelog", names) == "app"
    assert owner_of("app-eu-changelog-2", names) is None
    assert owner_of("application-store-changelog", names) is None
    assert owner_of("-changelog", {""}) is None


def test_topics_of_joins_by_foreign_key_are_internal() -> None:
    names = {"app"}
    assert owner_of("app-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic", names) == "app"
    assert owner_of("app-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-x-topic", names) is None
    assert owner_of("app-join-subscription-response-topic", names) == "app"
    assert owner_of("app-subscription-response-topic", names) is None
    assert owner_of("app-orders-topic", names) is None


def test_applications_are_known_by_members_or_by_internal_topics() -> None:
    topics = [
        "idle-s-repartition",
        "idle-s-changelog",
        "range-x-changelog",
        "modern-x-changelog",
        "connect-x-changelog",
    ]
    groups = [
        group("idle"),
        group("running", STREAMS_ASSIGNOR),
        group("range", "range"),
        group("modern", kind=GroupType.CONSUMER),
        group("connect", protocol_type="connect"),
        group("plain"),
    ]
    found = classic_applications(groups, topics, {each.group for each in groups})
    assert found == {"idle": ["idle-s-changelog", "idle-s-repartition"], "running": []}
    assert classic_applications(groups, topics, {"idle", "idle-s", "running"}) == {
        "idle": ["idle-s-changelog", "idle-s-repartition"],
        "running": [],
    }


def test_topics_of_a_longer_name_are_not_evidence() -> None:
    names = {"orders", "orders-eu"}
    assert classic_applications([group("orders")], ["orders-eu-s-changelog"], names) == {}
    assert classic_applications([group("orders")], ["orders-eu-s-changelog"], {"orders"}) == {
        "orders": ["orders-eu-s-changelog"]
    }
