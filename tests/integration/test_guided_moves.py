"""Two of the three cases of docs/move-groups.md, step by step; test_mirror.py has the one with MirrorMaker 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.sandbox.topics import make_topics
from tests.integration.asking import run_here
from tests.integration.test_reported_moves import (
    EARLIER,
    Pair,
    commit,
    committed,
    next_record,
    numbered,
    offsets,
    pair_of,
    write,
)
from tests.integration.versions import MAIN

LOG = numbered(60)


@pytest.fixture(scope="module")
def pair(require_kafka: Callable[[str], None]) -> Iterator[Pair]:
    require_kafka(MAIN)
    with pair_of(MAIN, MAIN, "guided") as made:
        yield made


def test_restored_copy_is_used_after_the_old_cluster_is_gone(pair: Pair, tmp_path: Path) -> None:
    topic = group = "restored"
    for sandbox, at_once in (pair.source, 60), (pair.target, 7):
        make_topics(ClientSettings(parse_bootstrap(sandbox.bootstrap)), {topic: {0: 0, 1: 0}})
        for partition in (0, 1):
            for first in range(0, 60, at_once):
                write(sandbox, topic, partition, LOG[first : first + at_once])
    commit(pair.source, group, topic, {0: 20, 1: 60})
    found = pair.translate(group)
    assert (found.code, offsets(found)) == (0, {0: 20, 1: 60})
    assert {row["method"] for row in found.items} == {"identical"}

    saved = str(tmp_path / "saved.json")
    answer = run_here("snapshot", "save", saved, group, "--with-records", bootstrap=pair.source.bootstrap)
    assert answer.code == 0, answer.err
    restore = ("snapshot", "restore", saved, "--create-group", "--accept-mismatch", "cluster", "--execute", "--yes")
    answer = run_here(*restore, "--undo-file", str(tmp_path / "undo.json"), bootstrap=pair.target.bootstrap)
    assert answer.code == 0, answer.err
    assert committed(pair.target, group) == {0: 20, 1: 60}
    pair.check_next(group, topic, (0, 1))
    answer = run_here("parity", saved, pair.target.bootstrap, group, "-o", "json")
    assert answer.code == 3, "other batches, and a group that has read everything, prove nothing"
    assert {row["verdict"] for row in answer.items} == {"unknown"}


def test_waves_move_one_after_the_other_with_a_short_stop(pair: Pair, tmp_path: Path) -> None:
    """Producers stop before consumers: each wave then moves at the end of the copy, and nothing is read again."""
    waves = ("first-wave", "second-wave")
    for name in waves:
        pair.make(name, [LOG, LOG])
        commit(pair.source, name, name, {0: 60, 1: 60})
    answer = run_here("waves", *waves, "-o", "json", bootstrap=pair.source.bootstrap)
    assert sorted(row["group_names"] for row in answer.items) == [[name] for name in waves]
    for number, name in enumerate(waves):
        answer = pair.execute(name, tmp_path)
        assert (answer.code, offsets(answer)) == (0, {0: EARLIER + 60, 1: EARLIER + 60})
        assert {(row["method"], row["read_again"]) for row in answer.items} == {("end", 0)}
        assert pair.parity(name).code == 0
        write(pair.target, name, 0, numbered(61)[60:])
        first = next_record(pair.target, name, name, 0)
        assert first and first.value() == b"record 60"
        assert next_record(pair.target, name, name, 1) is None
        commit(pair.target, name, name, {0: EARLIER + 61, 1: EARLIER + 60})
        for moved in waves[: number + 1]:
            pair.execute(moved, tmp_path)
            assert committed(pair.target, moved) == {0: EARLIER + 61, 1: EARLIER + 60}
            assert {row["verdict"] for row in pair.parity(moved).items} == {"ahead", "same"}
