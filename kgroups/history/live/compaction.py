"""Find out which offsets without a record compaction left, from the headers of record batches.

A consumer does not learn why an offset has no record. The batches of the log show it: transaction markers and aborted
records are in batches, compacted records are not, or their batch has more offsets than records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kgroups.admin.routing.partition_leaders import find_leaders
from kgroups.admin.wire import WireClient
from kgroups.errors import BrokerUnavailable, KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.offsets import Isolation
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.fetch import Fetch, Fetched
from kgroups.protocol.budget import Budget
from kgroups.protocol.error_codes import KafkaError
from kgroups.protocol.record_batch import read_batches, undecodable

from .wire_session import WireSession

STRETCH = 50_000
"""Maximum offsets from the first to the last hole that are looked at together, if they are more than one."""
PORTION = 1 << 20
"""Bytes of one request."""

Hole = tuple[int, int]
"""Offsets from the first to the second, exclusive."""


def find_last(session: WireSession, topic: str, holes: Mapping[int, Sequence[Hole]]) -> dict[int, int | None]:
    """Return what :func:`last_compacted` does.

    If the log cannot be read, the last hole counts as compacted: that history is complete is then not known.
    """
    try:
        return last_compacted(session, topic, holes)
    except KgroupsError:
        return {partition: len(each) - 1 for partition, each in holes.items()}


def last_compacted(session: WireSession, topic: str, holes: Mapping[int, Sequence[Hole]]) -> dict[int, int | None]:
    """Return the index of the last hole of each partition that has a compacted offset; ``None`` without one.

    :param holes: in ascending order, by partition.
    :raises KgroupsError: if a leader does not respond, or its log cannot be read.
    """

    async def query(admin: WireClient) -> dict[int, int | None]:
        found: dict[int, int | None] = {}
        by_leader = await find_leaders(admin.cluster, [(topic, partition) for partition in holes])
        for failure in by_leader.failures.values():
            raise BrokerUnavailable(f"{failure.name}: {failure.message}")
        for node, pairs in by_leader.leaders.items():
            for _, partition in pairs:
                found[partition] = await _in_partition(admin.cluster, node, (topic, partition), holes[partition])
        return found

    return session.ask(query)


async def _in_partition(cluster: Cluster, node: Node, place: tuple[str, int], holes: Sequence[Hole]) -> int | None:
    """Look from the end: the cleaner works from the start of the log."""
    end = len(holes)
    while end:
        first = end - 1
        while first and holes[end - 1][1] - holes[first - 1][0] <= STRETCH:
            first -= 1
        explained = await _explained(cluster, node, place, holes[first][0], holes[end - 1][1])
        for index in reversed(range(first, end)):
            if not _is_explained(holes[index], explained):
                return index
        end = first
    return None


def _is_explained(hole: Hole, explained: Sequence[Hole]) -> bool:
    """Return whether ranges, in ascending order, contain all offsets of a hole."""
    at, stop = hole
    for first, after in explained:
        if first <= at < after:
            at = after
    return at >= stop


async def _explained(cluster: Cluster, node: Node, place: tuple[str, int], start: int, stop: int) -> list[Hole]:
    """Return the offsets of transaction markers and aborted records between two offsets, as merged ranges."""
    found: list[Hole] = []
    at, size = start, PORTION
    topic, partition = place
    while at < stop:
        response = await cluster.call(node, Fetch({topic: {partition: at}}, size, Isolation.READ_COMMITTED))
        fetched = response.get(place)
        if not isinstance(fetched, Fetched):
            reason = str(fetched) if isinstance(fetched, KafkaError) else "a response without this partition"
            raise BrokerUnavailable(f"{topic}-{partition}: {reason}")
        if not fetched.records:
            return found
        reached = at
        for first, after, is_visible in _batches(cluster, fetched):
            reached = max(reached, after)
            if is_visible:
                continue
            if found and found[-1][1] == first:
                found[-1] = (found[-1][0], after)
            else:
                found.append((first, after))
        size = PORTION if reached > at else size * 4  # a batch that is larger than the portion
        if size > 1 << 30:
            raise BrokerUnavailable(f"{topic}-{partition}: no complete record batch at offset {at}")
        at = reached
    return found


def _batches(cluster: Cluster, fetched: Fetched) -> Iterator[tuple[int, int, bool]]:
    with undecodable():
        for batch in read_batches(fetched.records, fetched.aborted, Budget(cluster.deadline)):
            yield batch.base, batch.last + 1, batch.visible
