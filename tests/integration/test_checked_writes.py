"""What happens on real brokers between a plan and its write: recreated topics, deleted records, open transactions."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kgroups.api import Cluster, Outcome, ToLatest, ToOffset
from kgroups.api import PlannedOffset as Planned
from kgroups.sandbox import Sandbox
from kgroups.sandbox.topics import delete_records
from tests.integration.asking import run_kgroups
from tests.integration.versions import newest_only, on

TOPIC, GROUP = "checked-writes", "checked-writes-group"


class Place:
    """A topic of one partition with 30 records, and a group at offset 10."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.admin = AdminClient({"bootstrap.servers": bootstrap})

    def make(self, records: int = 30) -> None:
        deadline = time.monotonic() + 60
        while error := self.admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].exception(60):
            # A topic that no broker reports any more may still be in ZooKeeper.
            assert isinstance(error, KafkaException) and error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS, error
            assert time.monotonic() < deadline
            time.sleep(0.2)
        producer = Producer({"bootstrap.servers": self.bootstrap})
        for number in range(records):
            producer.produce(TOPIC, b"%d" % number, partition=0)
        assert not producer.flush(60)

    def drop(self) -> None:
        for future in self.admin.delete_topics([TOPIC]).values():
            future.result(60)
        deadline = time.monotonic() + 60
        while TOPIC in self.admin.list_topics(timeout=60).topics:
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def commit(self, offset: int) -> None:
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": GROUP})
        consumer.commit(offsets=[TopicPartition(TOPIC, 0, offset)], asynchronous=False)
        consumer.close()

    def committed(self) -> int | None:
        rows = run_kgroups("describe", GROUP, "-o", "json", bootstrap=self.bootstrap).items
        return next((row["current_offset"] for row in rows if row["topic"] == TOPIC), None)


@pytest.fixture
def place(cluster: Sandbox) -> Iterator[Place]:
    place = Place(cluster.bootstrap)
    place.make()
    place.commit(10)
    yield place
    place.drop()
    for future in place.admin.delete_consumer_groups([GROUP]).values():
        future.exception(60)


def written(place: Place, plan: Outcome[Planned]) -> list[str]:
    """Write a plan; return the messages of its failures."""
    with Cluster(place.bootstrap) as cluster:
        return [failure.message for failure in cluster.apply(plan.items, commit_window=0.1).failures]


def planned(place: Place) -> Outcome[Planned]:
    with Cluster(place.bootstrap) as cluster:
        return cluster.plan_reset(GROUP, to=ToLatest())


@newest_only
def test_topic_recreated_after_the_plan_leaves_the_group_unwritten(place: Place) -> None:
    plan = planned(place)
    place.drop()
    place.make(3)
    place.commit(10)  # brokers delete the offsets of a deleted topic: only the topic differs now
    (message,) = written(place, plan)
    assert f"topic {TOPIC} was deleted and created again since the plan was made" in message
    assert place.committed() == 10


@on("2.8.2", "4.3.1")
def test_records_deleted_after_the_plan_leave_the_group_unwritten(place: Place) -> None:
    with Cluster(place.bootstrap) as cluster:
        plan = cluster.plan_reset(GROUP, to=ToOffset(5))
    delete_records(place.bootstrap, {TOPIC: {0: 8}})
    (message,) = written(place, plan)
    assert "starts at offset 8 now, above offset 5: its records were deleted" in message
    assert place.committed() == 10


@on("2.8.2", "4.3.1")
def test_group_with_an_open_transaction_is_changed_only_with_force(place: Place, tmp_path: Path) -> None:
    consumer = Consumer({"bootstrap.servers": place.bootstrap, "group.id": GROUP, "enable.auto.commit": False})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    producer = Producer({"bootstrap.servers": place.bootstrap, "transactional.id": GROUP})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.send_offsets_to_transaction([TopicPartition(TOPIC, 0, 20)], consumer.consumer_group_metadata(), 60)
    consumer.close()
    at_once = ("--execute", "--yes", "--commit-window", "100ms", "--undo-file")
    commands = (
        ("reset-offsets", GROUP, "--topic", TOPIC, "--to-earliest"),
        ("delete", GROUP),
        ("delete-offsets", GROUP, "--topic", TOPIC),
    )
    for words in commands:
        for more in ((), (*at_once, str(tmp_path / "undo.json"))):
            answer = run_kgroups(*words, *more, "-o", "json", bootstrap=place.bootstrap)
            assert answer.code == 1 and not json.loads(answer.out)["items"], answer.out
            assert f"an open transaction holds offsets of {TOPIC}-0" in answer.err and "add --force" in answer.err
    assert place.committed() == 10
    undo = str(tmp_path / "forced.json")
    forced = run_kgroups(*commands[0], *at_once, undo, "--force", "-o", "json", bootstrap=place.bootstrap)
    assert forced.code == 0 and "changed anyway (--force)" in forced.err, forced.err
    producer.commit_transaction(60)
    assert place.committed() == 0, "brokers discard the offsets of a transaction that are older than a commit"


@on("2.8.2", "4.3.1")
def test_first_commit_of_a_group_in_an_open_transaction_is_a_client(place: Place, tmp_path: Path) -> None:
    """OffsetFetch for all topics does not report it: no partition of the group has a commit."""
    group = "first-transaction"
    consumer = Consumer({"bootstrap.servers": place.bootstrap, "group.id": group, "enable.auto.commit": False})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    producer = Producer({"bootstrap.servers": place.bootstrap, "transactional.id": group})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.send_offsets_to_transaction([TopicPartition(TOPIC, 0, 20)], consumer.consumer_group_metadata(), 60)
    consumer.close()
    evidence = f"an open transaction holds offsets of {TOPIC}-0"
    at_once = ("--execute", "--yes", "--commit-window", "100ms", "--undo-file", str(tmp_path / "undo.json"))
    for words in (("reset-offsets", group, "--topic", TOPIC, "--to-earliest", "--create-group"), ("delete", group)):
        for more in ((), at_once):
            answer = run_kgroups(*words, *more, "-o", "json", bootstrap=place.bootstrap)
            assert answer.code == 1 and not json.loads(answer.out)["items"], answer.out
            assert evidence in answer.err and "add --force" in answer.err
    stopped = run_kgroups("check", group, "--stopped", bootstrap=place.bootstrap)
    assert stopped.code == 2 and evidence in stopped.out, stopped.out
    producer.commit_transaction(60)
    # The transaction is decided; the group's partition gets its marker a moment later.
    ended = run_kgroups("check", group, "--stopped", "--wait", "60s", bootstrap=place.bootstrap)
    assert ended.code == 0, ended.out
    assert run_kgroups("delete", group, *at_once, "--force", bootstrap=place.bootstrap).code == 0
