"""Read the states of share groups in their partitions of ``__share_group_state``, each from its end backwards."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from kgroups.model.group_log import ReadBudget
from kgroups.model.operations.origin import topic_id_text
from kgroups.model.placement import SHARE_STATE_TOPIC, share_partition_of
from kgroups.model.share.state import ShareState
from kgroups.net.cluster import Cluster

from ..log_search.search_logs import count_partitions, search_logs
from .state_records import StateKey, StateRecords

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
