"""Gather what is known about the partitions of share groups: states, settings, and their oldest unfinished records."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from kgroups.errors import KgroupsError
from kgroups.model.group_log import ReadBudget
from kgroups.model.groups import GroupId
from kgroups.model.offsets import LogOffsets
from kgroups.model.operations.origin import topic_id_text
from kgroups.model.outcome import Scope
from kgroups.model.permissions import TOPIC, Acl
from kgroups.model.placement import SHARE_STATE_TOPIC, share_partition_of
from kgroups.model.share.partition import ShareFacts, SharePartition
from kgroups.model.share.state import ShareState
from kgroups.model.time_lag import FirstUnread, Position
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.net.cluster import Cluster

from ..log_search.backward_reader import NotAuthorized
from ..log_search.search_logs import count_partitions, search_logs
from ..query.first_unread import find_unread
from ..query.log_offsets import fetch_logs
from .settings import fetch_share_settings
from .state_records import StateKey, StateRecords

READ_STATES = Acl("READ", TOPIC, SHARE_STATE_TOPIC)
NO_TOPIC_ID = "the ID of its topic is unknown"
FINISHED = "there is no record at this offset, and the next one is finished"


class Gathered(NamedTuple):
    """The facts about share groups, and how far the logs were read."""

    facts: Mapping[GroupId, ShareFacts]
    reached: Sequence[str]
    missing_acls: Sequence[Acl] = ()


async def gather_share_facts(cluster: Cluster, items: Iterable[GroupOffsets], limits: ReadBudget) -> Gathered:
    """Return the facts about these groups, all of them share groups. Errors are in the facts, not raised."""
    items = tuple(items)
    keys = {key for item in items for _, _, key in _places(item) if key}
    states, settings = await asyncio.gather(
        read_share_states(cluster, keys, limits), fetch_share_settings(cluster, (item.group for item in items))
    )
    partitions = {item.group.group: _partitions(item, states) for item in items}
    oldest = {
        position for each in partitions.values() for partition in each if (position := _oldest_position(partition))
    }
    found, _ = await find_unread(cluster, oldest) if oldest else ({}, ())
    topics = {name: each.dead_letter_topic.value or "" for name, each in settings.items()}
    dead_letters = await count_dead_letters(cluster, set(topics.values()) - {""})
    now = int(time.time() * 1000)
    facts = {
        name: ShareFacts(
            tuple(_with_oldest(partition, found) for partition in each),
            settings[name],
            now,
            dead_letters.get(topics[name]),
        )
        for name, each in partitions.items()
    }
    denied = any(isinstance(reason, NotAuthorized) for reason in states.unknown.values())
    return Gathered(facts, states.reached, [READ_STATES] if denied else [])


def _places(item: GroupOffsets) -> Iterable[tuple[str, int, StateKey | None]]:
    """Yield the partitions in which the group has a start offset, with the keys of their states."""
    for topic, starts in sorted(item.commits.topics.items()):
        topic_id = item.logs.topic_ids.get(topic)
        for start in sorted(starts):
            yield topic, start.partition, StateKey(item.group.group, topic_id, start.partition) if topic_id else None


def _partitions(item: GroupOffsets, states: ShareStates) -> list[SharePartition]:
    """Return the partitions with a start offset, and those whose start offset is unknown."""
    unknown = [
        SharePartition(topic, number, LogOffsets(), unknown=failure.message)
        for (topic, number), failure in sorted(item.commits.failures.items())
    ]
    return unknown + [
        SharePartition(
            topic,
            number,
            item.logs.offsets.get(topic, {}).get(number, LogOffsets()),
            states.states.get(key) if key else None,
            states.unknown.get(key) if key else NO_TOPIC_ID,
        )
        for topic, number, key in _places(item)
    ]


def _oldest_position(partition: SharePartition) -> Position | None:
    tally = partition.tally
    if tally is None or tally.oldest is None or partition.log.end is None:
        return None
    return Position(partition.topic, partition.partition, tally.oldest)


def _with_oldest(partition: SharePartition, found: Mapping[Position, FirstUnread]) -> SharePartition:
    position = _oldest_position(partition)
    record = found.get(position) if position else None
    if record is None or partition.state is None:
        return partition
    at = record.offset
    if at is not None and any(batch.finished and batch.first <= at <= batch.last for batch in partition.state.batches):
        record = FirstUnread(failed=FINISHED)  # the offset was removed by compaction, or is a transaction marker
    return partition._replace(oldest=record)


async def count_dead_letters(cluster: Cluster, topics: Collection[str]) -> Mapping[str, int | str]:
    """Return the number of offsets in the log of each topic, or why it is unknown. Errors are not raised."""
    if not topics:
        return {}
    try:
        metadata = (await cluster.refresh(topics)).topics
    except KgroupsError as error:
        return dict.fromkeys(topics, str(error))
    found: dict[str, int | str] = {
        entry.topic: entry.error.failure(Scope.TOPIC, entry.topic, api="Metadata").message
        for entry in metadata
        if entry.error
    }
    logs, _ = await fetch_logs(cluster, {entry.topic: list(entry.leaders) for entry in metadata if not entry.error})
    for (topic, number), reason in logs.holes.items():
        found.setdefault(topic, f"{topic}-{number}: {reason}")
    for topic, partitions in logs.offsets.items():
        found.setdefault(topic, sum((log.end or 0) - (log.start or 0) for log in partitions.values()))
    return found


NO_SNAPSHOT = f"{SHARE_STATE_TOPIC} contains updates of its state, but no snapshot"


class ShareStates(NamedTuple):
    """The states that exist, why others are unknown, and how far the logs were read."""

    states: dict[StateKey, ShareState]
    unknown: dict[StateKey, str]
    reached: list[str]


async def read_share_states(cluster: Cluster, keys: Collection[StateKey], limits: ReadBudget) -> ShareStates:
    """Return the states with these keys. Errors are reasons in the result, not raised."""
    if not keys:
        return ShareStates({}, {}, [])
    count = await count_partitions(cluster, SHARE_STATE_TOPIC)
    if isinstance(count, str):
        return ShareStates({}, dict.fromkeys(keys, count), [count])
    searches: dict[int, StateRecords] = {}
    for key in keys:
        number = share_partition_of(key.group, topic_id_text(key.topic_id), key.partition, count)
        searches.setdefault(number, StateRecords()).request(key)
    searched = await search_logs(cluster, SHARE_STATE_TOPIC, searches, limits)
    found = ShareStates({}, {}, searched.reached)
    for number, search in searches.items():
        for key, state in search.states.items():
            if isinstance(state, str):
                found.unknown[key] = state
            elif state is not None:
                found.states[key] = state
        # Without a reason, the whole log was read: a state without records does not exist.
        reason = searched.reasons.get(number)
        found.unknown.update(dict.fromkeys(search.without_snapshot, reason or NO_SNAPSHOT))
        found.unknown.update(dict.fromkeys(search.without_records if reason else (), reason or ""))
    return found
