"""Read stretches of logs whose records are compared with those of another cluster."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from kgroups.errors import BrokerUnavailable, KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Scope
from kgroups.model.translation.copies import Copy
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.fetch import Fetch, Fetched
from kgroups.protocol.apis.list_offsets import NOWHERE, Found, ListOffsets
from kgroups.protocol.budget import Budget
from kgroups.protocol.copied_records import read_copies
from kgroups.protocol.error_codes import LEADER_MOVED, KafkaError

from ..routing.backoff import Backoff
from ..routing.partition_leaders import (
    LEADER_ROUNDS,
    NO_TOPICS,
    TopicPartition,
    Topics,
    find_leaders,
    partition_name,
)

PORTION = 128 * 1024
"""Bytes of one request. A broker returns at least one batch, whatever its size."""
LARGEST = 16 * 1024 * 1024
"""Bytes of one request for a batch that is larger than :data:`PORTION`."""
TOGETHER = 32
"""Requests to one cluster at a time."""


class Unread(Exception):
    """Why a log could not be read, as text."""


class Chunk(NamedTuple):
    """The records of a log from an offset on.

    ``until``: the offset to continue at. ``stable``: the offset behind which consumers of read_committed wait.
    ``origins``: the source's offsets in a header, by offset.
    """

    records: list[Copy]
    until: int
    stable: int
    high: int
    size: int
    append_time: bool
    origins: dict[int, int]


class LogReader:
    """Reads the logs of one cluster."""

    def __init__(self, cluster: Cluster, topics: Topics, header: bytes | None = None) -> None:
        """:param topics: what was reported a moment ago about topics. ``header``: see :func:`.read_copies`."""
        self.cluster = cluster
        self.fetched = 0
        """The bytes of all responses."""
        self._known = topics
        self._header = header
        self._turn = asyncio.Semaphore(TOGETHER)

    async def read(self, pair: TopicPartition, at: int, isolation: Isolation = Isolation.READ_COMMITTED) -> Chunk:
        """Return the records from an offset on.

        :raises Unread: if no broker returns them.
        """
        topic, partition = pair
        size = PORTION
        while True:
            fetched = await self._ask(pair, Fetch({topic: {partition: at}}, size, isolation))
            assert isinstance(fetched, Fetched)
            self.fetched += len(fetched.records)
            budget = Budget(self.cluster.deadline)
            try:
                copies = read_copies(fetched.records, at, fetched.aborted, self._header, budget)
            except KgroupsError as error:
                raise Unread(f"{partition_name(pair)}: {error}") from error
            if copies.until > at or not fetched.records or size == LARGEST:
                break
            size = LARGEST
        stable, high = fetched.last_stable, fetched.high_watermark
        end = stable if isolation is Isolation.READ_COMMITTED else high
        # Behind the last batch, compaction may have left offsets without records up to the end of the log.
        until = copies.until if fetched.records else max(end, at)
        return Chunk(copies.records, until, stable, high, len(fetched.records), copies.append_time, copies.origins)

    async def offset_at(self, pair: TopicPartition, ms: int) -> int | None:
        """Return the first offset with this time (milliseconds since 1970) or a later one; ``None`` if there is none.

        :raises Unread: if no broker returns it.
        """
        found = await self._ask(pair, ListOffsets({pair[0]: (pair[1],)}, ms))
        assert isinstance(found, Found)
        return None if found.offset == NOWHERE else found.offset

    async def _ask(self, pair: TopicPartition, call: Fetch | ListOffsets) -> Fetched | Found:
        backoff = Backoff.of(self.cluster)
        why: object = "its leader does not answer"
        known = self._known
        async with self._turn:
            for attempt in range(LEADER_ROUNDS):
                if attempt and not await backoff.wait():
                    break
                node = await self._leader(pair, known)
                known = NO_TOPICS
                if not isinstance(node, Node):
                    raise Unread(node)
                try:
                    answer = (await self.cluster.call(node, call)).get(pair)
                except BrokerUnavailable as error:
                    why = error
                    continue
                except KgroupsError as error:
                    raise Unread(f"{partition_name(pair)}: {error}") from error
                if isinstance(answer, Fetched | Found):
                    return answer
                if not isinstance(answer, KafkaError):
                    raise Unread(f"{partition_name(pair)}: missing in the leader's response")
                failure = answer.failure(Scope.PARTITION, partition_name(pair), api=call.api.name, broker=node.id)
                why = failure.message
                if answer.code not in LEADER_MOVED:
                    break
        raise Unread(f"{partition_name(pair)}: {why}")

    async def _leader(self, pair: TopicPartition, known: Topics) -> Node | str:
        by_leader = await find_leaders(self.cluster, [pair], known=known)
        for failure in by_leader.failures.values():
            return f"{partition_name(pair)}: {failure.message}"
        return next(iter(by_leader.leaders))
