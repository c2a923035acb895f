"""Read many logs from many positions: Fetch to each leader, many partitions per request.

What is done with the records is up to the :class:`Leader`: :mod:`.first_unread`, :mod:`.count_unread`, and
:mod:`.next_records` are its three kinds.

- A request contains a partition once, so several positions in it are searched in turn, the lowest first; a response
  serves all positions that it covers.
- Responses without a record that consumers see (only transaction markers, aborted records, or offsets removed by
  compaction) are skipped, up to :data:`ROUNDS` times.
- If a batch does not fit, it is requested with more bytes, finally alone: then a broker returns it whatever its size
  (KIP-74).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from kgroups.errors import BrokerUnavailable, DecodingTimeout, KgroupsError, RemoteProtocolError, ResponseTooLarge
from kgroups.model.cluster import Node
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure
from kgroups.model.time_lag import Position
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis.fetch import API, Fetch, Fetched
from kgroups.protocol.budget import Budget
from kgroups.protocol.error_codes import Code, KafkaError

from ..routing.backoff import BATCHES, Backoff
from ..routing.partition_leaders import (
    LEADER_ROUNDS,
    TopicPartition,
    find_leaders,
    may_heal,
    partition_failure,
    unreachable,
)

T = TypeVar("T")


class Portion(NamedTuple):
    """The size of a request: bytes per partition, and number of partitions."""

    bytes: int
    partitions: int


PORTIONS = (Portion(16 * 1024, 256), Portion(1024 * 1024, 8), Portion(1024 * 1024, 1))
"""Each is used if a batch does not fit into the previous one. By default, producers' batches have at most 16 KiB."""

ROUNDS = 32
"""Maximum number of portions without a record that are skipped in one partition."""

OUT_OF_RANGE = "its records were deleted during the request, or the log was truncated; run the command again"
TOO_FAR = "no record was found among the first records after the committed offset"
NOTHING_WHOLE = "its leader does not return a complete batch"


@dataclass(slots=True)
class Search:
    """A position, and the offset at which its search continues."""

    position: Position
    at: int

    @property
    def pair(self) -> TopicPartition:
        return self.position.topic, self.position.partition


def by_offset(searches: Iterable[Search]) -> list[Search]:
    """Return searches sorted by the offset at which they continue."""
    return sorted(searches, key=lambda search: search.at)


@dataclass(slots=True)
class Log:
    """The searches in one partition, sorted by offset."""

    pair: TopicPartition
    searches: list[Search]
    size: int = 0
    """An index into :data:`PORTIONS`."""
    rounds: int = 0

    @property
    def at(self) -> int:
        return self.searches[0].at


@dataclass(slots=True)
class Results(Generic[T]):
    found: dict[Position, T] = field(default_factory=dict)
    failures: dict[Position, Failure] = field(default_factory=dict)

    def fail(self, search: Search, failure: Failure) -> None:
        self.failures[search.position] = failure

    def all_failures(self) -> tuple[Failure, ...]:
        """Return each failure once."""
        return tuple(dict.fromkeys(map(self.failures.__getitem__, sorted(self.failures))))


async def run_searches(
    cluster: Cluster, pending: list[Search], results: Results[T], leader_of: Callable[[Node], Leader[T]]
) -> None:
    """Complete the searches, on the leaders of their partitions, also if these move."""
    cluster.progress.begin("records", len(pending))
    backoff = Backoff.of(cluster)
    for attempt in range(LEADER_ROUNDS):
        if not pending or (attempt and not await backoff.wait()):
            break
        by_leader = await find_leaders(cluster, {search.pair for search in pending})
        by_pair: dict[TopicPartition, list[Search]] = {}
        for search in pending:
            results.failures.pop(search.position, None)
            if search.pair in by_leader.failures:
                results.fail(search, by_leader.failures[search.pair])
            else:
                by_pair.setdefault(search.pair, []).append(search)
        jobs = [
            (node, leader_of(node).search({pair: by_pair[pair] for pair in pairs}))
            for node, pairs in sorted(by_leader.leaders.items())
        ]
        lost = [search for _, moved in await fan_out(jobs) if not isinstance(moved, KgroupsError) for search in moved]
        lost += [s for s in pending if s.pair in by_leader.failures and may_heal(by_leader.failures[s.pair])]
        pending = lost


class Leader(Generic[T]):
    """Searches the partitions that one broker leads."""

    def __init__(self, cluster: Cluster, node: Node, isolation: Isolation, results: Results[T]) -> None:
        self._cluster = cluster
        self._node = node
        self._isolation = isolation
        self._results = results
        self._ready: tuple[deque[Log], ...] = tuple(deque() for _ in PORTIONS)
        self._moved: list[Search] = []

    async def search(self, searches: Mapping[TopicPartition, list[Search]]) -> list[Search]:
        """Complete every search except those returned: their partitions seem to have another leader now."""
        for pair, each in searches.items():
            self._queue(Log(pair, by_offset(each)))
        await asyncio.gather(*(self._work() for _ in range(BATCHES)))
        return self._moved

    def _queue(self, log: Log) -> None:
        if log.searches:
            self._ready[log.size].append(log)

    async def _work(self) -> None:
        """Send requests for logs that are ready until none is; a log with open searches becomes ready again."""
        while logs := self._take():
            call = Fetch(_offsets(logs), PORTIONS[logs[0].size].bytes, self._isolation)
            response: Mapping[TopicPartition, Fetched | KafkaError] | KgroupsError
            try:
                response = await self._cluster.call(self._node, call)
            except KgroupsError as error:
                response = error
            budget = Budget()
            for log in logs:
                before = len(log.searches)
                if isinstance(response, KgroupsError):
                    self._fail_all(log, response)
                else:
                    # A new limit for each partition: it must not pay for the time that the others took.
                    budget.clock = self._cluster.deadline.within(self._cluster.settings.broker_timeout)
                    self._process(log, response.get(log.pair), budget)
                    await asyncio.sleep(0)  # decoding takes time: let responses of other brokers be read
                self._cluster.progress.advance("records", before - len(log.searches))
                self._queue(log)

    def _take(self) -> list[Log]:
        for ready, portion in zip(self._ready, PORTIONS, strict=True):
            if ready:
                return [ready.popleft() for _ in range(min(len(ready), portion.partitions))]
        return []

    def _fail_all(self, log: Log, error: KgroupsError) -> None:
        for search in log.searches:
            self._results.fail(search, unreachable(log.pair, error, API.name, self._node.id))
        if isinstance(error, BrokerUnavailable):
            self._moved += log.searches
        log.searches = []

    def _process(self, log: Log, result: Fetched | KafkaError | None, budget: Budget) -> None:
        if isinstance(result, Fetched):
            self._decode(log, result, budget)
        elif isinstance(result, KafkaError) and result.code != Code.offset_out_of_range:
            failure = _failure(result, log.pair, self._node)
            for search in log.searches:
                self._results.fail(search, failure)
            if may_heal(failure):
                self._moved += log.searches
            log.searches = []
        elif result:  # the log now starts after this offset, or ends before it
            self._results.fail(log.searches.pop(0), _failure(result, log.pair, self._node))
        else:
            self._fail_next(log, "missing in the leader's response")

    def _decode(self, log: Log, fetched: Fetched, budget: Budget) -> None:
        try:
            self._read(log, fetched, budget)
        except ResponseTooLarge as error:
            log.size += 1  # in a response with fewer partitions, it may fit
            if log.size == len(PORTIONS):
                log.size -= 1
                self._fail_next(log, error)
        except DecodingTimeout as error:
            for search in log.searches:
                self._results.fail(search, unreachable(log.pair, error, API.name, self._node.id))
            log.searches = []
        except RemoteProtocolError as error:
            self._fail_next(log, error)

    def _read(self, log: Log, fetched: Fetched, budget: Budget) -> None:
        """Continue the searches of a log with what was returned from ``log.at`` on."""
        raise NotImplementedError

    def _continue(self, log: Log, left: list[Search], began: int, *, progress: bool) -> None:
        """Go on with the searches that are left, or give up the next one.

        :param began: the offset of the request.
        :param progress: whether a record was found.
        """
        log.searches = left
        if progress:
            log.rounds = 0
        if left and log.at == began:
            self._grow(log)
        elif left and not progress:
            log.rounds += 1
            log.size = max(log.size, 1)
            if log.rounds > ROUNDS:
                self._fail_next(log, TOO_FAR)

    def _end(self, fetched: Fetched) -> int:
        """Return the offset at which a consumer of this isolation waits for more records."""
        return fetched.last_stable if self._isolation is Isolation.READ_COMMITTED else fetched.high_watermark

    def _grow(self, log: Log) -> None:
        """Request more bytes, because no complete batch was returned."""
        log.size += 1
        if log.size == len(PORTIONS):
            log.size -= 1
            self._fail_next(log, NOTHING_WHOLE)

    def _fail_next(self, log: Log, reason: KgroupsError | str) -> None:
        """Fail only the next search; the others may succeed."""
        self._results.fail(log.searches.pop(0), unreachable(log.pair, reason, API.name, self._node.id))


def _offsets(logs: Iterable[Log]) -> dict[str, dict[int, int]]:
    offsets: dict[str, dict[int, int]] = {}
    for log in logs:
        topic, partition = log.pair
        offsets.setdefault(topic, {})[partition] = log.at
    return offsets


def _failure(error: KafkaError, pair: TopicPartition, node: Node) -> Failure:
    if error.code == Code.offset_out_of_range:
        error = KafkaError(error.code, OUT_OF_RANGE)
    return partition_failure(error, pair, API.name, node.id)
