"""Logs of real brokers and their copies on another cluster, made at random: what each record is a copy of is known.

Each world is a partition. Its records have sequence numbers that only the test knows: records can be equal.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import Final, NamedTuple, cast

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.groups import GroupId
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.topics import delete_records
from kgroups.sandbox.wire.offset_commit import OffsetCommit
from tests.integration.quick_cleaner import quick_cleaner

START: Final = 1_700_000_000_000
"""The time of the first records, in milliseconds since 1970."""
LATER: Final = 2 * 3_600_000
"""The time after which a compacted log gets a new segment."""
HEADER: Final = "source.offset"
GROUPS: Final = 8
SECONDS: Final = 300.0
TRANSACTION_MS: Final = 7_200_000
"""Open transactions must not be aborted before the last test."""
LONG_TRANSACTIONS: Final = {"transaction.max.timeout.ms": str(TRANSACTION_MS)}

DELETE, COMPACT_SOURCE, COMPACT_COPY, RENAMED = "worlds", "worlds-source", "worlds-copy", "worlds-renamed"
COPIES: Final = {DELETE: DELETE, COMPACT_SOURCE: COMPACT_SOURCE, COMPACT_COPY: COMPACT_COPY, RENAMED: "elsewhere"}
TOPIC_MAP: Final = f"{RENAMED}={COPIES[RENAMED]}"
NEW_PARTITIONS: Final = 2
"""Partitions of the source that the copy does not have."""

PLAIN, COMMITTED, ABORTED, OPEN = "plain", "committed", "aborted", "open"

KINDS: Final = (
    "plain",
    "same offsets",
    "gaps",
    "aborted, copied",
    "aborted, left out",
    "open transaction",
    "compacted source",
    "compacted before copied",
    "compacted copy",
    "lost prefix",
    "lost source prefix",
    "written again",
    "written again, far",
    "equal records",
    "equal times",
    "backward times",
    "copier behind",
    "others write",
    "transactional copier",
    "headers",
    "offsets in headers",
    "large records",
    "renamed",
    "empty",
    "emptied",
)
_COMPACTED: Final = {"compacted source", "compacted before copied", "compacted copy"}
_TRANSACTIONS: Final = {"gaps", "aborted, copied", "aborted, left out", "open transaction", "transactional copier"}
_CODECS: Final = ({}, {"compression.type": "gzip", "batch.num.messages": 7}, {"compression.type": "zstd"},
                  {"compression.type": "lz4", "batch.num.messages": 40})  # fmt: skip

Place = tuple[str, int]
"""Topic and partition."""
Headers = list[tuple[str, bytes]]


class Record(NamedTuple):
    """``number`` is its sequence number; ``None``: no record of the world."""

    number: int | None
    key: bytes
    value: bytes
    ms: int
    headers: Headers = []


class Segment(NamedTuple):
    """Records that are written together, and how."""

    how: str
    records: Sequence[Record]


class Entry(NamedTuple):
    """A record in a log."""

    offset: int
    record: Record
    aborted: bool = False

    @property
    def number(self) -> int | None:
        return self.record.number


@dataclass
class World:
    seed: int
    kinds: frozenset[str]
    place: Place
    segments: list[Segment]
    rng: random.Random
    origins: dict[int, int] = field(default_factory=dict)
    """The offset of each record in the source, also of those that are gone."""
    readable: set[int] = field(default_factory=set)
    """The records that consumers can read of the source: not those that were aborted, or removed by compaction."""
    copies: list[Entry] = field(default_factory=list)
    """What consumers can read of the copy."""
    ends: tuple[int, int] = (0, 0)
    """Start and end of the source."""

    @property
    def copy(self) -> Place:
        return COPIES[self.place[0]], self.place[1]

    def lost(self, committed: int, offset: int) -> set[int]:
        """Return the unread records that the copy has, but only before an offset."""
        last = {each.number: each.offset for each in self.copies if each.number is not None}
        return {
            number
            for number, at in self.origins.items()
            if at >= committed and number in self.readable and last.get(number, offset) < offset
        }

    def read_again(self, committed: int, offset: int) -> int:
        """Return how many read records a group receives again that begins at an offset of the copy."""
        return sum(
            each.offset >= offset and each.number is not None and self.origins[each.number] < committed
            for each in self.copies
        )

    def read_first(self, committed: int, offset: int) -> int:
        """Return how many read records a group receives there before its first unread one."""
        after = [each for each in self.copies if each.offset >= offset and each.number is not None]
        unread = (at for at, each in enumerate(after) if self.origins[each.number or 0] >= committed)
        return next(unread, len(after))

    def between(self, low: int, high: int) -> int:
        """Return how many records of the copy a consumer reads from one offset up to another."""
        return sum(low <= each.offset < high for each in self.copies)

    def commits(self) -> list[int]:
        """Return an offset of each group."""
        start, end = self.ends
        offsets = [start, end, max(start, end - 1)]
        if "lost source prefix" in self.kinds:
            offsets.append(start // 2)
        rng = random.Random(self.seed)
        return [*offsets, *(rng.randint(start, end) for _ in range(GROUPS - len(offsets)))]


def make_worlds(number: int) -> list[World]:
    partitions: Counter[str] = Counter()
    worlds = []
    for seed in range(number):
        rng = random.Random(seed)
        kinds = {KINDS[seed % len(KINDS)], *rng.sample(KINDS, rng.choice((0, 0, 1, 1, 2)))}
        kinds = _consistent(kinds)
        topic = _topic(kinds)
        worlds.append(World(seed, frozenset(kinds), (topic, partitions[topic]), [], rng))
        worlds[-1].segments = _segments(worlds[-1])
        partitions[topic] += 1
    return worlds


def _consistent(kinds: set[str]) -> set[str]:
    """Return the kinds without those that cannot be combined."""
    for first in ("empty", "same offsets"):
        if first in kinds:
            kinds &= {first, "aborted, copied", "gaps", "copier behind", "others write", "headers", "equal times"}
    if kinds & _COMPACTED:
        kinds -= _TRANSACTIONS | {"renamed", "large records", "equal records"}
        kinds -= _COMPACTED - {min(kinds & _COMPACTED)}
    if "renamed" in kinds:
        kinds -= _COMPACTED
    return kinds


def _topic(kinds: set[str]) -> str:
    if kinds & {"compacted source", "compacted before copied"}:
        return COMPACT_SOURCE
    if "compacted copy" in kinds:
        return COMPACT_COPY
    return RENAMED if "renamed" in kinds else DELETE


def _segments(world: World) -> list[Segment]:
    """Return the records of the source, in the order in which they are written."""
    rng, kinds = world.rng, world.kinds
    records = _records(world)
    parts = _at_jumps(records)
    if kinds & (_TRANSACTIONS - {"transactional copier"}) and records:
        parts = _split(rng, records, rng.randint(2, 6))
    segments = [Segment(PLAIN, _junk(rng.choice((0, 3, 40)) if "same offsets" not in kinds else 0))]
    aborted = bool(kinds & {"aborted, copied", "aborted, left out"})
    for part in parts:
        hows = (PLAIN, COMMITTED, ABORTED) if aborted else (PLAIN, COMMITTED) if "gaps" in kinds else (PLAIN,)
        segments.append(Segment(rng.choice(hows), part))
    if "open transaction" in kinds and len(segments) > 2:
        segments[-2] = segments[-2]._replace(how=OPEN)
    return segments


def _records(world: World) -> list[Record]:
    rng, kinds = world.rng, world.kinds
    number = 0 if "empty" in kinds else rng.choice((1, 2, 20, 60, 60, 300))
    if "written again, far" in kinds:
        number = 1_000
    cut, ms, records = rng.randint(0, number), START, list[Record]()
    for each in range(number):
        ms += 0 if "equal times" in kinds and each % 40 else rng.choice((0, 0, 1, 5))
        at = ms - rng.choice((0, 0, 0, 200)) if "backward times" in kinds else ms
        if kinds & _COMPACTED and each >= cut:
            at += LATER
        key, value = b"key-%d" % rng.randint(0, 9), b"value %d of %d" % (each, world.seed)
        if "equal records" in kinds and rng.random() < 0.5:
            at, key, value = START + each // 8, b"key", b"value"
        if "large records" in kinds:
            value += rng.randbytes(rng.choice((100, 5_000, 30_000)))
        headers = [("trace", b"%d" % rng.randint(0, 3))] * rng.randint(0, 2) if "headers" in kinds else []
        records.append(Record(each, key, value, at, headers))
    return records


def _split(rng: random.Random, records: Sequence[Record], parts: int) -> list[Sequence[Record]]:
    cuts = sorted(rng.randint(0, len(records)) for _ in range(parts - 1))
    return [records[low:high] for low, high in zip([0, *cuts], [*cuts, len(records)], strict=True)]


def _at_jumps(records: Sequence[Record]) -> list[Sequence[Record]]:
    """Return the records in parts that are not in the same batch, so that a compacted log gets a new segment."""
    jumps = [at for at in range(1, len(records)) if records[at].ms >= records[at - 1].ms + LATER // 2]
    return [records[low:high] for low, high in zip([0, *jumps], [*jumps, len(records)], strict=True)]


def _junk(number: int) -> list[Record]:
    """Return records that are deleted before anything is compared: the logs begin at different offsets."""
    return [Record(None, b"", b"deleted", START) for _ in range(number)]


class Log:
    """Writes to the partitions of one cluster, and keeps what is at which offset."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        common = {"bootstrap.servers": sandbox.bootstrap, "log_level": 0, "linger.ms": 20}
        common |= {"queue.buffering.max.messages": 1_000_000, "enable.idempotence": True}
        patience = {"socket.timeout.ms": int(SECONDS * 1000)}
        self.admin = AdminClient({"bootstrap.servers": sandbox.bootstrap, "log_level": 0} | patience)
        self._plain = [Producer(common | codec) for codec in _CODECS]
        self._transactional = {
            how: Producer(common | {"transactional.id": f"worlds-{how}", "transaction.timeout.ms": TRANSACTION_MS})
            for how in (COMMITTED, ABORTED, OPEN)
        }
        for producer in self._transactional.values():
            producer.init_transactions(SECONDS)
        self._begun = {PLAIN}
        self.entries: dict[Place, list[Entry]] = defaultdict(list)

    def create(self, topics: Mapping[str, int], compacted: str) -> None:
        settings = {"retention.ms": "-1", "segment.ms": "3600000", "min.compaction.lag.ms": str(10**15)}
        settings |= {"min.cleanable.dirty.ratio": "0.01"}
        policies = {topic: "compact,delete" if topic == compacted else "delete" for topic in topics}
        new = [
            NewTopic(topic, count, 1, config={**settings, "cleanup.policy": policies[topic]})
            for topic, count in topics.items()
        ]
        for future in self.admin.create_topics(new, request_timeout=SECONDS).values():
            future.result(SECONDS)

    def write(self, logs: Mapping[Place, Sequence[Segment]]) -> None:
        """Write the first segment of all, then the second one of all, and so on."""
        for together in zip_longest(*logs.values()):
            by_how: dict[str, dict[Place, Sequence[Record]]] = {}
            for place, segment in zip(logs, together, strict=True):
                if segment and segment.records:
                    by_how.setdefault(segment.how, {})[place] = segment.records
            for how in (PLAIN, COMMITTED, ABORTED, OPEN):
                if how in by_how:
                    self._write(how, by_how[how])

    def _write(self, how: str, logs: Mapping[Place, Sequence[Record]]) -> None:
        if how not in self._begun:
            self._transactional[how].begin_transaction()
        if how == OPEN:
            self._begun.add(OPEN)  # it never ends
        for (topic, partition), records in logs.items():
            producer = self._transactional[how] if how != PLAIN else self._plain[partition % len(self._plain)]
            for record in records:
                keep = partial(self._keep, record, how == ABORTED)
                _, key, value, ms, headers = record
                producer.produce(topic, value, key, partition, on_delivery=keep, timestamp=ms, headers=headers)
        for producer in (self._transactional[how],) if how != PLAIN else self._plain:
            assert not producer.flush(SECONDS)
        if how == COMMITTED:
            self._transactional[how].commit_transaction(SECONDS)
        if how == ABORTED:
            self._transactional[how].abort_transaction(SECONDS)
        if how in (COMMITTED, ABORTED):
            self._await_markers(logs)

    def _keep(self, record: Record, aborted: bool, error: object, message: Message) -> None:
        assert error is None, error
        topic, partition, offset = message.topic(), message.partition(), message.offset()
        assert topic is not None and partition is not None and offset is not None
        self.entries[topic, partition].append(Entry(offset, record, aborted))

    def _await_markers(self, places: Iterable[Place]) -> None:
        """Wait for the markers, which are written after the answer, so that offsets do not depend on luck."""
        expected = {place: self.entries[place][-1].offset + 2 for place in places}
        until = time.monotonic() + SECONDS
        while self.ends(expected) != expected:
            assert time.monotonic() < until, "markers are missing"
            time.sleep(0.02)

    def ends(self, places: Iterable[Place]) -> dict[Place, int]:
        wanted = {TopicPartition(*place): OffsetSpec.latest() for place in places}
        found = self.admin.list_offsets(wanted)  # read_uncommitted: others may be behind an open transaction
        return {(at.topic, at.partition): future.result(SECONDS).offset for at, future in found.items()}

    def delete(self, starts: Mapping[Place, int]) -> None:
        by_topic: dict[str, dict[int, int]] = {}
        for (topic, partition), offset in starts.items():
            by_topic.setdefault(topic, {})[partition] = offset
        delete_records(self.sandbox.bootstrap, by_topic)

    def compact(self, topic: str, starts: Mapping[Place, int]) -> None:
        """Let the cleaner remove what it may, and wait until it has."""
        expected = {
            place: [each.offset for each in _after_cleaning(entries) if each.offset >= starts.get(place, 0)]
            for place, entries in self.entries.items()
            if place[0] == topic
        }
        if not expected:
            return
        change = ConfigEntry("min.compaction.lag.ms", "0", incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[change])
        self.admin.incremental_alter_configs([resource])[resource].result(SECONDS)
        with quick_cleaner(self.admin):
            until = time.monotonic() + SECONDS
            while any([each.offset() for each in found] != expected[place] for place, found in self.read(expected)):
                assert time.monotonic() < until, f"{topic} is not compacted"

    def read(
        self, places: Iterable[Place], isolation: str = "read_uncommitted"
    ) -> Iterator[tuple[Place, list[Message]]]:
        """Yield the records that a consumer reads."""
        found: dict[Place, list[Message]] = {place: [] for place in places}
        consumer = Consumer(
            {"bootstrap.servers": self.sandbox.bootstrap, "group.id": "copier", "enable.auto.commit": False}
            | {"isolation.level": isolation, "enable.partition.eof": True, "log_level": 0}
        )
        consumer.assign([TopicPartition(*place, OFFSET_BEGINNING) for place in found])
        left, until = set(found), time.monotonic() + SECONDS
        while left:
            assert time.monotonic() < until, f"{left} are not read"
            for message in consumer.consume(5_000, timeout=1):
                place = message.topic() or "", message.partition() or 0
                error = message.error()
                if error is None:
                    found[place].append(message)
                else:
                    assert error.code() == KafkaError._PARTITION_EOF, error
                    left.discard(place)
        consumer.close()
        yield from found.items()


def _after_cleaning(entries: Sequence[Entry]) -> list[Entry]:
    """Return what compaction leaves of a log: all from its last segment on, and the newest of each key before."""
    first = next((at for at, each in enumerate(entries) if each.record.ms >= START + LATER), 0)
    newest = {each.record.key: each.offset for each in entries[:first]}
    return [each for each in entries[:first] if newest[each.record.key] == each.offset] + [*entries[first:]]


class CopiedWorlds:
    """Worlds on two clusters, with committed offsets on the source."""

    def __init__(self, source: Sandbox, target: Sandbox, number: int) -> None:
        self.source, self.target = Log(source), Log(target)
        self.worlds = make_worlds(number)
        self.partitions = Counter(world.place[0] for world in self.worlds)
        messages = self._make_source()
        self._make_copies(messages)
        size = NewPartitions(DELETE, self.partitions[DELETE] + NEW_PARTITIONS)
        self.source.admin.create_partitions([size], request_timeout=SECONDS)[DELETE].result(SECONDS)
        commit(source, self.committed())

    def committed(self) -> dict[GroupId, dict[str, dict[int, int]]]:
        """Return the offsets on the source: group -> topic -> partition -> offset."""
        new = range(self.partitions[DELETE], self.partitions[DELETE] + NEW_PARTITIONS)
        groups: dict[GroupId, dict[str, dict[int, int]]] = {
            f"group-{at}": {DELETE: dict.fromkeys(new, 0)} for at in range(GROUPS)
        }
        for world in self.worlds:
            topic, partition = world.place
            for group, offset in zip(groups.values(), world.commits(), strict=True):
                group.setdefault(topic, {})[partition] = offset
        return groups

    def _make_source(self) -> dict[Place, list[Message]]:
        """Write the source; return what the copier reads."""
        log = self.source
        log.create(self.partitions, COMPACT_SOURCE)
        log.write({world.place: world.segments for world in self.worlds})
        starts = {}
        for world in self.worlds:
            entries = log.entries[world.place]
            world.origins = {each.number: each.offset for each in entries if each.number is not None}
            left = _after_cleaning(entries) if world.place[0] == COMPACT_SOURCE else entries
            world.readable = {each.number for each in left if each.number is not None and not each.aborted}
            starts[world.place] = min(world.origins.values(), default=len(entries))
        log.delete(starts)
        messages = self._read(world for world in self.worlds if "compacted source" not in world.kinds)
        log.compact(COMPACT_SOURCE, starts)
        messages |= self._read(world for world in self.worlds if "compacted source" in world.kinds)
        for world in self.worlds:
            if not world.origins:
                continue
            if "lost source prefix" in world.kinds:
                starts[world.place] = world.rng.choice([*world.origins.values()])
            if "emptied" in world.kinds and "open transaction" not in world.kinds:
                starts[world.place] = log.entries[world.place][-1].offset + 1
        log.delete(starts)
        ends = log.ends(starts)
        for world in self.worlds:
            world.ends = starts[world.place], ends[world.place]
        return messages

    def _read(self, worlds: Iterable[World]) -> dict[Place, list[Message]]:
        """Return what a copier reads that copies aborted records, or leaves them out."""
        every = {"aborted, copied", "same offsets"}
        by_isolation: dict[str, list[Place]] = {"read_uncommitted": [], "read_committed": []}
        for world in worlds:
            whole = bool(world.kinds & every) or ("aborted, left out" not in world.kinds and world.seed % 2)
            by_isolation["read_uncommitted" if whole else "read_committed"].append(world.place)
        return {
            place: found
            for isolation, places in by_isolation.items()
            for place, found in self.source.read(places, isolation)
        }

    def _make_copies(self, messages: Mapping[Place, Sequence[Message]]) -> None:
        log = self.target
        log.create({COPIES[topic]: number for topic, number in self.partitions.items()}, COPIES[COMPACT_COPY])
        log.write({world.copy: _copied(world, messages[world.place]) for world in self.worlds})
        starts = {}
        for world in self.worlds:
            entries = log.entries[world.copy]
            offsets = [each.offset for each in entries if each.record.key]
            starts[world.copy] = offsets[0] if offsets else len(entries)
        log.delete(starts)
        log.compact(COPIES[COMPACT_COPY], starts)
        for world in self.worlds:
            offsets = [each.offset for each in log.entries[world.copy] if each.number is not None]
            if "lost prefix" in world.kinds and offsets:
                starts[world.copy] = world.rng.choice(offsets)
            if "emptied" in world.kinds and offsets and world.seed % 2:
                starts[world.copy] = log.entries[world.copy][-1].offset + 1
        log.delete(starts)
        worlds = {world.copy: world for world in self.worlds}
        for place, found in log.read(starts, "read_committed"):
            there = {message.offset(): message.value() for message in found}
            world = worlds[place]
            world.copies = [each for each in log.entries[place] if each.offset in there]
            assert [each.record.value for each in world.copies] == [*there.values()], (world.seed, world.kinds)


def _copied(world: World, messages: Sequence[Message]) -> list[Segment]:
    """Return what the copier writes, and what others write after it."""
    rng, kinds = world.rng, world.kinds
    numbers = {offset: number for number, offset in world.origins.items()}
    records = [_copy_of(message, numbers[message.offset() or 0], kinds) for message in messages]
    if "copier behind" in kinds:
        records = records[: rng.randint(0, len(records))]
    if "same offsets" in kinds:
        there = {each.number for each in records}
        segments = [
            Segment(each.how, [record for record in each.records if record.number in there]) for each in world.segments
        ]
    else:
        records = _with_restarts(rng, records, kinds)
        segments = [Segment(PLAIN, _junk(rng.choice((0, 5, 300))))]
        if "transactional copier" in kinds:
            for part in _split(rng, records, 4):
                tried = [part[: rng.randint(0, len(part))]] if rng.random() < 0.5 else []
                segments += [*(Segment(ABORTED, each) for each in tried), Segment(COMMITTED, part)]
        else:
            segments += [Segment(PLAIN, part) for part in _at_jumps(records)]
    if "others write" in kinds:
        others = [Record(None, b"other", b"others %d" % each, START + 2 * LATER + each) for each in range(5)]
        segments.append(Segment(PLAIN, others))
    return segments


def _copy_of(message: Message, number: int, kinds: frozenset[str]) -> Record:
    headers = [*cast("Headers", message.headers() or [])]
    if "offsets in headers" in kinds:
        headers.append((HEADER, b"%d" % (message.offset() or 0)))
    key, value = message.key(), message.value()
    assert isinstance(key, bytes) and isinstance(value, bytes)
    return Record(number, key, value, message.timestamp()[1], headers)


def _with_restarts(rng: random.Random, records: Sequence[Record], kinds: frozenset[str]) -> list[Record]:
    """Return what a copier writes that goes back now and then."""
    written: list[Record] = []
    at = 0
    while at < len(records):
        written.append(records[at])
        at += 1
        if "written again" in kinds and rng.random() < 0.04:
            at = max(0, at - rng.randint(1, 12))
        if "written again, far" in kinds and rng.random() < 0.002:
            at = max(0, at - rng.randint(1, 600))
    return written


def commit(sandbox: Sandbox, groups: Mapping[GroupId, Mapping[str, Mapping[int, int]]]) -> None:
    """Commit offsets, as groups without members do: group -> topic -> partition -> offset."""

    async def commit_all() -> None:
        cluster, _ = await Cluster.connect(ClientSettings(parse_bootstrap(sandbox.bootstrap), timeout=SECONDS))
        async with cluster:
            route = await CoordinatorClient.to(cluster, groups)
            for name, offsets in groups.items():
                assert await route.call(name, OffsetCommit(name, offsets)) is None

    asyncio.run(commit_all())
