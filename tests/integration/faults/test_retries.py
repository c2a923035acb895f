"""A command is repeated only if the machine did not give it enough time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.fakes.broker import FakeCluster, late
from tests.fakes.serving import serving
from tests.fakes.truth import Reported, Truth
from tests.integration.faults import retries
from tests.integration.faults.proxy import Exchange, Fault, Proxy
from tests.integration.faults.retries import TRIES, Tried, fairly
from tests.integration.faults.running import Bounds, Ran, inside, reported, run
from tests.integration.faults.table import COMMANDS

NOTHING = Truth({}, {}, {}, {})


@pytest.fixture(autouse=True)
def _own_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the repetitions of these tests out of the summary of all commands."""
    monkeypatch.setattr(retries, "unfair", [])


class Attempts:
    """Attempts of which each took the same share of its time, and lack something the first few times."""

    def __init__(self, slow: int | None = None, *, lost: float = 0.0, wrong: bool = False, short: int = 99) -> None:
        self.slow, self.lost, self.wrong, self.short = slow, lost, wrong, short
        self.bounds: list[Bounds] = []

    def __call__(self, bounds: Bounds) -> Tried:
        self.bounds.append(bounds)
        began = time.monotonic()
        exchanges = [
            Exchange(broker, 8, began, began + (bounds.broker_timeout if broker == self.slow else 0.01), True)
            for broker in (1, 2, 3)
        ]
        ran = Ran(1, "", "", 0.5, self.lost)
        return Tried("reset", NOTHING, set(), bounds, ran, Reported(), ["false"] if self.wrong else [], exchanges)

    def demands(self, tried: Tried) -> list[str]:
        return ["broker 1 is blamed"] if len(self.bounds) <= self.short else []


@pytest.mark.parametrize("attempts", [Attempts(1, short=2), Attempts(lost=2.0, short=2)])
def test_slow_command_is_repeated_with_more_time(attempts: Attempts) -> None:
    assert fairly(attempts, attempts.demands, {1, 3}).problems == []
    assert attempts.bounds == list(TRIES[:3])


@pytest.mark.parametrize("attempts", [Attempts(), Attempts(2), Attempts(lost=0.1), Attempts(1, wrong=True)])
def test_failed_command_on_healthy_machine_is_not_repeated(attempts: Attempts) -> None:
    """No broker was slow, or only the faulty one; the process had its time; or a row is false."""
    assert "broker 1 is blamed" in fairly(attempts, attempts.demands, {1, 3}).problems
    assert len(attempts.bounds) == 1


def test_command_without_a_fair_try_fails() -> None:
    attempts = Attempts(1)
    problems = fairly(attempts, attempts.demands, {1, 3}).problems
    assert problems == [
        "the machine was too slow for a fair try in 4",
        "broker 1 took 12.0 s for API 8",
        "broker 1 is blamed",
    ]
    assert len(attempts.bounds) == len(TRIES)


def test_request_without_response_at_the_end_is_excused() -> None:
    """A broker may still have answered in time, had there been any left."""
    now = time.monotonic()
    for seconds, count in ((7.5, 1), (2.0, 0)):
        exchange = Exchange(1, 8, now, now + 0.1)
        tried = Tried("reset", NOTHING, set(), TRIES[0], Ran(1, "", "", seconds), Reported(), [], [exchange])
        assert len(tried.excuses({1})) == count


def test_slow_healthy_broker_is_excused(tmp_path: Path) -> None:
    """Broker 1 answers its first OffsetCommit late, while broker 2 has the fault: the second try is a fair one."""
    fake = FakeCluster(3)
    fake.state.topic("load-0", [0])
    for number in range(3):
        fake.state.group(f"target-{number}", number, commits={("load-0", 0): 5})
    fake.brokers[0].fault("OffsetCommit", late(1.2 * TRIES[0].broker_timeout), 1)

    def attempt(bounds: Bounds) -> Tried:
        words = (*COMMANDS["reset"].words, "--undo-file", f"{bounds.timeout}.json")
        with inside(tmp_path), proxy.faulty_at([COMMANDS["reset"].at], Fault(half_open=True), 2):
            ran = run("reset", words, proxy.bootstrap, bounds)
            return Tried("reset", NOTHING, set(), bounds, ran, reported("reset", ran), [], proxy.record())

    def demands(tried: Tried) -> list[str]:
        return [f"broker {broker} is blamed" for broker in sorted(tried.reported.brokers - {1})]

    with Proxy(3) as proxy, serving(fake):
        proxy.start({number + 1: broker.port for number, broker in fake.brokers.items()})
        for number, broker in fake.brokers.items():
            broker.advertised = proxy.ports[number + 1]
        tried = fairly(attempt, demands, {1, 3})
    assert not tried.problems and tried.bounds != TRIES[0]
    assert tried.reported.brokers == {1}
    assert retries.unfair[0].startswith("reset, 1.5 s: broker 0 is blamed: broker 1 took ")
