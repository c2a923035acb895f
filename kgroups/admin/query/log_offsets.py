"""Where logs start and end: each partition asked about once, however many groups read it; one request a leader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kgroups.errors import KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.offsets import Isolation, LogOffsets, Logs
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import list_offsets
from kgroups.protocol.apis.list_offsets import Found, Where
from kgroups.protocol.error_codes import KafkaError

from ..routing.backoff import Backoff
from ..routing.partition_leaders import (
    LEADER_ROUNDS,
    TopicPartition,
    by_topic,
    find_leaders,
    may_heal,
    partition_name,
    unreachable,
)

PARTITIONS_A_REQUEST = 10_000

Wanted = Mapping[str, Iterable[int]]


class _Survey:
    """What is asked of each partition, its ends and maybe a time; what is known so far; what stands in the way."""

    def __init__(
        self,
        questions: tuple[Where | int, ...] = (Where.END, Where.START),
        isolation: Isolation = Isolation.READ_UNCOMMITTED,
        whole_topics: bool = False,
    ) -> None:
        self.questions = questions
        self.isolation = isolation
        self.whole_topics = whole_topics
        self.found: dict[Where | int, dict[TopicPartition, int]] = {}
        self.holes: dict[TopicPartition, Failure] = {}
        self.epochs: dict[str, dict[int, int]] = {}
        self.topic_ids: dict[str, int] = {}


async def fetch_logs(
    cluster: Cluster,
    wanted: Wanted,
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
    whole_topics: bool = False,
) -> tuple[Logs, tuple[Failure, ...]]:
    """Both ends of all partitions; those without an answer are holes, each with its failure.

    Under ``READ_COMMITTED`` the end is the last stable offset (KIP-98). With ``whole_topics`` the other partitions of
    the topics are looked at too. A whole topic that cannot be asked about is one failure.
    """
    survey = _Survey(isolation=isolation, whole_topics=whole_topics)
    await _fill(cluster, wanted, survey)
    return _logs(survey), _failures(survey.holes)


async def fetch_logs_at(
    cluster: Cluster, wanted: Wanted, ms: int
) -> tuple[Logs, Mapping[TopicPartition, int | None], tuple[Failure, ...]]:
    """The same, and the first offset of each partition at that time or later, in milliseconds since 1970; ``None``
    where no record is that young."""
    survey = _Survey((Where.END, Where.START, ms))
    await _fill(cluster, wanted, survey)
    times = {
        pair: None if offset == list_offsets.NOWHERE else offset for pair, offset in survey.found.get(ms, {}).items()
    }
    return _logs(survey), times, _failures(survey.holes)


async def fetch_ends_at(
    cluster: Cluster, wanted: Wanted, ms: int
) -> tuple[Mapping[TopicPartition, int], Mapping[TopicPartition, int | None], tuple[Failure, ...]]:
    """The ends of all partitions and the first offsets at that time or later: see :func:`fetch_logs_at`."""
    survey = _Survey((Where.END, ms))
    await _fill(cluster, wanted, survey)
    times = {
        pair: None if offset == list_offsets.NOWHERE else offset for pair, offset in survey.found.get(ms, {}).items()
    }
    return survey.found.get(Where.END, {}), times, _failures(survey.holes)


async def _fill(cluster: Cluster, wanted: Wanted, survey: _Survey) -> None:
    pending = {(topic, partition) for topic, partitions in wanted.items() for partition in partitions}
    backoff = Backoff(cluster)
    for attempt in range(LEADER_ROUNDS):
        if attempt and not await backoff.wait():
            break
        by_leader = await find_leaders(cluster, pending, whole_topics=survey.whole_topics and not attempt)
        if not attempt:
            cluster.progress.begin(
                "logs", len(by_leader.failures) + sum(map(len, by_leader.leaders.values())), again=True
            )
            cluster.progress.advance("logs", len(by_leader.failures))
        for pair in pending:
            survey.holes.pop(pair, None)
        survey.holes.update(by_leader.failures)
        survey.topic_ids.update(by_leader.topic_ids)
        await _ask_leaders(cluster, by_leader.leaders, survey)
        pending = {pair for pair, failure in survey.holes.items() if may_heal(failure)}
        if not pending:
            break


async def _ask_leaders(
    cluster: Cluster,
    leaders: Mapping[Node, list[TopicPartition]],
    survey: _Survey,
) -> None:
    jobs = []
    for node, pairs in sorted(leaders.items()):
        for at in range(0, len(pairs), PARTITIONS_A_REQUEST):
            chunk = pairs[at : at + PARTITIONS_A_REQUEST]
            for where in survey.questions:
                call = list_offsets.ListOffsets(by_topic(chunk), where, survey.isolation)
                jobs.append(((node.id, where, chunk), cluster.call(node, call)))
    for (leader, where, chunk), answer in await fan_out(jobs):
        if where == Where.END:
            cluster.progress.advance("logs", len(chunk))
        for pair in chunk:
            _note(survey, where, pair, leader, answer)


def _note(
    survey: _Survey,
    where: Where | int,
    pair: TopicPartition,
    leader: int,
    answer: Mapping[TopicPartition, Found | KafkaError] | KgroupsError,
) -> None:
    if isinstance(answer, KgroupsError):
        survey.holes[pair] = unreachable(pair, answer, "ListOffsets", leader)
        return
    found = answer.get(pair)
    if found is None:
        survey.holes[pair] = unreachable(pair, "left out of the leader's answer", "ListOffsets", leader)
    elif isinstance(found, KafkaError):
        survey.holes[pair] = found.failure(Scope.PARTITION, partition_name(pair), api="ListOffsets", broker=leader)
    else:
        survey.found.setdefault(where, {})[pair] = found.offset
        if where == Where.END and found.leader_epoch is not None:
            survey.epochs.setdefault(pair[0], {})[pair[1]] = found.leader_epoch


def _logs(survey: _Survey) -> Logs:
    offsets: dict[str, dict[int, LogOffsets]] = {}
    starts, ends = survey.found.get(Where.START, {}), survey.found.get(Where.END, {})
    for pair in dict.fromkeys((*starts, *ends)):
        topic, partition = pair
        offsets.setdefault(topic, {})[partition] = LogOffsets(starts.get(pair), ends.get(pair))
    holes = {pair: failure.message for pair, failure in survey.holes.items()}
    return Logs(offsets, holes, survey.epochs, survey.topic_ids)


def _failures(holes: Mapping[TopicPartition, Failure]) -> tuple[Failure, ...]:
    """Each failure once: a topic that is gone is one, not one for each of its partitions."""
    return tuple(dict.fromkeys(holes[pair] for pair in sorted(holes)))
