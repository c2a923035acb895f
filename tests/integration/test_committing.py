"""Consumers that use assign() are not members; no group that they commit for is changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.integration.scratch_cluster import LOG, ScratchCluster
from tests.integration.versions import oldest_and_newest

pytestmark = oldest_and_newest

DO_IT = ("--execute", "--yes", "-o", "json")


@contextmanager
def committing(scratch_cluster: ScratchCluster, **intervals: float) -> Iterator[None]:
    """Groups -> the seconds after which a consumer commits the next offset for each. Yields after three commits."""
    stop = threading.Event()
    ready = {group: threading.Event() for group in intervals}

    def run(group: str, seconds: float) -> None:
        consumer = Consumer({"bootstrap.servers": scratch_cluster.sandbox.bootstrap, "group.id": group})
        consumer.assign([TopicPartition(LOG, 1, 0)])
        offset = 0
        while not stop.is_set():
            offset += 1
            consumer.commit(offsets=[TopicPartition(LOG, 1, offset)], asynchronous=False)
            if offset == 3:
                ready[group].set()
            stop.wait(seconds)
        consumer.close()

    threads = [threading.Thread(target=run, args=(group, seconds)) for group, seconds in intervals.items()]
    for thread in threads:
        thread.start()
    try:
        for group, seconds in intervals.items():
            assert ready[group].wait(60 + 5 * seconds)
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _rejected(scratch_cluster: ScratchCluster, tmp_path: Path, *groups: str) -> None:
    undo = ("--undo-file", str(tmp_path / "undo"))
    answer = scratch_cluster.ask("reset-offsets", *groups, "--all-topics", "--to-earliest", *DO_IT, *undo)
    assert answer.code == 1 and not answer.items and not (tmp_path / "undo").exists(), answer.err
    for group in groups:
        assert (
            f"group '{group}': a client that is not a member still commits: the offset of {LOG}-1 changed from "
            in answer.err
        )
    assert "stop it first, or add --force" in answer.err


def test_groups_that_are_committed_for_are_rejected_and_others_changed(
    scratch_cluster: ScratchCluster, tmp_path: Path
) -> None:
    fast, slow, stopped = ("commits-a", "commits-b", "commits-c"), "commits-d", "commits-stopped"
    scratch_cluster.commit({stopped: {LOG: {1: 2}}})
    with committing(scratch_cluster, **dict(zip(fast, (0.1, 0.5, 1), strict=True)), **{slow: 5}):
        dry = scratch_cluster.ask("reset-offsets", *fast, slow, stopped, "--all-topics", "--to-latest")
        assert dry.code == 0 and "4 groups: not by a member: " in dry.err
        dry = scratch_cluster.ask("reset-offsets", slow, "--all-topics", "--to-latest")
        assert dry.code == 0 and f"group '{slow}': not by a member: 3 commits of {LOG}-1" in dry.err
        _rejected(scratch_cluster, tmp_path, *fast, slow)
        answer = scratch_cluster.ask("delete", *fast, slow, stopped, *DO_IT, "--undo-file", str(tmp_path / "delete"))
        assert answer.code == 1 and [row["group"] for row in answer.items] == [stopped], answer.err
        answer = scratch_cluster.ask(
            "delete-offsets", *fast, "--topic", LOG, *DO_IT, "--undo-file", str(tmp_path / "offsets")
        )
        assert answer.code == 1 and not answer.items
        forced = scratch_cluster.ask(
            "reset-offsets", slow, "--all-topics", "--to-latest", "--force", *DO_IT, "--undo-file", str(tmp_path / "f")
        )
        assert forced.code == 0 and [row["result"] for row in forced.items] == ["applied"], forced.err
    answer = scratch_cluster.ask("delete", *fast, slow, *DO_IT, "--undo-file", str(tmp_path / "last"))
    assert answer.code == 0 and len(answer.items) == 4, "they have stopped"


@pytest.mark.soak
def test_consumer_that_commits_every_30_seconds_is_found(scratch_cluster: ScratchCluster, tmp_path: Path) -> None:
    with committing(scratch_cluster, **{"commits-half-a-minute": 30}):
        for _ in range(2):
            _rejected(scratch_cluster, tmp_path, "commits-half-a-minute")
            time.sleep(13)


def test_member_that_commits_and_leaves_needs_no_wait(scratch_cluster: ScratchCluster, tmp_path: Path) -> None:
    group = "commits-member"
    consumer = Consumer(
        {
            "bootstrap.servers": scratch_cluster.sandbox.bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([LOG])
    until = time.monotonic() + 60
    while not (message := consumer.poll(1)) or message.error():
        assert time.monotonic() < until
    for offset in range(1, 6):
        consumer.commit(offsets=[TopicPartition(LOG, 1, offset)], asynchronous=False)
    consumer.close()
    answer = scratch_cluster.ask(
        "reset-offsets", group, "--all-topics", "--to-latest", *DO_IT, "--undo-file", str(tmp_path / "undo"), "--debug"
    )
    assert answer.code == 0 and {row["result"] for row in answer.items} == {"applied"}, answer.err
    assert answer.err.count(" Fetch ") <= 2, "read once before the write, and once after it: nothing was watched"


def test_repeated_resets_and_undos_are_not_rejected(scratch_cluster: ScratchCluster, tmp_path: Path) -> None:
    group = "commits-reset"
    scratch_cluster.commit({group: {LOG: {0: 12, 1: 4}}})
    for number, where in enumerate(("--to-earliest", "--to-latest", "--to-latest")):
        undo = tmp_path / str(number)
        answer = scratch_cluster.ask("reset-offsets", group, "--all-topics", where, *DO_IT, "--undo-file", str(undo))
        assert answer.code == 0, answer.err
        back = scratch_cluster.ask(
            "reset-offsets", "--from-file", str(undo), *DO_IT, "--undo-file", str(tmp_path / f"{number}b")
        )
        assert back.code == 0 and {row["result"] for row in back.items} == {"applied"}, back.err
        assert scratch_cluster.committed(group)[group] == {(LOG, 0): 12, (LOG, 1): 4}
