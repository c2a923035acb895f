"""Compare the leader epochs of offsets with the logs of their partitions: OffsetForLeaderEpoch per leader (KIP-320).

A consumer with an epoch above that of its partition waits for metadata that never comes, and reads nothing. Where an
epoch ends in the log before the offset of a commit of this epoch, the log lost records that the group has read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kgroups.errors import KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupType
from kgroups.model.offsets import LogOffsets, Logs
from kgroups.model.outcome import Outcome
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis.offset_for_leader_epoch import API, EpochEnd, OffsetForLeaderEpoch
from kgroups.protocol.error_codes import LEADER_MOVED, KafkaError

from ..routing.backoff import Backoff
from ..routing.partition_leaders import LEADER_ROUNDS, TopicPartition, by_topic, find_leaders
from .log_offsets import fetch_logs


class EpochAt(NamedTuple):
    """An offset of a partition, with a leader epoch that it has, or is said to have."""

    topic: str
    partition: int
    offset: int
    epoch: int


async def epochs_in_log(cluster: Cluster, wanted: Iterable[EpochAt]) -> Mapping[EpochAt, bool]:
    """Return whether the log of its partition has the epoch at the offset; absent where no broker reports it.

    The first epoch in a log also had the offsets before it, whose records were deleted.
    """
    found = await _ends(cluster, frozenset(wanted))
    early = {at for at, (before, end) in found.items() if end.epoch == at.epoch and at.offset < before.end}
    logs, _ = await fetch_logs(cluster, by_topic({at[:2] for at in early})) if early else (Logs(), ())
    starts = {at: logs.offsets.get(at.topic, {}).get(at.partition, LogOffsets()).start for at in early}
    is_first = {at for at, start in starts.items() if start is not None and found[at][0].end <= start}
    return {
        at: end.epoch == at.epoch and (before.end <= at.offset or at in is_first) and at.offset <= end.end
        for at, (before, end) in found.items()
    }


async def logs_kept(cluster: Cluster, wanted: Iterable[EpochAt]) -> Mapping[EpochAt, bool]:
    """Return whether the records before each offset are the same as when the epoch was the current one.

    After an unclean leader election, the log lacks the last records of the epoch. Absent where no broker reports it.
    """
    return {
        at: end.epoch == at.epoch and at.offset <= end.end
        for at, (_, end) in (await _ends(cluster, frozenset(wanted))).items()
    }


async def with_epoch_ends(cluster: Cluster, outcome: Outcome[GroupOffsets]) -> Outcome[GroupOffsets]:
    """Add to the logs where the leader epochs of commits end; nothing is requested for those of the current epoch.

    Absent where no broker reports it.
    """
    wanted = {
        (topic, commit.partition, commit.leader_epoch)
        for item in outcome.items
        if item.group.type not in GroupType.WITHOUT_COMMITS
        for topic, commits in item.commits.topics.items()
        if (current := item.logs.epochs.get(topic))
        for commit in commits
        if commit.leader_epoch is not None and commit.leader_epoch < current.get(commit.partition, 0)
    }
    if not wanted:
        return outcome
    ends = {at: found.end for at, found in (await _fetch(cluster, wanted)).items() if found.end >= 0}
    return outcome.with_items(item._replace(logs=item.logs._replace(epoch_ends=ends)) for item in outcome.items)


async def _ends(cluster: Cluster, wanted: frozenset[EpochAt]) -> dict[EpochAt, tuple[EpochEnd, EpochEnd]]:
    """Return where the epoch before each one ends in the log, and where the epoch ends."""
    pairs = {(at.topic, at.partition, epoch) for at in wanted for epoch in (at.epoch - 1, at.epoch) if epoch >= 0}
    ends = await _fetch(cluster, pairs) if pairs else {}
    found: dict[EpochAt, tuple[EpochEnd, EpochEnd]] = {}
    for at in wanted:
        end = ends.get((at.topic, at.partition, at.epoch))
        before = ends.get((at.topic, at.partition, at.epoch - 1)) if at.epoch else EpochEnd(-1, 0)
        if end and before:
            found[at] = before, end
    return found


async def _fetch(cluster: Cluster, wanted: set[tuple[str, int, int]]) -> dict[tuple[str, int, int], EpochEnd]:
    found: dict[tuple[str, int, int], EpochEnd] = {}
    pending = wanted
    backoff = Backoff.of(cluster)
    for attempt in range(LEADER_ROUNDS):
        if not pending or (attempt and not await backoff.wait()):
            break
        leaders = (await find_leaders(cluster, {(topic, number) for topic, number, _ in pending})).leaders
        again: set[tuple[str, int, int]] = set()
        for part, answer in await fan_out(
            [(part, _call(cluster, node, part)) for node, pairs in leaders.items() for part in _parts(pairs, pending)]
        ):
            for (topic, number), epoch in part.items():
                end = None if isinstance(answer, KgroupsError) else answer.get((topic, number))
                if isinstance(end, EpochEnd):
                    found[topic, number, epoch] = end
                elif isinstance(end, KafkaError) and end.code in LEADER_MOVED:
                    again.add((topic, number, epoch))
        pending = again
    return found


def _parts(pairs: Iterable[TopicPartition], wanted: set[tuple[str, int, int]]) -> list[dict[TopicPartition, int]]:
    """Return requests that each have a partition once: the response does not repeat the requested epoch."""
    epochs: dict[TopicPartition, list[int]] = {}
    for topic, number, epoch in sorted(wanted):
        epochs.setdefault((topic, number), []).append(epoch)
    parts: list[dict[TopicPartition, int]] = []
    for pair in pairs:
        for at, epoch in enumerate(epochs.get(pair, ())):
            if at == len(parts):
                parts.append({})
            parts[at][pair] = epoch
    return parts


async def _call(
    cluster: Cluster, node: Node, part: Mapping[TopicPartition, int]
) -> Mapping[TopicPartition, EpochEnd | KafkaError]:
    topics: dict[str, list[tuple[int, int]]] = {}
    for (topic, number), epoch in part.items():
        topics.setdefault(topic, []).append((number, epoch))
    if not await cluster.speaks(node, API):
        return {}
    return await cluster.call(node, OffsetForLeaderEpoch(topics))
