"""Snapshots on real brokers: what is saved, changed, and deleted is restored exactly."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from kgroups.admin.snapshot.file import read_snapshot
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.snapshot.snapshot import commits_of
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.incremental_alter_configs import IncrementalAlterConfigs
from tests.integration.asking import run_here
from tests.integration.group_settings import by_kafka, until_shown
from tests.integration.known_cluster import KnownCluster
from tests.integration.scratch_cluster import LOG, LONG, ScratchCluster
from tests.integration.share_groups import ShareGroups
from tests.integration.versions import oldest_and_newest

GROUPS = ("snap-changed", "snap-deleted", "snap-same", "snap-later")
COMMITTED: dict[str, dict[str, dict[int, int]]] = {
    "snap-changed": {LOG: {0: 12, 1: 3}, LONG: {0: 1}},
    "snap-deleted": {LOG: {0: 20, 1: 0, 2: 0}},
    "snap-same": {LOG: {0: 5}},
    "snap-later": {LONG: {0: 3}},
}
WRITE = ("--execute", "--yes", "--force")


def saved(cluster: ScratchCluster, file: Path, *words: str) -> dict[str, Any]:
    """Save a snapshot; return the commits of each group in it, with leader epochs and metadata."""
    answer = cluster.ask("snapshot", "save", str(file), *words, "-o", "json")
    assert answer.code == 0, answer.err
    return {each.group.group: commits_of(each) for each in read_snapshot(file).groups}


def equal(cluster: ScratchCluster, file: Path) -> bool:
    """Whether the cluster equals the file in everything except types of groups, which a new group does not keep."""
    only = [word for part in ("configs", "offsets", "lag", "topics", "records") for word in ("--only", part)]
    answer = cluster.ask("snapshot", "diff", str(file), *only, "-o", "json")
    assert not answer.failures, answer.err
    return answer.code == 0


def test_changed_and_deleted_groups_are_restored_exactly(scratch_cluster: ScratchCluster, tmp_path: Path) -> None:
    file = tmp_path / "state.snapshot"
    scratch_cluster.commit(COMMITTED)
    before = saved(scratch_cluster, file, *GROUPS, "--with-records")
    assert {name: len(commits) for name, commits in before.items()} == dict(
        zip(sorted(GROUPS), (3, 3, 1, 1), strict=True)
    )
    assert all(commit.metadata == f"of {name}" for name, commits in before.items() for commit in commits.values())
    snapshot = read_snapshot(file)
    record = next(found for at, found in snapshot.records.items() if at[:2] == (LOG, 0) and at.offset == 12)
    assert record.offset == 12 and record.timestamp == scratch_cluster.began + 12 * 60_000 and record.crc
    assert snapshot.logs.offsets[LOG][0] == (5, 20) and snapshot.logs.offsets[LOG][2] == (0, 0)
    assert bool(snapshot.source.topic_ids) is scratch_cluster.since("2.8.0")
    assert equal(scratch_cluster, file)

    scratch_cluster.commit({"snap-changed": {LOG: {0: 19, 1: 3}, LONG: {0: 0}}, "snap-later": {LOG: {1: 9}}})
    answer = scratch_cluster.ask("delete", "snap-deleted", *WRITE)
    assert answer.code == 0, answer.err
    assert not equal(scratch_cluster, file)

    answer = scratch_cluster.ask("snapshot", "restore", str(file), "--force", "-o", "json")
    assert answer.code == 1 and "group 'snap-deleted': the group does not exist" in answer.err
    answer = scratch_cluster.ask("snapshot", "restore", str(file), "--create-group", "--force", "-o", "json")
    assert answer.code == 0, answer.err
    assert {row["group"] for row in answer.items} == {"snap-changed", "snap-deleted"}
    assert "1 committed offset of snap-later not in" in answer.err
    assert not equal(scratch_cluster, file)  # a dry run

    undo = str(tmp_path / "undo.json")
    words = ("snapshot", "restore", str(file), "--create-group", *WRITE, "-o", "json", "--undo-file", undo)
    answer = scratch_cluster.ask(*words)
    assert answer.code == 0, answer.err
    assert {row["result"] for row in answer.items} == {"applied"}
    if scratch_cluster.since("2.4.0"):  # older brokers cannot delete a single committed offset
        words = ("snapshot", "restore", str(file), "snap-later", "--exact", *WRITE, "-o", "json")
        answer = scratch_cluster.ask(*words, "--undo-file", str(tmp_path / "undo2.json"))
        assert answer.code == 0 and [row["new_offset"] for row in answer.items] == [None], answer.err
    else:
        assert scratch_cluster.ask("delete", "snap-later", *WRITE).code == 0
        words = ("snapshot", "restore", str(file), "snap-later", "--create-group", *WRITE)
        assert scratch_cluster.ask(*words, "--undo-file", str(tmp_path / "undo2.json")).code == 0
    after = saved(scratch_cluster, tmp_path / "after.snapshot", *GROUPS)
    assert after == before  # offsets, leader epochs, and metadata
    assert equal(scratch_cluster, file)
    answer = scratch_cluster.ask("snapshot", "restore", str(file), *WRITE, "-o", "json")
    assert answer.code == 0 and not answer.items

    answer = scratch_cluster.ask("reset-offsets", "--from-file", undo, *WRITE)
    offsets = {(LOG, 0): 19, (LOG, 1): 3, (LONG, 0): 0}
    assert scratch_cluster.committed("snap-changed") == {"snap-changed": offsets}, answer.err


def test_snapshot_of_seeded_groups_equals_describe(known_cluster: KnownCluster, tmp_path: Path) -> None:
    """Groups in every state, with members."""
    file = tmp_path / "seeded.snapshot"
    answer = known_cluster.ask("snapshot", "save", str(file), "--regex", "(orders|payments)-.*", "-o", "json")
    assert answer.code == 0, answer.err
    shown = run_here("snapshot", "show", str(file), "--offsets", "-o", "json")
    live = known_cluster.ask("describe", "--regex", "(orders|payments)-.*", "-o", "json")
    assert shown.code == 0 and shown.items == live.items and len(live.items) > 20
    answer = known_cluster.ask("snapshot", "diff", str(file), "-o", "json")
    assert (answer.code, answer.items) == (0, []), answer.err
    answer = known_cluster.ask("snapshot", "restore", str(file), "-o", "json")
    assert answer.code == 1 and not answer.items and "the group has active members" in answer.err


@oldest_and_newest
def test_damaged_files_change_nothing(scratch_cluster: ScratchCluster, tmp_path: Path) -> None:
    file = tmp_path / "state.snapshot"
    scratch_cluster.commit({"snap-bad": {LOG: {0: 10}}})
    saved(scratch_cluster, file, "snap-bad")
    scratch_cluster.commit({"snap-bad": {LOG: {0: 15}}})
    data = file.read_bytes()
    bad = {
        "truncated": data[:-20],
        "edited": data[:60] + bytes((data[60] ^ 1,)) + data[61:],
        "foreign": b"group,topic\n",
    }
    for name, contents in bad.items():
        (tmp_path / name).write_bytes(contents)
        answer = scratch_cluster.ask("snapshot", "restore", str(tmp_path / name), *WRITE)
        assert answer.code == 2 and answer.err.count("\n") == 1, name
        assert scratch_cluster.committed("snap-bad") == {"snap-bad": {(LOG, 0): 15}}


def test_start_offsets_of_share_groups_are_saved(share_groups: ShareGroups, tmp_path: Path) -> None:
    file = tmp_path / "share.snapshot"
    answer = share_groups.ask("snapshot", "save", str(file), "--type", "share", "-o", "json")
    assert answer.code == 0, answer.err
    answer = share_groups.ask("snapshot", "diff", str(file), "--only", "offsets", "--only", "state", "-o", "json")
    assert (answer.code, answer.items) == (0, []), answer.err
    shown = run_here("snapshot", "show", str(file), "--offsets", "-o", "json")
    live = share_groups.ask("describe", "--type", "share", "--all-groups", "-o", "json")
    keys = ("group", "topic", "partition", "start_offset")
    assert [[row[key] for key in keys] for row in shown.items] == [[row[key] for key in keys] for row in live.items]


async def set_config(bootstrap: str, group: str, name: str, value: str | None) -> None:
    cluster, _ = await Cluster.connect(ClientSettings(parse_bootstrap(bootstrap), timeout=60))
    async with cluster:
        (node, *_) = cluster.nodes_by_health()
        assert await cluster.call(node, IncrementalAlterConfigs({group: {name: value}})) == {group: group}


def test_dynamic_configuration_is_saved_and_compared(share_groups: ShareGroups, tmp_path: Path) -> None:
    file, name = tmp_path / "configs.snapshot", "share.session.timeout.ms"
    bootstrap = share_groups.sandbox.bootstrap
    assert share_groups.ask("snapshot", "save", str(file), "--type", "share", "-o", "json").code == 0
    snapshot = read_snapshot(file)
    group = snapshot.groups[0].group.group
    assert snapshot.configs[group] == {}
    compare = ("snapshot", "diff", str(file), "--only", "configs", "-o", "json")
    asyncio.run(set_config(bootstrap, group, name, "50000"))
    try:
        until_shown(share_groups.sandbox, [group], {(group, name): "50000"})
        (row,) = share_groups.ask(*compare).items
        assert (row["group"], row["what"], row["a"], row["b"]) == (group, f"config {name}", None, "50000")
        assert share_groups.ask("snapshot", "save", str(file), group, "--overwrite", "-o", "json").code == 0
        shown = run_here("snapshot", "show", str(file), "--configs", "-o", "json").items
        assert shown == [{"group": group, "name": name, "value": "50000"}]
    finally:
        asyncio.run(set_config(bootstrap, group, name, None))


def test_settings_are_restored_as_they_were_saved(share_groups: ShareGroups, tmp_path: Path) -> None:
    file, undo, name, other = tmp_path / "s", tmp_path / "u", "share.session.timeout.ms", "share.heartbeat.interval.ms"
    cluster = share_groups.sandbox
    words = ("snapshot", "restore", str(file), "--settings", "--exact", "-o", "json")
    assert share_groups.ask("snapshot", "save", str(file), "--type", "share", "-o", "json").code == 0
    group = read_snapshot(file).groups[0].group.group
    try:
        asyncio.run(set_config(cluster.bootstrap, group, name, "50000"))
        until_shown(cluster, (group,), {(group, name): "50000"})
        assert share_groups.ask("snapshot", "save", str(file), group, "--overwrite", "-o", "json").code == 0
        saved = by_kafka(cluster, group)
        asyncio.run(set_config(cluster.bootstrap, group, name, "55000"))
        asyncio.run(set_config(cluster.bootstrap, group, other, "6000"))
        changed = {(group, name): "55000", (group, other): "6000"}
        until_shown(cluster, (group,), changed)
        plan = share_groups.ask(*words)
        rows = [(row["key"], row["old_value"], row["new_value"], row["new_origin"]) for row in plan.items]
        assert rows == [(other, "6000", "5000", "default"), (name, "55000", "50000", "dynamic-group")]
        until_shown(cluster, (group,), changed)
        done = share_groups.ask(*words, "--execute", "--yes", "--undo-file", str(undo))
        assert (done.code, [row["result"] for row in done.items]) == (0, ["applied"] * 2), done.err
        until_shown(cluster, (group,), {(group, name): "50000"})
        assert by_kafka(cluster, group) == saved == {name: "50000"}
        assert share_groups.ask("settings", "set", "-f", str(undo), "--execute", "--yes").code == 0
        until_shown(cluster, (group,), changed)
    finally:
        for key in (name, other):
            asyncio.run(set_config(cluster.bootstrap, group, key, None))
