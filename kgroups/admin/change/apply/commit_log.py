"""Read the commits of groups in ``__consumer_offsets`` since these were checked, to find those of other clients."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from kgroups.errors import KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId
from kgroups.model.offsets import Commit, Move, PlanKey
from kgroups.model.operations.reset import PlannedOffset, by_group
from kgroups.model.outcome import Failure
from kgroups.model.placement import OFFSETS_TOPIC, partition_of
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis.fetch import Fetch, Fetched
from kgroups.protocol.error_codes import LEADER_MOVED, NOT_AUTHORIZED, KafkaError
from kgroups.protocol.offsets_topic import decode
from kgroups.protocol.record_entries import read_entries

from ...offsets_topic.recent_commits import NEEDS_READ
from ...query.log_offsets import fetch_ends
from ...routing.partition_leaders import NO_TOPICS, TopicPartition, Topics, find_leaders

PORTION = 1024 * 1024
SHARE_OF_TIME_LEFT = 0.5
"""The maximum part of the remaining ``--timeout`` to spend on reading."""

COMMIT_VERSIONS = (b"\0\0", b"\0\1")

Records = dict[PlanKey, list[tuple[bytes, bytes | None]]]
"""The keys and values of commit records."""


class CommitLog:
    """The log of planned offsets from when each was checked: those of one group may be written by several requests."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._since: dict[PlanKey, int] = {}
        self._whole: dict[GroupId, int] = {}
        self._failures: dict[TopicPartition, Failure] = {}
        self._moved: set[int] = set()
        """The partitions that another broker may lead now."""

    async def mark(self, planned: Iterable[PlannedOffset], whole: Collection[GroupId] = ()) -> None:
        """Begin with the next commit of these partitions; what brokers return about them from now on has the others.

        :param whole: groups of which other partitions are read, too.
        """
        topic = self._cluster.topics.get(OFFSETS_TOPIC)
        if topic is None or topic.error or not topic.leaders:
            return
        groups = list(by_group(planned))
        names = {*whole, *(group for group, _ in groups)}
        numbers = {group: partition_of(group, len(topic.leaders)) for group in names}
        ends, failures = await fetch_ends(
            self._cluster, {OFFSETS_TOPIC: sorted(set(numbers.values()))}, known=self._cluster.topics
        )
        self._failures.update(failures)
        for group, part in groups:
            end = ends.get((OFFSETS_TOPIC, numbers[group]))
            for entry in part:
                if end is not None:
                    self._since[entry.key] = end
                else:
                    self._since.pop(entry.key, None)
        found = {group: ends.get((OFFSETS_TOPIC, numbers[group])) for group in whole}
        self._whole.update({group: end for group, end in found.items() if end is not None})

    async def read(
        self, planned: Iterable[PlannedOffset], whole: Collection[GroupId] = ()
    ) -> tuple[Records, dict[GroupId, str]]:
        """Return the records of partitions since they were marked, and the groups without, and why.

        :param whole: groups of which other partitions are read, too.
        """
        keys: dict[int, dict[bytes, PlanKey]] = {}
        unread: dict[GroupId, str] = {}
        topic = self._cluster.topics.get(OFFSETS_TOPIC)
        starts: dict[int, int] = {}
        for group, part in by_group(planned):
            marks = [self._since.get(entry.key) for entry in part]
            since = [mark for mark in marks if mark is not None]
            if len(since) < len(marks) or topic is None:
                unread[group] = self._why_unmarked(group)
                continue
            number = partition_of(group, len(topic.leaders))
            starts[number] = min(*since, starts.get(number, since[0]))
            keys.setdefault(number, {}).update(_keys(group, part))
        for group in whole:
            if topic is not None and group in self._whole:
                number = partition_of(group, len(topic.leaders))
                starts[number] = min(self._whole[group], starts.get(number, self._whole[group]))
                keys.setdefault(number, {})[_string(group)] = (group, "", -1)
        found: Records = {}
        until = time.monotonic() + self._cluster.deadline.remaining() * SHARE_OF_TIME_LEFT
        lost = await self._read_all(starts, keys, found, until, self._cluster.topics)
        if moved := {number: starts[number] for number in self._moved}:
            lost = {number: reason for number, reason in lost.items() if number not in moved}
            lost |= await self._read_all(moved, keys, found, until)
        for number, reason in lost.items():
            unread.update({group: reason for group, _, _ in keys[number].values()})
        return found, unread

    def _why_unmarked(self, group: GroupId) -> str:
        topic = self._cluster.topics.get(OFFSETS_TOPIC)
        if topic is None or topic.error or not topic.leaders:
            return _why(topic.error if topic else None)
        failure = self._failures.get((OFFSETS_TOPIC, partition_of(group, len(topic.leaders))))
        return failure.message if failure else _why(None)

    async def _read_all(
        self,
        starts: dict[int, int],
        keys: Mapping[int, Mapping[bytes, PlanKey]],
        found: Records,
        until: float,
        known: Topics = NO_TOPICS,
    ) -> dict[int, str]:
        """Read partitions to their ends; return why others were not. ``starts`` becomes where reading continues."""
        by_leader = await find_leaders(self._cluster, {(OFFSETS_TOPIC, number) for number in starts}, known=known)
        lost = {number: by_leader.failures[name, number].message for name, number in by_leader.failures}
        self._moved.clear()
        jobs = [
            (numbers, self._read(node, numbers, starts, keys, found, until))
            for node, pairs in by_leader.leaders.items()
            if (numbers := [number for _, number in pairs])
        ]
        for numbers, done in await fan_out(jobs):
            if isinstance(done, KgroupsError):
                lost.update(dict.fromkeys(numbers, str(done)))
                self._moved.update(numbers)
            else:
                lost.update(done)
        return lost

    async def _read(
        self,
        node: Node,
        numbers: Iterable[int],
        starts: dict[int, int],
        keys: Mapping[int, Mapping[bytes, PlanKey]],
        found: Records,
        until: float,
    ) -> dict[int, str]:
        """Read partitions of one broker to their ends; return why others were not."""
        at = {number: starts[number] for number in numbers}
        lost: dict[int, str] = {}
        while at:
            if time.monotonic() >= until:
                return {**lost, **dict.fromkeys(at, f"reading {OFFSETS_TOPIC} timed out")}
            response = await self._cluster.call(node, Fetch({OFFSETS_TOPIC: at}, PORTION))
            first = next(iter(at))
            for number, position in list(at.items()):
                fetched = response.get((OFFSETS_TOPIC, number))
                if not isinstance(fetched, Fetched):
                    lost[number] = _why(fetched)
                    if isinstance(fetched, KafkaError) and fetched.code in LEADER_MOVED:
                        self._moved.add(number)
                    del at[number]
                    continue
                after = starts[number] = self._collect(fetched, position, keys[number], found)
                if after >= fetched.high_watermark:
                    del at[number]
                elif after > position:
                    at[number] = after
                elif number == first:  # brokers leave out batches only of the others
                    lost[number] = f"{OFFSETS_TOPIC}-{number}: a batch is larger than the maximum response size"
                    del at[number]
            if first in at:
                at[first] = at.pop(first)
        return lost

    def _collect(self, fetched: Fetched, at: int, keys: Mapping[bytes, PlanKey], found: Records) -> int:
        """Collect the commits in a response; return the offset to continue at."""
        entries, after, _ = read_entries(fetched.records, at)
        for entry in entries:
            key = keys.get((entry.key or b"")[2:]) or _other(keys, entry.key or b"")
            if key and entry.offset >= self._since.get(key, self._whole.get(key[0], 0)):
                found.setdefault(key, []).append((entry.key or b"", entry.value))
        return after


def _keys(group: GroupId, part: Iterable[PlannedOffset]) -> Iterator[tuple[bytes, PlanKey]]:
    """Yield the keys of commit records without their version, which is 0 or 1."""
    prefixes: dict[str, bytes] = {}
    for entry in part:
        topic = entry.topic
        if topic not in prefixes:
            prefixes[topic] = _string(group) + _string(topic)
        yield prefixes[topic] + entry.partition.to_bytes(4, "big"), entry.key


def _other(keys: Mapping[bytes, PlanKey], key: bytes) -> PlanKey | None:
    """Return the partition of a commit that was not planned, of a group that is read as a whole."""
    end = 4 + int.from_bytes(key[2:4], "big")
    topic = key[end + 2 : -4]
    if key[2:end] not in keys or key[:2] not in COMMIT_VERSIONS or not topic:
        return None
    return keys[key[2:end]][0], topic.decode("utf-8", "surrogatepass"), int.from_bytes(key[-4:], "big")


def _string(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(2, "big") + data


def is_alone(records: Sequence[tuple[bytes, bytes | None]], wrote: Move) -> bool:
    """Return whether there is one record, which is what was written: without decoding, since all others are rare."""
    if len(records) != 1:
        return False
    value = records[0][1]
    return wrote.offset == int.from_bytes(value[2:10], "big") if wrote and value else not wrote and value is None


def move_of(key: bytes, value: bytes | None) -> Move:
    """Return a commit, or ``None`` for its deletion."""
    if value is None:
        return None
    fields = decode(key, value).value or {}
    epoch = fields.get("leaderEpoch", -1)
    partition = int.from_bytes(key[-4:], "big")
    return Commit(partition, fields["offset"], None if epoch < 0 else epoch, fields.get("metadata") or "")


def _why(error: KafkaError | object | None) -> str:
    if isinstance(error, KafkaError):
        return NEEDS_READ if error.code in NOT_AUTHORIZED else f"{OFFSETS_TOPIC}: {error.message}"
    return f"{OFFSETS_TOPIC} is not in the brokers' responses"
