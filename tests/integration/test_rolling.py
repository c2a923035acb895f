"""Coordinators that move: each command shows all groups, or fails and names what is missing."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle

import pytest
from confluent_kafka.admin import AdminClient

from kgroups.admin.routing.coverage import Coverage
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.cluster import Node
from kgroups.model.placement import OFFSETS_TOPIC
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.load import Load, seed_load
from tests.integration.asking import Answer, run_here
from tests.integration.conftest import wanted_versions
from tests.integration.dropin import ours
from tests.integration.versions import MAIN

pytestmark = pytest.mark.faults

LOAD = Load(groups=90, partitions=6, topics=3)
NAMES = frozenset(LOAD.names())

REPLICATED = {
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "50",
    "default.replication.factor": "3",
    "controlled.shutdown.enable": "true",
    "auto.leader.rebalance.enable": "false",
}
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "list": ("-o", "json"),
    "describe": ("--all-groups", "--state", "-o", "json"),
    "describe --regex": ("--regex", ".*-.*", "-o", "json"),
    "lag": ("--all-groups", "-o", "json"),
    "check": ("--all-groups", "--state", "stable,empty", "-o", "json"),
    "watch": ("--all-groups", "--count", "1"),
}
DROP_IN = "kafka-consumer-groups --list"
RESTARTS, SOAK_RESTARTS, SOAK_RUNS = 3, 18, 200
MOST_RESTARTS = 10 * SOAK_RESTARTS
"""After which brokers should have been listed again."""
PATIENCE = 180.0
PATIENT = ("--timeout", f"{2 * PATIENCE}s", "--broker-timeout", f"{PATIENCE}s")


class Tally:
    """Results of the commands, and how often brokers were listed again."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        self.relisted = 0
        self.short: list[str] = []

    def add(self, command: str, found: set[str], code: int, named: str) -> None:
        if found >= NAMES:
            self.runs["all groups"] += 1
        elif code and named:
            self.runs["named"] += 1
        else:
            self.runs["silently short"] += 1
            self.short.append(f"{command}: {len(found)} groups, exit code {code}")

    def __str__(self) -> str:
        answer = ", ".join(f"{count} {kind}" for kind, count in sorted(self.runs.items()))
        return f"{sum(self.runs.values())} commands: {answer}; brokers listed again {self.relisted} times"


@pytest.fixture
def replicated_cluster(request: pytest.FixtureRequest, require_kafka: Callable[[str], None]) -> Iterator[Sandbox]:
    if MAIN not in wanted_versions(request.config):
        pytest.skip(f"brokers of Kafka {MAIN} only are restarted")
    require_kafka(MAIN)
    with Sandbox.up(MAIN, brokers=3, name=f"pytest-{os.getpid()}-rolling", properties=REPLICATED) as sandbox:
        seed_load(sandbox, LOAD)
        assert groups(run_here("list", "-o", "json", *PATIENT, bootstrap=sandbox.bootstrap)) == NAMES
        yield sandbox


@pytest.fixture
def tally(monkeypatch: pytest.MonkeyPatch) -> Tally:
    found = Tally()
    again = Coverage.again

    async def counted(self: Coverage) -> dict[Node, tuple[int, ...]]:
        turns = await again(self)
        found.relisted += bool(turns)
        return turns

    monkeypatch.setattr(Coverage, "again", counted)
    return found


def test_rolling_restart_loses_no_group_silently(replicated_cluster: Sandbox, tally: Tally) -> None:
    ask_while_rolling(replicated_cluster, tally, lambda restarts: restarts >= RESTARTS, 0)
    print(tally)
    assert not tally.short, str(tally)


@pytest.mark.soak
def test_many_commands_lose_no_group_silently(replicated_cluster: Sandbox, tally: Tally) -> None:
    ask_while_rolling(
        replicated_cluster,
        tally,
        lambda restarts: restarts >= (SOAK_RESTARTS if tally.relisted else MOST_RESTARTS),
        SOAK_RUNS,
    )
    print(tally)
    assert not tally.short, str(tally)
    assert tally.runs.total() >= SOAK_RUNS and tally.relisted


def test_preferred_leader_election_loses_no_group_silently(replicated_cluster: Sandbox, tally: Tally) -> None:
    """All replicas are in sync then, and no broker ends."""
    replicated_cluster.terminate(2)
    replicated_cluster.restart(2, timeout=PATIENCE)
    wait_in_sync(replicated_cluster)

    def elect() -> None:
        tool = "org.apache.kafka.tools.LeaderElectionCommand"
        output = replicated_cluster.java(
            tool,
            *("--bootstrap-server", replicated_cluster.bootstrap),
            *("--election-type", "preferred", "--all-topic-partitions"),
        )
        assert output.returncode == 0, output.stderr

    before = leaders(replicated_cluster)
    ask_beside(replicated_cluster, tally, elect, 0)
    print(tally)
    assert not tally.short, str(tally)
    assert leaders(replicated_cluster) != before


def ask_while_rolling(sandbox: Sandbox, tally: Tally, enough: Callable[[int], bool], runs: int) -> None:
    """Asks all commands in turn while the brokers are restarted one after the other."""

    def roll() -> None:
        for restarts, broker in enumerate(cycle((1, 2, 3))):
            if enough(restarts):
                return
            sandbox.terminate(broker)
            sandbox.restart(broker, timeout=PATIENCE)

    ask_beside(sandbox, tally, roll, runs)


def ask_beside(sandbox: Sandbox, tally: Tally, act: Callable[[], None], runs: int) -> None:
    with ThreadPoolExecutor(1) as pool:
        acting = pool.submit(act)
        for command in cycle((*COMMANDS, DROP_IN)):
            if acting.done() and tally.runs.total() >= runs:
                break
            ask(sandbox, tally, command)
        acting.result()


def ask(sandbox: Sandbox, tally: Tally, command: str) -> None:
    if command == DROP_IN:
        output = ours("kafka-consumer-groups", "--bootstrap-server", sandbox.bootstrap, "--list", "--timeout", "30000")
        tally.add(command, set(output.out.splitlines()), output.code, output.err)
        return
    answer = run_here(command.split()[0], *COMMANDS[command], bootstrap=sandbox.bootstrap)
    tally.add(command, groups(answer), answer.code, answer.err)


def groups(answer: Answer) -> set[str]:
    result = json.loads(answer.out) if answer.out else {}
    return {row["group"] for row in result.get("items") or result.get("findings") or ()}


def wait_in_sync(sandbox: Sandbox) -> None:
    admin, until = AdminClient({"bootstrap.servers": sandbox.bootstrap, "log_level": 0}), time.monotonic() + PATIENCE
    while any(
        len(part.isrs) < len(part.replicas)
        for topic in admin.list_topics(timeout=PATIENCE).topics.values()
        for part in topic.partitions.values()
    ):
        assert time.monotonic() < until
        time.sleep(0.2)


def leaders(sandbox: Sandbox) -> Mapping[int, object]:
    async def found() -> Mapping[int, object]:
        cluster, answer = await Cluster.connect(
            ClientSettings(parse_bootstrap(sandbox.bootstrap)), topics=(OFFSETS_TOPIC,)
        )
        await cluster.close()
        return answer.topics[0].leaders

    return asyncio.run(found())
