"""The topics and logs of both clusters, and the offsets that are found in them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from kgroups.errors import KgroupsError
from kgroups.model.offsets import LogOffsets, Logs
from kgroups.model.outcome import Failure, Scope
from kgroups.model.translation.method import Impossible, Translation
from kgroups.net.cluster import Cluster
from kgroups.net.progress import Progress
from kgroups.protocol.apis.describe_configs import TOPIC, DescribeConfigs, Resource
from kgroups.protocol.apis.metadata import API as METADATA
from kgroups.protocol.error_codes import Code

from ..query.log_offsets import fetch_logs
from ..routing.partition_leaders import NO_TOPICS, TopicPartition, Topics, by_topic, topic_leaders
from .find_offset import Finder, Position
from .log_reader import SOURCE, TARGET, on_side

CLEANUP = "cleanup.policy"
TOGETHER = 64
"""Offsets that are translated at a time."""


class Facts(NamedTuple):
    """What is known about the topics of both clusters."""

    source_topics: Topics = NO_TOPICS
    target_topics: Topics = NO_TOPICS
    source_logs: Logs = Logs()
    target_logs: Logs = Logs()
    compacted: Collection[str] = ()
    failures: tuple[Failure, ...] = ()

    def lacks(self, copy: TopicPartition) -> bool:
        """Whether the target has no such partition."""
        entry = self.target_topics[copy[0]]
        if entry.error:
            return entry.error.code is Code.unknown_topic_or_partition
        return copy[1] not in entry.leaders


async def read_facts(
    source: Cluster,
    target: Cluster,
    pairs: Collection[TopicPartition],
    copies: Mapping[str, str],
    more: Callable[[Topics], Iterable[TopicPartition]] = lambda topics: (),
) -> Facts:
    """Look up the topics of ``copies``, and the logs of these partitions of the source and of their copies.

    :param more: returns further partitions of the source, by its topics.
    """
    if not copies:
        return Facts()
    ours, theirs = await asyncio.gather(
        topic_leaders(source, sorted(copies)), topic_leaders(target, sorted(set(copies.values())))
    )
    pairs = {*pairs, *more(ours)}
    there = {
        (copies[topic], partition)
        for topic, partition in pairs
        if not theirs[copies[topic]].error and partition in theirs[copies[topic]].leaders
    }
    here = set(pairs)
    for topic, copy in copies.items():  # those that only one of them has
        there.update((copy, each) for each in theirs[copy].leaders if each >= len(ours[topic].leaders))
        here.update((topic, each) for each in ours[topic].leaders if each >= len(theirs[copy].leaders))
    # The end of the copy is read first: what follows it then was copied from records before the source's end.
    target_logs, unread = await fetch_logs(target, by_topic(there), known=theirs)
    source_logs, failures = await fetch_logs(source, by_topic(here), known=ours)
    failures = (
        *(on_side(SOURCE, failure) for failure in failures),
        *(on_side(TARGET, failure) for failure in (*_denied(theirs), *unread)),
    )
    compacted = await _compacted(target, {topic for topic, _ in there})
    return Facts(ours, theirs, source_logs, target_logs, compacted, failures)


def _denied(topics: Topics) -> Iterator[Failure]:
    """Yield the topics that cannot be looked up, except those that do not exist."""
    for topic, entry in topics.items():
        if entry.error and entry.error.code is not Code.unknown_topic_or_partition:
            yield entry.error.failure(Scope.TOPIC, topic, api=METADATA.name)


async def _compacted(cluster: Cluster, topics: Collection[str]) -> frozenset[str]:
    """Return the topics that are compacted, as far as brokers report it."""
    if not topics:
        return frozenset()
    wanted = {Resource(TOPIC, topic): (CLEANUP,) for topic in sorted(topics)}
    try:
        answers = await cluster.call_any(DescribeConfigs(wanted))
    except KgroupsError:
        return frozenset()
    return frozenset(
        resource.name
        for resource, settings in answers.items()
        if isinstance(settings, Mapping) and "compact" in (settings.get(CLEANUP) or "")
    )


async def find_all(
    facts: Facts, positions: Collection[Position], finder: Finder, progress: Progress
) -> dict[Position, Translation]:
    """Return the translation of each position."""
    progress.begin("partitions", len(positions))
    found: dict[Position, Translation] = {}
    left = iter(positions)

    async def work() -> None:
        for position in left:
            logs = log_of(facts.source_logs, position.source), log_of(facts.target_logs, position.target)
            found[position] = without_copy(position, facts) or await finder.find(position, *logs)
            progress.advance("partitions", 1)

    await asyncio.gather(*(work() for _ in range(TOGETHER)))
    return found


def without_copy(position: Position, facts: Facts) -> Translation | None:
    """Return that the topic has no copy, or one with other partitions; otherwise ``None``."""
    topic, partition = position.target
    entry = facts.target_topics[topic]
    if entry.error and entry.error.code is not Code.unknown_topic_or_partition:
        failure = entry.error.failure(Scope.TOPIC, topic, api=METADATA.name)
        return Translation.impossible(Impossible.UNREADABLE, f"{TARGET}: topic {topic}: {failure.message}")
    if entry.error:
        return Translation.impossible(Impossible.NO_TOPIC, f"topic {topic}: {entry.error.message}")
    if partition not in entry.leaders:
        text = f"topic {topic} has {len(entry.leaders)} partitions"
        return Translation.impossible(Impossible.NO_PARTITION, text)
    number = len(facts.source_topics[position.source[0]].leaders)
    missing = range(len(entry.leaders), number)
    if any(log_of(facts.source_logs, (position.source[0], each)).end != 0 for each in missing):
        text = f"the source has {number} partitions, topic {topic} has {len(entry.leaders)}"
        return Translation.impossible(Impossible.OTHER_PARTITIONS, text)
    others = [each for each in entry.leaders if each >= number > 0]
    if any(log_of(facts.target_logs, (topic, each)).end != 0 for each in others):
        text = f"the source has {number} partitions, topic {topic} has records in more"
        return Translation.impossible(Impossible.OTHER_PARTITIONS, text)
    return None


def log_of(logs: Logs, pair: TopicPartition) -> LogOffsets:
    return logs.offsets.get(pair[0], {}).get(pair[1], LogOffsets())
