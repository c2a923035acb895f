"""The connections of the exporter: they are kept between polls, and replaced when brokers close or lose them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import pytest

from kgroups.admin import session
from kgroups.admin.query.select_groups import Selection
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.config.secret import Secret
from kgroups.config.security import Mechanism, Password, Sasl, Security
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.exporter.poller import Poller, Polling
from kgroups.model.offsets import Isolation
from tests.fakes.broker import FakeBroker, FakeCluster, close, silence
from tests.fakes.sasl import FakeSasl, plain
from tests.unit.conftest import Served

BROKER_TIMEOUT = 3.0
ANN = Password("ann", Secret("s3cret"))


def shop(fake: FakeCluster, lifetime: float | None = None) -> None:
    fake.state.topic("orders", [0, 1], end=100)
    fake.state.group("a", 0, commits={("orders", 0): 90})
    fake.state.group("b", 1, commits={("orders", 1): 1})
    if lifetime:
        fake.secure(asked=FakeSasl({"PLAIN": plain({"ann": "s3cret"})}, lifetime))


def run_on(broker: FakeBroker, work: object) -> None:
    """Run a coroutine on the thread of the fakes."""
    assert broker._server
    asyncio.run_coroutine_threadsafe(work, broker._server.get_loop()).result(30)  # type: ignore[arg-type]


class Polled:
    """A poller of a fake cluster."""

    def __init__(self, served: Served, poller: Poller) -> None:
        self.brokers = tuple(served.fake.brokers.values())
        self._poller = poller
        self._failures: Mapping[str, int] = {}
        """How many failures there were until now."""

    def logins(self) -> list[int]:
        """Poll; return the number of new connections to each broker. All groups are reported."""
        before = [broker.connections for broker in self.brokers]
        found = self._poller.poll()
        assert found.up and [(each.name, each.stale) for each in found.groups] == [("a", False), ("b", False)]
        assert found.failures == self._failures
        return [broker.connections - old for broker, old in zip(self.brokers, before, strict=True)]

    def poll(self) -> tuple[bool, list[str]]:
        """Poll; return whether the cluster was reached, and the groups with values of now."""
        found = self._poller.poll()
        self._failures = found.failures
        return found.up, [each.name for each in found.groups if not each.stale]


PolledOf = Callable[..., Polled]


@pytest.fixture
def polled_of(serve: Callable[..., Served]) -> Iterator[PolledOf]:
    """Return a function that starts a cluster and a poller of it."""
    pollers: list[Poller] = []

    def start(*, lifetime: float | None = None) -> Polled:
        served = serve(fill=partial(shop, lifetime=lifetime))
        settings = ClientSettings(parse_bootstrap(served.bootstrap), broker_timeout=BROKER_TIMEOUT)
        if lifetime:
            settings = settings._replace(security=Security(sasl=Sasl(Mechanism.PLAIN, ANN)))
        every = Selection(everything=True)
        pollers.append(Poller(ConnectionOptions(settings, False), every, Isolation.READ_UNCOMMITTED, Polling()))
        return Polled(served, pollers[-1])

    yield start
    for each in pollers:
        each.close()


def test_polls_log_in_once(polled_of: PolledOf) -> None:
    polled = polled_of()
    assert sum(polled.logins()) > 0
    assert [polled.logins() for _ in range(3)] == [[0, 0]] * 3


def test_connections_that_brokers_close_are_opened_again(polled_of: PolledOf) -> None:
    polled = polled_of()
    polled.logins()

    async def close_idle(broker: FakeBroker) -> None:
        for writer in broker._open:
            writer.close()

    for broker in polled.brokers:
        run_on(broker, close_idle(broker))
    time.sleep(0.1)
    assert all(polled.logins())
    assert polled.logins() == [0, 0]


def test_connection_that_is_closed_by_the_next_request_is_opened_again(polled_of: PolledOf) -> None:
    polled = polled_of()
    polled.logins()
    for broker in polled.brokers:
        broker.fault("*", close, times=1)
    assert sum(polled.logins()) > 0


def test_restarted_broker_gets_new_connections(polled_of: PolledOf) -> None:
    polled = polled_of()
    polled.logins()
    first, second = polled.brokers
    run_on(second, second.stop())
    assert polled.poll() == (True, ["a"])
    second.alive = True
    run_on(first, second.start())
    kept, opened = polled.logins()
    assert (kept, opened > 0) == (0, True)
    assert polled.logins() == [0, 0]


def test_connections_that_were_lost_without_a_sign_are_replaced(polled_of: PolledOf) -> None:
    polled = polled_of()
    polled.logins()
    _, second = polled.brokers
    second.fault("*", silence)
    assert polled.poll() == (True, ["a"])
    second.recover()
    kept, opened = polled.logins()
    assert (kept, opened > 0) == (0, True), "a broker that was silent is contacted over new connections"


def test_cluster_that_comes_back_is_polled_again(polled_of: PolledOf) -> None:
    polled = polled_of()
    polled.logins()
    for broker in polled.brokers:
        broker.fault("*", silence)
    assert polled.poll() == (False, [])
    for broker in polled.brokers:
        broker.recover()
    assert all(polled.logins())
    assert polled.logins() == [0, 0]


def test_idle_connections_are_not_used(polled_of: PolledOf, monkeypatch: pytest.MonkeyPatch) -> None:
    polled = polled_of()
    polled.logins()
    monkeypatch.setattr(session, "_IDLE", 0.0)
    assert all(polled.logins())


@pytest.mark.parametrize("pause", [0.0, 1.5, 2.2], ids=["in the session", "when it is renewed", "after its end"])
def test_polls_outlive_sessions(polled_of: PolledOf, pause: float) -> None:
    polled = polled_of(lifetime=2.0)
    polled.logins()
    time.sleep(pause)
    polled.logins()
    polled.logins()
