"""Moving Kafka Streams applications: not without their state, and not onto one that has state."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kgroups.sandbox import Sandbox
from kgroups.sandbox.streams import CHANGELOG, REPARTITION, start_streams
from tests.integration.asking import Answer, run_here
from tests.integration.conftest import calm
from tests.integration.copied_topic import BEGAN
from tests.integration.streams_member import play_streams_group
from tests.integration.versions import MAIN

APP: Final = "counter"
TOPIC: Final = "words"
WORDS: Final = ["a", "b", "a", "c", "a", "b"] * 5
LOG: Final = f"{APP}-{CHANGELOG}"
BETWEEN: Final = f"{APP}-{REPARTITION}"
SETTINGS: Final[dict[str, Any]] = {
    "session.timeout.ms": "6000",
    "heartbeat.interval.ms": "1000",
    "repartition.purge.interval.ms": "3600000",
}


@pytest.fixture(scope="module")
def clusters(require_kafka: Callable[[str], None], jdk: None) -> Iterator[tuple[Sandbox, Sandbox]]:
    """An application that has counted the words of a topic, and stopped; the other cluster has a copy of the topic."""
    require_kafka(MAIN)
    name = f"pytest-{os.getpid()}-applications"
    with (
        Sandbox.up(MAIN, name=f"{name}-source", properties=calm(MAIN)) as source,
        Sandbox.up(MAIN, name=f"{name}-target", properties=calm(MAIN)) as target,
    ):
        for sandbox in (source, target):
            create(sandbox, TOPIC)
        producer = Producer({"bootstrap.servers": source.bootstrap})
        for at, word in enumerate(WORDS):
            producer.produce(TOPIC, word.encode(), partition=0, timestamp=BEGAN + at)
        assert producer.flush(60) == 0
        copy(source, target, TOPIC)
        application = run_application(source)
        wait(lambda: counted(source) == {"a": 15, "b": 10, "c": 5} and lags(source) == {0})
        running = move(source, target)
        assert running.code == 1 and "Kafka Streams application (2 internal topics: " in running.err, running.err
        source.stop_helper(application, grace=60)
        wait(lambda: state(source) == "Empty")
        yield source, target


def run_application(sandbox: Sandbox) -> int:
    return start_streams(sandbox, APP, [TOPIC], protocol="classic", **SETTINGS)


def create(sandbox: Sandbox, topic: str, **config: str) -> None:
    admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
    admin.create_topics([NewTopic(topic, 1, 1, config=config)])[topic].result(60)


def records(sandbox: Sandbox, topic: str) -> list[tuple[bytes | None, bytes | None, int]]:
    """Return key, value, and time of the records of a topic, which has one partition."""
    reader = Consumer({"bootstrap.servers": sandbox.bootstrap, "group.id": "reader", "enable.partition.eof": True})
    reader.assign([TopicPartition(topic, 0, 0)])
    found = []
    while (message := reader.poll(60)) is not None and not message.error():
        found.append((message.key(), message.value(), message.timestamp()[1]))
    reader.close()
    return found


def copy(source: Sandbox, target: Sandbox, topic: str, first: int = 0, end: int | None = None) -> None:
    producer = Producer({"bootstrap.servers": target.bootstrap})
    for key, value, ms in records(source, topic)[first:end]:
        producer.produce(topic, value, key, 0, timestamp=ms)
    assert producer.flush(60) == 0


def counted(sandbox: Sandbox) -> dict[str, int]:
    if LOG not in AdminClient({"bootstrap.servers": sandbox.bootstrap}).list_topics(timeout=60).topics:
        return {}
    return {
        (key or b"").decode(): int.from_bytes((value or b"")[-8:], "big") for key, value, _ in records(sandbox, LOG)
    }


def lags(sandbox: Sandbox) -> set[int | None]:
    return {row["lag"] for row in run_here("describe", APP, "-o", "json", bootstrap=sandbox.bootstrap).items}


def state(sandbox: Sandbox) -> str:
    return str(run_here("list", APP, "--state", "-o", "json", bootstrap=sandbox.bootstrap).items[0]["state"])


def wait(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.3)


def committed(sandbox: Sandbox, group: str) -> dict[str, int]:
    admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
    found = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(60)
    return {each.topic: each.offset for each in found.topic_partitions if each.offset >= 0}


def commit(sandbox: Sandbox, group: str, offset: int) -> None:
    admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
    made = ConsumerGroupTopicPartitions(group, [TopicPartition(TOPIC, 0, offset)])
    admin.alter_consumer_group_offsets([made])[group].result(60)


def move(source: Sandbox, target: Sandbox, *words: str, group: str = APP) -> Answer:
    both = "--from", source.bootstrap, "--to", target.bootstrap
    return run_here("translate", group, *both, "-o", "json", "--commit-window", "100ms", *words)


def parity(source: Sandbox, target: Sandbox, *words: str) -> Answer:
    return run_here("parity", source.bootstrap, target.bootstrap, APP, "-o", "json", *words)


def test_application_is_moved_only_with_its_state(clusters: tuple[Sandbox, Sandbox], tmp_path: Path) -> None:
    source, target = clusters
    execute = "--execute", "--yes", "--undo-file", str(tmp_path / "undo.json")
    create(target, BETWEEN)
    copy(source, target, BETWEEN)
    for words in ((), ("--including-streams",)):
        answer = move(source, target, *execute, *words)
        assert (answer.code, answer.items) == (1, [])
        assert committed(target, APP) == {}
        assert parity(source, target, *words).code == 3
    assert f"its state is not copied: {LOG}-0: no copy of the topic" in answer.err
    create(target, LOG, **{"cleanup.policy": "compact"})
    copy(source, target, LOG, end=-1)
    answer = move(source, target, *execute, "--including-streams")
    assert (answer.code, answer.items) == (1, [])
    assert f"its state is not copied: {LOG}-0: not copied yet" in answer.err
    assert committed(target, APP) == {}
    copy(source, target, LOG, first=-1)
    answer = move(source, target, *execute, "--including-streams")
    assert answer.code == 0, answer.err
    assert {row["topic"]: row["result"] for row in answer.items} == {TOPIC: "applied", BETWEEN: "applied"}
    assert parity(source, target, "--including-streams").code == 0
    assert parity(source, target).code == 3
    run_application(target)
    producer = Producer({"bootstrap.servers": target.bootstrap})
    producer.produce(TOPIC, b"a", partition=0)
    assert producer.flush(60) == 0
    wait(lambda: counted(target)["a"] > 15)
    assert counted(target) == {"a": 16, "b": 10, "c": 5}


def test_name_of_another_application_is_longer(clusters: tuple[Sandbox, Sandbox]) -> None:
    """Only names that begin with that of the group, and a hyphen, are those of its internal topics."""
    source, target = clusters
    for group in ("count", "counter-by"):
        commit(source, group, 3)
    assert move(source, target, group="count").code == 0
    answer = move(source, target, group="counter-by")  # may be an application with a store "value"
    assert answer.code == 1 and f"1 internal topic: {BETWEEN}" in answer.err


@pytest.mark.parametrize("members", ["none left", "never any"])
def test_streams_group_on_the_target_is_left_alone(
    clusters: tuple[Sandbox, Sandbox], tmp_path: Path, members: str
) -> None:
    source, target = clusters
    group = f"streams-{members.replace(' ', '-')}"
    play_streams_group(target.bootstrap, group, TOPIC)
    if members == "none left":
        commit(target, group, 2)
    commit(source, group, 5)
    before = committed(target, group)
    answer = move(source, target, "--execute", "--yes", "--undo-file", str(tmp_path / "undo.json"), group=group)
    assert (answer.code, answer.items) == (1, [])
    failure = json.loads(answer.out)["failures"][0]
    assert failure["message"].startswith("on the target: it is a Streams group"), failure
    assert committed(target, group) == before
    assert run_here("parity", source.bootstrap, target.bootstrap, group).code == 3
