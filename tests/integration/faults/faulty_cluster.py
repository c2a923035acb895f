"""Three real brokers behind a proxy, groups to read and to change, and a second client as the reference."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ClusterMetadata, OffsetSpec

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.load import Load, seed_load
from kgroups.sandbox.member import consumer, join
from kgroups.sandbox.state import Broker
from tests.fakes.truth import Pair, Truth
from tests.integration.faults.proxy import NO_FAULT, PATIENCE, Fault, Proxy
from tests.integration.versions import MAIN

LOAD: Final = Load(groups=24, partitions=6, topics=3)
"""Groups that are only read."""
VICTIM: Final = 2
"""The broker that has the faults."""

TARGETS: Final = tuple(f"target-{number:02}" for number in range(12))
"""Groups that commands change; they have no members."""
HELD: Final = tuple(f"held-{number:02}" for number in range(9))
"""Groups of which commands remove the members."""
TARGET_TOPIC: Final = "load-0"

LASTING: Final = {"broker.session.timeout.ms": "12000"}
"""A broker that hangs is a broker of the cluster for longer than a command waits for it."""
REFUSED: Final = Fault(refused=True)

States = dict[tuple[object, ...], object]
P = ParamSpec("P")
T = TypeVar("T")


def until_loaded(ask: Callable[P, T]) -> Callable[P, T]:
    """Let the second client ask again while a coordinator that has moved still loads its groups."""

    @wraps(ask)
    def asked(*args: P.args, **rest: P.kwargs) -> T:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return ask(*args, **rest)
            except KafkaException:
                if time.monotonic() > until:
                    raise
            time.sleep(0.1)

    return asked


@dataclass(frozen=True)
class FaultyCluster:
    sandbox: Sandbox
    proxy: Proxy

    @classmethod
    @contextmanager
    def up(cls, name: str, properties: Mapping[str, str] = LASTING) -> Iterator[FaultyCluster]:
        with (
            Proxy(3) as proxy,
            Sandbox.up(
                MAIN,
                brokers=3,
                name=name,
                properties=properties,
                listeners={"PROXIED": "PLAINTEXT"},
                advertised={"PROXIED": proxy.ports},
            ) as sandbox,
        ):
            proxy.start({broker.id: broker.listeners["PROXIED"] for broker in sandbox.brokers})
            seed_load(sandbox, LOAD)
            victim = cls(sandbox, proxy)
            victim.restore()
            victim.wait_for_leaders()
            yield victim

    # The second client, which goes around the proxy.

    def _admin(self) -> AdminClient:
        """Connected, so that what it is asked does not wait for that."""
        admin = AdminClient({"bootstrap.servers": self.sandbox.bootstrap, "log_level": 0})
        admin.list_topics(timeout=PATIENCE)
        return admin

    @until_loaded
    def truth(self) -> Truth:
        """Everything that kgroups may say."""
        admin = self._admin()
        topics = admin.list_topics(timeout=PATIENCE).topics
        leaders = {(name, at): part.leader for name, topic in topics.items() for at, part in topic.partitions.items()}
        logs = [TopicPartition(*pair) for pair in leaders if not pair[0].startswith("__")]
        ends = admin.list_offsets(dict.fromkeys(logs, OffsetSpec.latest()), request_timeout=PATIENCE)
        groups = [*LOAD.names(), *TARGETS, *HELD]  # lists are short while coordinators move
        described = admin.describe_consumer_groups(groups, request_timeout=PATIENCE)
        return Truth(
            {name: future.result(PATIENCE).coordinator.id for name, future in described.items()},
            self.commits(groups),
            {(log.topic, log.partition): future.result(PATIENCE).offset for log, future in ends.items()},
            leaders,
        )

    @until_loaded
    def commits(self, groups: list[str]) -> dict[str, dict[Pair, int]]:
        """A group that does not exist has none.

        Asked as consumers: librdkafka's admin client crashes if a coordinator moves meanwhile (librdkafka #5040).
        """
        topics = self._admin().list_topics(timeout=PATIENCE).topics
        everything = [TopicPartition(name, at) for name, topic in topics.items() for at in topic.partitions]

        def committed(group: str) -> dict[Pair, int]:
            reader = Consumer({"bootstrap.servers": self.sandbox.bootstrap, "group.id": group, "log_level": 0})
            try:
                found = reader.committed(everything, timeout=PATIENCE)
            finally:
                reader.close()
            return {(each.topic, each.partition): each.offset for each in found if each.offset >= 0}

        with ThreadPoolExecutor(8) as pool:
            return dict(zip(groups, pool.map(committed, groups), strict=True))

    @until_loaded
    def members(self) -> States:
        admin = self._admin()
        there = [name for name, commits in self.commits(list(HELD)).items() if commits]
        if not there:
            return {}
        described = admin.describe_consumer_groups(there, request_timeout=PATIENCE)
        return {
            (name, member.member_id): True
            for name, future in described.items()
            for member in future.result(PATIENCE).members
        }

    def offsets(self) -> States:
        """What the targets have committed."""
        commits = self.commits(list(TARGETS))
        return {(name, *pair): offset for name, found in commits.items() for pair, offset in found.items()}

    def existing(self) -> States:
        """The targets that exist: each has committed something."""
        return {(name,): True for name, commits in self.commits(list(TARGETS)).items() if commits}

    # How it was.

    def restore(self) -> None:
        """Bring the groups that commands change back to where they were."""
        missing = sorted(set(HELD) - {str(name) for name, _ in self.members()})
        self._commit([*TARGETS, *missing])
        asyncio.run(self._join(missing))

    @until_loaded
    def _commit(self, groups: list[str]) -> None:
        admin, futures = self._admin(), []
        for name in groups:
            offsets = [TopicPartition(TARGET_TOPIC, at, offset) for at, offset in _places(name).items()]
            futures += admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(name, offsets)]).values()
        for future in futures:
            future.result(PATIENCE)

    async def _join(self, groups: list[str]) -> None:
        """One member in each group, which sends nothing for half an hour."""
        settings = ClientSettings(parse_bootstrap(self.sandbox.bootstrap), timeout=PATIENCE, broker_timeout=PATIENCE)
        cluster, _ = await Cluster.connect(settings)
        async with cluster:
            route = await CoordinatorClient.to(cluster, groups)
            for name in groups:
                await join(route, consumer(name, {TARGET_TOPIC: LOAD.partitions}))

    # Faults of the broker itself.

    @contextmanager
    def paused(self) -> Iterator[None]:
        self.sandbox.pause(VICTIM)
        try:
            yield
        finally:
            self._resume()

    @contextmanager
    def killed(self) -> Iterator[None]:
        self._kill()
        try:
            yield
        finally:
            self._restart()

    def _resume(self) -> None:
        self.sandbox.resume(VICTIM)
        self.sandbox.wait_ready(timeout=PATIENCE)
        self.wait_for_leaders()

    def _kill(self) -> None:
        """The proxy refuses connections as the broker would."""
        self.sandbox.kill(VICTIM)
        self.proxy.set(REFUSED, VICTIM)

    def _restart(self) -> None:
        self.sandbox.restart(VICTIM, timeout=PATIENCE)
        self.proxy.set(NO_FAULT, VICTIM)
        self.wait_for_leaders()

    @contextmanager
    def restarting(self) -> Iterator[None]:
        """SIGTERM, so that it hands over what it leads, and a start; after the block it leads the same again."""

        def restart() -> None:
            self.sandbox.terminate(VICTIM)
            self.sandbox.restart(VICTIM, timeout=PATIENCE)

        with ThreadPoolExecutor(1) as pool:
            restarting = pool.submit(restart)
            try:
                yield
            finally:
                restarting.result()
                self.wait_for_leaders()

    def wait_for_leaders(self) -> None:
        """Until every broker knows that all logs are led by whom they are to be led by, and all replicas are in sync.

        A log whose only replica in sync restarts has no leader meanwhile.
        """
        self._until(
            self.sandbox.brokers,
            lambda known: all(
                part.leader == part.replicas[0] and set(part.isrs) == set(part.replicas)
                for topic in known.topics.values()
                for part in topic.partitions.values()
            ),
        )

    @staticmethod
    def _until(brokers: Iterable[Broker], is_so: Callable[[ClusterMetadata], bool]) -> None:
        until = time.monotonic() + PATIENCE
        for broker in brokers:
            # A new client asks the broker that it is given.
            address = {"bootstrap.servers": f"{broker.host}:{broker.port}", "log_level": 0}
            while not is_so(AdminClient(address).list_topics(timeout=PATIENCE)):
                assert time.monotonic() < until
                time.sleep(0.2)

    @contextmanager
    def paused_at(self, api: int) -> Iterator[None]:
        """From when the proxy sees such a request: it is among what the broker finds when it goes on."""
        self.proxy.when([api], lambda: self.sandbox.pause(VICTIM), VICTIM)
        try:
            yield
        finally:
            self.proxy.when([], lambda: None, VICTIM)
            self._resume()

    @contextmanager
    def killed_at(self, api: int) -> Iterator[None]:
        self.proxy.when([api], self._kill, VICTIM)
        try:
            yield
        finally:
            self.proxy.when([], lambda: None, VICTIM)
            self._restart()

    @contextmanager
    def fenced(self) -> Iterator[None]:
        """Killed, and all others know: what it led has no leader."""
        with self.killed():
            others = [broker for broker in self.sandbox.brokers if broker.id != VICTIM]
            self._until(others, lambda known: VICTIM not in known.brokers)
            yield


def at_rest() -> States:
    """What the targets have committed between two commands."""
    return {(name, TARGET_TOPIC, at): offset for name in TARGETS for at, offset in _places(name).items()}


def _places(group: str) -> dict[int, int]:
    number = int(group.rpartition("-")[2])
    return {at: (number + at) % 15 + 1 for at in range(LOAD.partitions)}
