"""Limits on connections, threads, and lookups, however many brokers a cluster reports."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import threading
from typing import Any

import pytest

from kgroups.errors import BrokerUnavailable, ClusterUnreachable, NotRequested
from kgroups.net import pool
from kgroups.net.cluster import Cluster
from kgroups.net.connection import Connection
from kgroups.net.connector import Connector
from kgroups.net.dial import LOOKUPS, addresses, dial
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import metadata
from kgroups.protocol.apis.list_groups import ListGroups
from tests.fakes import broker as faults
from tests.fakes.asking import list_groups, names
from tests.fakes.broker import FakeCluster

pytestmark = pytest.mark.usefixtures("virtual_time")


class Level:
    """How many there are now, and the most that there were."""

    now = most = 0

    def add(self, number: int) -> None:
        self.now += number
        self.most = max(self.most, self.now)


@pytest.fixture
def open_sockets(monkeypatch: pytest.MonkeyPatch) -> Level:
    level = Level()
    made, lost = Connection.connection_made, Connection.connection_lost

    def opened(self: Connection, transport: asyncio.BaseTransport) -> None:
        level.add(1)
        made(self, transport)

    def closed(self: Connection, error: Exception | None) -> None:
        level.add(-1)
        lost(self, error)

    monkeypatch.setattr(Connection, "connection_made", opened)
    monkeypatch.setattr(Connection, "connection_lost", closed)
    return level


def many(brokers: int) -> FakeCluster:
    fake = FakeCluster(brokers)
    for at in range(brokers):
        fake.state.group(f"g{at:02}", at)
    return fake


def test_concurrent_connection_attempts_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    level, link = Level(), Connector.link

    async def counted(self: Connector, *rest: Any) -> Any:
        level.add(1)
        try:
            return await link(self, *rest)
        finally:
            level.add(-1)

    monkeypatch.setattr(Connector, "link", counted)
    monkeypatch.setattr(pool, "DIALS", 3)
    fake = many(12)
    for broker in fake.brokers.values():
        broker.fault("ApiVersions", faults.late(0.02))
    assert len(names(list_groups(fake, via=(0,)))) == 12
    assert level.most == 3


def test_idle_connections_are_closed_for_new_ones(monkeypatch: pytest.MonkeyPatch, open_sockets: Level) -> None:
    monkeypatch.setattr(pool, "MOST_OPEN", 4)
    monkeypatch.setattr(pool, "DIALS", 2)
    fake = many(12)
    answer = list_groups(fake, via=(0,))
    assert len(names(answer)) == 12 and not answer.failures
    assert open_sockets.most <= 4 + 2


def test_brokers_waiting_for_a_connection_slot_are_not_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "DIALS", 1)
    fake = many(3)

    async def run() -> list[Any]:
        async with fake:
            cluster, _ = await Cluster.connect(fake.settings(0, timeout=1.0))
            async with cluster:
                for broker in fake.brokers.values():
                    broker.fault("ApiVersions", faults.silence)
                jobs = [(at, cluster.call(cluster.nodes[at], ListGroups())) for at in (1, 2)]
                return [error for _, error in await fan_out(jobs)]

    first, second = asyncio.run(run())
    assert {type(first), type(second)} >= {NotRequested}
    assert len([each for each in (first, second) if "not contacted" in str(each)]) == 1


def test_metadata_with_too_many_brokers_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "MOST_BROKERS", 4)
    with pytest.raises(ClusterUnreachable, match="names 5 brokers; kgroups accepts at most 4"):
        list_groups(many(5))


def test_concurrent_name_lookups_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    level, held, full = Level(), threading.Event(), threading.Event()
    lock = threading.Lock()

    def getaddrinfo(*_: object, **__: object) -> list[object]:
        with lock:
            level.add(1)
            if level.now == LOOKUPS:
                full.set()
        held.wait(30)
        with lock:
            level.add(-1)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 1))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

    async def run() -> list[list[str]]:
        tasks = [asyncio.ensure_future(addresses(f"b{at}.example", 1)) for at in range(LOOKUPS + 50)]
        await asyncio.to_thread(full.wait, 30)
        held.set()
        return await asyncio.gather(*tasks)

    assert asyncio.run(run()) == [["127.0.0.1"]] * (LOOKUPS + 50)
    assert level.most == LOOKUPS


def dialled(host: str) -> None:
    asyncio.run(dial(host, 1, name="b0", client_id="t", timeout=5))


def test_thread_exhaustion_makes_the_broker_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(BrokerUnavailable, match=r"^b0: cannot start a thread to resolve b\.example: can't start"):
        dialled("b.example")


def test_descriptor_exhaustion_makes_the_broker_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    async def connect(*_: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(asyncio.BaseEventLoop, "create_connection", connect)
    with pytest.raises(BrokerUnavailable, match=r"^b0: too many open files"):
        dialled("127.0.0.1")
