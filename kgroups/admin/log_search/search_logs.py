"""Search partitions of a coordinator's topic, each from its end backwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgroups.errors import KgroupsError
from kgroups.model.group_log import Reach, ReadBudget
from kgroups.model.offsets import Isolation, LogOffsets
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.error_codes import NOT_AUTHORIZED

from ..query.log_offsets import fetch_logs
from ..routing.partition_leaders import find_leaders
from .backward_reader import BackwardReader, NotAuthorized, Search


@dataclass
class Searched:
    """What is known about the search, by partition: how far the log was read, and why some records were not found.

    ``stopped``: the limit at which the search stopped, if it did. ``before``: the records that were not found are older
    than this time, in milliseconds since 1970.
    """

    reached: list[str] = field(default_factory=list)
    reasons: dict[int, str] = field(default_factory=dict)
    stopped: dict[int, str] = field(default_factory=dict)
    before: dict[int, int] = field(default_factory=dict)


async def count_partitions(cluster: Cluster, topic: str) -> int | str:
    """Return the number of partitions of a topic, or why it is unknown."""
    try:
        metadata = (await cluster.refresh((topic,))).topics[0]
    except (KgroupsError, IndexError) as error:
        return str(error)
    if metadata.error and metadata.error.code not in NOT_AUTHORIZED:
        return f"{topic}: {metadata.error.message}"
    return len(metadata.leaders) or NotAuthorized.to_read(topic)


async def search_logs(cluster: Cluster, topic: str, searches: Mapping[int, Search], limits: ReadBudget) -> Searched:
    """Search these partitions at the same time. Errors are reasons: what other partitions contain is valid."""
    logs, _ = await fetch_logs(cluster, {topic: list(searches)}, isolation=Isolation.READ_COMMITTED)
    ends = logs.offsets.get(topic, {})
    by_leader = await find_leaders(cluster, [(topic, number) for number in searches])
    found = Searched([f"{failure.name}: {failure.message}" for failure in by_leader.failures.values()])
    found.reasons = {
        number: f"{failure.name}: {failure.message}" for (_, number), failure in by_leader.failures.items()
    }
    jobs = [
        (
            number,
            BackwardReader(cluster, topic, number, limits, searches[number]).read(node, ends.get(number, LogOffsets())),
        )
        for node, pairs in by_leader.leaders.items()
        for _, number in pairs
    ]
    for number, result in sorted(await fan_out(jobs), key=lambda each: each[0]):
        text = f"{topic}-{number}: {result}" if isinstance(result, KgroupsError) else str(result)
        found.reached.append(text)
        if not isinstance(result, Reach):
            found.reasons[number] = text
            continue
        if isinstance(result.stopped, NotAuthorized):
            found.reasons[number] = result.stopped
        elif result.stopped:
            found.reasons[number] = f"not found in {topic}-{number}; the search stopped at {result.stopped}"
            found.stopped[number] = result.stopped
        if result.older is not None:
            found.before[number] = result.older
    return found
