"""Two operators reset the same groups at once: one of them learns of each overwritten offset."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from kgroups.admin.change.apply import apply_offsets, delete_groups
from kgroups.admin.change.apply.commit_log import CommitLog, move_of
from kgroups.admin.change.apply.revalidate import revalidate_deletions, revalidate_offsets
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.wire import WireClient
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.offsets import PlanKey
from kgroups.model.operations.plan_file import parse_plan
from kgroups.model.operations.reset import FromPlan, PlannedOffset
from kgroups.model.operations.results import AppliedOffset, GroupDeletion
from kgroups.model.outcome import Outcome, Result
from tests.integration.scratch_cluster import LOG, ScratchCluster
from tests.integration.versions import newest_only

GROUPS = [f"race-{number:03}" for number in range(700)]
TARGETS = (3, 7)

Answers = dict[int, tuple[int, dict[PlanKey, dict[str, object]]]]
"""The exit code and the rows of each target."""
OLD = 10


@newest_only
@pytest.mark.parametrize("force", [(), ("--force",)], ids=["", "force"])
def test_racing_resets_overwrite_nothing_silently(
    scratch_cluster: ScratchCluster, tmp_path: Path, force: tuple[str, ...]
) -> None:
    """What was overwritten is read from ``__consumer_offsets``; rows and undo files must agree with it."""
    scratch_cluster.commit({group: {LOG: {1: OLD}} for group in GROUPS})
    asyncio.run(race(scratch_cluster.sandbox.bootstrap, tmp_path, force))


@newest_only
def test_group_written_by_two_requests_names_what_was_overwritten(
    scratch_cluster: ScratchCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An undo commits first and then deletes; the second check must not hide a commit before the first."""
    group, late = "race-twice", iter([{LOG: {0: 12}}])
    scratch_cluster.commit({group: {LOG: {0: 11, 1: OLD}}})

    async def committed_in_between(*words: Any, **options: Any) -> Outcome[PlannedOffset]:
        checked = await revalidate_offsets(*words, **options)
        if (offsets := next(late, None)) is not None:
            await asyncio.to_thread(scratch_cluster.commit, {group: offsets})
        return checked

    monkeypatch.setattr(apply_offsets, "revalidate_offsets", committed_in_between)
    undo = FromPlan({(group, LOG, 0): 13, (group, LOG, 1): None}, exact=True)
    done = asyncio.run(apply(scratch_cluster.sandbox.bootstrap, ResetRequest(Selection((group,)), undo)))
    assert scratch_cluster.committed(group) == {group: {(LOG, 0): 13}}
    assert [(each.result, each.planned.old, bool(each.failure)) for each in done.items] == [
        (Result.APPLIED, 12, True),
        (Result.APPLIED, OLD, False),
    ]
    assert not done.notices


@newest_only
@pytest.mark.parametrize("planned", [{0: 11}, {}], ids=["one-offset", "no-offsets"])
def test_deletion_names_what_was_committed_to_another_partition(
    scratch_cluster: ScratchCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, planned: dict[int, int]
) -> None:
    """DeleteGroups deletes all offsets of a group, also one that was committed after the check."""
    group, late = f"race-deleted-{len(planned)}", iter([{LOG: {1: 7}}])
    if planned:
        scratch_cluster.commit({group: {LOG: planned}})
    else:
        scratch_cluster.join(group)
        scratch_cluster.leave(group)

    def checked(*words: Any, **options: Any) -> Outcome[GroupDeletion]:
        found = revalidate_deletions(*words, **options)
        if (offsets := next(late, None)) is not None:
            client = threading.Thread(target=scratch_cluster.commit, args=({group: offsets},))
            client.start()
            client.join()
        return found

    monkeypatch.setattr(delete_groups, "revalidate_deletions", checked)
    write = ("--execute", "--yes", "-o", "json", "--undo-file")
    answer = scratch_cluster.ask("delete", group, *write, str(tmp_path / "undo.json"))
    assert answer.code == 1 and f"{LOG}-1: offset 7 of another client was overwritten" in answer.err
    assert (f"no undo file: 1 group has no committed offsets: {group}" in answer.err) == (not planned)
    scratch_cluster.ask(
        "reset-offsets", "--from-file", str(tmp_path / "undo.json"), *write, str(tmp_path / "redo.json")
    )
    assert scratch_cluster.committed(group) == {
        group: {**{(LOG, at): offset for at, offset in planned.items()}, (LOG, 1): 7}
    }


async def apply(bootstrap: str, request: ResetRequest) -> Outcome[AppliedOffset]:
    admin = await WireClient.connect(ClientSettings(parse_bootstrap(bootstrap), timeout=60, broker_timeout=60))
    try:
        return await apply_offsets.apply_offsets(admin.cluster, (await plan_reset(admin.cluster, request)).items)
    finally:
        await admin.close()


async def race(bootstrap: str, folder: Path, force: tuple[str, ...]) -> None:
    admin = await WireClient.connect(ClientSettings(parse_bootstrap(bootstrap), timeout=300, broker_timeout=60))
    try:
        log = CommitLog(admin.cluster)
        keys = [PlannedOffset(group, LOG, 1, None, None) for group in GROUPS]
        await log.mark(keys)
        answers = await asyncio.to_thread(run_both, bootstrap, folder, force)
        records, unread = await log.read(keys)
    finally:
        await admin.close()
    assert not unread
    commits = {
        key: [move.offset for record in made if (move := move_of(*record)) is not None] for key, made in records.items()
    }
    overwritten = judge(commits, answers, folder)
    print(f"{overwritten} offsets of one operator were overwritten by the other, and its rows say so")


def run_both(bootstrap: str, folder: Path, force: tuple[str, ...]) -> Answers:
    """Return the exit code and the rows of each target."""
    started = {}
    for target in TARGETS:
        words = (
            "reset-offsets",
            "-b",
            bootstrap,
            "--regex",
            "race-.*",
            "--topic",
            f"{LOG}:1",
            "--force",
            "--execute",
        )
        more = ("--yes", "--to-offset", str(target), "--undo-file", str(folder / f"{target}.json"), "-o", "json")
        command = [sys.executable, "-m", "kgroups", *words, *more]
        started[target] = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ)
    ended = {target: (each.communicate(timeout=300)[0], each.returncode) for target, each in started.items()}
    return {
        target: (code, {(row["group"], row["topic"], row["partition"]): row for row in json.loads(out)["items"]})
        for target, (out, code) in ended.items()
    }


def judge(
    commits: dict[PlanKey, list[int]],
    answers: Answers,
    folder: Path,
) -> int:
    """Assert that rows and undo files say what the log says; return how many offsets were overwritten."""
    overwritten = reported = 0
    for target, (code, rows) in answers.items():
        scenario = parse_plan((folder / f"{target}.json").read_text(), "undo").scenario(None)
        errors = 0
        for key, row in rows.items():
            made = commits.get(key, [])
            assert (row["result"] == "applied") == (target in made), (key, row, made)
            errors += row["error"] is not None
            if row["result"] != "applied":
                continue
            reported += row["error"] is not None
            at = made.index(target)
            before = made[at - 1] if at else OLD
            assert row["old_offset"] == before, (key, row, made)
            undo = scenario.moves[key]
            assert undo is not None and undo.offset == before, (key, undo, made)
            overwritten += before != OLD
        assert (code != 0) == (errors > 0)
    print(f"{reported} applied rows have a message about the other operator")
    return overwritten
