"""Find the first unread records at many positions: read each log until a record that a consumer sees."""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.model.cluster import Node
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure
from kgroups.model.time_lag import FirstUnread, Position
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.fetch import Fetched
from kgroups.protocol.budget import Budget
from kgroups.protocol.first_records import first_records

from .read_logs import Leader, Log, Results, Search, run_searches

NEAR = 256
"""Maximum number of positions in one partition that are searched in one response."""


async def find_unread(
    cluster: Cluster,
    positions: Iterable[Position],
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
    checksums: bool = False,
) -> tuple[dict[Position, FirstUnread], tuple[Failure, ...]]:
    """Return the first unread record at each position, or the reason why it is unknown; and the failures.

    :param isolation: with ``READ_COMMITTED``, records of aborted transactions are skipped, and open transactions end
        the log (KIP-98).
    :param checksums: whether the records have the checksums of their batches.
    """
    results: Results[FirstUnread] = Results()
    searches = [Search(position, position.offset) for position in sorted(set(positions))]

    def leader_of(node: Node) -> _FirstUnread:
        return _FirstUnread(cluster, node, isolation, results, checksums)

    await run_searches(cluster, searches, results, leader_of)
    failed = {position: FirstUnread(failed=failure.message) for position, failure in results.failures.items()}
    return {**results.found, **failed}, results.all_failures()


class _FirstUnread(Leader[FirstUnread]):
    def __init__(
        self, cluster: Cluster, node: Node, isolation: Isolation, results: Results[FirstUnread], checksums: bool
    ) -> None:
        super().__init__(cluster, node, isolation, results)
        self._checksums = checksums

    def _read(self, log: Log, fetched: Fetched, budget: Budget) -> None:
        began, before = log.at, len(log.searches)
        near, far = log.searches[:NEAR], log.searches[NEAR:]
        scan = first_records(
            fetched.records, [search.at for search in near], fetched.aborted, budget, checksums=self._checksums
        )
        left = []
        for search in near:
            record = scan.found.get(search.at)
            if record:
                self._results.found[search.position] = FirstUnread(record.offset, record.timestamp, crc=record.crc)
                continue
            search.at = max(search.at, scan.until)
            if search.at >= self._end(fetched):
                self._results.found[search.position] = FirstUnread()
            else:
                left.append(search)
        left += far  # searches without a record continue where the response ends
        self._continue(log, left, began, progress=len(left) < before)
