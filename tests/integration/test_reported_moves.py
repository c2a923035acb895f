"""Situations in which other tools moved groups to a wrong offset, as their users and authors reported them.

Each copy is made by a client that does what the tool in question does.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.sandbox import Sandbox
from kgroups.sandbox.topics import delete_records, make_topics
from tests.integration.asking import Answer, Row, run_here
from tests.integration.conftest import calm
from tests.integration.versions import MAIN

OLD: Final = "3.9.1"
START: Final = 1_760_000_000_000
"""The time of the first record, milliseconds since 1970."""
EARLIER: Final = 17
"""The offset at which each copy begins: a literal offset is wrong."""

Header = tuple[str, bytes]


class Record(NamedTuple):
    ms: int
    value: bytes
    headers: Sequence[Header] = ()


def numbered(number: int, *, per_ms: int = 1) -> list[Record]:
    return [Record(START + each // per_ms, b"record %d" % each) for each in range(number)]


class Pair(NamedTuple):
    source: Sandbox
    target: Sandbox

    def make(
        self, topic: str, logs: Sequence[Sequence[Record]], copies: Sequence[Sequence[Record]] | None = None
    ) -> None:
        """Create a topic with these logs, and its copy, which has other offsets."""
        for sandbox, partitions, start in (self.source, logs, 0), (self.target, copies or logs, EARLIER):
            settings = ClientSettings(parse_bootstrap(sandbox.bootstrap))
            make_topics(settings, {topic: dict.fromkeys(range(len(partitions)), start)})
            for partition, records in enumerate(partitions):
                write(sandbox, topic, partition, records)
            if start:
                delete_records(sandbox.bootstrap, {topic: dict.fromkeys(range(len(partitions)), start)})

    def translate(self, group: str, *words: str) -> Answer:
        both = "--from", self.source.bootstrap, "--to", self.target.bootstrap
        return run_here("translate", group, *both, "-o", "json", *words)

    def execute(self, group: str, folder: Path, *words: str) -> Answer:
        undo = folder / f"{len(list(folder.iterdir()))}.json"
        # What the tests committed themselves a moment ago is not that of a client that goes on.
        more = "--execute", "--yes", "--undo-file", str(undo), "--commit-window", "100ms"
        return self.translate(group, *more, *words)

    def parity(self, group: str) -> Answer:
        return run_here("parity", self.source.bootstrap, self.target.bootstrap, group, "-o", "json")

    def check_next(self, group: str, topic: str, partitions: Iterable[int] = (0,)) -> None:
        """Check that a consumer of the group reads the same record first on both clusters."""
        for partition in partitions:
            first = [next_record(sandbox, group, topic, partition) for sandbox in (self.source, self.target)]
            ours, theirs = (record and (record.timestamp()[1], record.value()) for record in first)
            assert ours == theirs, (partition, ours, theirs)


@contextmanager
def pair_of(source: str, target: str, name: str) -> Iterator[Pair]:
    """Start two clusters of these versions."""
    name = f"pytest-{os.getpid()}-{name}"
    with (
        Sandbox.up(source, name=f"{name}-source", properties=calm(source)) as one,
        Sandbox.up(target, name=f"{name}-target", properties=calm(target)) as other,
    ):
        yield Pair(one, other)


@pytest.fixture(scope="module")
def pair(require_kafka: Callable[[str], None]) -> Iterator[Pair]:
    require_kafka(OLD)
    require_kafka(MAIN)
    with pair_of(OLD, MAIN, "reported") as made:
        yield made


def write(sandbox: Sandbox, topic: str, partition: int, records: Iterable[Record]) -> None:
    producer = Producer({"bootstrap.servers": sandbox.bootstrap, "enable.idempotence": True, "linger.ms": 20})
    for ms, value, headers in records:
        producer.produce(topic, value, b"key", partition, timestamp=ms, headers=[*headers])
    assert producer.flush(60) == 0


def commit(sandbox: Sandbox, group: str, topic: str, offsets: Mapping[int, int]) -> None:
    admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
    made = [TopicPartition(topic, partition, offset) for partition, offset in offsets.items()]
    admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, made)])[group].result(60)


def committed(sandbox: Sandbox, group: str) -> dict[int, int]:
    """Return the offsets of a group on its only topic, as another client sees them."""
    admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
    found = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(60)
    return {each.partition: each.offset for each in found.topic_partitions if each.offset >= 0}


def next_record(sandbox: Sandbox, group: str, topic: str, partition: int) -> Message | None:
    """Return the first record that a consumer of the group reads; ``None`` at the end."""
    reader = Consumer(
        {"bootstrap.servers": sandbox.bootstrap, "group.id": group, "enable.auto.commit": False}
        | {"enable.partition.eof": True}
    )
    reader.assign([TopicPartition(topic, partition)])
    try:
        message = reader.poll(60)
        assert message is not None, f"nothing is read of {topic}-{partition}"
        return None if message.error() else message
    finally:
        reader.close()


def offsets(answer: Answer) -> dict[int, int | None]:
    return {row["partition"]: row["new_offset"] for row in answer.items}


def only(answer: Answer) -> Row:
    (row,) = answer.items
    return row


def test_several_records_in_one_millisecond_are_not_skipped(pair: Pair, tmp_path: Path) -> None:
    """Offsets were translated by record time, and skipped records; several of these have the same time.

    redpanda-data/connect #3182
    """
    topic = group = "one-millisecond"
    pair.make(topic, [numbered(60, per_ms=20)] * 4)
    commit(pair.source, group, topic, {0: 7, 1: 20, 2: 39, 3: 60})
    answer = pair.execute(group, tmp_path)
    assert (answer.code, offsets(answer)) == (0, {0: EARLIER + 7, 1: EARLIER + 20, 2: EARLIER + 39, 3: EARLIER + 60})
    assert {row["read_again"] for row in answer.items} == {0}
    pair.check_next(group, topic, range(4))


def test_times_that_go_back_do_not_make_a_group_read_again(pair: Pair, tmp_path: Path) -> None:
    """A lookup by record time finds the first record of that time or later: far too early, if an earlier one is newer.

    redpanda-data/connect #3458
    """
    topic = group = "backward"
    early = Record(START + 3_600_000, b"an hour early")
    pair.make(topic, [[early, *numbered(200)]])
    commit(pair.source, group, topic, {0: 150})
    by_time = only(pair.translate(group, "--method", "time"))
    assert (by_time["new_offset"], by_time["read_again"]) == (EARLIER, None)
    answer = pair.execute(group, tmp_path)
    assert (answer.code, offsets(answer), only(answer)["read_again"]) == (0, {0: EARLIER + 150}, 0)
    pair.check_next(group, topic)


def test_group_that_went_on_is_not_moved_back_by_another_run(pair: Pair, tmp_path: Path) -> None:
    """A restarted migration moved groups back whose consumers had gone over to the new cluster.

    redpanda-data/connect #3503
    """
    topic = group = "went-on"
    pair.make(topic, [numbered(50)])
    commit(pair.source, group, topic, {0: 10})
    assert pair.execute(group, tmp_path).code == 0
    reader = Consumer({"bootstrap.servers": pair.target.bootstrap, "group.id": group, "enable.auto.commit": False})
    reader.subscribe([topic])
    read = reader.consume(20, 60)
    commit(pair.source, group, topic, {0: 12})
    with_member = pair.execute(group, tmp_path)
    assert with_member.code == 1 and "the group has active members" in with_member.err
    assert committed(pair.target, group) == {0: EARLIER + 10}
    reader.commit(message=read[-1], asynchronous=False)
    reader.close()
    went_on = committed(pair.target, group)
    assert went_on == {0: (read[-1].offset() or 0) + 1}
    answer = pair.execute(group, tmp_path)
    assert answer.code == 1 and "not moved back" in only(answer)["note"]
    assert committed(pair.target, group) == went_on
    ahead = only(pair.parity(group))
    assert (ahead["verdict"], ahead["records"]) == ("ahead", len(read) - 2)


@pytest.mark.parametrize("how", ["rewound", "ran and left", "another tool"])
def test_offset_that_translate_did_not_write_is_not_overwritten(pair: Pair, tmp_path: Path, how: str) -> None:
    """An owner rewound the group on the new cluster to process records again, and the next run undid that."""
    topic = group = how.replace(" ", "-")
    pair.make(topic, [numbered(50)] * 2)
    commit(pair.source, group, topic, {0: 10, 1: 10})
    if how != "another tool":
        assert pair.execute(group, tmp_path).code == 0
        commit(pair.source, group, topic, {0: 20, 1: 20})
        assert pair.execute(group, tmp_path).code == 0, "what translate wrote itself is replaced"
    if how == "ran and left":
        reader = Consumer({"bootstrap.servers": pair.target.bootstrap, "group.id": group, "enable.auto.commit": False})
        reader.assign([TopicPartition(topic, 0, EARLIER + 20)])
        reader.commit(message=reader.consume(1, 60)[0], asynchronous=False)
        reader.close()
    else:
        commit(pair.target, group, topic, {0: EARLIER + 3})
    commit(pair.source, group, topic, {0: 40, 1: 40})
    before = committed(pair.target, group)
    answer = pair.execute(group, tmp_path)
    assert answer.code == 1 and "add --overwrite" in answer.err
    notes = {row["partition"]: row["note"] for row in answer.items}
    assert f"not overwritten: the group is at {before[0]} there" in notes[0] and "not written" in notes[1]
    assert committed(pair.target, group) == before
    answer = pair.execute(group, tmp_path, "--overwrite")
    assert (answer.code, committed(pair.target, group)) == (0, {0: EARLIER + 40, 1: EARLIER + 40})
    commit(pair.source, group, topic, {0: 45, 1: 45})
    assert pair.execute(group, tmp_path).code == 0


def test_members_that_leave_the_source_are_waited_for(pair: Pair, tmp_path: Path) -> None:
    """Consumers commit once more when they stop: what was translated before that is not the last offset."""
    topic = group = "leaving"
    pair.make(topic, [numbered(60)])
    member = Consumer({"bootstrap.servers": pair.source.bootstrap, "group.id": group, "enable.auto.commit": False})
    member.subscribe([topic])
    commit_at = TopicPartition(topic, 0, 20)
    while not member.assignment():
        member.poll(0.2)
    member.commit(offsets=[commit_at], asynchronous=False)
    early = pair.execute(group, tmp_path, "--when-empty", "500ms")
    assert early.code == 1 and "the members on the source did not leave" in early.err
    assert committed(pair.target, group) == {}

    def leave() -> None:
        commit_at.offset = 50
        member.commit(offsets=[commit_at], asynchronous=False)
        member.close()

    timer = threading.Timer(2, leave)
    timer.start()
    answer = pair.execute(group, tmp_path, "--when-empty", "60s")
    timer.join()
    assert (answer.code, committed(pair.target, group)) == (0, {0: EARLIER + 50}), answer.err


def test_records_of_others_before_the_offset_are_not_skipped_silently(pair: Pair, tmp_path: Path) -> None:
    """Producers began to write to the new cluster before the rest was copied: the group never read their records."""
    topic = group = "interleaved"
    log = numbered(40)
    new = [Record(START + 60_000 + each, b"new %d" % each) for each in range(4)]
    pair.make(topic, [log], [[*log[:30], *new, *log[30:]]])
    for name, offset in (group, 40), ("interleaved-before", 30):
        commit(pair.source, name, topic, {0: offset})
    answer = pair.execute(group, tmp_path)
    row = only(answer)
    assert (answer.code, row["others"], row["new_offset"]) == (1, 4, EARLIER + 44), answer.err
    assert "not written" in row["note"] and "it would skip 4 records of other producers" in answer.err
    assert committed(pair.target, group) == {}
    answer = pair.execute(group, tmp_path, "--skip-others")
    assert (answer.code, committed(pair.target, group)) == (0, {0: EARLIER + 44})
    assert "4 records that others wrote" in only(pair.parity(group))["note"]
    answer = pair.execute("interleaved-before", tmp_path)
    assert (answer.code, only(answer)["others"], only(answer)["new_offset"]) == (0, 0, EARLIER + 30), answer.out


def test_group_whose_next_record_is_deleted_is_left_out(pair: Pair, tmp_path: Path) -> None:
    """Offsets of records that retention had deleted from the source were migrated: nothing is known about them.

    redpanda-data/connect #3506
    """
    topic = "retention"
    pair.make(topic, [numbered(100)])
    commit(pair.source, "retention-late", topic, {0: 30})
    commit(pair.source, "retention-in-time", topic, {0: 70})
    delete_records(pair.source.bootstrap, {topic: {0: 60}})
    late = pair.execute("retention-late", tmp_path)
    assert late.code == 1 and only(late)["note"].startswith("deleted from the source")
    assert committed(pair.target, "retention-late") == {}
    in_time = pair.execute("retention-in-time", tmp_path)
    assert (in_time.code, offsets(in_time)) == (0, {0: EARLIER + 70})
    pair.check_next("retention-in-time", topic)


@pytest.mark.parametrize("order", ["big", "little"])
def test_offsets_in_headers_are_exact_where_records_are_equal(pair: Pair, tmp_path: Path, order: str) -> None:
    """Times that are equal or go back make an empty group start too early; the source's offset in a header does not.

    Redpanda Migrator writes 8 bytes, big-endian; the backups of osodevops/kafka-backup have them little-endian.

    redpanda-data/connect #3786
    """
    topic = group = f"headers-{order}"
    name = "redpanda-migrator-offset" if order == "big" else "x-original-offset"
    log = [Record(START + (5 - each % 5), b"equal") for each in range(400)]
    copy = [
        each._replace(headers=[(name, offset.to_bytes(8, "big" if order == "big" else "little"))])
        for offset, each in enumerate(log)
    ]
    pair.make(topic, [log] * 3, [copy] * 3)
    commit(pair.source, group, topic, {0: 3, 1: 301, 2: 400})
    without = pair.translate(group)
    assert without.code == 1 and set(offsets(without).values()) == {None}
    answer = pair.execute(group, tmp_path, "--header", name)
    assert (answer.code, offsets(answer)) == (0, {0: EARLIER + 3, 1: EARLIER + 301, 2: EARLIER + 400}), answer.out
    assert {(row["method"], row["read_again"]) for row in answer.items} == {("header", 0)}
    pair.check_next(group, topic, range(3))


def test_success_means_that_offsets_are_committed(pair: Pair, tmp_path: Path) -> None:
    """A restore reported success, and had committed no offset: the new cluster did not have the group.

    osodevops/kafka-backup #148
    """
    topic = group = "restored"
    pair.make(topic, [numbered(120)] * 3)
    commit(pair.source, group, topic, {0: 0, 1: 43, 2: 107})
    dry = pair.translate(group)
    assert dry.code == 0 and "nothing was changed" in dry.err
    before = pair.parity(group)
    assert before.code == 3 and {row["verdict"] for row in before.items} == {"unknown"}
    assert committed(pair.target, group) == {}
    answer = pair.execute(group, tmp_path)
    assert answer.code == 0 and {row["result"] for row in answer.items} == {"applied"}
    assert committed(pair.target, group) == {0: EARLIER, 1: EARLIER + 43, 2: EARLIER + 107}
    assert pair.parity(group).code == 0


def test_offset_without_a_copy_of_the_record_is_not_written(pair: Pair, tmp_path: Path) -> None:
    """Without a mapping of offsets, a tool fell back to ones that follow from no record, and committed these.

    osodevops/kafka-backup #149
    """
    topic = group = "no-mapping"
    others = [Record(START + each, b"another topic %d" % each) for each in range(120)]
    pair.make(topic, [numbered(120)] * 2, [numbered(120), others])
    commit(pair.source, group, topic, {0: 43, 1: 107})
    answer = pair.execute(group, tmp_path)
    assert (answer.code, offsets(answer)) == (1, {0: EARLIER + 43, 1: None})
    assert committed(pair.target, group) == {}, "the rest of the group would begin anywhere"
    assert pair.execute(group, tmp_path, "--partial").code == 1
    assert committed(pair.target, group) == {0: EARLIER + 43}


def test_group_that_commits_after_its_records_were_restored_is_found(pair: Pair, tmp_path: Path) -> None:
    """Offsets were restored together with records: a commit on records restored before was lost, without an error.

    itadventurer/kafka-backup #37
    """
    topic, first, second = "incremental", "incremental-1", "incremental-2"
    pair.make(topic, [numbered(100)])
    write(pair.source, topic, 0, numbered(110)[100:])
    commit(pair.source, first, topic, {0: 50})
    commit(pair.source, second, topic, {0: 105})
    found = pair.translate(second)
    assert found.code == 1 and only(found)["note"].startswith("not copied yet")
    write(pair.target, topic, 0, numbered(110)[100:])
    for group, offset in (first, 50), (second, 105):
        answer = pair.execute(group, tmp_path)
        assert (answer.code, committed(pair.target, group)) == (0, {0: EARLIER + offset})
        pair.check_next(group, topic)


def test_offset_on_an_emptied_partition_is_not_taken_literally(pair: Pair, tmp_path: Path) -> None:
    """For an empty partition, MirrorMaker 2 wrote the literal offset: beyond the end of the copy, with a negative lag.

    aws-samples/mirrormaker2-msk-migration #26
    """
    topic = group = "emptied"
    pair.make(topic, [numbered(40)], [[]])
    delete_records(pair.source.bootstrap, {topic: {0: 40}})
    commit(pair.source, group, topic, {0: 40})
    commit(pair.target, group, topic, {0: 40})
    wrong = pair.parity(group)
    assert wrong.code == 3 and "outside of its log" in only(wrong)["note"]
    answer = pair.execute(group, tmp_path)
    assert (answer.code, committed(pair.target, group)) == (0, {0: EARLIER})
    assert pair.parity(group).code == 0
    for sandbox in pair:
        write(sandbox, topic, 0, [Record(START, b"new")])
    pair.check_next(group, topic)


def test_offsets_that_are_no_longer_synced_are_noticed(pair: Pair, tmp_path: Path) -> None:
    """MirrorMaker 2 stopped to sync offsets after a broker had failed, and went on copying; no check reported it.

    strimzi/strimzi-kafka-operator #5533
    """
    topic = group = "stale"
    pair.make(topic, [numbered(300)])
    commit(pair.source, group, topic, {0: 100})
    assert pair.execute(group, tmp_path).code == 0 and pair.parity(group).code == 0
    commit(pair.source, group, topic, {0: 250})
    stale = pair.parity(group)
    assert (stale.code, only(stale)["verdict"], only(stale)["records"]) == (1, "behind", 150)
    assert pair.execute(group, tmp_path).code == 0 and pair.parity(group).code == 0
    pair.check_next(group, topic)
