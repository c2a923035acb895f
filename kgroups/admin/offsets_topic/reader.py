"""Read the records of groups in their partitions of ``__consumer_offsets``, each from its end backwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kgroups.model.group_log import GroupLog, GroupLogs, Key, ReadBudget
from kgroups.model.groups import GroupId
from kgroups.model.placement import OFFSETS_TOPIC, partition_of
from kgroups.net.cluster import Cluster

from ..log_search.search_logs import count_partitions, search_logs
from .facts import log_of
from .newest_records import Found, NewestRecords
from .retention import offsets_retention


async def read_group_logs(
    cluster: Cluster, wanted: Mapping[GroupId, frozenset[Key]], limits: ReadBudget, *, retention: bool = False
) -> GroupLogs:
    """Return the facts about groups in the offsets topic. Errors are notices: the other results are valid without it.

    :param wanted: group -> the keys of the records to find.
    :param retention: whether to fetch the broker's retention time of offsets as well.
    """
    count = await count_partitions(cluster, OFFSETS_TOPIC)
    if isinstance(count, str):
        return nothing_read(wanted, count)
    searches: dict[int, NewestRecords] = {}
    for group, keys in wanted.items():
        if not keys:
            continue  # such as a share group, which has no commits: do not read the log for nothing
        searches.setdefault(partition_of(group, count), NewestRecords()).request(group, keys)
    if not searches:
        return GroupLogs({}, ())
    searched = await search_logs(cluster, OFFSETS_TOPIC, searches, limits)
    notices = [f"--deep: {text}" for text in searched.reached]
    unread = {group: reason for number, reason in searched.reasons.items() for group in searches[number].groups}
    before = {group: older for number, older in searched.before.items() for group in searches[number].groups}
    found = {group: log for search in searches.values() for group, log in _logs(search)}
    kept = await offsets_retention(cluster) if retention else None
    if isinstance(kept, str):
        notices.append(f"--deep: the expiration time of offsets is unknown: {kept}")
    return GroupLogs(found, tuple(notices), kept if isinstance(kept, int) else None, unread, before)


def nothing_read(groups: Iterable[GroupId], reason: str) -> GroupLogs:
    """Return the result if no log can be read, for one reason."""
    return GroupLogs({}, (f"--deep: {reason}",), unread=dict.fromkeys(groups, reason))


def _logs(search: NewestRecords) -> Iterable[tuple[GroupId, GroupLog]]:
    own: dict[object, dict[Key, Found]] = defaultdict(dict)
    for key, found in search.newest.items():
        own[key[1]][key] = found
    return ((group, log_of(own[group], group)) for group in search.groups)
