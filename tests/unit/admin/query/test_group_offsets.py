"""Commits, and the offsets that open transactions hold."""

from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.query.select_groups import Selection
from kgroups.model.offsets import Commit
from kgroups.model.views.offset_row import GroupOffsets
from tests.fakes.asking import describe_offsets
from tests.fakes.broker import FakeCluster

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
    return {each.group.group_id: each for each in answer.items}


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
