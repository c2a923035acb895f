"""Read the next records at many positions, with everything that the producers wrote."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kgroups.model.cluster import Node
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure
from kgroups.model.record import NextRecords, RecordDetails
from kgroups.model.time_lag import Position
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.fetch import API, Fetched
from kgroups.protocol.budget import Budget
from kgroups.protocol.record_details import read_details

from ..routing.partition_leaders import unreachable
from .read_logs import Leader, Log, Results, Search, by_offset, run_searches

LIMIT = 256 * 1024 * 1024
"""Maximum bytes of all records, which are in memory."""
TOO_LARGE = f"with its next records, more than {LIMIT >> 20} MiB would be read; request fewer records"


@dataclass(slots=True)
class _Room:
    left: int


@dataclass(slots=True)
class _Reading(Search):
    """A search that collects records."""

    most: int
    records: list[RecordDetails] = field(default_factory=list)


async def next_records(
    cluster: Cluster, positions: Iterable[Position], most: int, *, isolation: Isolation
) -> tuple[dict[Position, NextRecords], dict[Position, Failure]]:
    """Return the records that a consumer receives next at each position, and the failures.

    :param most: the maximum number of records for each position.
    :param isolation: with ``READ_COMMITTED``, records of aborted transactions are skipped, and open transactions end
        the log (KIP-98).
    """
    results: Results[NextRecords] = Results()
    room = _Room(LIMIT)
    searches: list[Search] = [_Reading(at, at.offset, most) for at in sorted(set(positions))]
    await run_searches(cluster, searches, results, lambda node: _NextRecords(cluster, node, isolation, results, room))
    return results.found, results.failures


class _NextRecords(Leader[NextRecords]):
    def __init__(
        self, cluster: Cluster, node: Node, isolation: Isolation, results: Results[NextRecords], room: _Room
    ) -> None:
        super().__init__(cluster, node, isolation, results)
        self._room = room

    def _read(self, log: Log, fetched: Fetched, budget: Budget) -> None:
        began = log.at
        left: list[Search] = []
        progress = False
        for search in log.searches:
            assert isinstance(search, _Reading)
            most = search.most - len(search.records)
            found, search.at = read_details(fetched.records, search.at, fetched.aborted, most, budget)
            search.records += found
            self._room.left -= sum(record.size for record in found)
            if self._room.left < 0:
                self._results.fail(search, unreachable(log.pair, TOO_LARGE, API.name, self._node.id))
                progress = True
            elif len(search.records) == search.most or search.at >= self._end(fetched):
                self._results.found[search.position] = NextRecords(tuple(search.records), search.at)
                progress = True
            else:
                left.append(search)
                progress = progress or bool(found)
        self._continue(log, by_offset(left), began, progress=progress)
        if progress and left:
            log.size = max(log.size, 1)  # many records: more bytes at a time
