"""The checkpoint of a Spark query: which positions it proves, and one clear line for what it does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kgroups.admin.positions.checkpoint import Checkpoint, Positions
from kgroups.errors import PositionsError
from kgroups.model.offsets import InFlight
from tests.fakes.spark_checkpoint import FakeCheckpoint

A = {"a": {0: 10, 1: 20}}
LATER = {"a": {0: 15, 1: 20}}


@pytest.fixture
def fake(tmp_path: Path) -> FakeCheckpoint:
    return FakeCheckpoint(tmp_path / "query")


def read(fake: FakeCheckpoint) -> Positions:
    return Checkpoint(str(fake.folder)).positions()


def error(fake: FakeCheckpoint) -> str:
    with pytest.raises(PositionsError) as raised:
        read(fake)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_position_is_the_end_of_the_last_complete_batch(fake: FakeCheckpoint) -> None:
    fake.plan(0, {"a": {0: 1}})
    fake.complete(0)
    fake.plan(1, A)
    fake.complete(1)
    assert read(fake) == Positions({("a", 0): 10, ("a", 1): 20})


def test_batch_in_flight_does_not_move_the_position(fake: FakeCheckpoint) -> None:
    fake.plan(7, A)
    fake.complete(7)
    fake.plan(8, LATER)
    assert read(fake) == Positions({("a", 0): 10, ("a", 1): 20}, InFlight(8, {("a", 0): 15}))


@pytest.mark.parametrize("commits", [1, 2, 3])
@pytest.mark.parametrize(("version", "names"), [(1, ()), (2, ()), (2, ("orders", "clicks"))])
def test_all_versions_are_read(tmp_path: Path, version: int, commits: int, names: tuple[str, ...]) -> None:
    fake = FakeCheckpoint(tmp_path, version=version, commits=commits, names=names)
    fake.plan(0, A, {"b": {0: 3}})
    fake.complete(0)
    assert read(fake).offsets == {("a", 0): 10, ("a", 1): 20, ("b", 0): 3}


def test_query_without_a_batch_has_no_position(fake: FakeCheckpoint) -> None:
    assert read(fake) == Positions({}, unknown="the query has not begun a batch yet")


def test_first_batch_in_flight_begins_where_the_source_does(fake: FakeCheckpoint) -> None:
    fake.start(0, {"a": {0: 4, 1: 20}})
    fake.plan(0, A)
    assert read(fake) == Positions({("a", 0): 4, ("a", 1): 20}, InFlight(0, {("a", 0): 10}))


def test_first_batch_in_flight_without_a_start_has_no_position(fake: FakeCheckpoint) -> None:
    fake.plan(0, A)
    found = read(fake)
    assert found.offsets == {}
    assert found.unknown == "where source 0 of the query began is unknown until batch 0 is complete"
    assert found.in_flight == InFlight(0, {("a", 0): 10, ("a", 1): 20})


def test_sources_that_are_not_kafka_are_named(fake: FakeCheckpoint) -> None:
    others = ("12", '{"reservoirId":"x","index":{"a":1}}', '{"\\ud800":{"0":1}}', '{"a b":{"0":1}}')
    fake.plan(3, '{"logOffset":7}', A, *others)
    fake.complete(3)
    found = read(fake)
    assert found.offsets == {("a", 0): 10, ("a", 1): 20}
    assert found.notices == ("not shown, because it is not Kafka: sources 0, 2, 3, … and 2 more of the query",)


def test_query_that_reads_no_kafka_is_an_error(fake: FakeCheckpoint) -> None:
    fake.plan(0, '{"logOffset":7}')
    fake.complete(0)
    assert error(fake) == "no source of the query reads Kafka"


def test_source_without_an_offset_begins_at_its_start(fake: FakeCheckpoint) -> None:
    fake.start(1, {"b": {0: 5}})
    fake.plan(0, A, None)
    fake.complete(0)
    assert read(fake).offsets == {("a", 0): 10, ("a", 1): 20, ("b", 0): 5}


def test_source_without_an_offset_is_named(fake: FakeCheckpoint) -> None:
    fake.plan(0, A, None)
    fake.complete(0)
    assert read(fake).notices == ("without an offset yet, whatever it reads: source 1 of the query",)


def test_two_sources_of_one_topic_show_the_lowest_position(fake: FakeCheckpoint) -> None:
    fake.plan(0, A, {"a": {0: 12, 1: 19}})
    fake.complete(0)
    found = read(fake)
    assert found.offsets == {("a", 0): 10, ("a", 1): 19}
    assert found.notices == ("several sources of the query read a; the lowest position is shown",)


def test_epochs_of_continuous_processing_have_no_metadata(fake: FakeCheckpoint) -> None:
    fake.plan(4, A, metadata="")
    fake.complete(4)
    assert read(fake).offsets == {("a", 0): 10, ("a", 1): 20}


def test_batches_that_are_not_consecutive_are_read(fake: FakeCheckpoint) -> None:
    """Of asynchronous progress tracking."""
    fake.plan(0, {"a": {0: 1}})
    fake.complete(0)
    fake.plan(5, A)
    fake.complete(5)
    fake.plan(9, LATER)
    assert read(fake) == Positions({("a", 0): 10, ("a", 1): 20}, InFlight(9, {("a", 0): 15}))


@pytest.mark.parametrize("location", ["{}", "{}/", "file:{}", "file://{}", "~/a%20b"])
def test_folder_is_a_path_or_a_uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, location: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    fake = FakeCheckpoint(tmp_path / ("a%20b" if "~" in location else "a b"))
    fake.plan(0, A)
    fake.complete(0)
    folder = f"{tmp_path}/a%20b" if location.startswith("file:") else fake.folder
    assert Checkpoint(location.format(folder)).positions().offsets == {("a", 0): 10, ("a", 1): 20}


def test_missing_folder_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(PositionsError, match="there is no checkpoint: no file metadata"):
        Checkpoint(str(tmp_path / "nowhere")).positions()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("offsets/0", b"v3\n{}\n-", "offsets/0: version 3 is unknown; kgroups reads versions 1 to 2"),
        ("commits/0", b"v4\n{}", "commits/0: version 4 is unknown; kgroups reads versions 1 to 3"),
        ("commits/0", b"", "commits/0: the file is empty"),
        ("offsets/0", b"v1", "offsets/0: the file is truncated"),
        ("offsets/0", b'v1\n{}\n{"a":{"0":1', "offsets/0: an offset is not valid JSON"),
        ("offsets/0", b'v1\n{}\n{"a":{"0":-2}}', "offsets/0: partition 0 of topic 'a' has the offset -2"),
        ("offsets/0", b'v2\n{}\n{"a"', "offsets/0: source 0 has no ID"),
        ("offsets/0", b"\x89PNG\n", "offsets/0: the file is not UTF-8"),
        ("offsets/0", b'{"id":1}', "offsets/0: the first line is not a version, such as v1"),
        ("offsets/0", b"v1\n{}\n" + b"[" * 100_000, "no source of the query reads Kafka"),
    ],
)
def test_damaged_file_is_one_line(fake: FakeCheckpoint, name: str, content: bytes, message: str) -> None:
    fake.plan(0, A)
    fake.complete(0)
    (fake.folder / name).write_bytes(content)
    assert error(fake) == message


def test_commit_without_offsets_is_one_line(fake: FakeCheckpoint) -> None:
    fake.complete(6)
    assert error(fake) == "incomplete, or it changes faster than it can be read: offsets/6 is missing"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_folder_is_one_line(fake: FakeCheckpoint) -> None:
    fake.complete(0)
    (fake.folder / "commits").chmod(0)
    assert error(fake) == "commits cannot be listed: Permission denied"


def test_file_in_place_of_a_folder_is_one_line(fake: FakeCheckpoint) -> None:
    (fake.folder / "commits").rmdir()
    (fake.folder / "commits").write_text("x")
    assert error(fake) == "commits cannot be listed: Not a directory"


@pytest.mark.parametrize("location", ["s3://", "what://x/y", "gs://b/p?nothing=1"])
def test_location_that_cannot_be_opened_is_one_line(location: str) -> None:
    with pytest.raises(PositionsError) as raised:
        Checkpoint(location).positions()
    assert "\n" not in str(raised.value)


def test_topic_that_only_the_batch_in_flight_has_is_unknown(fake: FakeCheckpoint) -> None:
    fake.plan(0, A)
    fake.complete(0)
    fake.plan(1, A | {"b": {0: 50}})
    found = read(fake)
    assert found.offsets == {("a", 0): 10, ("a", 1): 20}
    assert found.unknown == "the query also reads b, from an offset that is unknown until batch 1 is complete"


def test_folder_of_something_else_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "one" / "offsets").mkdir(parents=True)
    (tmp_path / "one" / "offsets" / "0").write_text("v1\n{}\n-")
    for folder in (tmp_path, tmp_path / "one" / "offsets"):
        with pytest.raises(PositionsError, match="there is no checkpoint"):
            Checkpoint(str(folder)).positions()


def test_batch_whose_sources_were_cut_off_is_damaged(fake: FakeCheckpoint) -> None:
    fake.plan(0, A, {"b": {0: 3}})
    fake.complete(0)
    fake.plan(1, A)
    assert error(fake) == "offsets/1: it is damaged: 2 sources in batch 0, and 1 in this one"
    (fake.folder / "offsets" / "1").write_text('v1\n{"batchWat')
    assert "offsets/1: the file is truncated" in error(fake)


def test_checkpoint_without_commits_shows_no_position(fake: FakeCheckpoint) -> None:
    fake.plan(3, A)
    commits = fake.folder / "commits"
    if commits.exists():
        commits.rmdir()
    assert read(fake).unknown == "the newest batch is 3, and no folder commits shows which are complete"
