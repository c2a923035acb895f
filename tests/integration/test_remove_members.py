"""``kgroups remove-members`` on real brokers: dynamic members, static ones, and those of the new protocol."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer

from tests.integration.asking import Row
from tests.integration.ground import LOG, LONG, Ground

DO_IT = ("--execute", "--yes", "-o", "json")


def members(ground: Ground, group: str) -> list[Row]:
    return ground.ask("describe", group, "--members", "-o", "json").items


@contextmanager
def consuming(ground: Ground, group: str, **settings: str) -> Iterator[Consumer]:
    """A consumer that has partitions, and is not polled any more: it lives, and notices nothing."""
    common = {"bootstrap.servers": ground.sandbox.bootstrap, "group.id": group, "log_level": "3"}
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


def test_dynamic_member_is_removed_by_id(ground: Ground) -> None:
    if not ground.since("2.4"):
        pytest.skip("members leave only by themselves (KIP-345)")
    group = f"acts-members-{ground.version}"
    member = ground.join(group)
    plan = ground.ask("remove-members", group, "--member", member.member_id, "--member", "nobody")
    assert plan.code == 1 and "no member with the id 'nobody'" in plan.err
    assert len(members(ground, group)) == 1
    told = ground.ask("remove-members", group, "--member", member.member_id, *DO_IT, "--reason", "it hangs")
    assert told.code == 0, told.err
    assert [(row["consumer_id"], row["partitions"], row["result"]) for row in told.items] == [
        (member.member_id, 3, "applied")
    ]
    assert members(ground, group) == []


def test_static_member_is_removed_by_instance_id(ground: Ground) -> None:
    if not ground.since("2.4"):
        pytest.skip("members leave only by themselves (KIP-345)")
    group = f"acts-static-{ground.version}"
    with consuming(ground, group, **{"group.instance.id": "one", "session.timeout.ms": "45000"}):
        pass
    assert [row["group_instance_id"] for row in members(ground, group)] == ["one"], "static members do not leave"
    told = ground.ask("remove-members", group, "--instance", "one", *DO_IT)
    assert told.code == 0, told.err
    assert [row["result"] for row in told.items] == ["applied"]
    assert members(ground, group) == []


def test_consumer_protocol_member_is_removed(ground: Ground) -> None:
    if not ground.sandbox.version.final_consumer_protocol:
        pytest.skip("no KIP-848")
    group = "acts-kip848"
    with consuming(ground, group, **{"group.protocol": "consumer", "group.instance.id": "one"}):
        pass
    (left,) = members(ground, group)
    told = ground.ask("remove-members", group, "--instance", "one", *DO_IT)
    assert told.code == 0, told.err
    assert [(row["consumer_id"], row["result"]) for row in told.items] == [(left["consumer_id"], "applied")]
    assert members(ground, group) == []


def test_remove_members_before_kafka_2_4_is_an_error(ground: Ground) -> None:
    if ground.since("2.4"):
        pytest.skip("newer ones can")
    group = f"acts-members-{ground.version}"
    ground.join(group, LOG)
    for words in ((), DO_IT):
        told = ground.ask("remove-members", group, "--all-members", *words)
        assert told.code == 1 and "removing members needs Kafka 2.4 (LeaveGroup v3)" in told.err
    assert not told.items
    assert len(members(ground, group)) == 1
