"""Waves of real transactional producers, which commit offsets of a group, and for a principal without ACLs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import wait

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from kgroups.sandbox import Sandbox
from kgroups.sandbox.security import Acl, Secure
from tests.fakes.watchdog import alarm
from tests.integration.asking import Answer, run_here
from tests.integration.quick_cleaner import quick_cleaner
from tests.integration.versions import on

SOURCE, FIRST, SECOND, THIRD, ALONE = TOPICS = tuple(f"waves-{name}" for name in ("in", "a", "b", "c", "alone"))
GROUP, OTHER = "waves-copier", "waves-other"
MOVER, WRITER = "waves-mover", "waves-writer"


def fill(bootstrap: str) -> None:
    """The producer MOVER copies from SOURCE to FIRST and SECOND; WRITER writes to SECOND and THIRD, and aborts."""
    servers = {"bootstrap.servers": bootstrap}
    admin = AdminClient(servers)
    for made in admin.create_topics([NewTopic(topic, 2, 1) for topic in TOPICS]).values():
        made.result()
    producer = Producer(servers)
    for topic in (SOURCE, ALONE):
        producer.produce(topic, b"x", partition=0)
    assert producer.flush(60) == 0
    reader = Consumer({**servers, "group.id": OTHER, "enable.auto.commit": False})
    reader.commit(offsets=[TopicPartition(ALONE, 0, 1)], asynchronous=False)
    reader.close()
    consumer = Consumer({**servers, "group.id": GROUP, "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe([SOURCE])
    assert consumer.consume(1, timeout=60)
    mover = Producer({**servers, "transactional.id": MOVER})
    mover.init_transactions(60)
    for _ in range(3):
        mover.begin_transaction()
        for topic in (FIRST, SECOND):
            mover.produce(topic, b"x")
        offsets = [TopicPartition(SOURCE, 0, 1)]
        mover.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), 60)
        mover.commit_transaction(60)
    consumer.close()
    writer = Producer({**servers, "transactional.id": WRITER})
    writer.init_transactions(60)
    writer.begin_transaction()
    for topic in (SECOND, THIRD):
        writer.produce(topic, b"x")
    writer.flush(60)
    writer.abort_transaction(60)


def forget(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wait((*admin.delete_consumer_groups([GROUP, OTHER]).values(), *admin.delete_topics(list(TOPICS)).values()))


@pytest.fixture(scope="module")
def filled(cluster: Sandbox) -> Iterator[str]:
    fill(cluster.bootstrap)
    yield cluster.bootstrap
    forget(cluster.bootstrap)


@pytest.fixture(scope="module")
def secured(secure: Secure) -> Iterator[Secure]:
    fill(secure.sandbox.bootstrap)
    yield secure
    forget(secure.sandbox.bootstrap)


def sets(answer: Answer) -> list[tuple[list[str], list[str], list[str]]]:
    return [(row["group_names"], row["topic_names"], row["producer_names"]) for row in answer.items]


def test_transactions_join_topics_and_the_group_whose_offsets_they_commit(filled: str) -> None:
    answer = run_here("waves", GROUP, "-o", "json", "-b", filled)
    assert sets(answer) == [([GROUP], sorted((SOURCE, FIRST, SECOND, THIRD)), [MOVER, WRITER])], answer.err
    links = run_here("waves", GROUP, "--links", "-o", "json", "-b", filled)
    assert {(row["name"], row["linked"], *row["why"]) for row in links.items} == {
        (GROUP, SOURCE, "committed"),
        (MOVER, GROUP, "transaction"),
        (MOVER, FIRST, "transaction"),
        (MOVER, SECOND, "transaction"),
        (WRITER, SECOND, "transaction"),
        (WRITER, THIRD, "transaction"),
    }
    assert sets(run_here("waves", OTHER, "-o", "json", "-b", filled)) == [([OTHER], [ALONE], [])]


def test_without_transactions_the_group_has_only_what_it_reads(filled: str) -> None:
    answer = run_here("waves", GROUP, "--no-transactions", "-o", "json", "-b", filled)
    assert sets(answer) == [([GROUP], [SOURCE], [])]


@on("4.3.1", "4.4.0")
def test_topics_of_compacted_transactions_come_from_the_leaders(filled: str) -> None:
    admin = AdminClient({"bootstrap.servers": filled})
    quick = {"segment.ms": "100", "min.cleanable.dirty.ratio": "0.001"}

    def configure(operation: AlterConfigOpType) -> None:
        entries = [ConfigEntry(*each, incremental_operation=operation) for each in quick.items()]
        log = ConfigResource(ResourceType.TOPIC, "__transaction_state", incremental_configs=entries)
        for done in admin.incremental_alter_configs([log]).values():
            done.result(60)

    configure(AlterConfigOpType.SET)
    try:
        with quick_cleaner(admin), alarm(240):
            for number in itertools.count():  # a new ID in each partition begins its next segment
                producer = Producer({"bootstrap.servers": filled, "transactional.id": f"waves-next-{number}"})
                producer.init_transactions(60)
                answer = run_here("waves", GROUP, "-o", "json", "--debug", "-b", filled) if number % 20 == 0 else None
                if answer and "DescribeProducers" in answer.err:
                    break
    finally:
        configure(AlterConfigOpType.DELETE)
    assert sets(answer) == [([GROUP], sorted((SOURCE, FIRST, SECOND, THIRD)), [MOVER, WRITER])], answer.err


def test_missing_acls_are_named_and_the_result_is_a_failure(secured: Secure) -> None:
    def ask(*words: str) -> Answer:
        return run_here("waves", GROUP, "-o", "json", *words, "--command-config", str(secured.user_file("ann")))

    secured.forget("ann")
    everything = Acl("ann", "describe", "cluster"), Acl("ann", "describe", "group", "*")
    topics = Acl("ann", "describe", "topic", "*")
    try:
        secured.allow(*everything, topics)
        answer = ask()
        assert answer.code == 1 and sets(answer) == [([GROUP], [SOURCE], [])]
        assert [acl["name"] for acl in answer.envelope["missing_acls"]] == ["__transaction_state"]
        assert ask("--no-transactions").code == 0
        secured.allow(Acl("ann", "read", "topic", "__transaction_state"))
        answer = ask()
        assert answer.code == 1 and {acl["name"] for acl in answer.envelope["missing_acls"]} == {"__consumer_offsets"}
        secured.allow(Acl("ann", "read", "topic", "__consumer_offsets"))
        answer = ask()
        assert not answer.envelope["missing_acls"]
        assert sets(answer) == [([GROUP], sorted((SOURCE, FIRST, SECOND, THIRD)), [MOVER, WRITER])]
        secured.forget("ann")
        secured.allow(Acl("ann", "describe", "group", GROUP), Acl("ann", "describe", "topic", SOURCE))
        answer = ask("--no-transactions")
        assert answer.code == 1 and sets(answer) == [([GROUP], [SOURCE], [])]
        assert "groups may be missing: needs DESCRIBE on CLUSTER" in answer.err
        assert "committed offsets on topics without permission DESCRIBE may be hidden" in answer.err
    finally:
        secured.forget("ann")
