"""Offsets translated by the syncs of a real MirrorMaker 2, against the copies of each record and Kafka's own client."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka import Consumer, Producer

from kgroups.admin.query.log_offsets import fetch_ends
from kgroups.admin.translation.mirror import Mirror, read_mirror
from kgroups.model.groups import GroupId
from kgroups.model.offsets import PlanKey
from kgroups.model.translation.mirror_names import MirrorNames
from kgroups.model.translation.syncs import OffsetPair, SyncTranslation
from kgroups.net.cluster import Cluster
from tests.integration.asking import run_here
from tests.integration.java_members import JavaMembers
from tests.integration.mirrored_clusters import RENAMED, SAME_NAME, MirroredClusters

TOPIC = "orders"
PLAIN, TRANSACTIONAL = (TOPIC, 0), (TOPIC, 1)
STEP = 151

Committed = dict[GroupId, dict[str, dict[int, int]]]


def test_translation_of_a_real_mirror(mirrored: MirroredClusters) -> None:
    mirrored.create({TOPIC: 2})
    counts = {PLAIN: produce(mirrored, 0, 1200), TRANSACTIONAL: produce_transactions(mirrored, 0, 120)}
    committed = commit(mirrored, "before")
    mirrored.await_copies(counts)
    for found in check_all(mirrored, committed):
        at_end = found[len(committed) - 1]
        assert isinstance(at_end, SyncTranslation) and (at_end.offset, at_end.at_most) == (1200, 0)

    counts[PLAIN] += produce(mirrored, 1200, 600, seconds=4)  # killed while it copies
    mirrored.restart_mirror()
    counts[PLAIN] += produce(mirrored, 1800, 300)
    committed = commit(mirrored, "after")
    mirrored.await_copies(counts)
    check_all(mirrored, committed)


PARTITIONS = 30
RECORDS = 60


def test_consumers_continue_while_the_mirror_runs(mirrored: MirroredClusters, tmp_path: Path) -> None:
    """Each client reads the copy of the first unread record first, on each partition."""
    topic = "wide"
    mirrored.create({topic: PARTITIONS})
    write(mirrored, topic, 0)
    mirrored.await_copies({(topic, at): RECORDS for at in range(PARTITIONS)})
    committed = {
        f"{client}-goes-on": {topic: {at: (7 * at + shift) % RECORDS for at in range(PARTITIONS)}}
        for shift, client in enumerate(("classic", "consumer", "librdkafka"), 1)
    }
    mirrored.commit(committed)
    source, target = mirrored.source.bootstrap, mirrored.target.bootstrap
    flow = "--mm2-source", "A", "--mm2-target", "B", "--mm2-policy", "default", "--mm2-syncs", "source"
    words = "--from", source, "--to", target, *flow, "--undo-file", str(tmp_path / "undo.json"), "-o", "json"
    answer = run_here("translate", *committed, *words, "--execute", "--yes")
    assert answer.code == 0 and {row["result"] for row in answer.items} == {"applied"}, answer.err
    assert {row["read_again"] for row in answer.items} == {0}

    write(mirrored, topic, RECORDS)  # MirrorMaker 2 and the producers go on
    copy = RENAMED.copy_of(topic)
    expected = {
        group: {at: copy_of(mirrored, copy, at, offset) for at, offset in offsets[topic].items()}
        for group, offsets in committed.items()
    }
    found: dict[str, dict[int, int | None]] = {group: {} for group in committed}
    with JavaMembers(target, tmp_path / "members.log") as members:
        members.join("classic", "classic-goes-on", (copy,), "auto.offset.reset=latest")
        members.join("consumer", "consumer-goes-on", (copy,), "auto.offset.reset=latest", "group.protocol=consumer")
        found["librdkafka-goes-on"] |= read_first(target, "librdkafka-goes-on", copy)
        for client in ("classic", "consumer"):
            found[f"{client}-goes-on"] |= {at: members.first_record(client, copy, at) for at in range(PARTITIONS)}
    assert found == expected


def write(mirrored: MirroredClusters, topic: str, first: int) -> None:
    producer = Producer({"bootstrap.servers": mirrored.source.bootstrap, "enable.idempotence": True})
    for partition in range(PARTITIONS):
        for number in range(first, first + RECORDS):
            producer.produce(topic, b"%d of %d" % (number, partition), partition=partition)
    assert not producer.flush(60)


def copy_of(mirrored: MirroredClusters, copy: str, partition: int, offset: int) -> int:
    """Return the offset of the first copy of a record of :func:`write`."""
    value = b"%d of %d" % (offset, partition)
    return next(at for at, found in mirrored.records(mirrored.target, (copy, partition)) if found == value)


def read_first(bootstrap: str, group: str, topic: str) -> dict[int, int]:
    """Return the offset of the first record that librdkafka reads in each partition."""
    found: dict[int, int] = {}
    reader = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False})
    reader.subscribe([topic])
    until = time.monotonic() + 60
    while len(found) < PARTITIONS and time.monotonic() < until:
        for message in reader.consume(1_000, timeout=1):
            assert message.error() is None
            found.setdefault(message.partition() or 0, message.offset() or 0)
    reader.close()
    return found


def produce(mirrored: MirroredClusters, first: int, records: int, *, seconds: float = 0) -> int:
    producer = Producer({"bootstrap.servers": mirrored.source.bootstrap, "enable.idempotence": True})
    for number in range(first, first + records):
        producer.produce(TOPIC, b"plain %d" % number, partition=0)
        producer.poll(seconds / records)
    assert not producer.flush(60)
    return records


def produce_transactions(mirrored: MirroredClusters, first: int, transactions: int) -> int:
    """Write seven records in each, and abort every third: MirrorMaker 2 copies these, too."""
    producer = Producer({"bootstrap.servers": mirrored.source.bootstrap, "transactional.id": "orders"})
    producer.init_transactions(60)
    for number in range(first, first + transactions):
        producer.begin_transaction()
        for each in range(7):
            producer.produce(TOPIC, b"%d in transaction %d" % (each, number), partition=1)
        if number % 3:
            producer.commit_transaction(60)
        else:
            assert not producer.flush(60)
            producer.abort_transaction(60)
    return 7 * transactions


def commit(mirrored: MirroredClusters, name: str) -> Committed:
    """Commit offsets all over both partitions, also the ends, each as a group."""
    ends = {partition: log_end(mirrored, partition) for partition in (0, 1)}
    offsets = [*range(0, max(ends.values()), STEP), max(ends.values())]
    committed = {
        f"{name}-{offset}": {TOPIC: {partition: min(offset, end) for partition, end in ends.items()}}
        for offset in offsets
    }
    mirrored.commit(committed)
    return committed


def log_end(mirrored: MirroredClusters, partition: int) -> int:
    async def ends(source: Cluster, _: Cluster) -> int:
        found, _ = await fetch_ends(source, {TOPIC: [partition]})
        return found[TOPIC, partition]

    return mirrored.ask(ends)


def check_all(mirrored: MirroredClusters, committed: Committed) -> list[list[SyncTranslation | str]]:
    """Check the translations of both flows; return those of each."""
    theirs = mirrored.remote_offsets(committed)
    return [check(mirrored, names, committed, theirs[names]) for names in (SAME_NAME, RENAMED)]


def check(
    mirrored: MirroredClusters, names: MirrorNames, committed: Committed, theirs: Mapping[PlanKey, int]
) -> list[SyncTranslation | str]:
    by_place = {
        place: {group: offsets[TOPIC][place[1]] for group, offsets in committed.items()}
        for place in (PLAIN, TRANSACTIONAL)
    }

    async def read(source: Cluster, target: Cluster) -> tuple[Mirror, dict[tuple[str, int], OffsetPair]]:
        mirror = await read_mirror(source, target, names, by_place)
        copy = names.copy_of(TOPIC)
        of_source, _ = await fetch_ends(source, {TOPIC: [0, 1]})
        of_copy, _ = await fetch_ends(target, {copy: [0, 1]})
        return mirror, {place: OffsetPair(of_source[place], of_copy[copy, place[1]]) for place in by_place}

    mirror, ends = mirrored.ask(read)
    assert (mirror.names, mirror.failures, mirror.notices, mirror.unknown) == (names, [], [], {})
    assert theirs and mirror.checkpoints
    return [
        translation
        for place, groups in by_place.items()
        for translation in check_partition(mirrored, mirror, place, groups, ends[place], theirs)
    ]


def check_partition(
    mirrored: MirroredClusters,
    mirror: Mirror,
    place: tuple[str, int],
    groups: Mapping[GroupId, int],
    ends: OffsetPair,
    theirs: Mapping[PlanKey, int],
) -> list[SyncTranslation | str]:
    topic, partition = place
    copy = mirror.names.copy_of(topic)
    originals = {value: offset for offset, value in mirrored.records(mirrored.source, place)}
    copies = [(at, originals[value]) for at, value in mirrored.records(mirrored.target, (copy, partition))]
    assert {offset for _, offset in copies} == set(originals.values())
    found = []
    for group, offset in groups.items():
        translation = mirror.translate(group, topic, partition, offset, ends)
        found.append(translation)
        remote = theirs.get((group, copy, partition))
        if isinstance(translation, SyncTranslation):
            assert not skipped(copies, offset, translation.offset), (group, offset, translation)
            assert read_again(copies, offset, translation.offset) <= translation.at_most, (group, offset, translation)
            better = remote is None or translation.offset >= remote
            assert better or skipped(copies, offset, remote or 0), (group, offset, translation, remote)
        else:
            assert remote is None or skipped(copies, offset, remote), (group, offset, translation, remote)
    return found


def skipped(copies: list[tuple[int, int]], offset: int, at: int) -> set[int]:
    """Return the unread records that have no copy at or after an offset of the copy."""
    return {each for where, each in copies if each >= offset and where < at} - {
        each for where, each in copies if where >= at
    }


def read_again(copies: list[tuple[int, int]], offset: int, at: int) -> int:
    """Return how many read records come before the first unread one, except those that were copied again."""
    earlier = {each for where, each in copies if where < at}
    again = set()
    for where, each in copies:
        if where >= at:
            if each >= offset:
                break
            again.add(each)
    return len(again - earlier)
