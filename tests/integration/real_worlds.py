"""Real clients that repeat what happened in simulated worlds, in a few seconds, each in its own group and topics."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from kgroups.model.rates import Place
from tests.property.traffic.world import Event, World

LIMIT = 60.0
"""Seconds until a client must have reached what it waits for, however slow the machine is."""
PAUSE = 0.2
TRANSACTION_TIMEOUT = 600_000
NEW = (
    KafkaError._NOENT,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
)
"""Errors about a topic or partition that was just created."""


def wait_until(what: str, reached: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not reached():
        assert time.monotonic() < end, what
        time.sleep(PAUSE)


class RealWorld:
    """Repeats a world's events. Log events of a topic come first, since offsets do not depend on when it was read."""

    def __init__(self, bootstrap: str, seed: int, world: World) -> None:
        self.world, self.seed = world, seed
        self.group = f"world-{seed}"
        self._bootstrap = {"bootstrap.servers": bootstrap, "log_level": 0, "topic.metadata.refresh.interval.ms": 1_000}
        self._admin = AdminClient(self._bootstrap)
        self._stack = ExitStack()
        self._transactions: dict[Place, Producer] = {}
        self._pending: Producer | None = None
        self._members: dict[str, Consumer] = {}
        self._wanted: dict[str, str] = {}
        self._commits: tuple[str, dict[Place, int]] = ("", {})
        self._topics: set[str] = set()
        self._polled = threading.Lock()
        self._ended = threading.Event()

    def topic(self, name: str) -> str:
        return f"{self.group}-{name}"

    # Logs

    def _create(self, event: Event) -> None:
        name = self.topic(event.topic)
        if event.topic in self._topics:
            for place in [place for place in self._transactions if place[0] == event.topic]:
                self._transactions.pop(place).abort_transaction(LIMIT)
            self._admin.delete_topics([name])[name].result(LIMIT)
            # Brokers delete the offsets of a deleted topic.
            wait_until("offsets are deleted", lambda: not any(t == event.topic for t, _ in self.committed()))

        def created() -> bool:
            try:
                self._admin.create_topics([NewTopic(name, len(event.logs), 1)])[name].result(LIMIT)
            except KafkaException:  # it is still being deleted
                return False
            return True

        wait_until("the topic is created", created)
        self._topics.add(event.topic)
        self._write(event)

    def _add_partitions(self, event: Event) -> None:
        name = self.topic(event.topic)
        size = NewPartitions(name, max(event.logs) + 1)
        wait_until(f"{name} has partitions", partial(_has_done, self._admin.create_partitions, [size]))
        self._write(event)

    def _write(self, event: Event) -> None:
        name, now = self.topic(event.topic), time.time_ns() // 1_000_000
        for number, log in event.logs.items():
            producer = self._producer(name, number, {"linger.ms": 5})
            offset = 0
            for kind, amount, skew in log.events:
                offset += 0 if kind == "trim" else amount
                if kind == "trim":
                    assert not producer.flush(LIMIT)
                    start = TopicPartition(name, number, amount)
                    wait_until(f"{name}-{number} is trimmed", partial(_has_done, self._admin.delete_records, [start]))
                    continue
                if kind == "append":
                    self._produce(producer, name, number, amount, now + skew)
                    continue
                assert not producer.flush(LIMIT)
                if kind == "open":
                    mine = self._producer(name, number, _transactional(f"{name}-{number}"))
                    mine.init_transactions(LIMIT)
                    mine.begin_transaction()
                    self._produce(mine, name, number, amount, now + skew)
                    assert not mine.flush(LIMIT)
                    self._transactions[event.topic, number] = mine
                else:
                    mine = self._transactions.pop((event.topic, number))
                    (mine.commit_transaction if kind == "commit" else mine.abort_transaction)(LIMIT)
                    # Brokers write the marker later.
                    wait_until(f"{name}-{number} has a marker", partial(self._is_written, name, number, offset))
            assert not producer.flush(LIMIT)
            wait_until(
                f"{name}-{number} is written", partial(self._is_written, name, number, max(log.start, log.stable))
            )

    def _is_written(self, topic: str, number: int, stable: int) -> bool:
        """Return whether a partition has this last stable offset."""
        try:
            return self._assigned.get_watermark_offsets(TopicPartition(topic, number), LIMIT)[1] == stable
        except KafkaException:  # a partition that the client does not know yet
            return False

    def _producer(self, topic: str, number: int, settings: dict[str, str | int]) -> Producer:
        """Return a producer that knows the partition."""
        producer = Producer({**self._bootstrap, **settings})

        def is_known() -> bool:
            found = producer.list_topics(topic, LIMIT).topics[topic].partitions.get(number)
            return found is not None and found.leader >= 0

        wait_until(f"{topic}-{number} has a leader", is_known)
        return producer

    @staticmethod
    def _produce(producer: Producer, topic: str, number: int, amount: int, at: int) -> None:
        end = time.monotonic() + LIMIT
        for _ in range(amount):
            while True:
                try:
                    producer.produce(topic, b"v", partition=number, timestamp=at)
                    break
                except (BufferError, KafkaException) as error:  # a full queue, or a partition not known to it yet
                    if isinstance(error, KafkaException) and error.args[0].code() != KafkaError._UNKNOWN_PARTITION:
                        raise
                    assert time.monotonic() < end, error
                    producer.poll(PAUSE)

    # The group

    def committed(self) -> dict[Place, int]:
        asked = self._admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(self.group)])
        found = asked[self.group].result(LIMIT).topic_partitions
        prefix = self.topic("")
        return {(each.topic.removeprefix(prefix), each.partition): each.offset for each in found if each.offset >= 0}

    def _consumer(self) -> Consumer:
        settings = {
            "group.id": self.group,
            "enable.auto.commit": False,
            "session.timeout.ms": 30_000,
        }
        consumer = Consumer({**self._bootstrap, **settings})
        self._stack.callback(consumer.close)
        return consumer

    def _apply_members(self) -> None:
        """Let members join, leave, and subscribe as they do in the world, and wait for their assignments."""
        with self._polled:
            for name in self._members.keys() - self._wanted.keys():
                self._members.pop(name).close()
            for name, topic in self._wanted.items():
                consumer = self._members.get(name)
                if consumer is None:
                    consumer = self._members[name] = self._consumer()
                consumer.subscribe([self.topic(topic)], on_assign=_assign_paused)
        wait_until(f"{self.group} is stable", self.is_stable)

    def is_stable(self) -> bool:
        """Return whether the group has its members, and each partition of their topics has an owner."""
        described = self._admin.describe_consumer_groups([self.group])[self.group].result(LIMIT)
        if not self._wanted:
            return not described.members
        owned = {(p.topic, p.partition) for each in described.members for p in each.assignment.topic_partitions}
        topics = {self.topic(topic) for topic in self._wanted.values()}
        sizes = {topic: len(self._admin.list_topics(topic, LIMIT).topics[topic].partitions) for topic in topics}
        places = {(topic, number) for topic, size in sizes.items() for number in range(size)}
        return described.state.name == "STABLE" and len(described.members) == len(self._wanted) and owned == places

    def _poll(self) -> None:
        while not self._ended.wait(PAUSE):
            with self._polled:
                for member in () if self._ended.is_set() else self._members.values():
                    member.poll(0)

    def _flush(self) -> None:
        """Send the last commits of members that were not sent because others followed."""
        who, offsets = self._commits
        self._commits = ("", {})
        if not offsets:
            return
        parts = [TopicPartition(self.topic(topic), number, at) for (topic, number), at in offsets.items()]

        def is_set() -> bool:
            asked = self._admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(self.group, parts)])
            found = asked[self.group].result(LIMIT).topic_partitions
            return not any(each.error for each in found)  # or the broker does not know a new partition yet

        if who == "operator":
            wait_until(f"{self.group} is reset", is_set)
            return
        consumer = next(iter(self._members.values())) if self._members else self._assigned

        def committed() -> bool:
            try:
                consumer.commit(offsets=parts, asynchronous=False)
            except KafkaException:  # a rebalance
                return False
            return True

        wait_until(f"{self.group} commits", committed)

    def _commit(self, event: Event) -> None:
        kind = event.name if event.name in ("outsider", "operator") else "member"
        if kind != "member" or self._commits[0] != kind:
            self._flush()
        self._commits = (kind, {**self._commits[1], **event.offsets})

    def _change_members(self, event: Event) -> None:
        before = bool(self._wanted)
        if event.kind == "leave":
            if len(self._wanted) == 1:
                self._flush()
            del self._wanted[event.name]
        else:
            if not before:
                self._flush()
            self._wanted[event.name] = event.topic
        if bool(self._wanted) != before:
            self._apply_members()

    def _end_pending(self, event: Event) -> None:
        self._flush()
        if self._pending:
            end = self._pending.commit_transaction if event.kind == "applied" else self._pending.abort_transaction
            end(LIMIT)
            self._pending = None

    def _begin_pending(self, event: Event) -> None:
        self._flush()
        self._pending = Producer({**self._bootstrap, **_transactional(f"{self.group}-offsets")})
        self._pending.init_transactions(LIMIT)
        self._pending.begin_transaction()
        parts = [TopicPartition(self.topic(topic), number, at) for (topic, number), at in event.offsets.items()]
        self._pending.send_offsets_to_transaction(parts, self._assigned.consumer_group_metadata(), LIMIT)

    def play(self) -> None:
        """Repeat all events; members stay until :meth:`close`."""
        self._assigned = self._consumer()
        threading.Thread(target=self._poll).start()
        for event in self.world.events:
            if event.kind in ("create", "partition"):
                self._flush()
                (self._create if event.kind == "create" else self._add_partitions)(event)
                if event.offsets:
                    self._commit(event._replace(name="member" if self._members else "outsider"))
            elif event.kind == "commit":
                self._commit(event)
            elif event.kind == "pending":
                self._begin_pending(event)
            elif event.kind in ("applied", "dropped"):
                self._end_pending(event)
            else:
                self._change_members(event)
        self._flush()
        self._apply_members()

    def reset(self) -> None:
        """Reset the group as an operator."""
        self.world.reset()
        self._commit(self.world.events[-1])
        self._flush()

    def close(self) -> None:
        """Let all clients leave, end their transactions, and delete the group and its topics."""
        self._ended.set()
        for each in (*self._transactions.values(), *filter(None, (self._pending,))):
            each.abort_transaction(LIMIT)
        with self._polled:
            # A consumer that closes during a rebalance may wait forever; its session ends then.
            closing = threading.Thread(target=self._stack.close, daemon=True)
            closing.start()
            closing.join(LIMIT)
        if self.committed():
            wait_until(f"{self.group} is deleted", self._is_deleted)
        names = [self.topic(topic) for topic in self._topics]
        for deleted in self._admin.delete_topics(names).values() if names else ():
            deleted.result(LIMIT)

    def _is_deleted(self) -> bool:
        try:
            self._admin.delete_consumer_groups([self.group])[self.group].result(LIMIT)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.NON_EMPTY_GROUP:
                raise
            return False
        return True


def _has_done(call: Callable[[list[Any]], Mapping[Any, Future[Any]]], asked: list[Any]) -> bool:
    """Call a method of an admin client; return ``False`` if brokers, or the client, do not know a new topic yet."""
    try:
        for each in call(asked).values():
            each.result(LIMIT)
    except KafkaException as error:
        if error.args[0].code() not in NEW:
            raise
        return False
    return True


def _transactional(name: str) -> dict[str, str | int]:
    return {"transactional.id": name, "transaction.timeout.ms": TRANSACTION_TIMEOUT}


def _assign_paused(consumer: Consumer, parts: list[TopicPartition]) -> None:
    consumer.assign(parts)
    consumer.pause(parts)


def play_all(worlds: Iterable[RealWorld]) -> Mapping[str, BaseException]:
    """Play worlds at once; return what failed, by group."""
    failed: dict[str, BaseException] = {}

    def go(world: RealWorld) -> None:
        try:
            world.play()
        except BaseException as error:
            failed[world.group] = error

    threads = [threading.Thread(target=go, args=(world,)) for world in worlds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed
