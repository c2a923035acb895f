"""States of share groups from ``__share_group_state``: what members did, what coordinators have, what Kafka reads."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kgroups.admin.query.select_groups import Selection
from kgroups.admin.share_state.gather import gather_share_facts
from kgroups.admin.wire import WireClient
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.group_log import ReadBudget
from kgroups.model.offsets import Isolation
from kgroups.model.share.batches import DeliveryState, StateBatch
from kgroups.model.share.partition import SharePartition
from kgroups.model.share.state import UNCHANGED, StateRecord
from kgroups.model.share.state import state_of as fold
from kgroups.net.cluster import Cluster
from kgroups.protocol.share_state import RECORD_TYPES, SNAPSHOT, UPDATE, decode
from kgroups.sandbox.topics import create_topics, fill
from tests.integration.asking import run_here
from tests.integration.offsets_log import Logged, read_log
from tests.integration.record_oracle import as_kafka_tells, ask_share_formatter
from tests.integration.share_groups import ShareGroups
from tests.integration.share_member import ACCEPT, REJECT, RELEASE, Acquired, ShareMember
from tests.integration.test_snapshot import set_config

STATE_TOPIC = "__share_group_state"
STATES = {
    "available": DeliveryState.AVAILABLE,
    "acknowledged": DeliveryState.ACKNOWLEDGED,
    "archived": DeliveryState.ARCHIVED,
}
DEAD_LETTERS = "errors.deadletterqueue.topic.name"
LOCK = "share.record.lock.duration.ms"
STANDS = "start-offset-stands"
RECORDS = 40

GROUPS, MANY = 8, 100_000
"""Of the long test: groups that acknowledge at the same time, and the records of the state topic to compare."""
PORTION = 500
"""Acknowledgments of each group between two looks at the log, which brokers prune now and then."""


@pytest.fixture
def name(share_groups: ShareGroups) -> str:
    """The name of a new share group, and of its topic with one partition, which it reads from the start."""
    name = f"shared-{uuid.uuid4().hex[:8]}"

    async def create() -> None:
        async with await connected(share_groups) as cluster:
            await create_topics(cluster, {name: 1})

    asyncio.run(create())
    fill(share_groups.sandbox.bootstrap, {name: {0: RECORDS}})
    share_groups.start({name: {name: {0: 0}}})
    return name


async def connected(share_groups: ShareGroups) -> Cluster:
    settings = ClientSettings(parse_bootstrap(share_groups.sandbox.bootstrap), timeout=300, broker_timeout=60)
    cluster, _ = await Cluster.connect(settings)
    return cluster


def play(share_groups: ShareGroups, name: str, act: Callable[[ShareMember], Awaitable[None]]) -> Any:
    """Let a member act, which acknowledges all that it acquires; return the state that the coordinator has then."""

    async def run() -> Any:
        async with await connected(share_groups) as cluster:
            return await act_as_member(cluster, name, name, 0, act)

    return asyncio.run(run())


async def act_as_member(
    cluster: Cluster, group: str, topic: str, partition: int, act: Callable[[ShareMember], Awaitable[None]]
) -> Any:
    member = await ShareMember.joined(cluster, group, topic, partition)
    await act(member)
    await member.leave()
    return await member.stored_state()


def state_of(share_groups: ShareGroups, name: str) -> SharePartition:
    async def run() -> SharePartition:
        admin = WireClient(await connected(share_groups))
        try:
            items = (await admin.describe_offsets(Selection((name,)), isolation=Isolation.READ_UNCOMMITTED)).items
            (partition,) = (
                (await gather_share_facts(admin.cluster, items, ReadBudget(1 << 30, 60))).facts[name].partitions
            )
            return partition
        finally:
            await admin.close()

    return asyncio.run(run())


async def poison(member: ShareMember) -> None:
    """Accept 1, 2, and 5; reject 3; release 4 four times; finally release 0 and 6, which were locked meanwhile."""
    assert [each[:2] for each in await member.acquire(7)] == [(0, 6)]
    await member.acknowledge([(1, 2, ACCEPT), (3, 3, REJECT), (4, 4, RELEASE), (5, 5, ACCEPT)])
    for deliveries in (2, 3, 4):
        again = await acquire_offset(member, 4)
        assert again == deliveries
        await member.acknowledge([(4, 4, RELEASE)])
    await member.acknowledge([(0, 0, RELEASE), (6, 6, RELEASE)])


async def accept_first(member: ShareMember) -> None:
    """Accept the first records that are available: the start offset moves."""
    await member.acknowledge([(first, last, ACCEPT) for first, last, _ in await member.acquire(1)])


async def acquire_offset(member: ShareMember, offset: int) -> int:
    """Acquire records until it is this one, and accept the others. Return its delivery count."""
    while True:
        found = await member.acquire(1)
        if found[0].first == offset:
            return found[0].deliveries
        await member.acknowledge([(first, last, ACCEPT) for first, last, _ in found])


def test_describe_explain_and_check_show_what_members_did(share_groups: ShareGroups, name: str) -> None:
    play(share_groups, name, poison)
    partition = state_of(share_groups, name)
    assert partition.state and partition.tally
    accepted = partition.tally.acknowledged
    answer = share_groups.ask("describe", name, "--deep", "-o", "json")
    (row,) = answer.items
    assert {key: row[key] for key in ("start_offset", "archived", "deliveries", "last_attempts", "acquired")} == {
        "start_offset": 0,
        "archived": 1,
        "deliveries": {"1": 2, "4": 1},
        "last_attempts": 1,
        "acquired": None,
    }
    assert (row["acknowledged"], row["released"], row["oldest_unfinished"]) == (accepted, 3, 0)
    assert row["lag"] == RECORDS - accepted - 1, "as the broker counts"
    assert row["oldest_timestamp"] and row["last_progress"]
    assert any("acquired" in notice and "unknown" in notice for notice in answer.envelope["notices"])
    explained = share_groups.ask("explain", name)
    assert (
        f"- PROBLEM: {name}-0: 1 record delivered repeatedly and not finished; offset 4: 4 of at most 5 deliveries; "
        "the next delivery is the last for 1 record\n"
    ) in explained.out
    assert f"- WARNING: {name}-0: 1 record after the start offset is archived" in explained.out
    assert "locked for 30s for each delivery (share.record.lock.duration.ms)" in explained.out
    for limit, code in (("2,3", 1), ("2", 2), ("3", 0)):
        assert share_groups.ask("check", name, "--max-redeliveries", limit).code == code
    assert share_groups.ask("check", name, "--max-progress-age", "1h").code == 0


def test_states_equal_those_of_the_coordinator(share_groups: ShareGroups, name: str) -> None:
    """After random acknowledgments; a snapshot of the coordinator is among the records only in the long test."""
    dice = random.Random(7)

    async def act(member: ShareMember) -> None:
        (first,) = await member.acquire(1)  # is not finished until the end, so that the start offset stands still
        for _ in range(12):  # of at most 3 records each, so that there are always some left
            acquired = await member.acquire(dice.randint(1, 3))
            offsets = [offset for first, last, _ in acquired for offset in range(first, last + 1)]
            await member.acknowledge([(at, at, dice.choice((ACCEPT, RELEASE, REJECT))) for at in offsets])
        await member.acknowledge([(first.first, first.last, RELEASE)])

    stored = play(share_groups, name, act)
    compare_states(state_of(share_groups, name), stored)


def compare_states(partition: SharePartition, stored: Any) -> None:
    assert not stored.error_code and partition.unknown is None and partition.state
    expected = [
        StateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
        for batch in stored.state_batches
    ]
    assert partition.state.batches == tuple(expected)
    assert len(expected) > 3, "several states"
    assert (partition.state.start_offset, partition.state.state_epoch) == (stored.start_offset, stored.state_epoch)


OF_GROUP = """
SELECT *, epoch_ms(log_time) AS log_ms, epoch_ms(created_at) AS created_ms FROM share_states
WHERE "group" = '{}' ORDER BY log_offset"""
ENDS = "SELECT log_partition, max(to_offset) AS stop FROM share_coverage GROUP BY log_partition"
ARCHIVED = """
SELECT "group", sum("last" - "first" + 1)::bigint AS records FROM (
    SELECT DISTINCT "group", unnest(first_offsets) AS "first", unnest(last_offsets) AS "last",
        unnest(delivery_states) AS state
    FROM share_states
) AS batches WHERE state = 'archived' AND "group" = '{}' GROUP BY "group" """


def test_history_has_each_record_once_and_states_follow_from_it(
    share_groups: ShareGroups, name: str, tmp_path: Path
) -> None:
    store = ("--store", str(tmp_path / "history"))
    bootstrap = share_groups.sandbox.bootstrap

    def rows(query: str) -> list[dict[str, Any]]:
        return run_here("history", "sql", *store, query.format(name), "-o", "json").items

    for act in (poison, accept_first):
        stored = play(share_groups, name, act)
        collected = run_here("history", "collect", *store, "-b", bootstrap)
        assert collected.code == 0, collected.err
        found = [(row["log_partition"], row["log_offset"]) for row in rows("SELECT * FROM share_states")]
        assert len(found) == len(set(found)), "each record once"
        ends = {row["log_partition"]: row["stop"] for row in rows(ENDS)}
        log = read_log(bootstrap, STATE_TOPIC)
        # Brokers may have deleted some since, and written others.
        assert {each[:2] for each in log if each.offset < ends.get(each.partition, 0)} <= set(found)
        history = rows(OF_GROUP)
        assert {(row["topic"], row["partition"], row["error"]) for row in history} == {(name, 0, None)}
        expected = [
            StateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
            for batch in stored.state_batches
        ]
        state = fold([state_record(row) for row in history])
        assert state and state.batches == tuple(expected)
        assert (state.start_offset, state.state_epoch) == (stored.start_offset, stored.state_epoch)
    assert rows(ARCHIVED) == [{"group": name, "records": 1}]
    checks = run_here("history", "test", *store, "-o", "json", "-b", bootstrap).items
    of_shares = {each["check"]: each for each in checks if (each["table"] or "").startswith("share_")}
    assert len(of_shares) == 5 and {each["status"] for each in of_shares.values()} == {"ok"}, of_shares
    assert of_shares["unique-positions"]["checked"] == len(found)


def state_record(row: Mapping[str, Any]) -> StateRecord:
    columns = row["first_offsets"], row["last_offsets"], row["delivery_states"], row["delivery_counts"]
    batches = (
        StateBatch(first, last, STATES[state], count) for first, last, state, count in zip(*columns, strict=True)
    )
    epoch, start = (UNCHANGED if row[name] is None else row[name] for name in ("leader_epoch", "start_offset"))
    is_snapshot = row["record_name"] == "snapshot"
    return StateRecord(
        *(row["log_ms"], row["snapshot_epoch"], epoch, start, tuple(batches)),
        state_epoch=row["state_epoch"] if is_snapshot else None,
        created=row["created_ms"] if is_snapshot else None,
    )


@pytest.mark.usefixtures("jdk")
def test_records_equal_those_of_kafkas_formatter(share_groups: ShareGroups, name: str, tmp_path: Path) -> None:
    play(share_groups, name, poison)
    log = read_log(share_groups.sandbox.bootstrap, STATE_TOPIC)
    assert compare_records(log, tmp_path) >= {SNAPSHOT, UPDATE}


def compare_records(log: list[Logged], scratch: Path) -> set[int]:
    """Compare all records with what Kafka's formatter prints; return their types."""
    printed = ask_share_formatter([(each.key, each.value) for each in log], scratch)
    types = set()
    for each, kafka in zip(log, printed, strict=True):
        ours = as_kafka_tells(decode(each.key, each.value), RECORD_TYPES)
        value = None if each.value is None else {"version": ours["version"], "data": ours["value"]}
        assert {"key": {"type": ours["type"], "data": ours["key"]}, "value": value} == kafka, each
        types.add(ours["type"])
    return types


@pytest.mark.soak
@pytest.mark.usefixtures("jdk")
def test_many_records_and_states_equal_those_of_kafka(share_groups: ShareGroups, tmp_path: Path) -> None:
    """100,000 records of the state topic, which members have written by single acknowledgments."""
    topic = f"shared-{uuid.uuid4().hex[:8]}"
    groups = {f"{topic}-{partition}": partition for partition in range(GROUPS)}

    async def create() -> None:
        async with await connected(share_groups) as cluster:
            await create_topics(cluster, {topic: GROUPS})

    asyncio.run(create())
    fill(share_groups.sandbox.bootstrap, {topic: dict.fromkeys(range(GROUPS), MANY // GROUPS - PORTION)})
    share_groups.start({group: {topic: {partition: 0}} for group, partition in groups.items()})
    log: dict[tuple[int, int], Logged] = {}
    portion = 0
    while len(log) < MANY:
        portion += 1
        stored = asyncio.run(acknowledge_at_once(share_groups, topic, groups, portion))
        log |= {each[:2]: each for each in read_log(share_groups.sandbox.bootstrap, STATE_TOPIC)}
    assert compare_records(list(log.values()), tmp_path) >= {SNAPSHOT, UPDATE}
    for group, partition in groups.items():
        compare_states(state_of(share_groups, group), stored[partition])


async def acknowledge_at_once(
    share_groups: ShareGroups, topic: str, groups: Mapping[str, int], seed: int
) -> Sequence[Any]:
    """Let a member of each group acknowledge :data:`PORTION` records, one by one; return the states by partition."""

    async def one(group: str, partition: int) -> Any:
        dice = random.Random(f"{seed} {partition}")

        async def act(member: ShareMember) -> None:
            acquired = await acquire_exactly(member, PORTION)
            offsets = [offset for first, last, _ in acquired for offset in range(first, last + 1)]
            for offset in (*offsets[1:], offsets[0]):
                await member.acknowledge([(offset, offset, dice.choice((ACCEPT, ACCEPT, RELEASE, REJECT)))])

        async with await connected(share_groups) as cluster:  # brokers process the requests of one connection in turn
            return await act_as_member(cluster, group, topic, partition, act)

    return await asyncio.gather(*(one(group, partition) for group, partition in groups.items()))


async def acquire_exactly(member: ShareMember, number: int) -> list[Acquired]:
    found: list[Acquired] = []
    while missing := number - sum(last - first + 1 for first, last, _ in found):
        found += await member.acquire(missing)
    return found


async def accept_all_but_the_first(member: ShareMember) -> None:
    await acquire_exactly(member, RECORDS)
    await member.acknowledge([(1, RECORDS - 1, ACCEPT)])


async def let_locks_time_out(member: ShareMember) -> None:
    """Acquire the only record that is left again and again, without an acknowledgment."""
    for deliveries in (2, 3, 4):
        assert await member.acquire(1) == [(0, 0, deliveries)]


def test_record_whose_lock_times_out_repeatedly_is_explained(share_groups: ShareGroups, name: str) -> None:
    bootstrap, until = share_groups.sandbox.bootstrap, time.monotonic() + 120
    play(share_groups, name, accept_all_but_the_first)
    asyncio.run(set_config(bootstrap, name, LOCK, "1000"))
    while f"locked for 1s for each delivery ({LOCK})" not in share_groups.ask("explain", name).out:
        assert time.monotonic() < until
        time.sleep(0.2)
    play(share_groups, name, let_locks_time_out)
    while STANDS not in (found := dict(findings(share_groups, name))):  # until it stands for longer than a lock lasts
        assert time.monotonic() < until, found
        time.sleep(0.2)
    assert found["redelivered"] == (
        f"{name}-0: 1 record delivered repeatedly and not finished; offset 0: 4 of at most 5 deliveries; the next "
        "delivery is the last for 1 record"
    )
    assert f"{RECORDS - 1} later records are finished" in found[STANDS]
    assert "it was delivered 4 times, and released or not acknowledged in time" in found[STANDS]
    asyncio.run(set_config(bootstrap, name, LOCK, None))


def findings(share_groups: ShareGroups, name: str) -> list[tuple[str, str]]:
    (item,) = share_groups.ask("explain", name, "-o", "json").items
    return [(finding["rule"], finding["text"]) for finding in item["findings"]]


@pytest.fixture
def configured(share_groups: ShareGroups, name: str) -> Iterator[str]:
    """The group has a limit of 7 deliveries, and on Kafka 4.4 a dead-letter topic; other tests expect no settings."""
    bootstrap, settings = share_groups.sandbox.bootstrap, {"share.delivery.count.limit": "7"}
    if share_groups.sandbox.version.name == "4.4.0":
        settings[DEAD_LETTERS] = f"dlq.{name}"

        async def create() -> None:
            async with await connected(share_groups) as cluster:
                await create_topics(cluster, {f"dlq.{name}": 2})

        asyncio.run(create())
        fill(bootstrap, {f"dlq.{name}": {0: 2, 1: 1}})
    for key, value in settings.items():
        asyncio.run(set_config(bootstrap, name, key, value))
    yield name
    for key in settings:
        asyncio.run(set_config(bootstrap, name, key, None))


def test_settings_of_the_group_are_explained(share_groups: ShareGroups, configured: str) -> None:
    name = configured
    play(share_groups, name, poison)
    wanted = "not reported, requires Kafka 4.4"
    if share_groups.sandbox.version.name == "4.4.0":
        wanted = f"its dead-letter topic is 'dlq.{name}' (at most 3 records)"
    until = time.monotonic() + 60
    while True:  # brokers apply the settings a little later
        found = dict(findings(share_groups, name))
        if "at most 7 times" in found["share-limits"] and wanted in found["dead-letter-topic"]:
            break
        assert time.monotonic() < until, found
        time.sleep(0.2)
    assert "offset 4: 4 of at most 7 deliveries" in found["redelivered"]
    (item,) = share_groups.ask("explain", name, "-o", "json").items
    assert [row["last_attempts"] for row in item["share_partitions"]] == [0]
