"""Where logs start and end: each partition asked about once, however many groups read it; one request a leader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kgroups.errors import KgroupsError
from kgroups.model.offsets import Isolation, LogOffsets, Logs
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import list_offsets, metadata
from kgroups.protocol.apis.list_offsets import Where
from kgroups.protocol.error_codes import LEADER_MOVED, KafkaError

from .pacing import Backoff

PARTITIONS_A_REQUEST = 10_000
TOPICS_A_REQUEST = 2_000

TopicPartition = tuple[str, int]
Wanted = Mapping[str, Iterable[int]]

LEADER_ROUNDS = 3
"""How often a partition without a leader is looked up; an election takes less, an outage lasts longer anyway."""


class _Survey:
    """What is known so far of each partition: offsets by end, and what stands in the way."""

    def __init__(self) -> None:
        self.found: dict[Where, dict[TopicPartition, int]] = {Where.START: {}, Where.END: {}}
        self.holes: dict[TopicPartition, Failure] = {}


async def fetch_logs(
    cluster: Cluster, wanted: Wanted, *, isolation: Isolation = Isolation.READ_UNCOMMITTED
) -> tuple[Logs, tuple[Failure, ...]]:
    """Both ends of all partitions; those without an answer are holes, each with its failure.

    Under ``READ_COMMITTED`` the end is the last stable offset (KIP-98). A whole topic that cannot be asked about is
    one failure.
    """
    survey = _Survey()
    pending = {(topic, partition) for topic, partitions in wanted.items() for partition in partitions}
    cluster.progress.begin("logs", len(pending))
    backoff = Backoff(cluster)
    for attempt in range(LEADER_ROUNDS):
        if attempt and not await backoff.wait():
            break
        leaders = await _leaders(cluster, pending, survey)
        await _ask_leaders(cluster, leaders, isolation, survey)
        pending = {pair for pair in pending if pair in survey.holes and _may_heal(survey.holes[pair])}
        if not pending:
            break
    return _logs(survey), _failures(survey.holes)


def _may_heal(failure: Failure) -> bool:
    return failure.code is not None and failure.code in LEADER_MOVED


async def _leaders(
    cluster: Cluster, pending: Iterable[TopicPartition], survey: _Survey
) -> dict[int, list[TopicPartition]]:
    """Leader -> the partitions to ask it about; partitions without a leader become holes."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(pending):
        by_topic.setdefault(topic, []).append(partition)
    topics = list(by_topic)
    chunks = [topics[at : at + TOPICS_A_REQUEST] for at in range(0, len(topics), TOPICS_A_REQUEST)]
    leaders: dict[int, list[TopicPartition]] = {}
    for chunk, answer in await fan_out((chunk, cluster.refresh(chunk)) for chunk in chunks):
        if isinstance(answer, KgroupsError):
            for topic in chunk:
                for partition in by_topic[topic]:
                    survey.holes[topic, partition] = _unreachable((topic, partition), str(answer), "Metadata", None)
        else:
            told = {entry.topic: entry for entry in answer.topics}
            for topic in chunk:
                if topic in told:
                    _place(told[topic], by_topic[topic], leaders, survey)
                    continue
                for partition in by_topic[topic]:
                    pair = (topic, partition)
                    survey.holes[pair] = _unreachable(pair, "its topic was left out of the answer", "Metadata", None)
    return leaders


def _place(
    entry: metadata.TopicLeaders,
    partitions: Iterable[int],
    leaders: dict[int, list[TopicPartition]],
    survey: _Survey,
) -> None:
    for partition in partitions:
        pair = (entry.topic, partition)
        leader = entry.error or entry.leaders.get(partition)
        survey.holes.pop(pair, None)
        if leader is None:
            message = "the topic has no such partition now (recreated with fewer?)"
            survey.holes[pair] = Failure(
                Scope.PARTITION, _name(pair), message, "UNKNOWN_TOPIC_OR_PARTITION", 3, "Metadata"
            )
        elif isinstance(leader, KafkaError):
            scope, name = (Scope.TOPIC, entry.topic) if entry.error else (Scope.PARTITION, _name(pair))
            survey.holes[pair] = leader.failure(scope, name, api="Metadata")
        else:
            leaders.setdefault(leader, []).append(pair)


async def _ask_leaders(
    cluster: Cluster,
    leaders: Mapping[int, list[TopicPartition]],
    isolation: Isolation,
    survey: _Survey,
) -> None:
    jobs = []
    for leader, pairs in sorted(leaders.items()):
        node = cluster.nodes.get(leader)
        if node is None:
            for pair in pairs:
                message = f"its leader, broker {leader}, is not in the cluster's metadata"
                survey.holes[pair] = _unreachable(pair, message, "Metadata", leader)
            continue
        for at in range(0, len(pairs), PARTITIONS_A_REQUEST):
            chunk = pairs[at : at + PARTITIONS_A_REQUEST]
            for where in Where:
                call = list_offsets.ListOffsets(_by_topic(chunk), where, isolation)
                jobs.append(((leader, where, chunk), cluster.call(node, call)))
    for (leader, where, chunk), answer in await fan_out(jobs):
        if where is Where.END:
            cluster.progress.advance("logs", len(chunk))
        for pair in chunk:
            _note(survey, where, pair, leader, answer)


def _note(
    survey: _Survey,
    where: Where,
    pair: TopicPartition,
    leader: int,
    answer: Mapping[TopicPartition, int | KafkaError] | KgroupsError,
) -> None:
    if isinstance(answer, KgroupsError):
        survey.holes[pair] = _unreachable(pair, str(answer), "ListOffsets", leader)
        return
    offset = answer.get(pair)
    if offset is None:
        survey.holes[pair] = _unreachable(pair, "left out of the leader's answer", "ListOffsets", leader)
    elif isinstance(offset, KafkaError):
        survey.holes[pair] = offset.failure(Scope.PARTITION, _name(pair), api="ListOffsets", broker=leader)
    else:
        survey.found[where][pair] = offset


def _by_topic(pairs: Iterable[TopicPartition]) -> dict[str, tuple[int, ...]]:
    topics: dict[str, list[int]] = {}
    for topic, partition in pairs:
        topics.setdefault(topic, []).append(partition)
    return {topic: tuple(partitions) for topic, partitions in topics.items()}


def _logs(survey: _Survey) -> Logs:
    offsets: dict[str, dict[int, LogOffsets]] = {}
    starts, ends = survey.found[Where.START], survey.found[Where.END]
    for pair in dict.fromkeys(pair for where in Where for pair in survey.found[where]):
        topic, partition = pair
        offsets.setdefault(topic, {})[partition] = LogOffsets(starts.get(pair), ends.get(pair))
    return Logs(offsets, {pair: failure.message for pair, failure in survey.holes.items()})


def _failures(holes: Mapping[TopicPartition, Failure]) -> tuple[Failure, ...]:
    """Each failure once: a topic that is gone is one, not one for each of its partitions."""
    return tuple(dict.fromkeys(holes[pair] for pair in sorted(holes)))


def _unreachable(pair: TopicPartition, message: str, api: str, broker: int | None) -> Failure:
    return Failure(Scope.PARTITION, _name(pair), message, api=api, broker=broker)


def _name(pair: TopicPartition) -> str:
    return f"{pair[0]}-{pair[1]}"
