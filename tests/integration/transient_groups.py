"""Groups in states, and of client types, that the seeded groups do not have."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from threading import Event, Thread
from typing import Final, Self

from confluent_kafka import Consumer, ConsumerGroupState
from confluent_kafka.admin import AdminClient, ConsumerGroupDescription

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.wire.consumer_protocol import encode_subscription
from kgroups.sandbox.wire.join_group import JoinGroup, MemberIdRequired
from kgroups.sandbox.wire.offset_commit import OffsetCommit

IDLE: Final = "visitors-idle"
"""Two members of a topic with one partition: one has nothing to do. 50 is committed."""

OWNED: Final = "visitors-owned"
"""Cooperative; the second member joined after the first had reported all partitions. Nothing is committed."""

COMPLETING: Final = "visitors-completing"
"""Stays in CompletingRebalance: its leader never assigns."""

MIXED: Final = "visitors-mixed"
"""A KIP-848 group with one member that still speaks the classic protocol; Kafka 4.0 and newer."""

REGEX: Final = "visitors-regex"
"""A KIP-848 group whose member subscribes by a regular expression; Kafka 4.0 and newer."""

_LONG: Final = timedelta(minutes=30)
_SETTLE: Final = 120.0


class TransientGroups:
    """They stay while the context is open."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._stack = ExitStack()
        self._consumers: list[Consumer] = []
        self._stop = Event()
        self._admin = AdminClient({"bootstrap.servers": sandbox.bootstrap, "log_level": 3})

    @property
    def groups(self) -> tuple[str, ...]:
        newest = (MIXED, REGEX) if self._sandbox.version.final_consumer_protocol else ()
        return (IDLE, OWNED, COMPLETING, *newest)

    def __enter__(self) -> Self:
        with self._stack:
            self._stack.callback(self._leave)
            thread = Thread(target=self._poll)
            thread.start()
            self._stack.callback(thread.join)
            self._stack.callback(self._stop.set)
            self._arrive()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _arrive(self) -> None:
        asyncio.run(self._make())
        classic = {"partition.assignment.strategy": "range"}
        self._consume(IDLE, "clicks", classic)
        self._consume(IDLE, "clicks", classic)
        cooperative = {"partition.assignment.strategy": "cooperative-sticky"}
        self._consume(OWNED, "orders", cooperative)
        if MIXED in self.groups:
            self._consume(MIXED, "orders", {"group.protocol": "consumer"})
            self._consume(REGEX, "^pay.*s$", {"group.protocol": "consumer"})
            self._settled(MIXED, members=1, partitions=6)
            self._consume(MIXED, "orders", classic)
        self._settled(OWNED, members=1, partitions=6)
        self._consume(OWNED, "orders", cooperative)
        self._settled(IDLE, members=2, partitions=1)
        self._settled(OWNED, members=2, partitions=6)
        if MIXED in self.groups:
            self._settled(MIXED, members=2, partitions=6)
            self._settled(REGEX, members=1, partitions=3)

    def _consume(self, group: str, topic: str, settings: dict[str, str]) -> None:
        number = sum(1 for _ in self._consumers)
        common = {
            "bootstrap.servers": self._sandbox.bootstrap,
            "group.id": group,
            "client.id": f"{group}-{number}",
            "enable.auto.commit": "false",
            "log_level": "3",
        }
        # By a heartbeat a classic member learns that others have come.
        quick = {} if "group.protocol" in settings else {"heartbeat.interval.ms": "500"}
        consumer = Consumer(common | quick | settings)
        consumer.subscribe([topic])
        self._consumers.append(consumer)

    def _poll(self) -> None:
        while not self._stop.wait(0.05):
            for consumer in list(self._consumers):
                consumer.poll(0)

    def _settled(self, group: str, *, members: int, partitions: int) -> None:
        until = time.monotonic() + _SETTLE
        while (found := self._look(group)) != (ConsumerGroupState.STABLE, members, partitions):
            assert time.monotonic() < until, f"{group} is {found}"
            time.sleep(0.1)

    def _look(self, group: str) -> tuple[ConsumerGroupState, int, int]:
        answer: ConsumerGroupDescription = self._admin.describe_consumer_groups([group])[group].result(30)
        held = sum(len(member.assignment.topic_partitions) for member in answer.members)
        return answer.state, len(answer.members), held

    async def _make(self) -> None:
        """What must be there before anybody comes: a member's commit may fall into a rebalance, and fail."""
        cluster, _ = await Cluster.connect(ClientSettings(parse_bootstrap(self._sandbox.bootstrap)))
        async with cluster:
            route = await CoordinatorClient.to(cluster, [IDLE, COMPLETING])
            assert await route.call(IDLE, OffsetCommit(IDLE, {"clicks": {0: 50}})) is None
            for member_id in self._ids():
                join = JoinGroup(
                    COMPLETING, member_id, "consumer", "range", encode_subscription(["orders"], {}), _LONG, _LONG
                )
                answer = await route.call(COMPLETING, join)
                if not isinstance(answer, MemberIdRequired):
                    break
                self._given = answer.member_id

    _given = ""

    def _ids(self) -> Iterator[str]:
        yield ""
        yield self._given

    def _leave(self) -> None:
        for consumer in self._consumers:
            consumer.close()
        self._consumers.clear()
