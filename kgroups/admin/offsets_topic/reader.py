"""What groups' own partitions of ``__consumer_offsets`` tell, each read backwards until all that is wanted is found."""

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
    """What the log tells of these groups. What cannot be read is a notice: the rest of the answer stands without it.

    :param retention: whether the broker is asked how long it keeps offsets.
    """
    try:
        count = len((await cluster.refresh((OFFSETS_TOPIC,))).topics[0].leaders)
    except (KgroupsError, IndexError) as error:
        return nothing_read(wanted, str(error))
    if not count:
        return nothing_read(wanted, f"{OFFSETS_TOPIC} cannot be seen: it needs the ACL READ on it")
    readers: dict[int, PartitionReader] = {}
    for group, keys in wanted.items():
        if not keys:
            continue  # such as the commits of a share group: nothing is read to look for nothing
        number = partition_of(group, count)
        readers.setdefault(number, PartitionReader(cluster, number, limits)).want(group, keys)
    if not readers:
        return GroupLogs({}, ())
    logs, _ = await fetch_logs(cluster, {OFFSETS_TOPIC: list(readers)}, isolation=Isolation.READ_COMMITTED)
    ends = logs.offsets.get(OFFSETS_TOPIC, {})
    by_leader = await find_leaders(cluster, [(OFFSETS_TOPIC, number) for number in readers])
    notices = [f"--deep: {hole.name}: {hole.message}" for hole in by_leader.failures.values()]
    jobs = [
        (readers[number], readers[number].read(node, ends.get(number, LogOffsets())))
        for node, pairs in by_leader.leaders.items()
        for _, number in pairs
    ]
    reasons = {number: f"{hole.name}: {hole.message}" for (_, number), hole in by_leader.failures.items()}
    answered = await fan_out(jobs)
    for reader, answer in sorted(answered, key=lambda each: each[0].number):
        said = f"{OFFSETS_TOPIC}-{reader.number}: {answer}" if isinstance(answer, KgroupsError) else str(answer)
        notices.append(f"--deep: {said}")
        if not isinstance(answer, Reach):
            reasons[reader.number] = said
        elif answer.stopped:
            reasons[reader.number] = f"searched in {OFFSETS_TOPIC}-{reader.number}, and stopped at {answer.stopped}"
    unread = {group: why for number, why in reasons.items() for group in readers[number].groups}
    before = {
        group: answer.older
        for reader, answer in answered
        if isinstance(answer, Reach) and answer.older is not None
        for group in reader.groups
    }
    found = {group: log for reader in readers.values() for group, log in _logs(reader)}
    kept = await offsets_retention(cluster) if retention else None
    if isinstance(kept, str):
        notices.append(f"--deep: when offsets expire is not known: {kept}")
    return GroupLogs(found, tuple(notices), kept if isinstance(kept, int) else None, unread, before)


def nothing_read(wanted: Iterable[GroupId], why: str) -> GroupLogs:
    """The answer where no log can be read, for one reason."""
    return GroupLogs({}, (f"--deep: {why}",), unread=dict.fromkeys(wanted, why))


def _logs(reader: PartitionReader) -> Iterable[tuple[GroupId, GroupLog]]:
    own: dict[object, dict[Key, Found]] = defaultdict(dict)
    for key, found in reader.newest.items():
        own[key[1]][key] = found
    return ((group, log_of(own[group], group)) for group in reader.groups)
