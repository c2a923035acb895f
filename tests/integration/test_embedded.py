"""Metadata of real clients in groups, as describe shows it: Connect workers, Streams, static members, librdkafka and
kafka-python; and what ``--deep`` adds from the log.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Container, Iterator
from threading import Event, Thread
from typing import Any, Final

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic

from kgroups.sandbox import Sandbox
from kgroups.sandbox.kinds import KINDS, seed_kinds
from tests.integration.asking import Row, run_here
from tests.integration.versions import newest_only

pytestmark = newest_only  # what their clients write, no broker changes

TOPIC: Final = "embedded"
CONNECT, STREAMS = "connect-a", "counter-classic"  # of `kgroups sandbox seed --kind`
STICKY, CONFLUENT, PYTHON = (f"embedded-{name}" for name in ("sticky", "confluent", "python"))
_SECONDS: Final = 120
# A process of its own: kafka-python warns of what it does itself, and here a warning is an error.
# It begins again where it gives up: whether it finds the brokers at once is not what is tried here.
_PYTHON: Final = """
import sys, time
from kafka import KafkaConsumer
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

bootstrap, group, topic, _ = sys.argv[1:]
while True:
    try:
        consumer = KafkaConsumer(
            topic,
            bootstrap_servers=bootstrap,
            group_id=group,
            partition_assignment_strategy=[StickyPartitionAssignor],
            heartbeat_interval_ms=500,
        )
        while True:
            consumer.poll(timeout_ms=100)
    except Exception as error:
        print(error, file=sys.stderr, flush=True)
        time.sleep(1)
"""
_STICKY: Final = "org.apache.kafka.clients.consumer.StickyAssignor"


class Crowd:
    """One group of every make: on one topic of four partitions, and those that the sandbox seeds."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._stop = Event()
        self._thread = Thread(target=self._confluent)

    def start(self) -> None:
        admin = AdminClient({"bootstrap.servers": self._sandbox.bootstrap, "log_level": 3})
        for made in admin.create_topics([NewTopic(TOPIC, 4, 1)]).values():
            made.result(60)
        for number in range(2):
            settings = [f"partition.assignment.strategy={_STICKY}", f"group.instance.id=static-{number}"]
            words = [word for setting in [*settings, "client.rack=rack-1"] for word in ("--consumer-property", setting)]
            self._sandbox.start_java(
                f"{STICKY}-{number}",
                self._sandbox.version.console_consumer,
                *("--bootstrap-server", self._sandbox.bootstrap, "--topic", TOPIC, "--group", STICKY, *words),
            )
            python = [sys.executable, "-c", _PYTHON, self._sandbox.bootstrap, PYTHON, TOPIC, f"{self._sandbox.folder}/"]
            self._sandbox.start_helper(f"{PYTHON}-{number}", python)
        self._thread.start()
        seed_kinds(self._sandbox, tuple(KINDS), timeout=300)

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        for helper in self._sandbox.status().state.helpers:
            if helper.role.startswith("embedded-"):
                self._sandbox.stop_helper(helper.pid)

    def _confluent(self) -> None:
        settings: dict[str, Any] = {
            "bootstrap.servers": self._sandbox.bootstrap,
            "group.id": CONFLUENT,
            "partition.assignment.strategy": "cooperative-sticky",
            "heartbeat.interval.ms": 500,
            "log_level": 3,
        }
        consumers = [Consumer(settings) for _ in range(2)]
        for consumer in consumers:
            consumer.subscribe([TOPIC])
        while not self._stop.is_set():
            for consumer in consumers:
                consumer.poll(0.1)
        for consumer in consumers:
            consumer.close()


@pytest.fixture(scope="module")
def group_clients(cluster: Sandbox) -> Iterator[Sandbox]:
    found = Crowd(cluster)
    try:
        found.start()
        yield cluster
    finally:
        found.stop()


def members(sandbox: Sandbox, group: str, *options: str, when: Callable[[list[Row]], bool]) -> list[Row]:
    """The rows of a group, when they are as they are to be; asked again until then."""
    until = time.monotonic() + _SECONDS
    while True:
        answer = run_here("describe", group, "--members", *options, "-o", "json", bootstrap=sandbox.bootstrap)
        if (answer.code == 0 and when(answer.items)) or time.monotonic() > until:
            assert answer.code == 0, answer.err
            assert when(answer.items), answer.out
            return answer.items
        time.sleep(0.2)


def listed(sandbox: Sandbox, groups: Container[str]) -> dict[str, tuple[str, str]]:
    """Type and state of those that are there."""
    rows = run_here("list", "--state", "--type", "-o", "json", bootstrap=sandbox.bootstrap).items
    return {row["group"]: (row["type"].lower(), row["state"]) for row in rows if row["group"] in groups}


def all_have_partitions(rows: list[Row]) -> bool:
    return len(rows) == 2 and all(row["partitions"] for row in rows)


def test_seeded_group_types_have_the_promised_groups(group_clients: Sandbox) -> None:
    """Groups that were stable may rebalance again: a connector creates tasks, a standby task catches up."""
    types = {"share": "share", "counter": "streams"}
    promised = {
        group.name: (types.get(kind) or types.get(group.name, "classic"), group.state)
        for kind, made in KINDS.items()
        for group in made.groups
    }
    until = time.monotonic() + _SECONDS
    while (found := listed(group_clients, promised)) != promised and time.monotonic() < until:
        time.sleep(0.2)
    assert found == promised
    rows = run_here("describe", "parcels-audit", "-o", "json", bootstrap=group_clients.bootstrap).items
    assert [(row["start_offset"], row["lag"]) for row in rows] == [(20, 40), (40, 0)]


def test_connect_workers_share_connector_and_tasks(group_clients: Sandbox) -> None:
    """While a connector goes from one worker to the other (KIP-415), neither has it; its task may be there already."""

    def settled(rows: list[Row]) -> bool:
        held = [[name for row in rows for name in row[key] or ()] for key in ("connectors", "connector_tasks")]
        return len(rows) == 2 and held == [["files"], ["files-0"]]

    rows = members(group_clients, CONNECT, when=settled)
    assert len({row["worker_url"] for row in rows}) == 2
    assert {row["leader_url"] for row in rows} <= {row["worker_url"] for row in rows}
    assert {row["metadata_version"] for row in rows} == {2}
    assert {row["note"] for row in rows} == {None}


def test_classic_streams_members_share_tasks(group_clients: Sandbox) -> None:
    """A task that goes from one to the other is with neither for a while (KIP-441): wait until all are held."""

    def settled(rows: list[Row]) -> bool:
        active = sorted(
            (part["subtopology"], number)
            for row in rows
            for part in row["active_tasks"] or ()
            for number in part["partitions"]
        )
        all_standby = all(row["standby_tasks"] for row in rows)
        return len(rows) == 2 and all_standby and active == [(part, at) for part in ("0", "1") for at in range(3)]

    rows = members(group_clients, STREAMS, when=settled)
    assert len({row["process_id"] for row in rows}) == 2
    assert {row["user_data"]["kind"] for row in rows} == {"streams_subscription"}


def test_static_sticky_members_have_previous_assignment(group_clients: Sandbox) -> None:
    """Only members that held partitions report a previous assignment; the order of joining is random."""
    rows = members(group_clients, STICKY, when=all_have_partitions)
    assert [row["group_instance_id"] for row in rows] == ["static-0", "static-1"]
    assert {row["rack"] for row in rows} == {"rack-1"}
    assert {row["note"] for row in rows} == {None}
    assert all(row["generation"] for row in rows if row["previous_assignment"])


@pytest.mark.parametrize("group", [CONFLUENT, PYTHON])
def test_members_of_other_clients_are_decoded(group_clients: Sandbox, group: str) -> None:
    rows = members(group_clients, group, when=lambda rows: bool(rows) and all(row["partitions"] for row in rows))
    assert all(row["note"] is None for row in rows)
    assert all("raw_bytes" not in (row[key] or {}) for row in rows for key in ("user_data", "assigned_user_data"))


def test_deep_adds_leader_and_timeouts_from_the_log(group_clients: Sandbox) -> None:
    deep = ("--deep", "--deep-time", "20s")
    rows = members(group_clients, STICKY, *deep, when=all_have_partitions)
    assert sorted(row["leader"] for row in rows) == [False, True]
    assert {(row["session_timeout_ms"], row["rebalance_timeout_ms"]) for row in rows} == {(45_000, 300_000)}
    answer = run_here("describe", CONNECT, STICKY, "--state", *deep, "-o", "json", bootstrap=group_clients.bootstrap)
    assert answer.code == 0
    assert all(row["generation"] and row["leader"] and row["state_since"] for row in answer.items)
    assert len(re.findall(r"read [\d,]+ records? \([\d,]+ bytes?\) of __consumer_offsets-\d+", answer.out)) in (1, 2)
