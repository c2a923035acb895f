"""Offsets of generated worlds, translated between two clusters of different versions, against what is really a copy."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition

from kgroups.sandbox import Sandbox
from tests.integration.asking import Answer, Row, run_here
from tests.integration.conftest import calm
from tests.integration.copied_worlds import (
    COPIES,
    DELETE,
    HEADER,
    LONG_TRANSACTIONS,
    RENAMED,
    TOPIC_MAP,
    CopiedWorlds,
    World,
    commit,
)
from tests.integration.java_members import JavaMembers
from tests.integration.versions import MAIN

OPTIONS = ("--topic-map", TOPIC_MAP, "--header", HEADER, "--timeout", "10m", "--max-seconds", "300", "-o", "json")

Key = tuple[str, str, int]
"""Group, topic, and partition of the source."""

CONTINUED = ("group-5", "group-6", "group-7")
"""The groups whose consumers continue."""


@pytest.fixture(
    scope="module",
    params=[("3.9.1", 80), pytest.param(("2.8.2", 500), marks=pytest.mark.soak)],
    ids=lambda param: f"{param[1]} worlds from {param[0]}",
)
def copied(request: pytest.FixtureRequest, require_kafka: Callable[[str], None]) -> Iterator[CopiedWorlds]:
    """Worlds on a cluster of an older version, and their copies on one of the newest."""
    version, number = request.param
    require_kafka(version)
    require_kafka(MAIN)
    name = f"pytest-{os.getpid()}-worlds"
    with (
        Sandbox.up(version, name=f"{name}-source", properties=calm(version) | LONG_TRANSACTIONS) as source,
        Sandbox.up(MAIN, name=f"{name}-target", properties=calm(MAIN) | LONG_TRANSACTIONS) as target,
    ):
        yield CopiedWorlds(source, target, number)


def translate(copied: CopiedWorlds, *words: str) -> Answer:
    clusters = "--from", copied.source.sandbox.bootstrap, "--to", copied.target.sandbox.bootstrap
    return run_here("translate", "--all-groups", *clusters, *OPTIONS, *words)


def parity(copied: CopiedWorlds) -> Answer:
    return run_here("parity", copied.source.sandbox.bootstrap, copied.target.sandbox.bootstrap, *OPTIONS)


@pytest.fixture(scope="module")
def written(copied: CopiedWorlds, tmp_path_factory: pytest.TempPathFactory) -> dict[Key, int]:
    """The translated offsets, which are committed on the target."""
    undo = tmp_path_factory.mktemp("undo") / "undo.jsonl"
    answer = translate(copied, "--execute", "--yes", "--partial", "--undo-file", str(undo))
    assert answer.code == 1, answer.err
    assert {row["result"] for row in answer.items if row["new_offset"] is not None} == {"applied"}
    return {place_of(row): row["new_offset"] for row in answer.items if row["new_offset"] is not None}


def test_no_unread_record_is_skipped(copied: CopiedWorlds) -> None:
    answer = translate(copied)
    assert answer.code == 1 and len(answer.items) == sum(
        len(offsets) for topics in copied.committed().values() for offsets in topics.values()
    )
    check_translated(copied, answer.items)


def test_consumers_continue_at_the_first_unread_record(
    copied: CopiedWorlds, written: dict[Key, int], jdk: None, tmp_path: Path
) -> None:
    classic, consumer, librdkafka = CONTINUED
    bootstrap = copied.target.sandbox.bootstrap
    settings = "isolation.level=read_committed", "auto.offset.reset=latest"
    expected = {group: first_records(copied, written, group) for group in CONTINUED}
    found: dict[str, dict[int, int | None]] = {}
    with JavaMembers(bootstrap, tmp_path / "members.log") as members:
        members.join("classic", classic, (DELETE,), *settings)
        members.join("consumer", consumer, (DELETE,), *settings, "group.protocol=consumer")
        found[librdkafka] = read_first(bootstrap, librdkafka, set(expected[librdkafka]))
        for client, group in (("classic", classic), ("consumer", consumer)):
            found[group] = {at: members.first_record(client, DELETE, at) for at in expected[group]}
    assert found == expected
    assert all(len(records) >= 30 for records in expected.values())


def first_records(copied: CopiedWorlds, written: dict[Key, int], group: str) -> dict[int, int | None]:
    """Return the offset of the copy of the first unread record of a group, by partition, where it is exact."""
    found: dict[int, int | None] = {}
    for world in copied.worlds:
        offset, committed = (
            written.get((group, *world.place)),
            copied.committed()[group][world.place[0]][world.place[1]],
        )
        if world.place[0] != DELETE or offset is None or world.read_again(committed, offset):
            continue
        if "aborted, copied" in world.kinds:
            continue  # consumers read these copies
        unread = [
            each.offset
            for each in world.copies
            if each.offset >= offset and each.number in world.readable and world.origins[each.number] >= committed
        ]
        if unread:
            found[world.place[1]] = unread[0]
    return found


def read_first(bootstrap: str, group: str, partitions: set[int]) -> dict[int, int | None]:
    """Return the offset of the first record that librdkafka reads in each of these partitions."""
    found: dict[int, int | None] = {}
    reader = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False})
    reader.subscribe([DELETE])
    until = time.monotonic() + 60
    while partitions - found.keys() and time.monotonic() < until:
        for message in reader.consume(1_000, timeout=1):
            assert message.error() is None
            found.setdefault(message.partition() or 0, message.offset())
    reader.close()
    return {at: offset for at, offset in found.items() if at in partitions}


def place_of(row: Row) -> Key:
    return row["group"], row["topic"], row["partition"]


def check_translated(copied: CopiedWorlds, rows: list[Row]) -> None:
    worlds = {world.place: world for world in copied.worlds}
    wrong, results = [], dict[str, Counter[str]]()
    for row in rows:
        world = worlds.get((row["topic"], row["partition"]))
        if world is None:
            assert row["note"].startswith("no such partition in the copy"), row
            continue
        committed, offset = row["source_offset"], row["new_offset"]
        result = str(row["note"]).partition(":")[0]
        if offset is not None:
            result = {0: "exact", None: "written twice"}.get(row["read_again"], "bounded")
            if lost := world.lost(committed, offset):
                wrong.append((f"skips {sorted(lost)[:5]}", *about(world, row)))
            known = row["read_again"] is not None  # not if the copier was seen to write records twice
            # What was written again far behind is not seen: that is many records away only if these are large.
            count = world.read_first if "large records" in world.kinds else world.read_again
            if known and (again := count(committed, offset)) > row["read_again"]:
                wrong.append((f"reads {again} again", *about(world, row)))
        for kind in world.kinds:
            results.setdefault(kind, Counter())[result] += 1
    for kind, counts in sorted(results.items()):
        share = counts["exact"] / counts.total()
        print(f"{kind:26} {counts.total():5,} rows, {share:4.0%} exact, {dict(counts)}")
    assert not wrong, "\n".join(map(str, wrong))


def about(world: World, row: Row) -> tuple[Any, ...]:
    keys = ("group", "source_offset", "new_offset", "method", "read_again", "note")
    return world.seed, sorted(world.kinds), world.place, world.ends, {key: row[key] for key in keys}


def test_parity_agrees(copied: CopiedWorlds, written: dict[Key, int]) -> None:
    """Compare what was written, and then offsets that are wrong by a known number of records."""
    answer = parity(copied)
    verdicts = Counter(row["verdict"] for row in answer.items)
    print("parity of what was written:", dict(verdicts))
    worlds = {world.place: world for world in copied.worlds}
    planted: dict[Key, tuple[int, str, int]] = {}
    offsets: dict[str, dict[str, dict[int, int]]] = {}
    for row in answer.items:
        key = place_of(row)
        assert row["target_offset"] == written.get(key), row
        if key not in written:
            assert row["verdict"] == "unknown", row
        elif row["verdict"] == "same":
            world = worlds[key[1:]]
            assert not world.lost(row["source_offset"], row["target_offset"]), about(world, row)
            if key[0] in CONTINUED:
                continue
            group = int(key[0].rpartition("-")[2])
            offset, number = moved(world, written[key], (-3, -1, 0, 1, 4)[(group + key[2]) % 5])
            planted[key] = offset, "behind" if number < 0 else "ahead" if number else "same", abs(number)
            offsets.setdefault(key[0], {}).setdefault(row["target_topic"], {})[key[2]] = offset
        else:
            assert row["verdict"] == "unknown" and "that may be right" in row["note"], row
    assert answer.code == 3
    commit(copied.target.sandbox, offsets)
    answer = parity(copied)
    assert answer.code == 2
    found = {place_of(row): (row["target_offset"], row["verdict"], row["records"]) for row in answer.items}
    print("parity of wrong offsets:", dict(Counter(verdict for _, verdict, _ in planted.values())))
    wrong = {key: (found[key], expected) for key, expected in planted.items() if found[key] != expected}
    assert not wrong, "\n".join(f"{key}: {each}" for key, each in wrong.items())


def moved(world: World, offset: int, by: int) -> tuple[int, int]:
    """Return an offset of the copy that is so many records behind (negative) or ahead, and by how many it really is."""
    before = [each.offset for each in world.copies if each.offset < offset]
    after = [each.offset for each in world.copies if each.offset >= offset]
    if by < 0 and before:
        chosen = before[by:]
        return chosen[0], -len(chosen)
    if by > 0 and after:
        return after[:by][-1] + 1, len(after[:by])
    return offset, 0


def simple_world(copied: CopiedWorlds) -> World:
    """Return one with at least three records and their copies, in which nothing is special."""
    return next(world for world in copied.worlds if world.kinds == {"renamed"} and len(world.copies) > 2)


@pytest.fixture
def follow(copied: CopiedWorlds, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """``kgroups translate followed --follow 1s`` after it wrote two translations."""
    world = simple_world(copied)
    both = "--from", copied.source.sandbox.bootstrap, "--to", copied.target.sandbox.bootstrap
    words = "followed", *both, "--topic-map", TOPIC_MAP, "--follow", "1s", "--execute", "--yes"
    command = [sys.executable, "-m", "kgroups", "translate", *words]
    read = copied.target.admin.list_consumer_group_offsets

    def wait_for(number: int) -> None:
        """Commit the offset of a record on the source; wait until that of its copy is on the target."""
        commit(copied.source.sandbox, {"followed": {world.place[0]: {world.place[1]: world.origins[number]}}})
        expected = next(each.offset for each in world.copies if each.number == number)
        asked = ConsumerGroupTopicPartitions("followed", [TopicPartition(*world.copy)])
        until = time.monotonic() + 60
        while read([asked])["followed"].result(60).topic_partitions[0].offset != expected:
            assert process.poll() is None and time.monotonic() < until, process.communicate(timeout=1)
            time.sleep(0.1)

    commit(copied.source.sandbox, {"followed": {world.place[0]: {world.place[1]: world.origins[0]}}})
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=tmp_path) as process:
        try:
            copied.target.admin.delete_consumer_groups(["followed"])["followed"].exception(60)
            wait_for(1)
            wait_for(2)
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_follow_ends_with_signals(follow: subprocess.Popen[str], number: signal.Signals) -> None:
    follow.send_signal(number)
    _, err = follow.communicate(timeout=60)
    assert follow.returncode == 128 + number and "Traceback" not in err, err
    assert "earlier rounds changed offsets; to restore them, undo their files, the newest first" in err


def test_follow_ends_when_the_group_has_members(copied: CopiedWorlds, follow: subprocess.Popen[str]) -> None:
    member = Consumer({"bootstrap.servers": copied.target.sandbox.bootstrap, "group.id": "followed"})
    member.subscribe([COPIES[RENAMED]])
    until = time.monotonic() + 60
    while follow.poll() is None and time.monotonic() < until:
        member.poll(0.2)
    member.close()
    _, err = follow.communicate(timeout=1)
    assert follow.returncode == 0 and "has members on the target: it is left alone" in err, (follow.returncode, err)


KILLED = 200
"""Groups whose translation is interrupted."""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("moment", ["planning", "saved", "written"])
def test_killed_translation_can_be_undone(
    copied: CopiedWorlds, tmp_path: Path, moment: str, number: signal.Signals
) -> None:
    world = simple_world(copied)
    groups = [f"killed-{moment}-{number.name}-{at:03}" for at in range(KILLED)]
    commit(copied.source.sandbox, {group: {world.place[0]: {world.place[1]: world.origins[1]}} for group in groups})
    undo = tmp_path / "undo.jsonl"
    clusters = "--from", copied.source.sandbox.bootstrap, "--to", copied.target.sandbox.bootstrap
    both = *clusters, "--topic-map", TOPIC_MAP
    words = "--regex", f"killed-{moment}-{number.name}-.*", *both, "--execute", "--yes", "--undo-file", str(undo)
    # Slowly, or the run may be over before the signal arrives.
    command = [sys.executable, "-m", "kgroups", "translate", *words, "--max-requests-per-second", "200"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not has_reached(moment, undo) and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(number)
        assert process.wait(60) in (0, -number, 128 + number)
    expected = next(each.offset for each in world.copies if each.number == 1)
    found = on_target(copied, groups, world)
    assert set(found.values()) <= {None, expected}
    assert undo.exists() or not any(found.values()), "written without an undo file"
    if undo.exists():
        assert undone(copied, undo) or not any(found.values())
        assert on_target(copied, groups, world) == dict.fromkeys(groups)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
def test_killed_follow_can_be_undone(
    copied: CopiedWorlds, follow: subprocess.Popen[str], tmp_path: Path, number: signal.Signals
) -> None:
    """Killed while it writes the third time: all of it is undone by its files, the newest first."""
    world = simple_world(copied)
    earlier = set(tmp_path.glob("kgroups-undo-*.json"))
    commit(copied.source.sandbox, {"followed": {world.place[0]: {world.place[1]: world.ends[1]}}})
    while set(tmp_path.glob("kgroups-undo-*.json")) == earlier and follow.poll() is None:
        time.sleep(0.001)
    follow.send_signal(number)
    follow.communicate(timeout=60)
    assert follow.returncode in (-number, 128 + number)
    expected = next(each.offset for each in world.copies if each.number == 2)
    found = on_target(copied, ["followed"], world)["followed"]
    assert found in (expected, world.copies[-1].offset + 1)
    files = sorted(tmp_path.glob("kgroups-undo-*.json"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    assert len(files) == len(earlier) + 1
    whole = [undone(copied, file) for file in files]
    assert all(whole[1:]) and (whole[0] or found == expected)
    assert on_target(copied, ["followed"], world) == {"followed": None}


def undone(copied: CopiedWorlds, undo: Path) -> bool:
    """Undo a run; return whether its file is whole: otherwise, the run has changed nothing."""
    # What was just written is not that of a client that goes on.
    more = "--execute", "--yes", "--undo-file", f"{undo}.2", "--commit-window", "100ms"
    answer = run_here("undo", str(undo), *more, "-b", copied.target.sandbox.bootstrap)
    whole = "kgroups changes nothing before an undo file is complete" not in answer.err
    assert answer.code == 0 or not whole, answer.err
    return whole


def has_reached(moment: str, undo: Path) -> bool:
    if moment == "planning":
        return True
    return undo.exists() and (moment == "saved" or '"applied"' in undo.read_text())


def on_target(copied: CopiedWorlds, groups: list[str], world: World) -> dict[str, int | None]:
    """Return the committed offset of each group on the copy of a world, ``None`` without one, by another client."""
    place = [TopicPartition(*world.copy)]
    asked = {
        group: copied.target.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group, place)])[group]
        for group in groups
    }
    offsets = {group: future.result(60).topic_partitions[0].offset for group, future in asked.items()}
    return {group: offset if offset >= 0 else None for group, offset in offsets.items()}
