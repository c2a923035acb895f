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


def _request(groups: tuple[GroupId, ...]) -> StreamsGroupDescribe:
    return StreamsGroupDescribe(groups, nodes=True)


_QUERY: GroupQuery[StreamsGroup] = GroupQuery("topologies", streams_group_describe.API, _request)


async def describe_nodes(cluster: Cluster, groups: Sequence[Group]) -> Outcome[Group]:
    """Add the nodes of their topologies to the streams groups of brokers that support it; return all groups.

    The nodes are requested separately from the description: the broker's plugin may be slow to deliver them.
    """
    capable = [group for group in groups if group.type == GroupType.STREAMS and await _capable(cluster, group)]
    results = await query_coordinators(cluster, _QUERY, {group.group: group.coordinator for group in capable})
    return Outcome(
        tuple(_with_topology_nodes(group, results.found.get(group.group)) for group in groups),
        tuple(results.failed[name] for name in sorted(results.failed)),
    )


async def _capable(cluster: Cluster, group: Group) -> bool:
    try:
        versions = await cluster.versions(group.coordinator)
    except KgroupsError:
        return True  # the request meets the same error and reports it
    return versions.speaks(streams_group_describe.API, streams_group_describe.NODES)


def _with_topology_nodes(group: Group, found: tuple[object, StreamsGroup] | None) -> Group:
    topology = found[1].topology if found else None
    if group.topology is None or topology is None:
        return group
    return group._replace(topology=group.topology._replace(nodes=topology.nodes))
