"""A healthy broker that waits for a frozen one for share groups responds to everything else, and no row is lost."""

from __future__ import annotations

import asyncio
import json
import os
import re
import urllib.request
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.share import start_share_groups
from kgroups.sandbox.topics import create_topics, fill
from kgroups.sandbox.wire.offset_commit import OffsetCommit
from tests.integration.asking import TRIES, Answer, run_kgroups
from tests.integration.conftest import wanted_versions
from tests.integration.monitoring.prometheus import run_exporter
from tests.integration.versions import MAIN

TOPICS = {f"kept-{at}": 1 for at in range(16)}
NAMES = [f"kept-{kind}-{at}" for kind in ("classic", "share") for at in range(400)]
WELL, ILL = 5, 8
"""Groups of each type of which nothing, and of which something, is on the broker that is frozen."""
RECORDS = 7
OFFSETS, STATES = "__consumer_offsets", "__share_group_state"


def test_healthy_broker_loses_no_row_of_any_type(
    request: pytest.FixtureRequest, require_kafka: Callable[[str], None], tmp_path: Path
) -> None:
    if MAIN not in wanted_versions(request.config):
        pytest.skip(f"harm is done to Kafka {MAIN} only")
    require_kafka(MAIN)
    kept = {
        "broker.session.timeout.ms": "3600000",  # leaders do not move
        # Without a common divisor: the places of a group in the two topics do not depend on each other.
        "offsets.topic.num.partitions": "8",
        "share.coordinator.state.topic.num.partitions": "5",
    }
    with Sandbox.up(MAIN, brokers=2, name=f"pytest-{os.getpid()}-waiting", properties=kept) as sandbox:
        healthy = asyncio.run(prepared(sandbox))
        assert {name.split("-")[1] for name in healthy} == {"classic", "share"}

        def ask(patience: float, *words: str) -> Answer:
            return run_kgroups(*words, *bounds(patience), "-o", "json", bootstrap=sandbox.bootstrap)

        before = {words: rows_of(ask(TRIES[-1], *words), healthy) for words in COMMANDS}
        assert all({group for group, _ in rows} == healthy for rows in before.values())
        sandbox.pause(2)
        try:
            for words in COMMANDS:
                for patience in TRIES:  # on a busy machine, the broker that is well may be too slow for the first
                    answer = ask(patience, *words)
                    assert answer.code in (1, 3), (words, answer.err)
                    assert "Traceback" not in answer.err
                    if rows_of(answer, healthy) == before[words]:
                        break
                assert rows_of(answer, healthy) == before[words], (words, answer.err)
            for look in (saved, watched, exported):
                for patience in TRIES:
                    found = look(sandbox.bootstrap, tmp_path / "saved.json", bounds(patience))
                    if healthy <= found:
                        break
                assert healthy <= found, look
        finally:
            sandbox.resume(2)


COMMANDS = (
    ("list",),
    ("describe", "--all-groups"),
    ("lag",),
    ("lag", "--by", "partition"),
    ("check", "--all-groups", "--max-lag", "1000"),
    ("explain", "--all-groups"),
)
TELLING = (
    "group",
    "topic",
    "partition",
    "type",
    "state",
    "current_offset",
    "start_offset",
    "lag",
    "total_lag",
    "verdict",
)


async def prepared(sandbox: Sandbox) -> set[str]:
    """Create groups of both types, and return those that have nothing on broker 2, by their names."""
    settings = ClientSettings(parse_bootstrap(sandbox.bootstrap), timeout=120, broker_timeout=60)
    cluster, _ = await Cluster.connect(settings)
    async with cluster:
        await create_topics(cluster, TOPICS)
        await asyncio.to_thread(start_share_groups, sandbox, {"kept-first": {"kept-0": {0: 2}}})  # makes both topics
        route = await CoordinatorClient.to(cluster, ["kept-before"])
        assert await route.call("kept-before", OffsetCommit("kept-before", {"kept-0": {0: 1}})) is None
        found = {each.topic: each for each in (await cluster.refresh((*TOPICS, OFFSETS, STATES))).topics}

        def leader(topic: str, key: str) -> int:
            leaders = found[topic].leaders
            return int(leaders[java_hash(key) % len(leaders)])

        def brokers_of(name: str, topic: str) -> set[int]:
            brokers = {leader(OFFSETS, name), found[topic].leaders[0]}
            return brokers | (
                {leader(STATES, f"{name}:{as_text(found[topic].topic_id)}:0")} if is_share(name) else set()
            )

        topic_of = {name: f"kept-{at % len(TOPICS)}" for at, name in enumerate(NAMES)}
        well = [name for name in NAMES if brokers_of(name, topic_of[name]) == {1}]
        ill = [name for name in NAMES if name not in well]
        chosen = [
            name
            for kept, count in ((well, WELL), (ill, ILL))
            for kind in ("classic", "share")
            for name in [each for each in kept if each.split("-")[1] == kind][:count]
        ]
        classic = [name for name in chosen if not is_share(name)]
        route = await CoordinatorClient.to(cluster, classic)
        for name in classic:
            assert await route.call(name, OffsetCommit(name, {topic_of[name]: {0: 1}})) is None
        await asyncio.to_thread(fill, sandbox.bootstrap, {topic: {0: RECORDS} for topic in TOPICS})
        starts = {name: {topic_of[name]: {0: 2}} for name in chosen if is_share(name)}
        await asyncio.to_thread(start_share_groups, sandbox, starts)
    return set(well) & set(chosen)


def is_share(group: str) -> bool:
    return group.startswith("kept-share-")


def as_text(topic_id: int) -> str:
    return urlsafe_b64encode(topic_id.to_bytes(16, "big")).decode().rstrip("=")


def java_hash(text: str) -> int:
    """Return the absolute value of ``String.hashCode()`` as Kafka has it."""
    found = 0
    for letter in text:
        found = (31 * found + ord(letter)) & 0xFFFFFFFF
    return found & 0x7FFFFFFF if found < 1 << 31 else (1 << 32) - found


def bounds(patience: float) -> tuple[str, ...]:
    return ("--broker-timeout", f"{patience}s", "--timeout", f"{15 * patience}s")


def rows_of(answer: Any, groups: set[str]) -> list[tuple[str, list[object]]]:
    rows = [(row["group"], [row.get(key) for key in TELLING]) for row in answer.items if row["group"] in groups]
    return sorted(rows, key=repr)


def saved(bootstrap: str, path: Path, limits: tuple[str, ...]) -> set[str]:
    path.unlink(missing_ok=True)
    answer = run_kgroups("snapshot", "save", str(path), "--all-groups", *limits, "-b", bootstrap)
    assert answer.code == 1, answer.err
    rows = run_kgroups("snapshot", "show", str(path), "--groups", "-o", "json").items
    return {row["group"] for row in rows if row["total_lag"] == lag_of(row["group"])}


def watched(bootstrap: str, _: Path, limits: tuple[str, ...]) -> set[str]:
    answer = run_kgroups("watch", "--count", "1", *limits, bootstrap=bootstrap)
    (line,) = map(json.loads, answer.out.splitlines())
    return {item["group"] for item in line["items"] if item["total_lag"] == lag_of(item["group"])}


def exported(bootstrap: str, _: Path, limits: tuple[str, ...]) -> set[str]:
    with (
        run_exporter(bootstrap, *limits) as address,
        urllib.request.urlopen(f"http://{address}/metrics", timeout=600) as answer,
    ):
        text = answer.read().decode()
    samples = [each for family in text_string_to_metric_families(text) for each in family.samples]
    found = re.compile("kafka_consumergroup_total_lag")
    of_group = [(each.labels["consumergroup"], each.value) for each in samples if found.fullmatch(each.name)]
    return {group for group, lag in of_group if lag == lag_of(group)}


def lag_of(group: str) -> int:
    return RECORDS - (2 if is_share(group) else 1)
