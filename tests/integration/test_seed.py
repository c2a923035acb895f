"""The seeded groups and the load generator on real brokers: kgroups shows what they promise."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kgroups.sandbox import Sandbox
from kgroups.sandbox.heartbeater import beat_round
from kgroups.sandbox.load import Load
from kgroups.sandbox.member import consumer
from kgroups.sandbox.process import state_of
from kgroups.sandbox.seed_data import DELETED_TOPIC, RECORDS, known_groups, lacking_groups
from tests.integration.asking import Row, run_here
from tests.integration.known_cluster import KnownCluster
from tests.integration.versions import oldest_and_newest

LOAD = Load(40, 5, topics=3, stable=0.25)
SHAPE = ("--groups", "40", "--partitions", "5", "--topics", "3", "--stable", "0.25")


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kgroups", *args], capture_output=True, text=True, timeout=240, check=False
    )


def seed(sandbox: Sandbox, *args: str) -> subprocess.CompletedProcess[str]:
    return run("sandbox", "seed", "--name", sandbox.name, *args)


def items(sandbox: Sandbox, *args: str) -> list[Row]:
    return run_here(*args, "-o", "json", bootstrap=sandbox.bootstrap).items


def test_seeded_groups_are_listed_as_promised(known_cluster: KnownCluster) -> None:
    sandbox = known_cluster.sandbox
    listed = {item["group"]: item for item in items(sandbox, "list", "--state", "--type")}
    for known in known_groups(sandbox.version):
        item = listed[known.name]
        assert (item["state"], item["protocol_type"]) == (known.state, known.protocol_type)
        # Brokers before ListGroups v5 (Kafka 3.8) report no types.
        assert item["type"] == (known.type if "consumer" in sandbox.version.group_types else None)
    assert not listed.keys() & lacking_groups(sandbox.version).keys()


def test_seeded_commits_and_assignments_are_described_as_promised(known_cluster: KnownCluster) -> None:
    rows = items(known_cluster.sandbox, "describe", "--all-groups", "--wide")
    for known in known_groups(known_cluster.sandbox.version):
        own = [row for row in rows if row["group"] == known.name and row["topic"]]
        offsets = {(row["topic"], row["partition"]): row["current_offset"] for row in own}
        promised = {(topic, at): offset for topic, each in known.commits.items() for at, offset in each.items()}
        assert {pair: offset for pair, offset in offsets.items() if offset is not None} == promised
        assert {(row["topic"], row["partition"]) for row in own if row["consumer_id"]} == known.assigned
        assert {row["group_instance_id"] for row in own} - {None} == set(known.instances)


def test_seeded_deleted_topic_leaves_its_assignment(known_cluster: KnownCluster) -> None:
    rows = [
        row
        for row in items(known_cluster.sandbox, "describe", "billing-deleted-topic")
        if row["topic"] == DELETED_TOPIC
    ]
    assert [row["partition"] for row in rows] == sorted(RECORDS[DELETED_TOPIC])
    assert {(row["current_offset"], row["log_end_offset"], row["lag"]) for row in rows} == {(None, None, None)}


@pytest.mark.parametrize(("isolation", "lag"), [("read_uncommitted", 5), ("read_committed", 0)])
def test_seeded_open_transaction_depends_on_isolation(known_cluster: KnownCluster, isolation: str, lag: int) -> None:
    (row,) = items(known_cluster.sandbox, "describe", "ledger-reader", "--isolation", isolation)
    assert row["lag"] == lag


def test_seed_repeated_changes_nothing(known_cluster: KnownCluster) -> None:
    before = known_cluster.sandbox.status().state.helpers
    done = seed(known_cluster.sandbox)
    assert (done.returncode, "already has the known groups" in done.stderr) == (0, True)
    assert known_cluster.sandbox.status().state.helpers == before
    for group in known_groups(known_cluster.sandbox.version):
        assert group.about in done.stdout
    for name, reason in lacking_groups(known_cluster.sandbox.version).items():
        assert f"{name} is not available: {reason}" in done.stderr


@pytest.fixture(scope="module")
def loaded_sandbox(cluster: Sandbox) -> Iterator[Sandbox]:
    """One of the same version for itself: forty groups more would be in others' way. Of the oldest and the newest."""
    with Sandbox.up(cluster.version.name, name=f"{cluster.name}-load") as sandbox:
        done = seed(sandbox, *SHAPE)
        assert done.returncode == 0, done.stderr
        yield sandbox


@oldest_and_newest
def test_load_groups_are_listed(loaded_sandbox: Sandbox) -> None:
    states = {item["group"]: item["state"] for item in items(loaded_sandbox, "list", "--state")}
    assert states == {name: "Stable" if name.startswith("stable-") else "Empty" for name in LOAD.names()}


@oldest_and_newest
def test_load_groups_have_commits_and_assignments(loaded_sandbox: Sandbox) -> None:
    rows = items(loaded_sandbox, "describe", "--all-groups")
    for name in LOAD.names():
        own = [row for row in rows if row["group"] == name]
        assert {row["topic"] for row in own} == {LOAD.topic_of(name)}
        assert {row["partition"]: row["current_offset"] for row in own} == LOAD.commits_of(name)
        assert {row["partition"]: row["log_end_offset"] for row in own} == LOAD.ends()
        assert all(bool(row["consumer_id"]) == name.startswith("stable-") for row in own)


@oldest_and_newest
def test_load_repeated_changes_nothing_and_other_load_is_refused(loaded_sandbox: Sandbox) -> None:
    same, other = seed(loaded_sandbox, *SHAPE), seed(loaded_sandbox, "--groups", "41")
    assert (same.returncode, "already has these 40 groups" in same.stderr) == (0, True)
    assert (other.returncode, "already has other load groups" in other.stderr) == (1, True)


@oldest_and_newest
def test_heartbeater_rejoins_a_forgotten_member(loaded_sandbox: Sandbox) -> None:
    forgotten = consumer("forgotten", {"load-0": 5})._replace(member_id="nobody", generation=3)
    (member,), complaints = asyncio.run(beat_round(loaded_sandbox.bootstrap, [forgotten]))
    assert not complaints
    assert member.member_id != forgotten.member_id
    (again,), _ = asyncio.run(beat_round(loaded_sandbox.bootstrap, [member]))
    assert again == member
    (row,) = items(loaded_sandbox, "describe", "forgotten", "--members")
    assert (row["consumer_id"], row["partitions"]) == (member.member_id, 5)


def test_down_stops_the_helpers(
    require_kafka: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_kafka("2.8.2")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with Sandbox.up("2.8.2", name="seeded") as sandbox:
        done = seed(sandbox)
        assert (done.returncode, known_groups(sandbox.version)[0].about in done.stdout) == (0, True), done.stderr
        assert seed(sandbox, "--groups", "2").returncode == 0
        helpers = sandbox.status().state.helpers
        assert [helper.role for helper in helpers] == ["orders-sticky-0", "librdkafka-members", "heartbeater", "load"]
    assert {state_of(helper.pid, f"{sandbox.folder}/") for helper in helpers} == {"gone"}
