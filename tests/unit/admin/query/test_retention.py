"""What decides when records are deleted, from brokers that answer, refuse, and do not respond."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.query.retention import fetch_retention
from kgroups.model.headroom import Policy, Retention
from kgroups.model.outcome import Failure, Scope
from tests.fakes import broker as faults
from tests.fakes.asking import PATIENCE, ask
from tests.fakes.broker import FakeCluster
from tests.fakes.versions import KAFKA

Pair = tuple[str, int]
Answer = tuple[Retention, tuple[Failure, ...]]

SETTINGS = {
    "cleanup.policy": "delete",
    "retention.ms": "1000",
    "retention.bytes": "-1",
    "segment.ms": "10",
    "segment.bytes": "20",
}
PAIRS = [("t", 0), ("t", 1), ("big", 0), ("big", 1), ("u", 1)]


def cluster(version: str = "4.3.1") -> FakeCluster:
    """t, u: kept for a time; big: by size. Partition 0 of each is on broker 0, partition 1 on broker 1."""
    fake = FakeCluster(2, version)
    for topic in ("t", "u", "big"):
        fake.state.topic(topic, [0, 1], sizes={0: 300, 1: 400})
        fake.state.settings[topic] = dict(SETTINGS)
    fake.state.settings["big"] |= {"retention.bytes": "500"}
    for broker in ("0", "1"):
        fake.state.settings[broker] = {"log.retention.check.interval.ms": f"{broker}5"}
    return fake


def fetch(fake: FakeCluster, pairs: Iterable[Pair] = PAIRS, **rest: Any) -> Answer:
    async def query(admin: Any) -> Answer:
        found: Answer = await fetch_retention(admin.cluster, pairs)
        return found

    return ask(fake, query, **rest)


@pytest.mark.parametrize("version", [version for version in KAFKA if version != "1.1.1"])
def test_retention_needs_one_request_of_each_kind_per_leader(version: str) -> None:
    fake = cluster(version)
    retention, failures = fetch(fake)
    by_time = Policy(True, False, 1000, None, 10, 20)
    assert retention.policies == {"t": by_time, "u": by_time, "big": by_time._replace(retention_bytes=500)}
    assert retention.sizes == {("big", 0): 300, ("big", 1): 400}
    assert retention.intervals == {("t", 0): 5, ("t", 1): 15, ("big", 0): 5, ("big", 1): 15, ("u", 1): 15}
    assert failures == ()
    for api in ("DescribeConfigs", "DescribeLogDirs"):
        assert sorted(request.broker for request in fake.asked(api)) == [0, 1]


def test_sizes_are_requested_only_if_they_matter() -> None:
    fake = cluster()
    fetch(fake, [("t", 0), ("t", 1)])
    assert not fake.asked("DescribeLogDirs")
    assert fetch(cluster(), []) == (Retention(), ())


def test_sizes_of_brokers_before_kafka_2_are_unknown() -> None:
    retention, failures = fetch(cluster("1.1.1"))
    assert retention.policies["big"].retention_bytes == 500 and not retention.sizes
    assert {(each.scope, each.name) for each in failures} == {(Scope.BROKER, "0"), (Scope.BROKER, "1")}
    assert all("the sizes of its logs are unknown" in each.message for each in failures)
    assert "DescribeLogDirs" in retention.sizes_unknown["big", 0]


def test_topic_without_permission_is_a_failure() -> None:
    fake = cluster()
    fake.state.fail("DescribeConfigs", "t", ErrorCode.topic_authorization_failed)
    retention, failures = fetch(fake)
    (failure,) = failures
    assert (failure.scope, failure.name) == (Scope.TOPIC, "t")
    assert "its retention is unknown" in failure.message and "DESCRIBE_CONFIGS on TOPIC t" in failure.message
    assert retention.unknown == {"t": failure.message} and set(retention.policies) == {"u", "big"}


def test_broker_without_permission_has_no_check_interval_and_no_sizes() -> None:
    fake = cluster()
    fake.state.fail("DescribeConfigs", "0", ErrorCode.cluster_authorization_failed)
    fake.state.fail("DescribeLogDirs", "0", ErrorCode.cluster_authorization_failed)
    retention, failures = fetch(fake)
    assert [each.message.partition(":")[0] for each in failures] == [
        "the latest time of deletion is unknown",
        "the sizes of its logs are unknown",
    ]
    assert [each.acl and each.acl.operation for each in failures] == ["DESCRIBE_CONFIGS", "DESCRIBE"]
    assert set(retention.intervals) == {("t", 1), ("big", 1), ("u", 1)}
    assert set(retention.sizes) == {("big", 1)} and "not authorized" in retention.sizes_unknown["big", 0]


def test_size_that_is_missing_in_the_response_is_a_failure() -> None:
    fake = cluster()

    def without(api: str, response: Any) -> Any:
        if api != "DescribeLogDirs":
            return response
        return replace(response, results=tuple(replace(each, topics=()) for each in response.results))

    fake.brokers[0].bend = without
    retention, failures = fetch(fake)
    assert [(each.scope, each.name) for each in failures] == [(Scope.PARTITION, "big-0")]
    assert retention.sizes_unknown == {("big", 0): "missing in the leader's response"}


def test_other_broker_is_asked_about_topics_if_one_does_not_respond() -> None:
    fake = cluster()
    fake.brokers[0].fault("DescribeConfigs", faults.silence)
    retention, failures = fetch(fake, broker_timeout=PATIENCE)
    assert set(retention.policies) == {"t", "u", "big"}
    assert [(each.scope, each.name) for each in failures][:1] == [(Scope.BROKER, "0")]
    assert ("t", 1) in retention.intervals and ("t", 0) not in retention.intervals


def test_settings_that_are_missing_are_named() -> None:
    fake = cluster()
    del fake.state.settings["u"]["segment.ms"]
    fake.state.settings["1"] = {}
    retention, failures = fetch(fake)
    assert [each.message for each in failures] == [
        "its retention is unknown: the broker does not report segment.ms",
        "the latest time of deletion is unknown: the broker does not report log.retention.check.interval.ms",
    ]
    assert "u" not in retention.policies
