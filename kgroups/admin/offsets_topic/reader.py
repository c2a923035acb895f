"""Read the records of groups in their partitions of ``__consumer_offsets``, each from its end backwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kgroups.errors import KgroupsError
from kgroups.model.group_log import GroupLog, GroupLogs, Key, Reach, ReadBudget
from kgroups.model.groups import GroupId
from kgroups.model.offsets import Isolation, LogOffsets
from kgroups.model.placement import OFFSETS_TOPIC, partition_of
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out

from ..query.log_offsets import fetch_logs
from ..routing.partition_leaders import find_leaders
from .backward_reader import Found, PartitionReader
from .facts import log_of
from .retention import offsets_retention


async def read_group_logs(
    cluster: Cluster, wanted: Mapping[GroupId, frozenset[Key]], limits: ReadBudget, *, retention: bool = False
) -> GroupLogs:
    """Return the facts about groups in the offsets topic. Errors are notices: the other results are valid without it.

    :param wanted: group -> the keys of the records to find.
    :param retention: whether to fetch the broker's retention time of offsets as well.
    """
    try:
        count = len((await cluster.refresh((OFFSETS_TOPIC,))).topics[0].leaders)
    except (KgroupsError, IndexError) as error:
        return nothing_read(wanted, str(error))
    if not count:
        return nothing_read(wanted, f"{OFFSETS_TOPIC} is not visible; this requires the ACL READ on it")
    readers: dict[int, PartitionReader] = {}
    for group, keys in wanted.items():
        if not keys:
            continue  # such as a share group, which has no commits: do not read the log for nothing
        number = partition_of(group, count)
        readers.setdefault(number, PartitionReader(cluster, number, limits)).request(group, keys)
    if not readers:
        return GroupLogs({}, ())
    logs, _ = await fetch_logs(cluster, {OFFSETS_TOPIC: list(readers)}, isolation=Isolation.READ_COMMITTED)
    ends = logs.offsets.get(OFFSETS_TOPIC, {})
    by_leader = await find_leaders(cluster, [(OFFSETS_TOPIC, number) for number in readers])
    notices = [f"--deep: {failure.name}: {failure.message}" for failure in by_leader.failures.values()]
    jobs = [
        (readers[number], readers[number].read(node, ends.get(number, LogOffsets())))
        for node, pairs in by_leader.leaders.items()
        for _, number in pairs
    ]
    reasons = {number: f"{failure.name}: {failure.message}" for (_, number), failure in by_leader.failures.items()}
    results = await fan_out(jobs)
    for reader, result in sorted(results, key=lambda each: each[0].number):
        text = f"{OFFSETS_TOPIC}-{reader.number}: {result}" if isinstance(result, KgroupsError) else str(result)
        notices.append(f"--deep: {text}")
        if not isinstance(result, Reach):
            reasons[reader.number] = text
        elif result.stopped:
            reasons[reader.number] = (
                f"not found in {OFFSETS_TOPIC}-{reader.number}; the search stopped at {result.stopped}"
            )
    unread = {group: reason for number, reason in reasons.items() for group in readers[number].groups}
    before = {
        group: result.older
        for reader, result in results
        if isinstance(result, Reach) and result.older is not None
        for group in reader.groups
    }
    found = {group: log for reader in readers.values() for group, log in _logs(reader)}
    kept = await offsets_retention(cluster) if retention else None
    if isinstance(kept, str):
        notices.append(f"--deep: the expiration time of offsets is unknown: {kept}")
    return GroupLogs(found, tuple(notices), kept if isinstance(kept, int) else None, unread, before)


def nothing_read(groups: Iterable[GroupId], reason: str) -> GroupLogs:
    """Return the result if no log can be read, for one reason."""
    return GroupLogs({}, (f"--deep: {reason}",), unread=dict.fromkeys(groups, reason))


def _logs(reader: PartitionReader) -> Iterable[tuple[GroupId, GroupLog]]:
    own: dict[object, dict[Key, Found]] = defaultdict(dict)
    for key, found in reader.newest.items():
        own[key[1]][key] = found
    return ((group, log_of(own[group], group)) for group in reader.groups)
