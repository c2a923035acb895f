"""The leader of a log is down but the coordinator is not: the lag is unknown everywhere, and never 0."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from prometheus_client.parser import text_string_to_metric_families

from kgroups import Cluster as Api
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.topics import create_topics
from kgroups.sandbox.wire.offset_commit import OffsetCommit
from tests.integration.asking import run_kgroups
from tests.integration.conftest import wanted_versions
from tests.integration.versions import MAIN

TOPIC = "unknown-lag"
BEHIND = 1000
PATIENCE = 120.0
CURRENT = {"total_lag": BEHIND, "known_lag": BEHIND, "unknown_partitions": 0, "stale": 0}
"""What the exporter serves while all brokers respond."""
QUICK = ("--broker-timeout", "2s")


class Scene(NamedTuple):
    """A group that is behind on one partition only, with a leader that does not keep the group."""

    sandbox: Sandbox
    group: str
    coordinator: int
    partition: int
    leader: int

    def ask(self, *words: str) -> Any:
        return run_kgroups(words[0], self.group, *words[1:], bootstrap=self.sandbox.bootstrap)


def test_lag_is_unknown_in_every_command_while_the_leader_is_down(
    request: pytest.FixtureRequest, require_kafka: Callable[[str], None]
) -> None:
    if MAIN not in wanted_versions(request.config):
        pytest.skip(f"harm is done to Kafka {MAIN} only")
    require_kafka(MAIN)
    kept = {"broker.session.timeout.ms": "3600000"}  # it stays the leader
    with Sandbox.up(MAIN, brokers=3, name=f"pytest-{os.getpid()}-unknown", properties=kept) as sandbox:
        scene = prepared(sandbox)
        with watching(scene) as ticks, exporting(scene) as scrape:
            assert await_item(ticks, lambda item: item["total_lag"] is not None)["total_lag"] == BEHIND
            assert scrape() == CURRENT

            sandbox.pause(scene.leader)
            everything_is_unknown(scene, ticks, scrape)
            sandbox.resume(scene.leader)
            item = await_item(ticks, lambda item: item["total_lag"] is not None)
            assert (item["total_lag"], item["unknown_partitions"]) == (BEHIND, 0)
            await_scrape(scrape, CURRENT)

            sandbox.pause(scene.coordinator)
            item = await_item(ticks, lambda item: item["stale"])
            # The last poll before may have reached the coordinator, and then not the logs that it leads.
            assert item["total_lag"] in (BEHIND, None) and item["last_lag"] == BEHIND and item["lag_age_ms"] > 0
            await_scrape(scrape, CURRENT | {"unknown_partitions": 3, "stale": 1})
            sandbox.resume(scene.coordinator)
            await_scrape(scrape, CURRENT)
            await_item(ticks, lambda item: item["total_lag"] == BEHIND and not item["stale"])

            sandbox.kill(scene.leader)
            everything_is_unknown(scene, ticks, scrape)


def everything_is_unknown(scene: Scene, ticks: queue.SimpleQueue[Any], scrape: Callable[[], dict[str, float]]) -> None:
    item = await_item(ticks, lambda item: item["total_lag"] != BEHIND)
    assert (item["total_lag"], item["catch_up_ms"], item["changed"], item["stale"]) == (None, None, [], False)
    assert (item["known_lag"], item["unknown_partitions"], item["last_lag"]) == (0, 1, BEHIND)
    assert item["lag_age_ms"] > 0

    await_scrape(scrape, CURRENT | {"unknown_partitions": 1, "stale": 1})

    answer = scene.ask("lag", *QUICK, "-o", "json")
    (row,) = answer.items
    assert (answer.code, row["total_lag"], row["known_lag"], row["max_lag"], row["unknown"]) == (1, None, 0, None, 1)
    (line,) = scene.ask("lag", *QUICK, "-o", "plain").table
    assert line["TOTAL-LAG"] == line["MAX-LAG"] == "-" and line["UNKNOWN"] == "1"

    for rule in ("--max-lag", "--max-partition-lag"):
        answer = scene.ask("check", *QUICK, rule, "5")
        assert answer.code == 3 and re.search(r"UNKNOWN +lagging-\d+: .*lag 0.*, unknown on 1", answer.out), answer.out
    trend = scene.ask("check", *QUICK, "--trend", "--window", "1s", "--samples", "2")
    assert trend.code == 3 and re.search(rf"UNKNOWN in \S+: {TOPIC}-{scene.partition}", trend.out), trend.out

    outcome = Api(scene.sandbox.bootstrap, broker_timeout=2).lag(scene.group)
    (found,) = outcome.items
    assert (found.total_lag, found.known_lag, found.unknown) == (None, 0, 1) and outcome.failures


def prepared(sandbox: Sandbox) -> Scene:
    settings = ClientSettings(parse_bootstrap(sandbox.bootstrap), timeout=60, broker_timeout=60)
    names = [f"lagging-{number}" for number in range(9)]

    async def made() -> None:
        cluster, _ = await Cluster.connect(settings)
        async with cluster:
            await create_topics(cluster, {TOPIC: 3})
            route = await CoordinatorClient.to(cluster, names)
            for name in names:
                assert await route.call(name, OffsetCommit(name, {TOPIC: {0: 0, 1: 0, 2: 0}})) is None

    asyncio.run(made())
    states = run_kgroups("describe", *names, "--state", "-o", "json", bootstrap=sandbox.bootstrap).items
    coordinators = {row["group"]: row["coordinator"]["id"] for row in states}
    topics = AdminClient({"bootstrap.servers": sandbox.bootstrap}).list_topics(TOPIC, timeout=60).topics
    leaders = {number: each.leader for number, each in topics[TOPIC].partitions.items()}
    group, coordinator = next(iter(coordinators.items()))
    partition, leader = next((number, leader) for number, leader in leaders.items() if leader != coordinator)
    producer = Producer({"bootstrap.servers": sandbox.bootstrap})
    for number in range(BEHIND):
        producer.produce(TOPIC, b"%d" % number, partition=partition)
    assert not producer.flush(60)
    return Scene(sandbox, group, coordinator, partition, leader)


@contextmanager
def running(scene: Scene, *words: str, **streams: int) -> Iterator[subprocess.Popen[str]]:
    command = [
        sys.executable,
        "-m",
        "kgroups",
        words[0],
        scene.group,
        "-b",
        scene.sandbox.bootstrap,
        *words[1:],
        *QUICK,
    ]
    process = subprocess.Popen(command, text=True, **streams)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=60)


@contextmanager
def watching(scene: Scene) -> Iterator[queue.SimpleQueue[Any]]:
    ticks: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def read(process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            ticks.put(json.loads(line))

    with running(scene, "watch", "--interval", "200ms", stdout=subprocess.PIPE) as process:
        reader = threading.Thread(target=read, args=(process,), daemon=True)
        reader.start()
        yield ticks


def await_item(ticks: queue.SimpleQueue[Any], wanted: Callable[[Any], bool]) -> Any:
    """Return the group's item of the next accepted tick; no tick may report an unknown lag."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        for item in ticks.get(timeout=PATIENCE)["items"]:
            assert item["total_lag"] in (None, BEHIND) and "total_lag" not in item["changed"], item
            if wanted(item):
                return item
    raise AssertionError("no such tick")


@contextmanager
def exporting(scene: Scene) -> Iterator[Callable[[], dict[str, float]]]:
    options = ("--listen", "127.0.0.1:0", "--interval", "200ms")
    with running(scene, "exporter", *options, stderr=subprocess.PIPE) as process:
        assert process.stderr
        serving = re.search(r"http://\S+", process.stderr.readline())
        assert serving

        def scrape() -> dict[str, float]:
            with urllib.request.urlopen(serving[0], timeout=PATIENCE) as answer:
                text = answer.read().decode()
            samples = [each for family in text_string_to_metric_families(text) for each in family.samples]
            assert [each.value for each in samples if each.name == "kgroups_up"] == [1]
            answer = {each.name.removeprefix("kafka_consumergroup_"): each.value for each in samples}
            return {name: answer[name] for name in CURRENT if name in answer}

        yield scrape


def await_scrape(scrape: Callable[[], dict[str, float]], wanted: dict[str, float]) -> None:
    until = time.monotonic() + PATIENCE
    while (answer := scrape()) != wanted:
        assert answer["total_lag"] == BEHIND  # neither a gap nor a zero
        assert time.monotonic() < until, answer
