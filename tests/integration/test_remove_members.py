"""``kgroups remove-members`` on real brokers: dynamic members, static ones, and those of the new protocol."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer

from tests.integration.asking import Row
from tests.integration.scratch_cluster import LOG, LONG, ScratchCluster

DO_IT = ("--execute", "--yes", "-o", "json")


def members(scratch_cluster: ScratchCluster, group: str) -> list[Row]:
    return scratch_cluster.ask("describe", group, "--members", "-o", "json").items


@contextmanager
def consuming(scratch_cluster: ScratchCluster, group: str, **settings: str) -> Iterator[Consumer]:
    """A consumer that has partitions, and is not polled any more: it lives, and notices nothing."""
    common = {"bootstrap.servers": scratch_cluster.sandbox.bootstrap, "group.id": group, "log_level": "3"}
    consumer = Consumer({**common, "enable.auto.commit": "false", **settings})
    consumer.subscribe([LONG])
    until = time.monotonic() + 60
    while not consumer.assignment():
        consumer.poll(0.1)
        assert time.monotonic() < until
    try:
        yield consumer
    finally:
        consumer.close()


def test_dynamic_member_is_removed_by_id(scratch_cluster: ScratchCluster) -> None:
    if not scratch_cluster.since("2.4"):
        pytest.skip("members leave only by themselves (KIP-345)")
    group = f"acts-members-{scratch_cluster.version}"
    member = scratch_cluster.join(group)
    plan = scratch_cluster.ask("remove-members", group, "--member", member.member_id, "--member", "nobody")
    assert plan.code == 1 and "no member with the id 'nobody'" in plan.err
    assert len(members(scratch_cluster, group)) == 1
    answer = scratch_cluster.ask("remove-members", group, "--member", member.member_id, *DO_IT, "--reason", "it hangs")
    assert answer.code == 0, answer.err
    assert [(row["consumer_id"], row["partitions"], row["result"]) for row in answer.items] == [
        (member.member_id, 3, "applied")
    ]
    assert members(scratch_cluster, group) == []


def test_static_member_is_removed_by_instance_id(scratch_cluster: ScratchCluster) -> None:
    if not scratch_cluster.since("2.4"):
        pytest.skip("members leave only by themselves (KIP-345)")
    group = f"acts-static-{scratch_cluster.version}"
    with consuming(scratch_cluster, group, **{"group.instance.id": "one", "session.timeout.ms": "45000"}):
        pass
    assert [row["group_instance_id"] for row in members(scratch_cluster, group)] == ["one"], (
        "static members do not leave"
    )
    answer = scratch_cluster.ask("remove-members", group, "--instance", "one", *DO_IT)
    assert answer.code == 0, answer.err
    assert [row["result"] for row in answer.items] == ["applied"]
    assert members(scratch_cluster, group) == []


def test_consumer_protocol_member_is_removed(scratch_cluster: ScratchCluster) -> None:
    if not scratch_cluster.sandbox.version.final_consumer_protocol:
        pytest.skip("no KIP-848")
    group = "acts-kip848"
    with consuming(scratch_cluster, group, **{"group.protocol": "consumer", "group.instance.id": "one"}):
        pass
    (left,) = members(scratch_cluster, group)
    answer = scratch_cluster.ask("remove-members", group, "--instance", "one", *DO_IT)
    assert answer.code == 0, answer.err
    assert [(row["consumer_id"], row["result"]) for row in answer.items] == [(left["consumer_id"], "applied")]
    assert members(scratch_cluster, group) == []


def test_remove_members_before_kafka_2_4_is_an_error(scratch_cluster: ScratchCluster) -> None:
    if scratch_cluster.since("2.4"):
        pytest.skip("newer ones can")
    group = f"acts-members-{scratch_cluster.version}"
    scratch_cluster.join(group, LOG)
    for words in ((), DO_IT):
        answer = scratch_cluster.ask("remove-members", group, "--all-members", *words)
        assert answer.code == 1 and "removing members needs Kafka 2.4 (LeaveGroup v3)" in answer.err
    assert not answer.items
    assert len(members(scratch_cluster, group)) == 1
