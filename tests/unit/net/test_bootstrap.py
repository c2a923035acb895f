"""Connecting through a list of servers of which many are dead, in every way in which a server can be."""

from __future__ import annotations

import asyncio
import random
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from kgroups.config.settings import ClientSettings
from kgroups.errors import AuthenticationFailed, BrokerUnavailable, ClusterUnreachable, Reason
from kgroups.model.cluster import Node
from kgroups.net.cluster import BOOTSTRAP_SHARE, BOOTSTRAP_STAGGER, Cluster
from kgroups.net.connector import ReadyConnection
from kgroups.net.deadline import Deadline
from kgroups.protocol.apis.metadata import API as METADATA
from kgroups.protocol.apis.metadata import ClusterMetadata
from kgroups.protocol.versions import BrokerVersions, VersionRange
from tests.fakes import clock
from tests.fakes.broker import FakeCluster

SLACK = 0.01
"""Seconds of a virtual clock: whatever is later has waited."""
FOREVER = 1e6


class Server(NamedTuple):
    """One server: how long it takes to connect to it, and then to respond; ``error`` instead of a connection."""

    name: str
    connects: float = 0.0
    responds: float = 0.0
    error: bool = False

    @property
    def live(self) -> bool:
        return not self.error and self.connects + self.responds < FOREVER

    @property
    def seconds(self) -> float:
        return self.connects + self.responds


class FakeConnection:
    def __init__(self, server: Server) -> None:
        self.name = server.name
        self.usable = True
        self.idle = True
        self._server = server

    async def call(self, call: object, version: int, timeout: float, **_: object) -> ClusterMetadata:
        try:
            async with asyncio.timeout(timeout):
                await asyncio.sleep(self._server.responds)
        except TimeoutError:
            raise BrokerUnavailable("no response", peer=self.name) from None
        return ClusterMetadata("id", (Node(1, self.name, 1),), ())

    def close(self) -> None:
        self.usable = False


def servers(random: random.Random, timeout: float) -> list[Server]:
    """Return any mix: refused at once or late, unresponsive at each step, slow, or well."""

    def one(at: int) -> Server:
        name = f"s{at}"
        kinds: list[Callable[[], Server]] = [
            lambda: Server(name, error=True),
            lambda: Server(name, connects=random.uniform(0, timeout), error=True),
            lambda: Server(name, connects=FOREVER),  # a black hole, a name server, or a TLS handshake that hangs
            lambda: Server(name, responds=FOREVER),
            lambda: Server(name, random.uniform(0, timeout / 2), random.uniform(0, timeout / 2)),
            lambda: Server(name, random.uniform(0, timeout / 20), random.uniform(0, timeout / 20)),
        ]
        return random.choices(kinds, weights)[0]()

    weights = [random.choice((0, 1, 5)) + 0.01 for _ in range(4)] + [random.choice((0, 0.01, 0.1))] * 2
    return [one(at) for at in range(random.choice((1, 2, 3, 20, 200, 250)))]


def connect(monkeypatch: pytest.MonkeyPatch, listed: list[Server], timeout: float, broker_timeout: float) -> float:
    """Connect, and return the seconds that it took.

    :raises ClusterUnreachable: if none responded.
    """
    by_name = {server.name: server for server in listed}

    async def link(_: object, host: str, port: int, name: str, allowed: Deadline, *__: object) -> ReadyConnection:
        server = by_name[host]
        if server.connects > allowed.remaining():
            await asyncio.sleep(allowed.remaining())
            raise BrokerUnavailable("no connection", peer=name, reason=Reason.NO_RESPONSE)
        await asyncio.sleep(server.connects)
        if server.error:
            raise BrokerUnavailable("connection refused", peer=name, reason=Reason.CONNECTION_REFUSED)
        connection: Any = FakeConnection(server)
        return ReadyConnection(connection, BrokerVersions({METADATA.key: VersionRange(0, 9)}))

    monkeypatch.setattr("kgroups.net.connector.Connector.link", link)
    bootstrap = tuple((server.name, 1) for server in listed)
    settings = ClientSettings(bootstrap, timeout=timeout, broker_timeout=broker_timeout)
    monkeypatch.setattr(clock, "QUIET", 0.0)  # there are no sockets

    async def run() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            cluster, _ = await Cluster.connect(settings)
        except ClusterUnreachable:
            assert loop.time() - began <= timeout + SLACK
            raise
        await cluster.close()
        return loop.time() - began

    return asyncio.run(run())


@pytest.mark.usefixtures("virtual_time")
@pytest.mark.parametrize("seed", range(150))
def test_live_server_is_found_within_the_timeout(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    source = random.Random(seed)
    timeout = source.choice((0.5, 2.0, 30.0))
    broker_timeout = source.choice((timeout / 2, timeout, 2 * timeout))
    listed = servers(source, timeout)
    latest = [min(BOOTSTRAP_STAGGER * at, BOOTSTRAP_SHARE * timeout * at / len(listed)) for at in range(len(listed))]
    limit = min(timeout, broker_timeout)
    found = [
        start + server.seconds
        for start, server in zip(latest, listed, strict=True)
        if server.live and server.seconds < limit - SLACK and start + server.seconds < timeout - SLACK
    ]
    if found:
        assert connect(monkeypatch, listed, timeout, broker_timeout) <= min(found) + SLACK
    else:
        try:
            assert connect(monkeypatch, listed, timeout, broker_timeout) <= timeout + SLACK
        except ClusterUnreachable as error:
            assert all(server.name in str(error) for server in listed)


@pytest.mark.usefixtures("virtual_time")
def test_refused_server_lets_the_next_start_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [*(Server(f"s{at}", error=True) for at in range(200)), Server("live")]
    assert connect(monkeypatch, listed, 2.0, 1.0) <= SLACK


@pytest.mark.usefixtures("virtual_time")
def test_rejected_authentication_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    async def link(_: object, host: str, *__: object) -> ReadyConnection:
        tried.append(host)
        raise AuthenticationFailed("wrong password", peer=host)

    monkeypatch.setattr("kgroups.net.connector.Connector.link", link)
    settings = ClientSettings(tuple((f"s{at}", 1) for at in range(200)), timeout=2)
    with pytest.raises(AuthenticationFailed):
        asyncio.run(Cluster.connect(settings))
    assert tried == ["s0"]


def test_names_and_handshakes_that_hang_do_not_hide_a_live_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real threads and sockets: 100 names that are not resolved, 100 sockets that accept and say nothing."""
    over, real = threading.Event(), socket.getaddrinfo

    def getaddrinfo(host: str, *arguments: Any, **options: Any) -> Any:
        if host.startswith("dead"):
            over.wait(120)
            raise socket.gaierror(socket.EAI_AGAIN, "over")
        return real("127.0.0.1" if host == "live.example" else host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    with socket.create_server(("127.0.0.1", 0), backlog=128) as silent:
        fake = FakeCluster(1)

        async def run() -> float:
            async with fake:
                dead = [(f"dead{at}.example", 1) for at in range(100)] + [silent.getsockname()] * 100
                live = ("live.example", fake.brokers[0].port)
                began = time.monotonic()
                cluster, _ = await Cluster.connect(ClientSettings((*dead, live), timeout=60, broker_timeout=60))
                await cluster.close()
                return time.monotonic() - began

        try:
            assert asyncio.run(run()) < 60
        finally:
            over.set()
