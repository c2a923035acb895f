"""``kgroups reset-offsets`` on real brokers: planned like Kafka's own tool, and undone."""

from __future__ import annotations

import asyncio
import csv
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from kgroups.admin.change.apply.apply_offsets import apply_offsets
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.wire import WireClient
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.operations.reset import ToEarliest
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import Outcome, Result
from tests.integration.scratch_cluster import LOG, LONG, ScratchCluster
from tests.integration.terminal import Typist
from tests.integration.versions import MAIN, newest_only, oldest_and_newest, on

READER, OUTSIDE, LONG_NAME = "acts-reader", "acts-outside", "acts-reader whose name, with blanks, is long"
AT = {
    READER: {LOG: {0: 12, 1: 4}},
    OUTSIDE: {LOG: {0: 2, 1: 99}},
    LONG_NAME: {LOG: {0: 7}, LONG: {0: 1}},
}

Request = tuple[str, ...]

AT_ONCE = ("--commit-window", "100ms")
"""The groups are moved again and again here, which looks like a client that commits: it is not waited for."""


@pytest.fixture
def committed_groups(scratch_cluster: ScratchCluster) -> ScratchCluster:
    """Three groups, each at its place."""
    scratch_cluster.commit(AT)
    return scratch_cluster


def scenarios(scratch_cluster: ScratchCluster) -> Iterator[Request]:
    """Each made when it is asked for: a duration leads to another record a minute later."""
    yield from (("--to-earliest",), ("--to-latest",), ("--to-current",))
    yield from (("--to-offset", offset) for offset in ("0", "7", "500"))
    yield from (("--shift-by", by) for by in ("3", "-100", "100"))
    yield from (("--to-datetime", scratch_cluster.moment(number)) for number in (-1, 7, 7.5, 30))
    yield from (("--by-duration", duration) for duration in (scratch_cluster.ago(7 + 1 / 60), "P1D"))


JAVA = ("2.8.2", MAIN)
"""Whose tools are asked: the oldest that is worth it, and the newest."""

Plan = list[tuple[str, str, int, int]]
"""Group, topic, partition, offset."""


def java_plan(scratch_cluster: ScratchCluster, *words: str) -> Plan:
    """Return the plan of Kafka's own tool."""
    output = scratch_cluster.java("--reset-offsets", *words, "--dry-run", "--export")
    lines = [line for line in output.out.splitlines() if line.count(",") == 3]
    return sorted((row[0], row[1], int(row[2]), int(row[3])) for row in csv.reader(lines))


def our_plan(scratch_cluster: ScratchCluster, *words: str) -> Plan:
    rows = scratch_cluster.ask("reset-offsets", *words, "-o", "json").items
    return [(row["group"], row["topic"], row["partition"], row["new_offset"]) for row in rows]


GROUPS = ("--group", READER, "--group", OUTSIDE)


@on(*JAVA)
@pytest.mark.parametrize(("scope", "every"), [(("--all-topics",), 1), (("--topic", f"{LOG}:0,1"), 4)])
def test_reset_scenarios_match_java(committed_groups: ScratchCluster, scope: Request, every: int) -> None:
    for scenario in islice(scenarios(committed_groups), None, None, every):
        theirs = java_plan(committed_groups, *GROUPS, *scope, *scenario)
        assert len(theirs) == 4, scenario
        assert our_plan(committed_groups, *GROUPS, *scope, *scenario) == theirs, scenario


@on(*JAVA)
@pytest.mark.parametrize("scenario", ["--to-current", "--to-latest"])
def test_reset_of_whole_topic_matches_java(committed_groups: ScratchCluster, scenario: str) -> None:
    """Partition 2 has no commit and no record."""
    theirs = java_plan(committed_groups, *GROUPS, "--topic", LOG, scenario)
    assert len(theirs) == 6
    assert our_plan(committed_groups, *GROUPS, "--topic", LOG, scenario) == theirs


@on(*JAVA)
def test_reset_export_matches_java_bytes(committed_groups: ScratchCluster) -> None:
    for groups in ((LONG_NAME,), (LONG_NAME, READER)):
        words = [word for group in groups for word in ("--group", group)]
        scenario = ("--all-topics", "--to-latest", "--export")
        theirs = committed_groups.java("--reset-offsets", *words, *scenario, "--dry-run")
        ours = committed_groups.ask("reset-offsets", *words, *scenario)
        assert sorted(ours.lines) == sorted(line for line in theirs.out.splitlines() if line.strip())


@on(*JAVA)
def test_reset_export_is_read_by_java(committed_groups: ScratchCluster, tmp_path: Path) -> None:
    plan = tmp_path / "plan.csv"
    plan.write_text(committed_groups.ask("reset-offsets", *GROUPS, "--all-topics", "--shift-by", "-1", "--export").out)
    theirs = java_plan(committed_groups, *GROUPS, "--from-file", str(plan))
    assert len(theirs) == 4
    assert our_plan(committed_groups, "--from-file", str(plan)) == theirs


def test_reset_and_undo_restore_offsets(committed_groups: ScratchCluster, tmp_path: Path) -> None:
    undo, back = tmp_path / "undo.json", tmp_path / "back.json"
    words = ("reset-offsets", READER, OUTSIDE, "--execute", "--yes", *AT_ONCE, "-o", "json")
    answer = committed_groups.ask(
        *words, "--topic", f"{LOG}:0-1", "--to-datetime", committed_groups.moment(8), "--undo-file", str(undo)
    )
    assert answer.code == 0, answer.err
    assert {row["result"] for row in answer.items} == {"applied"}
    moved = {(LOG, 0): 8, (LOG, 1): 8}
    assert committed_groups.committed(READER, OUTSIDE) == {READER: moved, OUTSIDE: moved}
    assert undo.stat().st_mode & 0o777 == 0o600
    answer = committed_groups.ask(*words, "--from-file", str(undo), "--undo-file", str(back))
    assert answer.code == 0, answer.err
    before = {group: {(LOG, at): offset for at, offset in AT[group][LOG].items()} for group in (READER, OUTSIDE)}
    assert committed_groups.committed(READER, OUTSIDE) == before, "outside of the log, too"
    again = committed_groups.ask("reset-offsets", READER, "--all-topics", "--to-current", "--export", "-o", "json")
    assert {item["metadata"] for item in json.loads(again.out)["items"]} == {f"of {READER}"}, "and with what was noted"


@newest_only
def test_killed_reset_can_be_undone(scratch_cluster: ScratchCluster, tmp_path: Path) -> None:
    groups = [f"acts-killed-{number:03}" for number in range(300)]
    scratch_cluster.commit({group: {LOG: {0: 10}} for group in groups})
    undo = tmp_path / "undo.json"
    command = [sys.executable, "-m", "kgroups", "reset-offsets", "--regex", "acts-killed-.*", "--topic", f"{LOG}:0"]
    command += ["--to-latest", "--execute", "--yes", "--undo-file", str(undo), "-b", scratch_cluster.sandbox.bootstrap]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not _is_whole(undo):
            assert process.poll() is None or _is_whole(undo)
            time.sleep(0.001)
        time.sleep(0.02)  # some are written, most are not
        process.kill()
    found = scratch_cluster.committed(*groups)
    assert {offset for commits in found.values() for offset in commits.values()} <= {10, 20}
    answer = scratch_cluster.ask(
        "reset-offsets", "--from-file", str(undo), "--execute", "--yes", "--undo-file", f"{undo}.2"
    )
    assert answer.code == 0, answer.err
    assert scratch_cluster.committed(*groups) == {group: {(LOG, 0): 10} for group in groups}


def _is_whole(undo: Path) -> bool:
    """Before that nothing is changed."""
    lines = undo.read_text().split("\n") if undo.exists() else [""]
    return bool(lines[0]) and len(lines) > json.loads(lines[0])["offsets"] + 1


def test_undo_removes_offsets_that_did_not_exist(committed_groups: ScratchCluster, tmp_path: Path) -> None:
    if not committed_groups.since("2.4"):
        pytest.skip("a commit cannot be taken away (KIP-496)")
    undo = tmp_path / "undo.json"
    words = ("reset-offsets", "--execute", "--yes", *AT_ONCE)
    scope = ("--topic", f"{LOG}:2", "--to-latest", "--undo-file", str(undo))
    answer = committed_groups.ask(*words, READER, "acts-made", "--create-group", *scope)
    assert answer.code == 0 and "group 'acts-made' does not exist; --create-group creates it" in answer.err
    assert committed_groups.committed(READER, "acts-made") == {
        READER: {(LOG, 0): 12, (LOG, 1): 4, (LOG, 2): 0},
        "acts-made": {(LOG, 2): 0},
    }
    answer = committed_groups.ask(*words, "--from-file", str(undo), "--undo-file", str(tmp_path / "second"))
    assert answer.code == 0, answer.err
    assert committed_groups.committed(READER, "acts-made") == {READER: {(LOG, 0): 12, (LOG, 1): 4}, "acts-made": {}}


def test_reset_to_group_copies_offsets(committed_groups: ScratchCluster, tmp_path: Path) -> None:
    words = ("--to-group", READER, "--execute", "--yes", *AT_ONCE, "--undo-file", str(tmp_path / "undo"))
    assert committed_groups.ask("reset-offsets", OUTSIDE, *words).code == 0
    assert committed_groups.committed(OUTSIDE)[OUTSIDE] == {(LOG, 0): 12, (LOG, 1): 4}


def test_reset_of_active_group_is_refused_and_others_are_moved(
    committed_groups: ScratchCluster, tmp_path: Path
) -> None:
    group = f"acts-busy-{committed_groups.version}"
    committed_groups.commit({group: {LOG: {0: 9}}})
    committed_groups.join(group)
    words = ("reset-offsets", group, READER, "--all-topics", "--to-earliest", "--execute", "--yes")
    answer = committed_groups.ask(*words, "--undo-file", str(tmp_path / "undo"))
    assert answer.code == 1
    assert f"group '{group}': the group has active members (state Stable)" in answer.err
    assert committed_groups.committed(group, READER) == {group: {(LOG, 0): 9}, READER: {(LOG, 0): 5, (LOG, 1): 0}}
    if committed_groups.since("2.4"):
        committed_groups.leave(group)


def test_reset_is_rejected_if_a_member_joins_after_the_plan(committed_groups: ScratchCluster) -> None:
    """The broker rejects the write without a recheck; the other group is written completely."""
    group = f"acts-race-{committed_groups.version}"
    committed_groups.commit({group: {LOG: {0: 9, 1: 9}}})

    async def race(meanwhile: Callable[[], object]) -> Outcome[AppliedOffset]:
        admin = await WireClient.connect(ClientSettings(parse_bootstrap(committed_groups.sandbox.bootstrap)))
        try:
            planned = await plan_reset(admin.cluster, ResetRequest(Selection((group, READER)), ToEarliest()))
            assert len(planned.items) == 4
            await asyncio.to_thread(meanwhile)
            return await apply_offsets(admin.cluster, planned.items)
        finally:
            await admin.close()

    outcome = asyncio.run(race(lambda: committed_groups.join(group)))
    results = {(each.planned.group, each.result) for each in outcome.items}
    assert results == {(group, Result.FAILED), (READER, Result.APPLIED)}
    assert [failure.error for failure in outcome.failures] == ["NON_EMPTY_GROUP"]
    assert committed_groups.committed(group, READER) == {
        group: {(LOG, 0): 9, (LOG, 1): 9},
        READER: {(LOG, 0): 5, (LOG, 1): 0},
    }
    if committed_groups.since("2.4"):
        committed_groups.leave(group)


@oldest_and_newest
def test_reset_is_rejected_if_a_member_joins_during_confirmation(
    committed_groups: ScratchCluster, tmp_path: Path
) -> None:
    group, undo = f"acts-asked-{committed_groups.version}", tmp_path / "undo"
    committed_groups.commit({group: {LOG: {0: 9}}})
    words = ("reset-offsets", group, "--all-topics", "--to-latest", "--execute", "--undo-file", str(undo))
    with Typist(*words, bootstrap=committed_groups.sandbox.bootstrap) as typist:
        typist.wait_for("Write 1 offset of 1 group on cluster ")
        committed_groups.join(group)
        typist.type("y\n")
        shown = typist.end()
    assert shown.code == 1
    assert "the group has active members (state Stable)" in shown.text
    assert committed_groups.committed(group) == {group: {(LOG, 0): 9}}
    assert not undo.exists(), "nothing was to be written"
    if committed_groups.since("2.4"):
        committed_groups.leave(group)


@oldest_and_newest
def test_reset_that_is_declined_changes_nothing(committed_groups: ScratchCluster, tmp_path: Path) -> None:
    words = ("reset-offsets", READER, "--all-topics", "--to-latest", "--execute", "--undo-file", str(tmp_path / "undo"))
    with Typist(*words, bootstrap=committed_groups.sandbox.bootstrap) as typist:
        typist.wait_for("[y/N]")
        typist.type("n\n")
        shown = typist.end()
    assert (shown.code, list(tmp_path.iterdir())) == (1, [])
    assert "nothing was changed" in shown.text
    assert committed_groups.committed(READER) == {READER: {(LOG, 0): 12, (LOG, 1): 4}}


def test_reset_of_many_groups_needs_few_requests(scratch_cluster: ScratchCluster) -> None:
    names = [f"acts-many-{number}" for number in range(20)]
    scratch_cluster.commit({name: {LOG: {0: 6, 1: 6}} for name in names})
    answer = scratch_cluster.ask("reset-offsets", "--regex", "acts-many-.*", "--all-topics", "--to-latest", "--debug")
    assert answer.code == 0 and len(answer.lines) == 41
    brokers = len(scratch_cluster.sandbox.brokers)
    assert len(answer.sent("ListOffsets")) <= 2 * brokers + 3 * brokers, "both ends; and three of __consumer_offsets"
    assert not answer.sent("FindCoordinator")
    if scratch_cluster.since("3.0"):
        assert len(answer.sent("OffsetFetch")) <= brokers


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--topic", "acts-nope", "--to-latest"), "topic 'acts-nope' does not exist"),
        (("--topic", f"{LOG}:3", "--to-latest"), f"topic '{LOG}' has no partition 3; the number of partitions is 3"),
    ],
)
def test_reset_of_missing_topic_or_partition_is_an_error(
    committed_groups: ScratchCluster, words: Request, reason: str
) -> None:
    answer = committed_groups.ask("reset-offsets", READER, *words)
    assert (answer.code, answer.out) == (2, "") and reason in answer.err
