"""The nodes of the topologies of streams groups, from brokers that store them (KIP-1331, Kafka 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

from kgroups.errors import KgroupsError
from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.outcome import Outcome
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import streams_group_describe
from kgroups.protocol.apis.streams_group_describe import StreamsGroup, StreamsGroupDescribe

from ..routing.query_coordinators import GroupQuery, query_coordinators


def _with_nodes(groups: tuple[GroupId, ...]) -> StreamsGroupDescribe:
    return StreamsGroupDescribe(groups, nodes=True)


_QUESTION: GroupQuery[StreamsGroup] = GroupQuery("topologies", streams_group_describe.API, _with_nodes)


async def describe_nodes(cluster: Cluster, groups: Sequence[Group]) -> Outcome[Group]:
    """Return the same groups, the streams groups of capable brokers with the nodes of their topologies.

    They are requested apart from the description, because the broker's plugin may be slow to deliver them.
    """
    asked = [group for group in groups if group.type == GroupType.STREAMS and await _capable(cluster, group)]
    answers = await query_coordinators(cluster, _QUESTION, {group.group_id: group.coordinator for group in asked})
    return Outcome(
        tuple(_completed(group, answers.found.get(group.group_id)) for group in groups),
        tuple(answers.failed[name] for name in sorted(answers.failed)),
    )


async def _capable(cluster: Cluster, group: Group) -> bool:
    try:
        versions = await cluster.versions(group.coordinator)
    except KgroupsError:
        return True  # the request meets the same error and reports it
    return versions.speaks(streams_group_describe.API, streams_group_describe.NODES)


def _completed(group: Group, found: tuple[object, StreamsGroup] | None) -> Group:
    topology = found[1].topology if found else None
    if group.topology is None or topology is None:
        return group
    return group._replace(topology=group.topology._replace(nodes=topology.nodes))
