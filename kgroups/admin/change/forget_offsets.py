"""Takes commits away as Kafka's own tool does: unseen, partition by partition, and what the broker said of each.

Unlike a plan of :mod:`.delete_offsets` this needs no commit to be there; a partition without one is done at once.
"""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.model.groups import GroupId
from kgroups.model.operations.results import DeletedOffset
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.topic_scope import TopicScope
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import offset_delete
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.partition_errors import PartitionErrors

from ..routing.partition_leaders import partition_name
from ..routing.query_coordinators import GroupQuery, GroupResults, query_coordinators
from .reset_offsets import WireLookups


async def forget_offsets(cluster: Cluster, group: GroupId, topics: TopicScope) -> Outcome[DeletedOffset]:
    """One item for each partition, sorted; for a topic that cannot be looked up, one without a partition."""
    vain: list[DeletedOffset] = []
    wanted: dict[str, tuple[int, ...]] = {}
    told = await WireLookups(cluster).topics(sorted(topics))
    for topic, partitions in sorted(topics.items()):
        known = partitions if partitions is not None else _known(told.get(topic), topic)
        if isinstance(known, Failure):
            vain.append(DeletedOffset(group, topic, None, known))
        else:
            wanted[topic] = tuple(sorted(known))

    def call(_: tuple[GroupId, ...]) -> offset_delete.OffsetDelete:
        return offset_delete.OffsetDelete(group, wanted)

    question = GroupQuery("groups written", offset_delete.API, call, chunk=1, changes=True)
    answers = await query_coordinators(cluster, question, {group: None})
    done = [
        DeletedOffset(group, topic, partition, _failure(group, topic, partition, answers))
        for topic, partitions in wanted.items()
        for partition in partitions
    ]
    return Outcome((*vain, *done), () if done else tuple(answers.failed.values()))


def _known(entry: TopicLeaders | None, topic: str) -> Iterable[int] | Failure:
    """The partitions of a topic, or why they are not known."""
    if entry is None:
        return Failure(Scope.TOPIC, topic, "left out of the broker's answer", api="Metadata")
    return entry.error.failure(Scope.TOPIC, topic, api="Metadata") if entry.error else entry.leaders


def _failure(group: GroupId, topic: str, partition: int, answers: GroupResults[PartitionErrors]) -> Failure | None:
    if group in answers.failed:
        return answers.failed[group]
    node, errors = answers.found[group]
    name = partition_name((topic, partition))
    if (topic, partition) not in errors:
        return Failure(Scope.PARTITION, name, "left out of the broker's answer", api=offset_delete.API.name)
    error = errors[topic, partition]
    return error.failure(Scope.PARTITION, name, api=offset_delete.API.name, broker=node.id) if error else None
