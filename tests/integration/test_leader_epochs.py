"""Offsets that kgroups writes have no leader epoch of another log: consumers read the record at the offset."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kgroups.sandbox import Sandbox
from tests.integration.asking import run_kgroups
from tests.integration.conftest import wanted_versions
from tests.integration.java_members import JavaMembers
from tests.integration.versions import MAIN

READERS = ("classic", "consumer", "librdkafka")
YES = ("--execute", "--yes", "--commit-window", "100ms", "--undo-file")


@pytest.fixture(scope="module")
def brokers(
    request: pytest.FixtureRequest, require_kafka: Callable[[str], None], jdk: None
) -> Iterator[tuple[Sandbox, Sandbox]]:
    if MAIN not in wanted_versions(request.config):
        pytest.skip(f"harm is done to Kafka {MAIN} only")
    require_kafka(MAIN)
    name = f"pytest-{os.getpid()}-epochs"
    fast = {"broker.session.timeout.ms": "6000", "replica.lag.time.max.ms": "3000"}
    with (
        Sandbox.up(MAIN, brokers=3, name=name, properties=fast) as one,
        Sandbox.up(MAIN, brokers=1, name=f"{name}-b") as other,
    ):
        yield one, other


class Log:
    """A topic of one partition."""

    def __init__(self, sandbox: Sandbox, name: str, replicas: int = 1, **config: str) -> None:
        self.bootstrap, self.name = sandbox.bootstrap, name
        self.admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
        self._make = NewTopic(name, 1, replicas, config=config)
        self.create()

    def create(self) -> None:
        for future in self.admin.create_topics([self._make]).values():
            future.result(60)

    def recreate(self, records: int) -> None:
        for future in self.admin.delete_topics([self.name]).values():
            future.result(60)
        deadline = time.monotonic() + 60
        while self.name in self.admin.list_topics(timeout=60).topics:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        self.create()
        self.produce(records)

    def produce(self, count: int, acks: str = "all") -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap, "acks": acks})
        for number in range(count):
            producer.produce(self.name, b"%d" % number, partition=0)
        assert not producer.flush(60)

    def commit(self, group: str, offset: int, epoch: int) -> None:
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": group})
        consumer.commit(offsets=[TopicPartition(self.name, 0, offset, "", epoch)], asynchronous=False)
        consumer.close()

    def committed(self, group: str) -> tuple[int, int | None]:
        (row,) = run_kgroups("describe", group, "-o", "json", bootstrap=self.bootstrap).items
        return row["current_offset"], row["leader_epoch"]

    def forget(self, group: str) -> None:
        for future in self.admin.delete_consumer_groups([group]).values():
            future.result(60)


def first_of_librdkafka(log: Log, group: str) -> int | None:
    code = (
        "import sys, confluent_kafka as k\n"
        "c = k.Consumer({'bootstrap.servers': sys.argv[1], 'group.id': sys.argv[2], 'enable.auto.commit': False})\n"
        "c.subscribe([sys.argv[3]]); m = c.poll(60); print(m.offset() if m and not m.error() else ''); c.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, log.bootstrap, group, log.name], capture_output=True, text=True, check=True
    )
    return int(done.stdout) if done.stdout.strip() else None


def assert_read(log: Log, group: str, offset: int, folder: Path) -> None:
    """Assert that consumers of all clients begin at an offset. They commit nothing, and leave one after the other."""
    for reader in READERS[:2]:
        with JavaMembers(log.bootstrap, folder / f"{group}-{reader}.log") as members:
            members.join(reader, group, (log.name,), f"group.protocol={reader}")
            assert members.first_record(reader, log.name) == offset, (reader, log.name)
        wait_until_empty(log, group)
    assert first_of_librdkafka(log, group) == offset


def wait_until_empty(log: Log, group: str) -> None:
    deadline = time.monotonic() + 60
    while run_kgroups("describe", group, "--state", "-o", "json", bootstrap=log.bootstrap).items[0]["state"] != "Empty":
        assert time.monotonic() < deadline
        time.sleep(0.2)


def act(log: Log, *words: str) -> None:
    answer = run_kgroups(*words, env={"KGROUPS_BOOTSTRAP_SERVER": log.bootstrap})
    assert answer.code == 0, answer.err


def test_offsets_restored_to_a_recreated_topic_or_another_cluster_are_read(
    brokers: tuple[Sandbox, Sandbox], tmp_path: Path
) -> None:
    here, there = (Log(each, "moved") for each in brokers)
    here.produce(20)
    there.produce(20)
    here.commit("mover", 10, 7)
    saved, undo = tmp_path / "saved.json", tmp_path / "undo.json"
    act(here, "snapshot", "save", str(saved), "mover")
    act(here, "reset-offsets", "mover", "--all-topics", "--to-offset", "5", *YES, str(undo))
    here.recreate(20)
    here.forget("mover")

    accepted = ("--accept-mismatch", "topic")
    act(here, "snapshot", "restore", str(saved), *accepted, "--create-group", *YES, str(tmp_path / "1.json"))
    assert here.committed("mover") == (10, None)
    assert_read(here, "mover", 10, tmp_path)

    act(here, "reset-offsets", "mover", "--all-topics", "--to-offset", "3", *YES, str(tmp_path / "2.json"))
    words = ("--accept-mismatch", "topic", "--accept-mismatch", "offset")
    act(here, "reset-offsets", "--from-file", str(undo), *words, *YES, str(tmp_path / "3.json"))
    assert here.committed("mover") == (10, None)

    accepted = ("--accept-mismatch", "cluster")
    act(there, "snapshot", "restore", str(saved), *accepted, "--create-group", *YES, str(tmp_path / "4.json"))
    assert there.committed("mover") == (10, None)
    assert_read(there, "mover", 10, tmp_path)


@pytest.mark.parametrize("words", [("--to-offset", "10"), ("--to-current",)], ids=str)
def test_equal_offset_with_a_foreign_epoch_is_a_change(
    brokers: tuple[Sandbox, Sandbox], tmp_path: Path, words: tuple[str, ...]
) -> None:
    log = Log(brokers[1], f"equal-{len(words)}")
    log.produce(20)
    group = f"equal-{len(words)}"
    log.commit(group, 10, 7)
    (verdict,) = run_kgroups(
        "explain", group, "--partition", f"{log.name}:0", "-o", "json", bootstrap=log.bootstrap
    ).items
    assert verdict["verdict"] == "leader-epoch-ahead" and "Java consumers read nothing" in verdict["text"]
    act(log, "reset-offsets", group, "--all-topics", *words, *YES, str(tmp_path / "undo.json"))
    assert log.committed(group) == (10, None)
    assert_read(log, group, 10, tmp_path)
    act(log, "reset-offsets", group, "--all-topics", "--to-offset", "10", *YES, str(tmp_path / "again.json"))
    assert log.committed(group) == (10, None)


def test_offset_restored_after_an_unclean_election_is_read(brokers: tuple[Sandbox, Sandbox], tmp_path: Path) -> None:
    sandbox, _ = brokers
    log = Log(sandbox, "unclean", 2, **{"unclean.leader.election.enable": "true", "min.insync.replicas": "1"})
    log.produce(10)
    partition = log.admin.list_topics(log.name, timeout=60).topics[log.name].partitions[0]
    leader = partition.leader
    follower = next(each for each in partition.replicas if each != leader)
    group = group_on(log, leader)
    sandbox.kill(follower)
    wait_for(lambda: list(isr(log)) == [leader])
    log.produce(10, acks="1")
    log.commit(group, 15, epoch_of(log))
    saved = tmp_path / "saved.json"
    act(log, "snapshot", "save", str(saved), group)
    sandbox.kill(leader)
    sandbox.restart(follower)
    wait_for(lambda: leader_of(log) == follower)
    log.produce(15)
    sandbox.restart(leader)
    wait_for(lambda: len(isr(log)) == 2)
    assert_truncated_at(log, group, 10)
    act(log, "reset-offsets", group, "--all-topics", "--to-earliest", *YES, str(tmp_path / "undo-1.json"))
    act(log, "snapshot", "restore", str(saved), *YES, str(tmp_path / "undo-2.json"))
    assert log.committed(group) == (15, None), "the log has the records of another leader there"
    assert_read(log, group, 15, tmp_path)


def assert_truncated_at(log: Log, group: str, offset: int) -> None:
    (verdict,) = run_kgroups(
        "explain", group, "--partition", f"{log.name}:0", "-o", "json", bootstrap=log.bootstrap
    ).items
    assert (verdict["verdict"], verdict["facts"]["diverged_offset"]) == ("truncated-log", offset)
    (explained,) = run_kgroups("explain", group, "-o", "json", bootstrap=log.bootstrap).items
    assert explained["summary"]["status"] == "truncated log"
    checked = run_kgroups("check", group, "--max-lag", "1000", bootstrap=log.bootstrap)
    assert checked.code == 2 and f"log truncated: {15 - offset} offsets of 1 partition" in checked.out


def group_on(log: Log, broker: int) -> str:
    """Return a group whose coordinator is this broker: it keeps its offsets while others are down."""
    for number in range(200):
        group = f"unclean-{number}"
        log.commit(group, 1, -1)
        (row,) = run_kgroups("describe", group, "--state", "-o", "json", bootstrap=log.bootstrap).items
        if row["coordinator"]["id"] == broker:
            return group
    raise AssertionError(f"no group on broker {broker}")


def isr(log: Log) -> list[int]:
    return list(log.admin.list_topics(log.name, timeout=60).topics[log.name].partitions[0].isrs)


def leader_of(log: Log) -> int:
    return int(log.admin.list_topics(log.name, timeout=60).topics[log.name].partitions[0].leader)


def epoch_of(log: Log) -> int:
    consumer = Consumer({"bootstrap.servers": log.bootstrap, "group.id": "none", "enable.auto.commit": False})
    consumer.assign([TopicPartition(log.name, 0, 0)])
    message = consumer.poll(60)
    consumer.close()
    assert message is not None and not message.error()
    epoch = message.leader_epoch()
    assert epoch is not None
    return int(epoch)


def wait_for(done: Callable[[], bool], seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.3)
