"""Only what is known: history of a compacted log, of aborted transactions, and behind a transaction that hangs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType
from pyspark.sql import SparkSession

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.history.extract.ranges import Range
from kgroups.history.extract.reader import read
from kgroups.history.jobs.collect import Plan, collect
from kgroups.history.load.store import Store
from kgroups.model.placement import OFFSETS_TOPIC, partition_of
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.wire.offset_commit import OffsetCommit
from tests.fakes import history
from tests.fakes.history import Row
from tests.integration.offsets_log import log_ends
from tests.integration.versions import MAIN

LOGS: Final = 3
COMPACTED, ABORTED, HUNG = range(LOGS)
"""Partitions of the log, by what happens in them."""
TOPIC, PARTITIONS, ROUNDS = "clicks", 50, 40
SECONDS: Final = 60.0
"""For all that a broker does."""

PROPERTIES = {
    "offsets.topic.num.partitions": str(LOGS),
    "log.cleaner.backoff.ms": "3600000",
    "log.cleaner.min.cleanable.ratio": "0.01",
    "offsets.retention.minutes": "120",
}


@pytest.fixture(scope="module")
def kafka(require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    require_kafka("4.3.1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        with Sandbox.up(MAIN, name="known", properties=PROPERTIES) as sandbox:
            admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
            admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(SECONDS)
            yield sandbox


@pytest.fixture(scope="module")
def settings(kafka: Sandbox) -> ClientSettings:
    return ClientSettings(parse_bootstrap(kafka.bootstrap), timeout=SECONDS, broker_timeout=SECONDS)


def group_in(log: int, name: str) -> str:
    """A name that begins so, in that partition of the log."""
    return next(each for number in count() if partition_of(each := f"{name}-{number}", LOGS) == log)


def commit(settings: ClientSettings, group: str, offset: int, partitions: int = PARTITIONS) -> None:
    async def run() -> None:
        cluster, _ = await Cluster.connect(settings)
        async with cluster:
            route = await CoordinatorClient.to(cluster, [group])
            offsets = {TOPIC: dict.fromkeys(range(partitions), offset)}
            assert await route.call(group, OffsetCommit(group, offsets)) is None

    asyncio.run(run())


def times_of(settings: ClientSettings, log: int) -> dict[int, datetime]:
    """Offset -> time of every record that is delivered."""
    ends = log_ends(settings)[log]
    found: dict[int, datetime] = {}
    for batch in read(settings, [Range(log, ends.start, ends.stable)]):
        found |= zip(batch["log_offset"].to_pylist(), batch["log_time"].to_pylist(), strict=True)
    return found


def configure(bootstrap: str, resource: ResourceType, name: str, setting: str, value: str | None) -> None:
    """Change a setting; ``None``: back to its default."""
    operation = AlterConfigOpType.SET if value else AlterConfigOpType.DELETE
    entry = ConfigEntry(setting, value, incremental_operation=operation)
    admin = AdminClient({"bootstrap.servers": bootstrap})
    changed = admin.incremental_alter_configs([ConfigResource(resource, name, incremental_configs=[entry])])
    for future in changed.values():
        future.result(SECONDS)


def configure_cleaner(bootstrap: str, backoff: str | None) -> None:
    for broker in AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=SECONDS).brokers:
        configure(bootstrap, ResourceType.BROKER, str(broker), "log.cleaner.backoff.ms", backoff)


def rows_of(store: Store, table: str, **where: Any) -> list[Row]:
    rows = history.rows_of(store, table)
    return [row for row in rows if all(row[name] == value for name, value in where.items())]


def last_sample(rows: list[Row]) -> list[Row]:
    last = max(row["sampled_at"] for row in rows)
    return [row for row in rows if row["sampled_at"] == last]


def only(rows: list[Row]) -> Row:
    (row,) = rows
    return row


def test_cleaned_head_is_not_complete_and_uncleaned_tail_is(
    spark: SparkSession, kafka: Sandbox, settings: ClientSettings, tmp_path: Path
) -> None:
    # The cleaner leaves the last segment alone; brokers learn of the setting at some time during these commits.
    configure(kafka.bootstrap, ResourceType.TOPIC, OFFSETS_TOPIC, "segment.ms", "100")
    commit(settings, group_in(COMPACTED, "keep"), 1, 1)
    group = group_in(COMPACTED, "often")
    for offset in range(ROUNDS):
        commit(settings, group, offset)
    written = log_ends(settings)[COMPACTED].end
    try:
        configure_cleaner(kafka.bootstrap, "200")
        until = time.monotonic() + SECONDS
        while len(times_of(settings, COMPACTED)) > written // 2:
            assert time.monotonic() < until, f"nothing was compacted in {SECONDS:g} s"
            commit(settings, group, ROUNDS)  # begins a segment, so that the ones before it can be cleaned
            time.sleep(0.2)
    finally:
        # From here on nothing is compacted: what is in the log stays.
        configure(kafka.bootstrap, ResourceType.TOPIC, OFFSETS_TOPIC, "cleanup.policy", "delete")
        configure_cleaner(kafka.bootstrap, None)
    for offset in range(2 * ROUNDS):
        commit(settings, group, ROUNDS + offset)

    store = Store(str(tmp_path / "store"))
    collect(lambda: spark, store, Plan(settings))
    times = times_of(settings, COMPACTED)
    last_lost = max(set(range(max(times))) - times.keys())
    since = times[last_lost + 1]
    row = only(rows_of(store, "completeness", log_partition=COMPACTED))
    assert (row["records"], row["known_since"], row["missing"]) == (len(times), since, 0)
    assert row["density"] > 0.5  # by which it appears to be complete
    coverage = rows_of(store, "coverage", log_partition=COMPACTED)
    assert sum(each["compacted"] for each in coverage) == last_lost + 1 - sum(at <= last_lost for at in times)
    assert rows_of(store, "anomalies", anomaly="coverage_gap", log_partition=COMPACTED)
    assert only(rows_of(store, "sweeps"))["offsets_retention_ms"] == 120 * 60_000


def transactional(settings: ClientSettings, name: str) -> Producer:
    long = {"transaction.timeout.ms": 1_800_000}
    producer = Producer({"bootstrap.servers": settings.bootstrap_servers, "transactional.id": name} | long)
    producer.init_transactions(SECONDS)
    return producer


def test_aborted_transactions_are_not_gaps(spark: SparkSession, settings: ClientSettings, tmp_path: Path) -> None:
    group = group_in(ABORTED, "exactly-once")
    consumer = Consumer({"bootstrap.servers": settings.bootstrap_servers, "group.id": group})
    member = consumer.consumer_group_metadata()
    producer = transactional(settings, "aborts")
    for number in range(60):
        aborts = number % 4 == 0
        producer.begin_transaction()
        for partition in range(10 if aborts else 1):
            producer.send_offsets_to_transaction([TopicPartition(TOPIC, partition, number)], member, SECONDS)
        producer.abort_transaction(SECONDS) if aborts else producer.commit_transaction(SECONDS)
    await_stable(settings, ABORTED)
    consumer.close()
    store = Store(str(tmp_path / "store"))
    collect(lambda: spark, store, Plan(settings))
    row = only(rows_of(store, "completeness", log_partition=ABORTED))
    times = times_of(settings, ABORTED)
    assert len(times) == 45 and row["density"] < 0.5
    assert (row["records"], row["known_since"]) == (45, min(times.values()))
    assert rows_of(store, "anomalies", anomaly="coverage_gap", log_partition=ABORTED) == []


def await_stable(settings: ClientSettings, log: int) -> None:
    """A transaction ends before its marker is in the log of the group."""
    until = time.monotonic() + SECONDS
    while (ends := log_ends(settings)[log]).stable < ends.end:
        assert time.monotonic() < until, ends
        time.sleep(0.1)


def test_groups_behind_a_hung_transaction_are_unknown(
    spark: SparkSession, settings: ClientSettings, tmp_path: Path
) -> None:
    healthy, hanging = group_in(HUNG, "healthy"), group_in(HUNG, "hanging")
    store = Store(str(tmp_path / "store"))
    commit(settings, healthy, 0)
    plan = Plan(settings, sample_every=0.2)
    collect(lambda: spark, store, plan)
    assert {row["lag"] for row in last_sample(rows_of(store, "lag", group=healthy))} == {0}

    before = datetime.now(UTC) - timedelta(seconds=1)
    consumer = Consumer({"bootstrap.servers": settings.bootstrap_servers, "group.id": hanging})
    producer = transactional(settings, "hangs")
    producer.begin_transaction()
    place = [TopicPartition(TOPIC, 0, 1)]
    producer.send_offsets_to_transaction(place, consumer.consumer_group_metadata(), SECONDS)
    hung_at = datetime.now(UTC) + timedelta(seconds=1)
    commit(settings, healthy, 1)
    answer: list[str] = []
    collect(lambda: spark, store, plan, answer.append)  # no partition has a new record
    commit(settings, healthy, 2)
    collect(lambda: spark, store, plan, answer.append)

    ends = log_ends(settings)[HUNG]
    row = only(rows_of(store, "completeness", log_partition=HUNG))
    assert row["hung"] == ends.end - ends.stable
    assert before < row["unread_since"] < hung_at
    assert any(
        f"{row['hung']} offsets wait behind an open transaction; its groups are unknown" in line for line in answer
    )
    last = last_sample(rows_of(store, "lag", group=healthy))
    assert {(each["committed_offset"], each["lag"]) for each in last} == {(None, None)}
    assert all("an open transaction hides" in each["remark"] for each in last)
    state = only(rows_of(store, "stale", group=healthy))
    assert (state["status"], state["commit_age_ms"], state["unread_since"]) == ("LIVE", None, row["unread_since"])

    producer.commit_transaction(SECONDS)
    consumer.close()
    await_stable(settings, HUNG)
    collect(lambda: spark, store, plan)
    assert only(rows_of(store, "completeness", log_partition=HUNG))["hung"] == 0
    assert {each["lag"] for each in last_sample(rows_of(store, "lag", group=healthy))} == {-2}
