"""What committed offsets of two clusters do not prove: ``parity`` is not the same then, and ``translate`` says so."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.asking import Row, run_here
from tests.integration.two_clusters import PATIENCE, TwoClusters, commit, committed, in_transaction, joined, produce


@pytest.fixture(scope="module")
def two(require_kafka: Callable[[str], None]) -> Iterator[TwoClusters]:
    with TwoClusters.up(require_kafka) as two:
        yield two


def verdicts(rows: list[Row]) -> list[tuple[int, str]]:
    return [(row["partition"], row["verdict"]) for row in rows]


def test_partition_without_commit_is_unknown_if_records_may_be_unread(two: TwoClusters, tmp_path: Path) -> None:
    topic = group = "quiet"
    two.create(topic, 20, 20, 0)
    commit(two.source, group, topic, {0: 20})
    answer = two.translate(group, "--execute", "--yes", "--undo-file", str(tmp_path / "undo.json"))
    assert (answer.code, committed(two.target, group)) == (0, {(topic, 0): 20})
    (notice,) = [each for each in answer.envelope["notices"] if "no committed offset" in each]
    assert notice.startswith("no committed offset on 1 partition where records may be unread: quiet-1 of 'quiet';")
    answer = two.parity(group)
    assert (answer.code, verdicts(answer.items)) == (3, [(0, "same"), (1, "unknown")])
    assert "of 20 offsets on A, and of 20 offsets on B" in answer.items[1]["note"]
    consumer = joined(two.target, group, topic)  # which is why
    assert consumer.poll(2) is None
    consumer.close()


def test_empty_partitions_without_commit_are_the_same(two: TwoClusters) -> None:
    topic = group = "almost-empty"
    two.create(topic, 20, 0)
    for bootstrap in two:
        commit(bootstrap, group, topic, {0: 20})
    answer = two.parity(group)
    assert (answer.code, verdicts(answer.items)) == (0, [(0, "same")])
    assert "no committed offset" not in two.translate(group).err
    produce(two.source, topic, 1, 1)  # not copied yet
    answer = two.parity(group)
    assert (answer.code, verdicts(answer.items)) == (3, [(0, "same"), (1, "unknown")])


def test_group_without_commits_is_unknown(two: TwoClusters) -> None:
    topic = group = "never-committed"
    two.create(topic, 20, 0)
    commit(two.source, "another", topic, {0: 5})
    consumer = joined(two.source, group, topic)
    answer = two.parity(group)
    assert (answer.code, verdicts(answer.items)) == (3, [(0, "unknown")])
    consumer.close()
    answer = two.parity(group)
    assert (answer.code, answer.items) == (3, [])
    assert f"group '{group}': on the source: no committed offset, and no member" in answer.err
    assert any("no committed offset on the source" in each for each in two.translate(group).envelope["notices"])


def test_open_transaction_is_unknown_until_it_ends(two: TwoClusters, tmp_path: Path) -> None:
    topic = group = "exactly-once"
    two.create(topic, 30)
    for bootstrap in two:
        commit(bootstrap, group, topic, {0: 10})
    assert two.parity(group).code == 0
    report = tmp_path / "parity.xml"
    with in_transaction(two.source, group, topic, {0: 30}):
        answer = two.parity(group, "--junit", str(report))
        assert (answer.code, verdicts(answer.items)) == (3, [(0, "unknown")])
        assert answer.items[0]["note"].startswith("open transaction: ")
        assert 'errors="1"' in report.read_text()
        answer = two.translate(group, "--execute", "--yes", "--undo-file", str(tmp_path / "undo.json"))
        assert (answer.code, answer.items[0]["method"]) == (1, "impossible")
        assert answer.failures[0]["message"].endswith("cannot be translated: open transaction (1)")
        assert committed(two.target, group) == {(topic, 0): 10}
    until = time.monotonic() + PATIENCE
    while (answer := two.parity(group)).items[0]["verdict"] == "unknown":
        assert time.monotonic() < until
    assert (answer.code, answer.items[0]["verdict"], answer.items[0]["records"]) == (1, "behind", 20)


def test_open_transaction_on_the_target_is_unknown(two: TwoClusters) -> None:
    topic = group = "exactly-once-there"
    two.create(topic, 30)
    for bootstrap in two:
        commit(bootstrap, group, topic, {0: 10})
    with in_transaction(two.target, group, topic, {0: 30}):
        answer = two.parity(group)
        assert (answer.code, verdicts(answer.items)) == (3, [(0, "unknown")])
        assert answer.items[0]["note"] == "an open transaction holds a newer offset on B, which counts if it commits"


def test_open_transaction_on_the_target_is_left_as_it_is_without_a_commit_there(
    two: TwoClusters, tmp_path: Path
) -> None:
    """Brokers do not report it with the offsets of the group: the log of commits shows it."""
    topic = group = "exactly-once-first"
    two.create(topic, 30)
    commit(two.source, group, topic, {0: 10})
    with in_transaction(two.target, group, topic, {0: 30}):
        answer = two.translate(group, "--execute", "--yes", "--undo-file", str(tmp_path / "undo.json"))
        assert answer.code == 1
        assert "an open transaction holds offsets of exactly-once-first-0" in answer.failures[0]["message"]
        assert not committed(two.target, group)


def test_undo_leaves_no_half_of_a_group(two: TwoClusters, tmp_path: Path) -> None:
    """The consumer on the target went on in one partition; the translation had found no offsets there."""
    topic = group = "half-undone"
    two.create(topic, 60, 60)
    commit(two.source, group, topic, {0: 20, 1: 20})
    undo = str(tmp_path / "undo.json")
    assert two.translate(group, "--execute", "--yes", "--undo-file", undo).code == 0
    commit(two.target, group, topic, {1: 25})
    went_on = {(topic, 0): 20, (topic, 1): 25}
    run = "undo", undo, "--execute", "--yes", "-o", "json", "--undo-file"
    answer = run_here(*run, str(tmp_path / "again.json"), bootstrap=two.target)
    assert (answer.code, answer.items, committed(two.target, group)) == (1, [], went_on)
    first, second = sorted(failure["message"] for failure in answer.failures)
    assert first.startswith(f"group '{group}': the offset is not deleted: the committed offset has changed since")
    assert second == "nothing is restored: 1 of 2 offsets would be left out"
    answer = run_here(*run, str(tmp_path / "partial.json"), "--partial", bootstrap=two.target)
    assert (answer.code, committed(two.target, group)) == (1, {(topic, 1): 25})
    commit(two.target, group, topic, {0: 20})
    answer = run_here(*run, str(tmp_path / "all.json"), "--accept-mismatch", "offset", bootstrap=two.target)
    assert answer.code == 0, answer.err


def test_group_of_the_target_only_hints_at_swapped_clusters(two: TwoClusters) -> None:
    topic = group = "swapped"
    two.create(topic, 5)
    commit(two.target, group, topic, {0: 2})
    commit(two.source, f"{group}-2", topic, {0: 2})
    for answer in (two.translate(group), two.parity(group)):
        (failure,) = answer.failures[:1]
        assert (failure["error"], failure["hint"]) == (
            "GROUP_ID_NOT_FOUND",
            "the group exists on the target: the clusters may be swapped",
        )
        assert "did you mean" not in answer.err


def test_snapshot_does_not_prove_records_in_other_batches(two: TwoClusters, tmp_path: Path) -> None:
    topic = group = "other-batches"
    two.create(topic, 0)
    produce(two.source, topic, 0, 10)
    for first in (0, 5):
        produce(two.target, topic, 0, 5, first)
    for bootstrap in two:
        commit(bootstrap, group, topic, {0: 7})
    file = str(tmp_path / "east.snapshot")
    assert run_here("snapshot", "save", file, group, "--with-records", bootstrap=two.source).code == 0
    answer = run_here("parity", file, two.target, "-o", "json")
    assert (answer.code, verdicts(answer.items)) == (3, [(0, "unknown")])
    assert answer.items[0]["note"].startswith("the record at 7 has the same time, and its batch another checksum: ")
    assert two.parity(group).code == 0
