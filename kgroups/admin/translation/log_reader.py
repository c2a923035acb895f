"""Read stretches of logs whose records are compared with those of another cluster.

What is requested from a leader at the same time is one request. In a response for several partitions, one can lack
records that it has: then it is requested alone, and the first batch is returned whatever its size (KIP-74). What is
read does therefore not depend on what else is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, cast

from kgroups.errors import BrokerUnavailable, KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure
from kgroups.model.translation.copies import Copy
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.fetch import API as FETCH
from kgroups.protocol.apis.fetch import Fetch, Fetched
from kgroups.protocol.apis.list_offsets import API as LIST_OFFSETS
from kgroups.protocol.apis.list_offsets import NOWHERE, Found, ListOffsets
from kgroups.protocol.budget import Budget
from kgroups.protocol.copied_records import Copies, read_copies
from kgroups.protocol.error_codes import KafkaError
from kgroups.protocol.record_entries import Entries

from ..routing.backoff import Backoff
from ..routing.partition_leaders import (
    LEADER_ROUNDS,
    NO_TOPICS,
    TopicPartition,
    Topics,
    by_topic,
    find_leaders,
    may_heal,
    partition_failure,
    partition_name,
    unreachable,
)

PORTION = 128 * 1024
"""Bytes of one request. A broker returns at least one batch, whatever its size."""
LARGEST = 16 * 1024 * 1024
"""Bytes of one request for a batch of which a broker returned only a part."""
TOGETHER = 32
"""Partitions of one request."""
IN_FLIGHT = 2
"""Requests of a kind to a leader at a time. What is requested meanwhile is part of the next ones."""


D = TypeVar("D", Copies, Entries)

SOURCE, TARGET = "on the source", "on the target"
"""Which cluster a failure is about."""


def on_side(side: str, failure: Failure) -> Failure:
    """Return the failure of one of both clusters, which its message names."""
    general = failure.general and f"{side}: {failure.general}"
    return failure._replace(message=f"{side}: {failure.message}", general=general)


class Unread(Exception):
    """Why a log could not be read, as text, and as a failure that does not name the cluster."""

    def __init__(self, side: str, pair: TopicPartition, failure: Failure) -> None:
        super().__init__(f"{side}: {partition_name(pair)}: {failure.message}")
        self.failure = failure


class Chunk(NamedTuple):
    """The records of a log from an offset on.

    ``until``: the offset to continue at. ``stable``: the offset at which consumers of read_committed wait.
    ``origins``: as in :class:`.Copies`.
    """

    records: list[Copy]
    until: int
    stable: int
    high: int
    size: int
    append_time: bool
    origins: dict[int, int | bytes]


class Kind(NamedTuple):
    """What is requested: the records from an offset on, or, with a ``size`` of 0, the offset of a time."""

    size: int
    isolation: Isolation = Isolation.READ_UNCOMMITTED
    alone: bool = False
    """Whether of one partition."""

    def call(self, values: dict[TopicPartition, int]) -> Fetch | ListOffsets:
        if not self.size:
            return ListOffsets(by_topic(values), values)
        offsets: dict[str, dict[int, int]] = {}
        for (topic, partition), at in values.items():
            offsets.setdefault(topic, {})[partition] = at
        return Fetch(offsets, self.size, self.isolation)


class Asked(NamedTuple):
    pair: TopicPartition
    value: int
    answer: asyncio.Future[Fetched | Found | KafkaError | None]


@dataclass
class Lane:
    """What is to be requested from one leader, and the tasks that do."""

    waiting: list[Asked] = field(default_factory=list)
    senders: set[asyncio.Task[None]] = field(default_factory=set)

    def take(self, most: int) -> dict[TopicPartition, Asked]:
        """Remove and return what fits into one request: each partition once."""
        taken: dict[TopicPartition, Asked] = {}
        left: list[Asked] = []
        for each in self.waiting:
            if each.pair in taken or len(taken) == most:
                left.append(each)
            else:
                taken[each.pair] = each
        self.waiting = left
        return taken


class LogReader:
    """Reads the logs of one cluster."""

    def __init__(self, cluster: Cluster, side: str, topics: Topics, header: bytes | None = None) -> None:
        """:param topics: what was reported a moment ago about topics. ``header``: see :func:`.read_copies`."""
        self.cluster = cluster
        self.denied: dict[str, Failure] = {}
        """The topics whose logs may not be read."""
        self._side = side
        self._known = topics
        self._header = header
        self._lanes: dict[tuple[int, Kind], Lane] = {}

    async def read(self, pair: TopicPartition, at: int, isolation: Isolation = Isolation.READ_COMMITTED) -> Chunk:
        """Return the records from an offset on.

        :raises Unread: if no broker returns them.
        """

        def decode(fetched: Fetched) -> Copies:
            return read_copies(fetched.records, at, fetched.aborted, self._header, Budget(self.cluster.deadline))

        fetched, copies, until = await self.read_as(decode, pair, at, Kind(PORTION, isolation))
        stable, high, size = fetched.last_stable, fetched.high_watermark, len(fetched.records)
        return Chunk(copies.records, until, stable, high, size, copies.append_time, copies.origins)

    async def read_as(
        self, decode: Callable[[Fetched], D], pair: TopicPartition, at: int, kind: Kind
    ) -> tuple[Fetched, D, int]:
        """Return what a leader returns from an offset on, what it contains, and the offset to continue at.

        :raises Unread: if no broker returns it, or it cannot be decoded.
        """
        alone = kind._replace(alone=True)
        for each in (kind, alone, alone._replace(size=LARGEST)):
            fetched: Fetched = await self._ask(pair, each, at)
            try:
                found = decode(fetched)
            except KgroupsError as error:
                raise Unread(self._side, pair, unreachable(pair, error, FETCH.name, None)) from error
            end = fetched.last_stable if kind.isolation is Isolation.READ_COMMITTED else fetched.high_watermark
            if found.until > at or (not fetched.records and at >= end):
                break
        # After the last batch, compaction may have left offsets without records up to the end of the log.
        return fetched, found, found.until if fetched.records else max(end, at)

    async def offset_at(self, pair: TopicPartition, ms: int) -> int | None:
        """Return the first offset with this time (milliseconds since 1970) or a later one; ``None`` if there is none.

        :raises Unread: if no broker returns it.
        """
        found: Found = await self._ask(pair, Kind(0), ms)
        return None if found.offset == NOWHERE else found.offset

    async def _ask(self, pair: TopicPartition, kind: Kind, value: int) -> Any:
        """Return what the leader answers: :class:`Fetched`, or :class:`Found`."""
        backoff, known = Backoff.of(self.cluster), self._known
        for attempt in range(LEADER_ROUNDS):
            if attempt and not await backoff.wait():
                break
            answer, retry = await self._ask_leader(pair, kind, value, known)
            if not isinstance(answer, Failure):
                return answer
            if not retry:
                break
            known = NO_TOPICS
        assert isinstance(answer, Failure)
        raise Unread(self._side, pair, answer)

    async def _ask_leader(
        self, pair: TopicPartition, kind: Kind, value: int, known: Topics
    ) -> tuple[Fetched | Found | Failure, bool]:
        """Return the answer, or why there is none, and whether another leader may give one."""
        by_leader = await find_leaders(self.cluster, [pair], known=known)
        for failure in by_leader.failures.values():
            return failure, may_heal(failure)
        (node,) = by_leader.leaders
        api = (FETCH if kind.size else LIST_OFFSETS).name
        try:
            answer = await self._call(node, kind, pair, value)
        except KgroupsError as error:
            return unreachable(pair, error, api, node.id), isinstance(error, BrokerUnavailable)
        if isinstance(answer, KafkaError):
            failure = partition_failure(answer, pair, api, node.id)
            if failure.acl:
                self.denied[pair[0]] = on_side(self._side, failure)
            return failure, may_heal(failure)
        return answer or unreachable(pair, "missing in the leader's response", api, node.id), False

    async def _call(
        self, node: Node, kind: Kind, pair: TopicPartition, value: int
    ) -> Fetched | Found | KafkaError | None:
        lane = self._lanes.setdefault((node.id, kind), Lane())
        asked = Asked(pair, value, asyncio.get_running_loop().create_future())
        lane.waiting.append(asked)
        if len(lane.senders) < IN_FLIGHT:
            lane.senders.add(asyncio.create_task(self._send(node, kind, lane)))
        return await asked.answer

    async def _send(self, node: Node, kind: Kind, lane: Lane) -> None:
        """Request what is waiting until nothing is."""
        while taken := lane.take(1 if kind.alone else TOGETHER):
            call = kind.call({pair: each.value for pair, each in taken.items()})
            answers: Mapping[TopicPartition, Fetched | Found | KafkaError] | Exception
            try:
                answers = await self.cluster.call(node, call)
            except Exception as error:  # for those who wait, whatever it is
                answers = error
            for pair, each in taken.items():
                if each.answer.done():  # cancelled
                    continue
                if isinstance(answers, Exception):
                    each.answer.set_exception(answers)
                else:
                    each.answer.set_result(answers.get(pair))
        lane.senders.remove(cast("asyncio.Task[None]", asyncio.current_task()))
