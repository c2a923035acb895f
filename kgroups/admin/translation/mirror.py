"""Read what MirrorMaker 2 recorded about the copies of topics: offset syncs and checkpoints.

Each of the two topics is read once, from start to end, whatever the number of groups, and only what concerns the given
committed offsets is kept. Checkpoints are read first: the syncs that they follow from are then in the log, too.

MirrorMaker 2 writes only to partition 0 of both topics, and reads only that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from struct import Struct

from kgroups.errors import DeadlineExceeded, KgroupsError, UndecodableRecord, UsageError
from kgroups.model.counts import count
from kgroups.model.group_log import ReadBudget
from kgroups.model.groups import GroupId
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure
from kgroups.model.translation.mirror_names import MirrorNames
from kgroups.model.translation.syncs import OffsetPair, SyncLog, SyncTranslation, translate_by_syncs
from kgroups.net.cluster import Cluster
from kgroups.net.deadline import Deadline
from kgroups.protocol.apis.fetch import API, Fetched
from kgroups.protocol.apis.metadata import Metadata
from kgroups.protocol.budget import Budget
from kgroups.protocol.mirror import decode_checkpoint, decode_sync_key, decode_sync_value
from kgroups.protocol.record_entries import Entries, Entry, read_entries

from ..query.log_offsets import fetch_logs
from ..routing.partition_leaders import TopicPartition, topic_leaders, unreachable
from .log_reader import SOURCE, TARGET, Kind, LogReader, Unread, on_side

LIMITS = ReadBudget(1 << 30, 300.0)
"""By default, of each topic."""
_WHOLE = Kind(1024 * 1024, Isolation.READ_COMMITTED)
"""How a whole log is requested: more bytes at a time than to look at a few records."""
KEPT = 4
"""The number of checkpoints that are kept of a group's partition, those at or below its offset."""

_PACKED = Struct(">qq")
"""A checkpoint, as it is kept: of a million offsets, objects would take a gigabyte."""

_pair_of = lru_cache(1 << 16)(decode_sync_key)

Committed = Mapping[TopicPartition, Mapping[GroupId, int]]
"""Topic and partition of the source -> group -> committed offset."""


@dataclass
class Mirror:
    """What MirrorMaker 2 recorded. ``failures``: what could not be read. ``notices``: what was found out."""

    names: MirrorNames
    syncs: dict[TopicPartition, SyncLog] = field(default_factory=dict)
    checkpoints: dict[TopicPartition, dict[GroupId, bytes]] = field(default_factory=dict)
    """By the topic of the source, packed; see :meth:`checkpoints_of`."""
    unknown: dict[TopicPartition, str] = field(default_factory=dict)
    """Partitions whose syncs prove nothing, and why."""
    failures: list[Failure] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    unread: str | None = None
    """Why the syncs were not read to their end; an older part of them proves nothing."""

    def translate(
        self, group: GroupId, topic: str, partition: int, offset: int, ends: OffsetPair | None = None
    ) -> SyncTranslation | str:
        """Return the offset of the copy at which a group continues, or the reason why it is not proved.

        :param ends: the log end offsets of both sides, looked up after :func:`read_mirror`.
        """
        pair = topic, partition
        reason = self.unread or self.unknown.get(pair)
        if reason:
            return reason
        checkpoints = self.checkpoints_of(group, pair)
        return translate_by_syncs(self.syncs.get(pair) or SyncLog(), checkpoints, offset, ends)

    def checkpoints_of(self, group: GroupId, pair: TopicPartition) -> list[OffsetPair]:
        """Return the last checkpoints of a group at or below its offset, oldest first."""
        return [OffsetPair(*each) for each in _PACKED.iter_unpack(self.checkpoints.get(pair, {}).get(group, b""))]


async def read_mirror(
    source: Cluster, target: Cluster, names: MirrorNames, committed: Committed, limits: ReadBudget = LIMITS
) -> Mirror:
    """Read the offset syncs and the checkpoints that concern these committed offsets of the source.

    What is missing in ``names`` is found out from the names of topics. Topics that cannot be read are failures.

    :param limits: bytes and seconds, of each of the two topics.
    :raises UsageError: if there is no topic of MirrorMaker 2, or several that match.
    :raises KgroupsError: if no broker of a cluster responds.
    """
    policy = names.renames
    mirror = await _find(source, target, names)
    names, keep = mirror.names, _Keeper(mirror, committed)
    checkpoints = _Log(target, TARGET, names.checkpoints_topic(), keep.checkpoint, limits)
    syncs = _Log(*((target, TARGET) if names.on_target else (source, SOURCE)), names.syncs_topic(), keep.sync, limits)
    for log in (checkpoints, syncs):
        if failure := await log.read():
            failure = on_side(log.side, failure)
            mirror.failures.append(failure)
            if log is syncs:
                mirror.unread = mirror.unread or f"{failure.name}: {failure.message}"
        if log is checkpoints and keep.renamed and policy is None:
            mirror.unread = (
                f"the policy of MirrorMaker 2 is unknown: {log.topic} is about the copy {keep.renamed}, but no topic "
                "with such a name is visible on the target; set --mm2-policy"
            )
        if log.undecodable:
            records = count(log.undecodable, "record")
            mirror.notices.append(f"{log.topic}: {records} could not be decoded, and not used")
    return mirror


class _Keeper:
    """Keeps what concerns some committed offsets."""

    def __init__(self, mirror: Mirror, committed: Committed) -> None:
        self._mirror = mirror
        self._committed = committed
        self._topics = {mirror.names.copy_of(topic): topic for topic, _ in committed}
        self._groups = {group: group for offsets in committed.values() for group in offsets}
        renaming = mirror.names._replace(renames=True)
        self._renamed = {renaming.copy_of(topic) for topic, _ in committed} - set(self._topics)
        self.renamed: str | None = None
        """The new name of a copy, although copies seem to have the names of their topics."""

    def checkpoint(self, entry: Entry) -> None:
        """Keep the record of a checkpoint.

        :raises UndecodableRecord: if it is not one.
        """
        found = decode_checkpoint(entry.key or b"", entry.value or b"")
        if found.topic in self._renamed:
            self.renamed = found.topic
        topic = self._topics.get(found.topic, "")
        offset = self._committed.get((topic, found.partition), {}).get(found.group)
        if offset is not None and found.upstream <= offset:
            kept = self._mirror.checkpoints.setdefault((topic, found.partition), {})
            packed = kept.get(found.group, b"") + _PACKED.pack(found.upstream, found.downstream)
            kept[self._groups[found.group]] = packed[-KEPT * _PACKED.size :]

    def sync(self, entry: Entry) -> None:
        """Keep the record of an offset sync; if it cannot be decoded, its partition is unknown.

        :raises UndecodableRecord: if its key is not that of an offset sync.
        """
        pair = _pair_of(entry.key or b"")
        if pair not in self._committed:
            return
        try:
            upstream, downstream = decode_sync_value(entry.value or b"")
        except UndecodableRecord as error:
            self._mirror.unknown[pair] = f"an offset sync of the partition could not be decoded: {error}"
            return
        if pair not in self._mirror.syncs:
            self._mirror.syncs[pair] = SyncLog(self._committed[pair].values())
        self._mirror.syncs[pair].add(upstream, downstream, entry.timestamp)


@dataclass
class _Log:
    """Partition 0 of a topic, which is read from its start to its present end."""

    cluster: Cluster
    side: str
    topic: str
    keep: Callable[[Entry], None]
    limits: ReadBudget
    undecodable: int = 0
    _bytes: int = 0

    async def read(self) -> Failure | None:
        """Read the log; return why it was not read to its end. Errors are not raised."""
        pair = self.topic, 0
        deadline = Deadline(self.limits.seconds)
        try:
            topics = await topic_leaders(self.cluster, [self.topic])
            reader = LogReader(self.cluster, self.side, topics)
            logs, failures = await fetch_logs(self.cluster, {self.topic: [0]}, isolation=_WHOLE.isolation, known=topics)
            if failures:
                return failures[0]
            at, end = logs.offsets[self.topic][0]
            if at is None or end is None:
                return unreachable(pair, "its start and end offsets are unknown", "ListOffsets", None)
            while at < end:
                if limit := self._limit(deadline):
                    text = f"not read after offset {at:,} of {end:,}: the limit of {limit} is reached"
                    return unreachable(pair, DeadlineExceeded(text), API.name, None)
                began = at
                _, entries, at = await reader.read_as(partial(self._decode, at), pair, at, _WHOLE)
                if at == began:
                    return unreachable(pair, "its leader returned no complete batch", API.name, None)
                self._keep_all(entries)
        except KgroupsError as error:
            return unreachable(pair, error, API.name, None)
        except Unread as error:
            return error.failure
        return None

    def _limit(self, deadline: Deadline) -> str | None:
        if not deadline.remaining():
            return f"{self.limits.seconds:g} seconds"
        return f"{self.limits.bytes:,} bytes" if self._bytes >= self.limits.bytes else None

    def _decode(self, at: int, fetched: Fetched) -> Entries:
        budget = Budget(self.cluster.deadline)
        found = read_entries(fetched.records, at, fetched.aborted, budget)
        self._bytes += max(len(fetched.records), budget.spent)
        return found

    def _keep_all(self, found: Entries) -> None:
        for entry in found.entries:
            try:
                self.keep(entry)
            except UndecodableRecord:
                self.undecodable += 1


async def _find(source: Cluster, target: Cluster, names: MirrorNames) -> Mirror:
    """Complete the names by the topics of both clusters.

    :raises UsageError: if there is none that fits, or several.
    """
    on_source, on_target = [
        frozenset([entry.topic for entry in (await cluster.call_any(Metadata(None))).topics if not entry.error])
        for cluster in (source, target)
    ]
    given, known = names, names.checkpoint_aliases(on_target)
    if names.source is None:
        names = names._replace(source=_only(known, names.checkpoints_topic, "target", "source"))
    elif known and names.source not in known:
        topics = ", ".join(map(names.checkpoints_topic, known))
        raise UsageError(f"the target has no topic {names.checkpoints_topic()}; of MirrorMaker 2, it has {topics}")
    if names.on_target is None:
        here, there = names.syncs_aliases(on_source), names.syncs_topic(names.source)
        if there in on_target and here and names.target in (None, *here):
            topics = ", ".join(map(names.syncs_topic, here))
            raise UsageError(
                f"both clusters have offset syncs of MirrorMaker 2 (source: {topics}; target: {there}), and their "
                "names do not show their direction; set where those from source to target are (--mm2-syncs)"
            )
        names = names._replace(on_target=there in on_target)
    if names.target is None and not names.on_target:
        found = names.syncs_aliases(on_source)
        names = names._replace(target=_only(found, names.syncs_topic, "source", "target"))
    if names.renames is None:
        names = names._replace(renames=names.has_copies(on_target))
    mirror = Mirror(names)
    if names != given:
        mirror.notices.append(
            f"MirrorMaker 2: offset syncs in {names.syncs_topic()} on the {'target' if names.on_target else 'source'}, "
            f"checkpoints in {names.checkpoints_topic()}; copies are named {names.copy_of('TOPIC')}"
        )
    return mirror


def _only(aliases: list[str], topic_of: Callable[[str], str], side: str, alias: str) -> str:
    """Return the only alias.

    :raises UsageError: if there is none, or several.
    """
    if len(aliases) == 1:
        return aliases[0]
    if aliases:
        topics = ", ".join(map(topic_of, aliases))
        raise UsageError(f"the {side} has several topics of MirrorMaker 2: {topics}; name one (--mm2-{alias})")
    raise UsageError(
        f"the {side} has no topic {topic_of('ALIAS')} of MirrorMaker 2, or it is not visible (it requires the ACL "
        f"DESCRIBE); if its name has another form, set --mm2-{alias} and --mm2-separator"
    )
