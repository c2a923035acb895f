"""Run the known groups' librdkafka members: ``python -m kgroups.sandbox.librdkafka_members BOOTSTRAP VERSION FOLDER/``.

Each member reads its partitions up to the expected committed offset, commits it, and stays in the group. The folder is
the sandbox's, which identifies the process.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Final

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from kgroups.model.groups import GroupType
from kgroups.model.migration import COOPERATIVE

from .cluster import Sandbox
from .seed_data import OPEN_TRANSACTION, KnownGroup, Player, known_groups
from .versions import kafka_version

ROLE: Final = "librdkafka-members"
_PAUSE: Final = 0.05
_TRANSACTION_MS: Final = 86_400_000


def start_librdkafka_members(sandbox: Sandbox) -> int:
    """Start the members as a helper process of the sandbox, and return its PID."""
    program = [sys.executable, "-m", "kgroups.sandbox.librdkafka_members"]
    return sandbox.start_helper(ROLE, [*program, sandbox.bootstrap, sandbox.version.name, f"{sandbox.folder}/"])


class LibrdkafkaMember:
    """One member of a group, which joins when another one, if any, has partitions."""

    def __init__(self, bootstrap: str, group: KnownGroup, number: int, after: LibrdkafkaMember | None = None) -> None:
        self._group = group
        self._after = after
        self._joined = False
        self._reached: dict[tuple[str, int], TopicPartition] = {}
        self._committed: set[tuple[str, int]] = set()
        self._consumer = Consumer(_settings(bootstrap, group, number))

    def step(self) -> None:
        """Read the available records, and commit the offsets that were reached; rebalances happen here too."""
        if not self._joined:
            if self._after and not self._after.has_partitions:
                return
            self._consumer.subscribe(list(self._group.topics))
            self._joined = True
        while message := self._consumer.poll(0):
            self._read(message)
        if self._reached.keys() - self._committed:
            self._commit()

    @property
    def has_partitions(self) -> bool:
        return self._joined and bool(self._consumer.assignment())

    def _read(self, message: Message) -> None:
        if error := message.error():
            self._log(error)
            return
        topic, partition, offset = str(message.topic()), int(message.partition() or 0), int(message.offset() or 0)
        target = self._group.commits.get(topic, {}).get(partition, 0)
        here = TopicPartition(topic, partition, target)
        if offset + 1 == target:
            self._reached[topic, partition] = here
        if offset + 1 >= target:
            self._consumer.pause([here])

    def _commit(self) -> None:
        # Only for owned partitions. A partition that is assigned again is still paused, and its offset still reached.
        held = {(each.topic, each.partition) for each in self._consumer.assignment()}
        due = [pair for pair in self._reached if pair in held and pair not in self._committed]
        if not due:
            return
        try:
            self._consumer.commit(offsets=[self._reached[pair] for pair in due], asynchronous=False)
            self._committed.update(due)
        except KafkaException as error:  # during a rebalance, for example: retry in the next step
            self._log(error)

    def _log(self, error: object) -> None:
        print(time.strftime("%H:%M:%S"), self._group.name, error, flush=True)


def _settings(bootstrap: str, group: KnownGroup, number: int) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "group.id": group.name,
        "client.id": f"{group.name}-{number}",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "fetch.wait.max.ms": 2500,
    }
    if group.static:
        settings["group.instance.id"] = group.instances[number]
    if group.type == GroupType.CONSUMER:
        return settings | {"group.protocol": "consumer"}
    # Members learn of new members in heartbeats: frequent ones make the groups stable sooner.
    return settings | {"partition.assignment.strategy": group.protocol, "heartbeat.interval.ms": 1500}


def open_transaction(bootstrap: str) -> Producer:
    """Return a producer with an open transaction, which the brokers keep open for a day."""
    settings = {
        "bootstrap.servers": bootstrap,
        "client.id": "ledger-writer",
        "transactional.id": "ledger-writer",
        "transaction.timeout.ms": _TRANSACTION_MS,
    }
    producer = Producer(settings)
    producer.init_transactions(60)
    producer.begin_transaction()
    for topic, partitions in OPEN_TRANSACTION.items():
        for partition, count in partitions.items():
            for number in range(count):
                producer.produce(topic, f"not committed {number}".encode(), partition=partition)
    producer.flush(60)
    return producer


def main(bootstrap: str, version: str) -> None:
    """Run the members until the process is stopped."""
    groups = [group for group in known_groups(kafka_version(version)) if group.player == Player.LIBRDKAFKA]
    members: list[LibrdkafkaMember] = []
    for group in groups:
        for number in range(group.members):
            # Its leader sets user data from the second rebalance on: members that join together may need only one.
            after = members[-1] if number and group.protocol == COOPERATIVE else None
            members.append(LibrdkafkaMember(bootstrap, group, number, after))
    for member in members:
        member.step()
    writer = open_transaction(bootstrap)
    while writer:  # keeps the producer alive
        for member in members:
            member.step()
        time.sleep(_PAUSE)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
