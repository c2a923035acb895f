"""Progress of a command: each group, broker, and partition counts once."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.change.apply.delete_groups import delete_groups
from kgroups.admin.change.plan.plan_delete import plan_delete
from kgroups.admin.query import stream
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.wire import WireClient
from kgroups.model.offsets import Isolation
from kgroups.net.progress import Progress
from tests.fakes.asking import ask
from tests.fakes.broker import FakeCluster

GROUPS = 50
NAMES = tuple(f"g{at:02}" for at in range(GROUPS))
EVERYTHING = Selection(everything=True)


def cluster() -> FakeCluster:
    fake = FakeCluster(2, "4.3.1")
    fake.state.topic("t", [0, 1], end=100)
    for at, name in enumerate(NAMES):
        fake.state.group(name, at % 2, commits={("t", partition): at for partition in (0, 1)})
    return fake


def counted(fake: FakeCluster, work: Callable[[WireClient], Awaitable[object]]) -> list[str]:
    async def run(admin: WireClient) -> list[str]:
        await work(admin)
        return str(admin.cluster.progress).split(" · ")

    return ask(fake, run)


async def describe_all(admin: WireClient) -> None:
    await admin.describe_offsets(EVERYTHING, isolation=Isolation.READ_UNCOMMITTED)


async def delete(admin: WireClient) -> None:
    await plan_delete(admin.cluster, Selection(NAMES))
    await delete_groups(admin.cluster, NAMES)


def test_progress_counts_batches_of_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "LARGEST_PIECE", 5)
    monkeypatch.setattr(stream, "SMALLEST_PIECE", 5)
    *steps, partitions = counted(cluster(), describe_all)
    assert steps == ["brokers listed 2/2", "offsets 50/50", "classic groups 50/50"]
    assert re.fullmatch(r"partitions (\d+)/\1", partitions)


def test_progress_counts_repeated_work_once() -> None:
    progress = Progress()
    progress.begin("partitions", 100, again=True)
    for _ in range(3):  # each begins before the one before it ends
        progress.begin("partitions", 100, again=True)
        progress.advance("partitions", 100)
        assert str(progress) == "partitions 100/200"
    progress.begin("consumer groups", 0)
    progress.advance("partitions", 100)
    assert str(progress) == "partitions 200/200"


def test_progress_of_deletion_follows_its_plan() -> None:
    assert counted(cluster(), delete) == ["groups deleted 50/50"]


def test_progress_counts_retried_groups_once() -> None:
    fake = cluster()
    fake.state.fail("OffsetFetch", NAMES[0], ErrorCode.coordinator_load_in_progress, times=2)
    fake.state.fail("OffsetFetch", NAMES[1], ErrorCode.not_coordinator, times=1)
    assert "offsets 50/50" in counted(fake, describe_all)


def test_progress_counts_leaderless_partitions() -> None:
    fake = cluster()
    fake.state.topic("gone", [0])
    fake.state.group("one-more", 0, commits={("gone", 5): 7, ("t", 0): 1})
    assert "partitions 3/3" in counted(fake, describe_all)
