"""The first record that is unread, of many positions in many logs: Fetch, many partitions a request, to each leader.

Rules: a request names a partition once, so that several positions in one partition are asked about one after the
other, the lowest first; and one answer serves all positions that it covers. What holds no record a consumer would see
(transaction markers, aborted records, holes of compaction) is passed over, up to :data:`ROUNDS` times. A batch that
does not fit is asked for with more bytes, at last alone: then a broker gives it whatever its size (KIP-74).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kgroups.errors import BrokerUnavailable, DecodingTimeout, KgroupsError, RemoteProtocolError, ResponseTooLarge
from kgroups.model.cluster import Node
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure, Scope
from kgroups.model.time_lag import FirstUnread, Position
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis.fetch import API, Fetch, Fetched
from kgroups.protocol.budget import Budget
from kgroups.protocol.error_codes import Code, KafkaError
from kgroups.protocol.first_records import first_records

from ..routing.backoff import BATCHES, Backoff
from ..routing.partition_leaders import (
    LEADER_ROUNDS,
    TopicPartition,
    find_leaders,
    may_heal,
    partition_name,
    unreachable,
)


class Portion(NamedTuple):
    """How much is asked for at once: bytes of each partition, and so many partitions."""

    bytes: int
    partitions: int


PORTIONS = (Portion(16 * 1024, 256), Portion(1024 * 1024, 8), Portion(1024 * 1024, 1))
"""The next one where the one before holds no whole batch. Producers' batches are of 16 KiB at most by default."""

ROUNDS = 32
"""How often one partition is read on behind offsets without a record, a portion each time."""

NEAR = 256
"""How many positions in one partition are searched in one answer: those that it may cover."""

OUT_OF_RANGE = "its records were deleted while they were asked for, or the log was cut back: ask again"
TOO_FAR = "no record was found among the first records after the committed offset"
NOTHING_WHOLE = "its leader gives no whole batch"


@dataclass(slots=True)
class Search:
    """One position, and the offset from which it is to be read on."""

    position: Position
    at: int

    @property
    def pair(self) -> TopicPartition:
        return self.position.topic, self.position.partition


@dataclass(slots=True)
class _Log:
    """The searches in one partition, by offset, the lowest next. ``size`` is a place in PORTIONS."""

    pair: TopicPartition
    searches: list[Search]
    size: int = 0
    rounds: int = 0

    @property
    def at(self) -> int:
        return self.searches[0].at


@dataclass(slots=True)
class _Findings:
    found: dict[Position, FirstUnread] = field(default_factory=dict)
    failures: dict[Position, Failure] = field(default_factory=dict)

    def fail(self, search: Search, failure: Failure) -> None:
        self.failures[search.position] = failure


async def find_unread(
    cluster: Cluster, positions: Iterable[Position], *, isolation: Isolation = Isolation.READ_UNCOMMITTED
) -> tuple[dict[Position, FirstUnread], tuple[Failure, ...]]:
    """What is unread first at each position; where nobody could say, the reason, and a failure besides.

    Under ``READ_COMMITTED`` records of aborted transactions are passed over, and open ones end the log (KIP-98).
    """
    pending = [Search(position, position.offset) for position in sorted(set(positions))]
    cluster.progress.begin("records", len(pending))
    findings = _Findings()
    backoff = Backoff(cluster)
    for attempt in range(LEADER_ROUNDS):
        if not pending or (attempt and not await backoff.wait()):
            break
        by_leader = await find_leaders(cluster, {search.pair for search in pending})
        by_pair: dict[TopicPartition, list[Search]] = {}
        for search in pending:
            findings.failures.pop(search.position, None)
            if search.pair in by_leader.failures:
                findings.fail(search, by_leader.failures[search.pair])
            else:
                by_pair.setdefault(search.pair, []).append(search)
        jobs = [
            (node, _Leader(cluster, node, isolation, findings).ask({pair: by_pair[pair] for pair in pairs}))
            for node, pairs in sorted(by_leader.leaders.items())
        ]
        lost = [search for _, moved in await fan_out(jobs) if not isinstance(moved, KgroupsError) for search in moved]
        lost += [s for s in pending if s.pair in by_leader.failures and may_heal(by_leader.failures[s.pair])]
        pending = lost
    failed = {position: FirstUnread(failed=failure.message) for position, failure in findings.failures.items()}
    return {**findings.found, **failed}, tuple(dict.fromkeys(map(findings.failures.__getitem__, sorted(failed))))


class _Leader:
    """One broker, asked about the partitions that it leads."""

    def __init__(self, cluster: Cluster, node: Node, isolation: Isolation, findings: _Findings) -> None:
        self._cluster = cluster
        self._node = node
        self._isolation = isolation
        self._findings = findings
        self._ready: tuple[deque[_Log], ...] = tuple(deque() for _ in PORTIONS)
        self._moved: list[Search] = []

    async def ask(self, searches: Mapping[TopicPartition, list[Search]]) -> list[Search]:
        """Ends every search, but for those given back: their partitions seem to have another leader now."""
        for pair, each in searches.items():
            self._queue(_Log(pair, sorted(each, key=lambda search: search.at)))
        await asyncio.gather(*(self._work() for _ in range(BATCHES)))
        return self._moved

    def _queue(self, log: _Log) -> None:
        if log.searches:
            self._ready[log.size].append(log)

    async def _work(self) -> None:
        """Asks about some of what is ready, until nothing is. What an answer leaves open is ready for who reads it."""
        while logs := self._take():
            call = Fetch(_offsets(logs), PORTIONS[logs[0].size].bytes, self._isolation)
            answer: Mapping[TopicPartition, Fetched | KafkaError] | KgroupsError
            try:
                answer = await self._cluster.call(self._node, call)
            except KgroupsError as error:
                answer = error
            budget = Budget()
            for log in logs:
                before = len(log.searches)
                if isinstance(answer, KgroupsError):
                    self._unanswered(log, answer)
                else:
                    # For each partition anew: while one waits its turn, others take their time.
                    budget.clock = self._cluster.deadline.within(self._cluster.settings.broker_timeout)
                    self._settle(log, answer.get(log.pair), budget)
                    await asyncio.sleep(0)  # unpacking takes its time: let other brokers' answers in between
                self._cluster.progress.advance("records", before - len(log.searches))
                self._queue(log)

    def _take(self) -> list[_Log]:
        for ready, portion in zip(self._ready, PORTIONS, strict=True):
            if ready:
                return [ready.popleft() for _ in range(min(len(ready), portion.partitions))]
        return []

    def _unanswered(self, log: _Log, error: KgroupsError) -> None:
        for search in log.searches:
            self._findings.fail(search, unreachable(log.pair, error, API.name, self._node.id))
        if isinstance(error, BrokerUnavailable):
            self._moved += log.searches
        log.searches = []

    def _settle(self, log: _Log, answer: Fetched | KafkaError | None, budget: Budget) -> None:
        if isinstance(answer, Fetched):
            self._unpack(log, answer, budget)
        elif isinstance(answer, KafkaError) and answer.code != Code.offset_out_of_range:
            failure = _failure(answer, log.pair, self._node)
            for search in log.searches:
                self._findings.fail(search, failure)
            if may_heal(failure):
                self._moved += log.searches
            log.searches = []
        elif answer:  # the log starts behind this offset now, or ends before it
            self._findings.fail(log.searches.pop(0), _failure(answer, log.pair, self._node))
        else:
            self._give_up(log, "left out of the leader's answer")

    def _unpack(self, log: _Log, answer: Fetched, budget: Budget) -> None:
        try:
            self._read(log, answer, budget)
        except ResponseTooLarge as error:
            log.size += 1  # in a response with fewer partitions, it may fit
            if log.size == len(PORTIONS):
                log.size -= 1
                self._give_up(log, error)
        except DecodingTimeout as error:
            for search in log.searches:
                self._findings.fail(search, unreachable(log.pair, error, API.name, self._node.id))
            log.searches = []
        except RemoteProtocolError as error:
            self._give_up(log, error)

    def _read(self, log: _Log, answer: Fetched, budget: Budget) -> None:
        began, before = log.at, len(log.searches)
        near, far = log.searches[:NEAR], log.searches[NEAR:]
        scan = first_records(answer.records, [search.at for search in near], answer.aborted, budget)
        end = answer.last_stable if self._isolation is Isolation.READ_COMMITTED else answer.high_watermark
        left = []
        for search in near:
            record = scan.found.get(search.at)
            if record:
                self._findings.found[search.position] = FirstUnread(record.offset, record.timestamp)
                continue
            search.at = max(search.at, scan.until)
            if search.at >= end:
                self._findings.found[search.position] = FirstUnread()
            else:
                left.append(search)
        log.searches = left = [*left, *far]  # those passed over go on where the answer ends
        if len(left) < before:
            log.rounds = 0
        if left and log.at == began:
            log.size += 1
            if log.size == len(PORTIONS):
                log.size -= 1
                self._give_up(log, NOTHING_WHOLE)
        elif left and scan.until > began and not scan.found:
            log.rounds += 1
            log.size = max(log.size, 1)
            if log.rounds > ROUNDS:
                self._give_up(log, TOO_FAR)

    def _give_up(self, log: _Log, reason: KgroupsError | str) -> None:
        """The search that is next; the others may fare better."""
        self._findings.fail(log.searches.pop(0), unreachable(log.pair, reason, API.name, self._node.id))


def _offsets(logs: Iterable[_Log]) -> dict[str, dict[int, int]]:
    offsets: dict[str, dict[int, int]] = {}
    for log in logs:
        topic, partition = log.pair
        offsets.setdefault(topic, {})[partition] = log.at
    return offsets


def _failure(error: KafkaError, pair: TopicPartition, node: Node) -> Failure:
    if error.code == Code.topic_authorization_failed:
        return error.failure(Scope.TOPIC, pair[0], api=API.name)
    if error.code == Code.offset_out_of_range:
        error = KafkaError(error.code, OUT_OF_RANGE)
    return error.failure(Scope.PARTITION, partition_name(pair), api=API.name, broker=node.id)
