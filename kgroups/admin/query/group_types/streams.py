"""Describe streams groups (KIP-1071): StreamsGroupDescribe, and metadata of the topics that their tasks read."""

from __future__ import annotations

from collections.abc import Sequence

from kgroups.model.cluster import Node
from kgroups.model.groups import STREAMS_PROTOCOL_TYPE, Group, GroupId, GroupType
from kgroups.model.streams_groups import topics_of_tasks, with_partitions_read
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import streams_group_describe
from kgroups.protocol.apis.streams_group_describe import StreamsGroup

from ...routing.partition_leaders import read_topics
from ...routing.query_coordinators import GroupQuery
from .describer import Describer, group_with_epochs


def _streams(name: GroupId, node: Node, group: StreamsGroup) -> Group:
    made = group_with_epochs(GroupType.STREAMS, STREAMS_PROTOCOL_TYPE, name, node, group)
    return made._replace(topology=group.topology)


async def _with_assignments(cluster: Cluster, groups: Sequence[Group]) -> list[Group]:
    """Add to the members the partitions that their tasks read: brokers report only tasks.

    A subtopology has as many tasks as its largest topic has partitions, so the partitions of the others are counted.
    """
    # Errors are reported when the logs are read.
    topics, _ = await read_topics(cluster, sorted({topic for group in groups for topic in topics_of_tasks(group)}))
    counts = {entry.topic: len(entry.leaders) for entry in topics.values() if not entry.error}
    return [with_partitions_read(group, counts) for group in groups]


DESCRIBER = Describer(
    GroupQuery("streams groups", streams_group_describe.API, streams_group_describe.StreamsGroupDescribe),
    _streams,
    since="4.1",
    complete=_with_assignments,
)
