"""Read the newest commits of groups from ``__consumer_offsets``, from a point in time to the end of the log."""

from __future__ import annotations

import heapq
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

from kgroups.errors import KgroupsError, RemoteProtocolError, UndecodableRecord
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId
from kgroups.model.offsets import Isolation
from kgroups.model.operations.committing import CommitMade, Pair, RecentCommits
from kgroups.model.operations.origin import topic_id_of
from kgroups.model.permissions import TOPIC, Acl
from kgroups.model.placement import OFFSETS_TOPIC, partition_of
from kgroups.model.stays import Presence, Stay, StayRecorder
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis.fetch import Fetch, Fetched
from kgroups.protocol.error_codes import NOT_AUTHORIZED, Code, KafkaError
from kgroups.protocol.offsets_topic import decode
from kgroups.protocol.record_entries import Entry, Marker, read_entries
from kgroups.protocol.record_schemas import NO_TOPIC_ID
from kgroups.protocol.record_schemas.decoder import Record

from ..query.log_offsets import fetch_ends, fetch_ends_at
from ..routing.partition_leaders import NO_TOPICS, Topics, find_leaders

MOST_RECORDS = 400_000
"""Maximum records to read over all partitions; of a busy log, only the newest part of the window is read."""
LEAST_RECORDS = 5_000
"""The part of this maximum that each partition has at least."""
MOST_OF_ALL = 5_000_000
"""Maximum records of one partition if all commits of a group are read."""
MOST_OF_HISTORY = 20_000
"""Maximum records of one partition for the rhythm of commits."""
PORTION = 1024 * 1024
SHARE_OF_TIME_LEFT = 0.5
"""The maximum part of the remaining ``--timeout`` to spend on reading."""

_COMMITS = (0, 1)
_MEMBERSHIP = frozenset({2, 3, 5, 6, 7, 8, 17, 19, 20, 21, 22})
"""The types of records that are written when members join, leave, or get an assignment, in groups of all types."""
_CLASSIC_GROUP = 2
_MEMBERS = frozenset({_CLASSIC_GROUP, 5, 19})
"""The types of records with members: all of a classic group, or one of another group type."""

READ_COMMITS = Acl("READ", TOPIC, OFFSETS_TOPIC)
NEEDS_READ = f"reading {OFFSETS_TOPIC} needs the ACL READ on it"


class _Range(NamedTuple):
    """The offsets of a partition to read, without ``end``; ``cut`` if older ones are left out.

    From ``begin`` to ``start``, only records of open transactions are wanted.
    """

    number: int
    begin: int
    start: int
    end: int
    cut: bool


async def recent_commits(
    cluster: Cluster,
    groups: Collection[GroupId],
    since: int,
    *,
    everything: bool = False,
    most: int | None = None,
    known: Topics = NO_TOPICS,
) -> RecentCommits:
    """Return the commits of these groups from a time on, in milliseconds since 1970.

    Commits in open and aborted transactions count, because a client made them, but not with ``everything``: they are
    not in effect. Those in open transactions are found however old they are, since the last stable offset shows where
    these begin; OffsetFetch does not report them on partitions without an earlier commit. Errors are in ``unread``, not
    raised.

    :param everything: include commits from before the group's last membership record, and read many more records.
    :param most: the maximum number of records of each partition of the offsets topic, if not the default.
    :param known: what was reported a moment ago about the offsets topic.
    """
    metadata = known.get(OFFSETS_TOPIC)
    if metadata is None or metadata.error or not metadata.leaders:
        try:
            metadata = (await cluster.refresh((OFFSETS_TOPIC,))).topics[0]
        except (KgroupsError, IndexError) as error:
            return _unread(groups, str(error))
    if metadata.error and metadata.error.code == Code.unknown_topic_or_partition:
        return RecentCommits({})  # no offset was ever committed in this cluster
    if metadata.error or not metadata.leaders:
        denied = metadata.error is None or metadata.error.code in NOT_AUTHORIZED
        reason = NEEDS_READ if denied else f"{OFFSETS_TOPIC}: {metadata.error and metadata.error.message}"
        return _unread(groups, reason)._replace(denied=denied)
    by_partition: dict[int, set[GroupId]] = {}
    for group in groups:
        by_partition.setdefault(partition_of(group, len(metadata.leaders)), set()).add(group)
    if most is None:
        most = MOST_OF_ALL if everything else max(LEAST_RECORDS, MOST_RECORDS // max(1, len(by_partition)))
    return await _read(cluster, by_partition, since, everything, most)


async def commit_history(cluster: Cluster, groups: Collection[GroupId]) -> RecentCommits:
    """Return the commits and membership changes of these groups in the newest part of the log."""
    return await recent_commits(cluster, groups, 0, everything=True, most=MOST_OF_HISTORY)


def _unread(groups: Collection[GroupId], reason: str) -> RecentCommits:
    return RecentCommits({}, dict.fromkeys(groups, reason))


async def _read(
    cluster: Cluster, by_partition: Mapping[int, set[GroupId]], since: int, everything: bool, most: int
) -> RecentCommits:
    names = {OFFSETS_TOPIC: list(by_partition)}
    stable, _ = (
        ({}, {}) if everything else await fetch_ends(cluster, names, Isolation.READ_COMMITTED, known=cluster.topics)
    )  # before the ends
    ends, starts, failures = await fetch_ends_at(cluster, names, since, known=cluster.topics)
    by_leader = await find_leaders(cluster, [(OFFSETS_TOPIC, number) for number in by_partition], known=cluster.topics)
    leaders = {number: node for node, pairs in by_leader.leaders.items() for _, number in pairs}
    reasons = {int(each.name.rpartition("-")[2]): each.message for each in failures if "-" in each.name}
    until = time.monotonic() + cluster.deadline.remaining() * SHARE_OF_TIME_LEFT
    unread: dict[GroupId, str] = {}
    jobs = []
    for number, groups in by_partition.items():
        end = ends.get((OFFSETS_TOPIC, number))
        start = starts.get((OFFSETS_TOPIC, number), -1)
        node = leaders.get(number)
        first = end if everything else stable.get((OFFSETS_TOPIC, number))
        if start == -1 or end is None or node is None or first is None:
            reason = reasons.get(number, "no response from its leader")
            unread.update(dict.fromkeys(groups, f"{OFFSETS_TOPIC}-{number}: {reason}"))
        elif end - first > MOST_OF_ALL:
            reason = f"{OFFSETS_TOPIC}-{number}: an open transaction began more than {MOST_OF_ALL:,} records ago"
            unread.update(dict.fromkeys(groups, reason))
        elif (after := end if start is None else start) < end or first < end:
            kept = max(after, end - most)
            part = _Range(number, min(kept, first), kept, end, end - most > after)
            reader = _Reader(groups, everything)
            jobs.append(((number, part, reader), reader.read(cluster, node, part, until)))
    made: dict[GroupId, Mapping[Pair, list[CommitMade]]] = {}
    since_by_group: dict[GroupId, int] = {}
    changed: dict[GroupId, Sequence[int]] = {}
    topic_ids: dict[GroupId, Mapping[Pair, int]] = {}
    stays: dict[GroupId, Sequence[Stay]] = {}
    pending: dict[GroupId, Sequence[Pair]] = {}
    for (number, part, reader), error in await fan_out(jobs):
        groups = by_partition[number]
        if error is None:
            made.update(reader.made())
            changed.update(reader.changed)
            stays.update(reader.stays())
            pending.update(reader.pending())
            topic_ids.update(reader.topic_ids())
            if part.cut and reader.oldest is not None:
                since_by_group.update(dict.fromkeys(groups, reader.oldest))
        else:
            unread.update(dict.fromkeys(groups, str(error)))
    denied = any(reader.denied for (_, _, reader), _ in jobs)
    return RecentCommits(made, unread, since_by_group, changed, topic_ids, stays, denied, pending)


class _Reader:
    """Reads the commits of some groups in one partition."""

    def __init__(self, groups: Collection[GroupId], everything: bool) -> None:
        self._everything = everything
        self.oldest: int | None = None
        self.denied = False
        self.changed: dict[GroupId, list[int]] = {}
        self._recorders: dict[GroupId, StayRecorder] = {}
        self._names: dict[bytes, GroupId] = {}
        for group in groups:
            name = group.encode("utf-8", "surrogatepass")
            self._names[len(name).to_bytes(2, "big") + name] = group
        self._found: dict[GroupId, dict[bytes, list[CommitMade]]] = {}
        self._last: dict[bytes, bytes] = {}
        """The key and the value of each last commit, if everything is read."""
        self._open: dict[int, list[Entry]] = {}
        """The records of transactions whose marker was not read yet, by producer ID."""

    async def read(self, cluster: Cluster, node: Node, part: _Range, until: float) -> str | None:
        """Read the records; return why the end was not reached, or ``None`` if it was."""
        name = f"{OFFSETS_TOPIC}-{part.number}"
        at = part.begin
        while at < part.end:
            if time.monotonic() >= until:
                return f"{name}: reading timed out"
            call = Fetch({OFFSETS_TOPIC: {part.number: at}}, PORTION)
            try:
                fetched = (await cluster.call(node, call)).get((OFFSETS_TOPIC, part.number))
                if isinstance(fetched, KafkaError):
                    self.denied = fetched.code in NOT_AUTHORIZED
                    return NEEDS_READ if self.denied else f"{name}: {fetched.message}"
                if not isinstance(fetched, Fetched):
                    return f"{name}: the broker's response does not contain it"
                entries, after, markers = read_entries(fetched.records, at)
            except (KgroupsError, RemoteProtocolError) as error:
                return f"{name}: {error}"
            if after == at:
                if not fetched.records:
                    return None  # the rest was compacted
                return f"{name}: a batch is larger than the maximum response size"
            in_effect = self._in_effect(entries, markers)
            for entry in in_effect if self._everything else entries:
                if entry.offset >= part.start:
                    self._collect(entry)
            at = after
        return None

    def _group(self, entry: Entry) -> GroupId | None:
        """Return the requested group that a record is about."""
        key = entry.key
        return None if key is None or len(key) < 4 else self._names.get(key[2 : 4 + int.from_bytes(key[2:4], "big")])

    def _in_effect(self, entries: Iterable[Entry], markers: Iterable[Marker]) -> list[Entry]:
        """Return the records that are in effect now: those of a transaction when its marker commits it."""
        found: list[Entry] = []
        both: Iterator[Entry | Marker] = heapq.merge(entries, markers, key=attrgetter("offset"))
        for each in both:
            if isinstance(each, Marker):
                records = self._open.pop(each.transaction, ())
                found += records if each.committed else ()
            elif each.transaction is None:
                found.append(each)
            elif self._group(each) is not None:
                self._open.setdefault(each.transaction, []).append(each)
        return found

    def _collect(self, entry: Entry) -> None:
        if self.oldest is None:
            self.oldest = entry.timestamp
        group, key = self._group(entry), entry.key
        if group is None or key is None:
            return
        record_type = int.from_bytes(key[:2], "big")
        if record_type in _MEMBERSHIP:
            if record_type in _MEMBERS:
                recorder = self._recorders.setdefault(group, StayRecorder())
                with suppress(UndecodableRecord):
                    _record(recorder, decode(key, entry.value), entry.timestamp)
            if self._everything:
                self.changed.setdefault(group, []).append(entry.timestamp)
            else:
                self._found.pop(group, None)
        elif record_type in _COMMITS:
            commits = self._found.setdefault(group, {})
            if entry.value is None or len(entry.value) < 10:
                commits.pop(key, None)
            else:
                # The offset is the first field in every version of the value.
                made = (entry.timestamp, int.from_bytes(entry.value[2:10], "big", signed=True))
                commits.setdefault(key, []).append(made)
                if self._everything:
                    self._last[key] = entry.value

    def made(self) -> dict[GroupId, Mapping[Pair, list[CommitMade]]]:
        """Return the commits of each group that has any, by partition."""
        return {
            group: {_pair(key): made for key, made in commits.items()}
            for group, commits in self._found.items()
            if commits
        }

    def pending(self) -> dict[GroupId, Sequence[Pair]]:
        """Return the partitions of which an open transaction has an offset."""
        found: dict[GroupId, set[Pair]] = {}
        for entry in chain.from_iterable(self._open.values()):
            group, key = self._group(entry), entry.key
            if group is not None and key is not None and int.from_bytes(key[:2], "big") in _COMMITS:
                found.setdefault(group, set()).add(_pair(key))
        return {group: sorted(pairs) for group, pairs in found.items()}

    def stays(self) -> dict[GroupId, Sequence[Stay]]:
        """Return who was a member of each group when."""
        return {group: recorder.stays for group, recorder in self._recorders.items()}

    def topic_ids(self) -> dict[GroupId, dict[Pair, int]]:
        """Return the IDs of topics in the last commits; a record that cannot be decoded has none."""
        found: dict[GroupId, dict[Pair, int]] = {}
        for group, commits in self._found.items():
            for key in commits.keys() & self._last.keys():
                with suppress(UndecodableRecord):
                    value = decode(key, self._last[key]).value or {}
                    if topic_id := topic_id_of(value.get("topicId") or NO_TOPIC_ID):
                        found.setdefault(group, {})[_pair(key)] = topic_id
        return found


def _record(recorder: StayRecorder, record: Record, time: int) -> None:
    """Record the members that a record shows, or that the tombstone of a member shows to be gone."""
    value = record.value
    if record.record_type == _CLASSIC_GROUP:
        members = (value or {}).get("members", ())
        recorder.snapshot(time, {member["memberId"]: _presence(member) for member in members})
    elif value is None:
        recorder.left(time, record.key["MemberId"])
    else:
        recorder.joined(time, record.key["MemberId"], _presence(value))


def _presence(member: Mapping[str, Any]) -> Presence:
    """Return a member: records of classic groups have other names of fields than those of other group types."""
    found = {name[0].upper() + name[1:]: value for name, value in member.items()}
    instance = found.get("GroupInstanceId") or found.get("InstanceId") or None
    return Presence.of(instance, found.get("ClientId", ""), found.get("ClientHost", ""))


def _pair(key: bytes) -> Pair:
    """Return the topic and partition in the key of a commit, which follow the record type and the group's name."""
    at = 4 + int.from_bytes(key[2:4], "big")
    size = int.from_bytes(key[at : at + 2], "big")
    topic = key[at + 2 : at + 2 + size].decode("utf-8", "replace")
    return topic, int.from_bytes(key[at + 2 + size :][:4], "big")
