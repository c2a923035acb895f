"""Commits, and the offsets that open transactions hold."""

from __future__ import annotations

import asyncio
import time

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.query import group_offsets
from kgroups.admin.query.group_types.consumers import STABLE_COMMITS
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.wire import WireClient
from kgroups.model.offsets import Commit, Isolation
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.net.cluster import PATIENCE
from tests.fakes.asking import ask, describe_offsets
from tests.fakes.broker import STABLE, FakeCluster, late, silence

PARTITIONS = range(5)
NOT_REPORTED = {"1.1.1"}
"""The versions before KIP-447."""


def cluster(version: str) -> FakeCluster:
    fake = FakeCluster(2, version)
    fake.state.topic("t", [0, 1, 0, 1, 0])
    for at in range(20):
        fake.state.group(f"g{at:02}", at % 2, commits={("t", partition): at + partition for partition in PARTITIONS})
    return fake


def found(fake: FakeCluster, selection: Selection | None = None) -> dict[str, GroupOffsets]:
    answer = describe_offsets(fake, selection or Selection(everything=True))
    assert not answer.failures
    return {each.group.group: each for each in answer.items}


@pytest.mark.parametrize("version", ["1.1.1", "2.5.1", "2.8.2", "3.9.1", "4.3.1"])
def test_commits_with_an_open_transaction_are_the_committed_ones_and_named(version: str) -> None:
    fake = cluster(version)
    for at in (3, 4, 11):
        fake.state.groups[f"g{at:02}"].pending = {("t", at % 5), ("t", 0)}
    for name, offsets in found(fake).items():
        assert offsets.commits.topics["t"] == tuple(
            Commit(partition, int(name[1:]) + partition, 4 if version > "2.1" else None) for partition in PARTITIONS
        )
        pending = frozenset(fake.state.groups[name].pending)
        assert offsets.commits.pending == (None if version in NOT_REPORTED else pending)


@pytest.mark.parametrize(("version", "usual"), [("2.8.2", 20), ("4.3.1", 2)])
def test_only_groups_with_an_open_transaction_are_requested_again(version: str, usual: int) -> None:
    fake = cluster(version)
    found(fake)
    assert len(fake.asked("OffsetFetch")) == usual
    fake = cluster(version)
    fake.state.groups["g04"].pending = {("t", 1)}
    found(fake)
    assert len(fake.asked("OffsetFetch")) == usual + 2
    assert sum("g04" in each.keys for each in fake.asked("OffsetFetch")) == 3


def test_only_open_transactions_on_selected_topics_are_kept() -> None:
    fake = cluster("4.3.1")
    fake.state.topic("u", [0])
    fake.state.groups["g01"].commits["u", 0] = 5
    fake.state.groups["g01"].pending = {("t", 1), ("u", 0)}
    offsets = found(fake, Selection(names=("g01",), topics=frozenset({"u"})))["g01"]
    assert offsets.commits.pending == {("u", 0)}


def test_commit_in_flight_is_not_an_open_transaction() -> None:
    """Brokers before 4.0 report it as unstable, until enough replicas have it."""

    class Passing(set[tuple[str, int]]):
        def __contains__(self, key: object) -> bool:
            present = super().__contains__(key)
            self.discard(key)  # type: ignore[arg-type]
            return present

    fake = cluster("3.9.1")
    fake.state.groups["g05"].pending = Passing({("t", 1)})
    offsets = found(fake)["g05"]
    assert offsets.commits.pending == frozenset()
    assert len(offsets.commits.topics["t"]) == 5


def test_commits_are_read_although_the_coordinator_waits_for_replicas() -> None:
    """A broker that does not respond as a replica makes no offsets of healthy coordinators unknown."""
    fake = cluster("4.3.1")
    for at in (3, 4):
        fake.state.fail("OffsetFetch", f"g{at:02}", ErrorCode.coordinator_not_available, 1)
    offsets = found(fake)
    assert len(offsets) == 20 and all(len(each.commits.topics["t"]) == 5 for each in offsets.values())
    unknown = {name for name, each in offsets.items() if each.commits.pending is None}
    assert unknown == {"g03", "g04"}


def test_coordinator_that_waits_for_a_replica_delays_no_other_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """It responds to one request of a connection at a time: what follows would wait as long, batch after batch."""
    monkeypatch.setattr(group_offsets, "STABLE_COMMITS", STABLE_COMMITS._replace(chunk=2))
    fake = cluster("4.3.1")
    fake.state.groups["g01"].pending = {("t", 1)}
    fake.brokers[0].fault(f"OffsetFetch{STABLE}", silence)
    began = time.monotonic()
    offsets = found(fake)
    assert time.monotonic() - began < 2 * PATIENCE  # once, not for each batch
    assert len(offsets) == 20 and all(len(each.commits.topics["t"]) == 5 for each in offsets.values())
    assert {name for name, each in offsets.items() if each.commits.pending is None} == {
        f"g{at:02}" for at in range(0, 20, 2)
    }
    assert offsets["g01"].commits.pending == {("t", 1)}
    assert sum(each.broker == 0 for each in fake.asked("OffsetFetch")) == 1 + 5  # the connection holds back the rest


def test_replicas_are_waited_for_again_in_the_next_command_if_they_have_responded() -> None:
    fake = cluster("4.3.1")
    fake.brokers[0].fault(f"OffsetFetch{STABLE}", late(3), 1)
    selection = Selection(everything=True)

    async def pending(admin: WireClient) -> list[bool]:
        known = []
        for pause in (0, 0, 5):
            await asyncio.sleep(pause)
            await admin.cluster.renew()
            answer = await admin.describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED)
            assert len(answer.items) == 20 and not answer.failures
            known.append(all(each.commits.pending is not None for each in answer.items))
        return known

    assert ask(fake, pending) == [False, False, True]
    assert sum(each.broker == 0 for each in fake.asked("OffsetFetch")) == 2 + 1 + 1
