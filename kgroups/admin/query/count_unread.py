"""Count the unread records at many positions: read each log from the lowest position to its end, up to a limit."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kgroups.model.cluster import Node
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure
from kgroups.model.time_lag import Position
from kgroups.model.unread_count import UnreadCount
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.fetch import Fetched
from kgroups.protocol.budget import Budget
from kgroups.protocol.record_counts import count_records

from ..routing.partition_leaders import TopicPartition
from .read_logs import Leader, Log, Results, Search, by_offset, run_searches

LIMIT = 16 * 1024 * 1024
"""Maximum bytes to read for each position; positions in the same part of a log share what is read."""
SHARE_OF_TIME_LEFT = 0.5
"""The maximum part of the remaining ``--timeout`` to spend on reading."""

STOPPED = f"counting stopped after {LIMIT >> 20} MiB"
TIMED_OUT = "counting stopped at half of --timeout"


@dataclass(slots=True)
class _Count(Search):
    """A search that counts the records up to ``end``."""

    end: int
    records: int = 0
    bytes: int = 0


async def count_unread(
    cluster: Cluster,
    positions: Iterable[Position],
    ends: Mapping[TopicPartition, int],
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
) -> tuple[dict[Position, UnreadCount], tuple[Failure, ...]]:
    """Return the number of records that a consumer receives from each position to the end, and the failures.

    Beyond :data:`LIMIT`, it is an interval: each of the other offsets can have a record.

    :param ends: the offset at which counting ends in each partition.
    :param isolation: with ``READ_COMMITTED``, records of aborted transactions do not count.
    """
    results: Results[UnreadCount] = Results()
    until = time.monotonic() + cluster.deadline.remaining() * SHARE_OF_TIME_LEFT
    searches: list[Search] = [_Count(at, at.offset, ends[at.topic, at.partition]) for at in sorted(set(positions))]
    await run_searches(cluster, searches, results, lambda node: _Counter(cluster, node, isolation, results, until))
    failed = {position: UnreadCount(reason=failure.message) for position, failure in results.failures.items()}
    return {**results.found, **failed}, results.all_failures()


class _Counter(Leader[UnreadCount]):
    def __init__(
        self, cluster: Cluster, node: Node, isolation: Isolation, results: Results[UnreadCount], until: float
    ) -> None:
        super().__init__(cluster, node, isolation, results)
        self._until = until

    def _read(self, log: Log, fetched: Fetched, budget: Budget) -> None:
        began, before = log.at, len(log.searches)
        counts = [search for search in log.searches if isinstance(search, _Count)]
        marks = (count.at for count in counts)
        found = count_records(fetched.records, began, marks, counts[0].end, fetched.aborted, budget)
        late = time.monotonic() >= self._until
        left: list[Search] = []
        for count in counts:
            if count.at in found.before:
                count.records += found.total - found.before[count.at]
                count.at = found.until
                count.bytes += len(fetched.records)
            if self._is_open(count, late):
                left.append(count)
        log.searches = by_offset(left)
        if len(left) == before and log.at == began:
            self._grow(log)
        else:
            log.size = max(log.size, 1)

    def _is_open(self, count: _Count, late: bool) -> bool:
        """Return whether to read on for a count; otherwise, keep its result."""
        left = max(0, count.end - count.at)
        if left and not late and count.bytes < LIMIT:
            return True
        reason = (TIMED_OUT if late else STOPPED) if left else None
        self._results.found[count.position] = UnreadCount(count.records, count.records + left, reason)
        return False
