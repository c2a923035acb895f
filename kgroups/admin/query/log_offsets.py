"""Fetch log start and log end offsets: once per partition, however many groups read it, with ListOffsets per leader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kgroups.errors import KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.offsets import Isolation, LogOffsets, LogProblem, Logs
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import list_offsets
from kgroups.protocol.apis.list_offsets import Found, Where
from kgroups.protocol.error_codes import Code, KafkaError

from ..routing.backoff import Backoff
from ..routing.partition_leaders import (
    LEADER_ROUNDS,
    NO_TOPICS,
    TopicPartition,
    Topics,
    by_topic,
    find_leaders,
    may_heal,
    partition_name,
    unreachable,
)

PARTITIONS_PER_REQUEST = 10_000

Partitions = Mapping[str, Iterable[int]]
"""Topic -> partitions."""


class LogCollector:
    """The positions to look up in each log (start, end, or a time), and the offsets and failures so far."""

    def __init__(
        self,
        positions: tuple[Where | int, ...] = (Where.END, Where.START),
        isolation: Isolation = Isolation.READ_UNCOMMITTED,
        whole_topics: bool = False,
        known: Topics = NO_TOPICS,
    ) -> None:
        self.positions = positions
        self.isolation = isolation
        self.whole_topics = whole_topics
        self.known = known
        self.found: dict[Where | int, dict[TopicPartition, int]] = {}
        self.failures: dict[TopicPartition, Failure] = {}
        self.epochs: dict[str, dict[int, int]] = {}
        self.topic_ids: dict[str, int] = {}
        self.sizes: dict[str, int] = {}
        self.high: dict[str, dict[int, int]] = {}

    def add_high(self, before: LogCollector) -> None:
        """Add earlier high watermarks: a transaction is open if the last stable offset is lower."""
        ends = self.found.get(Where.END, {})
        high = before.found.get(Where.END, {})
        for pair in set(ends) - set(high):
            del ends[pair]
            self.failures[pair] = before.failures.get(pair) or unreachable(
                pair, "no high watermark", "ListOffsets", None
            )
        for (topic, partition), end in high.items():
            self.high.setdefault(topic, {})[partition] = end

    def logs(self) -> Logs:
        offsets: dict[str, dict[int, LogOffsets]] = {}
        starts, ends = self.found.get(Where.START, {}), self.found.get(Where.END, {})
        for pair in dict.fromkeys((*starts, *ends)):
            topic, partition = pair
            offsets.setdefault(topic, {})[partition] = LogOffsets(starts.get(pair), ends.get(pair))
        holes = {pair: failure.message for pair, failure in self.failures.items()}
        stable = self.isolation is Isolation.READ_COMMITTED
        problems = {pair: found for pair, failure in self.failures.items() if (found := problem_of(failure))}
        return Logs(offsets, holes, self.epochs, self.topic_ids, stable, problems, self.high, sizes=self.sizes)

    def distinct_failures(self) -> tuple[Failure, ...]:
        """Return each failure once: a topic that was deleted is one failure, not one for each of its partitions."""
        return tuple(dict.fromkeys(self.failures[pair] for pair in sorted(self.failures)))


def problem_of(failure: Failure) -> LogProblem | None:
    """Return why no consumer can read the log that a failure is about; ``None`` if the failure does not show it."""
    if failure.code == Code.unknown_topic_or_partition:
        return LogProblem.MISSING
    if failure.code == Code.leader_not_available:
        return LogProblem.LEADERLESS
    if failure.code is None and failure.scope is Scope.PARTITION and failure.api in ("ListOffsets", "Metadata"):
        return LogProblem.UNRESPONSIVE
    return None


async def fetch_logs(
    cluster: Cluster,
    partitions: Partitions,
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
    whole_topics: bool = False,
    known: Topics = NO_TOPICS,
    with_high: bool = False,
) -> tuple[Logs, tuple[Failure, ...]]:
    """Return the log start and log end offsets of partitions; those without are in ``Logs.holes``, with a failure.

    A topic that cannot be queried is one failure, not one for each partition.

    :param isolation: with ``READ_COMMITTED``, the end is the last stable offset (KIP-98).
    :param whole_topics: also fetch the offsets of the other partitions of these topics.
    :param known: what was reported a moment ago about some topics: see :func:`.find_leaders`.
    :param with_high: with ``READ_COMMITTED``, also fetch the high watermarks.
    """
    with_high = with_high and isolation is Isolation.READ_COMMITTED
    collector = LogCollector(isolation=isolation, whole_topics=whole_topics, known=known)
    if with_high:
        before = LogCollector((Where.END,), whole_topics=whole_topics, known=known)
        await _fill(cluster, partitions, before)
    await _fill(cluster, partitions, collector)
    if with_high:
        collector.add_high(before)
    return collector.logs(), collector.distinct_failures()


async def fetch_logs_at(
    cluster: Cluster, partitions: Partitions, ms: int, *, known: Topics = NO_TOPICS
) -> tuple[Logs, Mapping[TopicPartition, int | None], tuple[Failure, ...]]:
    """Return what :func:`fetch_logs` does, and the first offset of each partition at a time or later.

    :param ms: the time, in milliseconds since 1970.
    :returns: in second place, the offsets; ``None`` if no record is that recent.
    """
    collector = LogCollector((Where.END, Where.START, ms), known=known)
    await _fill(cluster, partitions, collector)
    times = {
        pair: None if offset == list_offsets.NOWHERE else offset for pair, offset in collector.found.get(ms, {}).items()
    }
    return collector.logs(), times, collector.distinct_failures()


async def fetch_ends(
    cluster: Cluster,
    partitions: Partitions,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
    *,
    known: Topics = NO_TOPICS,
) -> tuple[Mapping[TopicPartition, int], Mapping[TopicPartition, Failure]]:
    """Return the log end offsets of partitions, and why others are missing.

    :param isolation: with ``READ_COMMITTED``, the last stable offsets: the first ones of an open transaction, if any.
    :param known: what was reported a moment ago about some topics: see :func:`.find_leaders`.
    """
    collector = LogCollector((Where.END,), isolation=isolation, known=known)
    await _fill(cluster, partitions, collector)
    return collector.found.get(Where.END, {}), collector.failures


async def fetch_ends_at(
    cluster: Cluster, partitions: Partitions, ms: int, *, known: Topics = NO_TOPICS
) -> tuple[Mapping[TopicPartition, int], Mapping[TopicPartition, int | None], tuple[Failure, ...]]:
    """Return the log end offsets, and the first offsets at a time or later; see :func:`fetch_logs_at`."""
    collector = LogCollector((Where.END, ms), known=known)
    await _fill(cluster, partitions, collector)
    times = {
        pair: None if offset == list_offsets.NOWHERE else offset for pair, offset in collector.found.get(ms, {}).items()
    }
    return collector.found.get(Where.END, {}), times, collector.distinct_failures()


async def _fill(cluster: Cluster, partitions: Partitions, collector: LogCollector) -> None:
    pending = {(topic, number) for topic, numbers in partitions.items() for number in numbers}
    backoff = Backoff.of(cluster)
    for attempt in range(LEADER_ROUNDS):
        if attempt and not await backoff.wait():
            break
        by_leader = await find_leaders(
            cluster,
            pending,
            whole_topics=collector.whole_topics and not attempt,
            known=NO_TOPICS if attempt else collector.known,
        )
        if not attempt:
            cluster.progress.begin(
                "partitions", len(by_leader.failures) + sum(map(len, by_leader.leaders.values())), again=True
            )
            cluster.progress.advance("partitions", len(by_leader.failures))
        for pair in pending:
            collector.failures.pop(pair, None)
        collector.failures.update(by_leader.failures)
        collector.topic_ids.update(by_leader.topic_ids)
        collector.sizes.update(by_leader.sizes)
        await _query_leaders(cluster, by_leader.leaders, collector)
        pending = {pair for pair, failure in collector.failures.items() if may_heal(failure)}
        if not pending:
            break


async def _query_leaders(
    cluster: Cluster,
    leaders: Mapping[Node, list[TopicPartition]],
    collector: LogCollector,
) -> None:
    jobs = []
    for node, pairs in sorted(leaders.items()):
        for at in range(0, len(pairs), PARTITIONS_PER_REQUEST):
            chunk = pairs[at : at + PARTITIONS_PER_REQUEST]
            for where in collector.positions:
                call = list_offsets.ListOffsets(by_topic(chunk), where, collector.isolation)
                jobs.append(((node.id, where, chunk), cluster.call(node, call)))
    for (leader, where, chunk), response in await fan_out(jobs):
        if where == Where.END:
            cluster.progress.advance("partitions", len(chunk))
        for pair in chunk:
            _record(collector, where, pair, leader, response)


def _record(
    collector: LogCollector,
    where: Where | int,
    pair: TopicPartition,
    leader: int,
    response: Mapping[TopicPartition, Found | KafkaError] | KgroupsError,
) -> None:
    if isinstance(response, KgroupsError):
        collector.failures[pair] = unreachable(pair, response, "ListOffsets", leader)
        return
    found = response.get(pair)
    if found is None:
        collector.failures[pair] = unreachable(pair, "missing in the leader's response", "ListOffsets", leader)
    elif isinstance(found, KafkaError):
        collector.failures[pair] = found.failure(
            Scope.PARTITION, partition_name(pair), api="ListOffsets", broker=leader
        )
    else:
        collector.found.setdefault(where, {})[pair] = found.offset
        if where == Where.END and found.leader_epoch is not None:
            collector.epochs.setdefault(pair[0], {})[pair[1]] = found.leader_epoch
