"""``kgroups history collect`` of several clusters, over fake brokers, with a collector that writes nothing."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kgroups.errors import HistoryError
from kgroups.history.jobs.collect import Collected, Plan
from kgroups.history.load.clients import Clients
from kgroups.history.run import collect
from kgroups.history.run.engine import Engine
from tests.fakes.broker import FakeCluster, silence
from tests.unit.conftest import Ran

Run = Callable[..., Ran]
Serve = Callable[..., Any]
Profiles = Callable[..., None]
Collect = Callable[[str, int], None]
DEAD = "127.0.0.1:1"


class Collectors(NamedTuple):
    """What is collected, instead of a real collection."""

    plans: dict[str, list[Plan]]
    """By bootstrap server."""
    does: dict[str, Callable[[int, Callable[[], Any], threading.Event], None]]
    """What a collector does besides, by bootstrap server; it gets the number of earlier collections."""


@pytest.fixture
def collectors(monkeypatch: pytest.MonkeyPatch) -> Collectors:
    found = Collectors({}, {})

    def run(
        start: Callable[[], Any],
        store: Any,
        plan: Plan,
        notify: Callable[[str], None],
        small: int,
        stopped: threading.Event,
        progress: Callable[[str], None],
        clients: Clients,
        on_batch: Any = None,
    ) -> Collected:
        assert clients.settings is plan.settings
        server = plan.settings.bootstrap_servers
        before = found.plans.setdefault(server, [])
        before.append(plan)
        progress("baseline: 1 row of the cluster as it is")
        if server in found.does:
            found.does[server](len(before) - 1, start, stopped)
        return Collected(1, 2, 3.0, 0)

    monkeypatch.setattr(collect, "run", run)
    return found


def cluster(serve: Serve, cluster_id: str) -> str:
    def fill(fake: FakeCluster) -> None:
        fake.state.cluster_id = cluster_id

    bootstrap: str = serve(brokers=1, fill=fill).bootstrap
    return bootstrap


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    return ["history", "collect", "--store", str(tmp_path / "history")]


def test_clusters_are_collected_and_one_that_fails_is_named(
    serve: Serve, profiles: Profiles, run_cli: Run, collectors: Collectors, words: list[str]
) -> None:
    a, b, locked = cluster(serve, "A"), cluster(serve, "B"), cluster(serve, "C")
    profiles('[profiles.broken]\nbootstrap = "b:1"\ncommand-config = "missing"\n', a=a, b=b, locked=locked, dead=DEAD)

    def fail(*_: Any) -> None:
        raise HistoryError("another collector has it")

    collectors.does[locked] = fail
    ran = run_cli(*words, "--all-profiles", "--retention", "30d", "--cluster-timeout", "7s", "--max-records", "9")
    assert (ran.code, ran.out) == (1, "")
    lines = ran.err.splitlines()
    for name in ("a", "b"):
        own = [line for line in lines if line.startswith(f"kgroups: cluster {name}: ")]
        assert [line.partition(f"{name}: ")[2] for line in own] == [
            "baseline: 1 row of the cluster as it is",
            "2 records in 1 batch, 3.0 s; 0 offsets behind",
        ]
    assert "kgroups: cluster locked: another collector has it" in lines
    assert [line for line in lines if "dead: no bootstrap server responded" in line]
    assert [line for line in lines if "broken: cannot read" in line]
    assert lines[-1].startswith("kgroups: 2 of 5 clusters collected, ")
    assert lines[-1].endswith(" s; incomplete: broken, dead, locked")
    for server in (a, b):
        (plan,) = collectors.plans[server]
        assert (plan.settings.timeout, plan.max_records, plan.retention and plan.retention.days) == (7, 9, 30)
    assert DEAD not in collectors.plans


def test_output_of_one_cluster_does_not_name_it(
    serve: Serve, profiles: Profiles, run_cli: Run, collectors: Collectors, words: list[str]
) -> None:
    profiles(a=cluster(serve, "A"))
    assert run_cli(*words, "--profile", "a") == (
        0,
        "",
        "kgroups: baseline: 1 row of the cluster as it is\n2 records in 1 batch, 3.0 s; 0 offsets behind\n",
    )


def test_cluster_of_two_profiles_is_collected_once(
    serve: Serve, profiles: Profiles, run_cli: Run, collectors: Collectors, words: list[str]
) -> None:
    one = cluster(serve, "A")
    profiles(a=one, same=one)
    ran = run_cli(*words, "--all-profiles")
    assert (ran.code, len(collectors.plans[one])) == (0, 1)
    assert ran.err.count("are the same cluster, collected once, as") == 1
    assert "kgroups: 1 of 1 cluster collected, " in ran.err


def test_cluster_that_fails_is_tried_again_and_does_not_stop_the_others(
    serve: Serve, profiles: Profiles, run_cli: Run, collectors: Collectors, words: list[str]
) -> None:
    a, b = cluster(serve, "A"), cluster(serve, "B")
    profiles(a=a, b=b, dead=DEAD)
    recovered = threading.Event()

    def follow(before: int, start: Callable[[], Any], stopped: threading.Event) -> None:
        assert recovered.wait(60)  # the other one is tried again while this one collects
        os.kill(os.getpid(), signal.SIGINT)
        assert stopped.wait(60)

    def fail_twice(before: int, start: Callable[[], Any], stopped: threading.Event) -> None:
        if before < 2:
            raise HistoryError("no leader")
        recovered.set()
        assert stopped.wait(60)

    collectors.does.update({a: follow, b: fail_twice})
    ran = run_cli(*words, "--all-profiles", "--interval", "10ms")
    assert [len(collectors.plans[each]) for each in (a, b)] == [1, 3]
    assert ran.err.count("cluster dead: no bootstrap server responded") == 1  # not at each attempt
    assert ran.code == 1
    assert ran.err.splitlines()[-1].endswith(" s; incomplete: dead")
    assert "kgroups: 2 of 3 clusters collected, " in ran.err


def test_interrupt_ends_all_collectors_of_one_run(
    serve: Serve, profiles: Profiles, run_cli: Run, collectors: Collectors, words: list[str]
) -> None:
    a, b = cluster(serve, "A"), cluster(serve, "B")
    profiles(a=a, b=b)
    both = threading.Barrier(2)

    def read(before: int, start: Callable[[], Any], stopped: threading.Event) -> None:
        if both.wait(60) == 0:
            os.kill(os.getpid(), signal.SIGINT)
        assert stopped.wait(60)
        raise KeyboardInterrupt

    collectors.does.update({a: read, b: read})
    ran = run_cli(*words, "--all-profiles")
    assert (ran.code, "collected" in ran.err) == (130, False)


def test_interrupt_does_not_wait_for_a_silent_cluster(
    serve: Serve, profiles: Profiles, run_cli: Run, collectors: Collectors, words: list[str]
) -> None:
    def hang(fake: FakeCluster) -> None:
        for broker in fake.brokers.values():
            broker.fault("*", silence)

    a, silent = cluster(serve, "A"), serve(fill=hang)
    profiles(a=a, silent=silent.bootstrap)

    def follow(before: int, start: Callable[[], Any], stopped: threading.Event) -> None:
        while not silent.fake.requests:
            assert not stopped.wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)
        assert stopped.wait(60)

    collectors.does[a] = follow
    ran = run_cli(*words, "--all-profiles", "--interval", "1s", "--timeout", "1h", "--broker-timeout", "1h")
    assert (ran.code, ran.err.splitlines()[-1].partition("; ")[2]) == (1, "incomplete: silent")


def test_duration_is_that_of_the_whole_command(
    serve: Serve, profiles: Profiles, run_cli: Run, collectors: Collectors, words: list[str]
) -> None:
    a = cluster(serve, "A")
    profiles(a=a, dead=DEAD)

    def fail_twice(before: int, start: Callable[[], Any], stopped: threading.Event) -> None:
        if before < 2:
            raise HistoryError("no leader")

    collectors.does[a] = fail_twice
    assert run_cli(*words, "--profile", "a*", "--interval", "10ms", "--duration", "1h").code == 0
    left = [plan.duration or 0 for plan in collectors.plans[a]]
    assert 3600 >= left[0] > left[1] > left[2] > 0
    ran = run_cli(*words, "--profile", "dead*", "--interval", "1h", "--duration", "1ms")
    assert (ran.code, "; incomplete: dead" in ran.err) == (1, True)


def test_spark_starts_once_for_all_clusters(
    serve: Serve,
    profiles: Profiles,
    run_cli: Run,
    collectors: Collectors,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a, b = cluster(serve, "A"), cluster(serve, "B")
    profiles(a=a, b=b)
    both = threading.Barrier(2)
    started: list[object] = []
    used: list[object] = []

    def open_session(engine: Engine, short: bool) -> object:
        started.append(object())
        return started[-1]

    monkeypatch.setattr(Engine, "open", open_session)

    def on_spark(before: int, start: Callable[[], Any], stopped: threading.Event) -> None:
        both.wait(60)
        used.append(start())

    collectors.does.update({a: on_spark, b: on_spark})
    assert run_cli(*words, "--all-profiles").code == 0
    assert (len(started), used) == (1, started * 2)


def test_error_of_all_clusters_is_one_line(
    profiles: Profiles, run_cli: Run, collectors: Collectors, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KGROUPS_SALT", raising=False)
    profiles(a=DEAD, b=DEAD)
    ran = run_cli(*words, "--all-profiles", "--client-hosts", "hash")
    assert (ran.code, ran.err.count("\n"), "--salt-file" in ran.err) == (2, 1, True)


def test_bug_in_a_collector_ends_the_command(
    serve: Serve, profiles: Profiles, run_cli: Run, collectors: Collectors, words: list[str]
) -> None:
    a, b = cluster(serve, "A"), cluster(serve, "B")
    profiles(a=a, b=b)

    def bug(*_: Any) -> None:
        raise ZeroDivisionError

    def follow(before: int, start: Callable[[], Any], stopped: threading.Event) -> None:
        assert stopped.wait(60)

    collectors.does.update({a: bug, b: follow})
    with pytest.raises(ZeroDivisionError):
        run_cli(*words, "--all-profiles", "--interval", "1s")
