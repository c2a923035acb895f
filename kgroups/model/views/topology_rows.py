"""The rows of ``describe --topology``: the topics of a streams group's topology."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..groups import Group, Member
from ..streams import InternalTopic, Nodes, Pairs, Role, Topology, TopologyStatus


class TopologyRow(NamedTuple):
    """One topic of one subtopology, of ``describe --topology``.

    ``tasks`` counts the active tasks of the subtopology. ``partitions`` and ``replication`` are the numbers that the
    application requires, ``None`` if it leaves them open. ``nodes`` has the nodes of the subtopology, ``None`` if the
    broker does not describe them.
    """

    group: str
    topology_epoch: int
    subtopology: str
    tasks: int
    role: str
    topic: str
    partitions: int | None
    replication: int | None
    configs: Pairs | None
    nodes: Nodes | None = None


def topology_remark(group: Group) -> str | None:
    """Return why a group has no topology to show, or ``None``."""
    if group.topology is None:
        return f"group '{group.group}' is not a streams group: it has no topology"
    if group.topology.subtopologies is None:
        name = group.group
        return f"the topology of group '{name}' is not ready: a source topic is missing, or its partitions do not fit"
    return None


def nodes_remark(group: Group) -> str | None:
    """Return why the nodes of a topology are unknown though they were requested, or ``None``."""
    nodes = group.topology.nodes if group.topology else None
    if nodes is None or nodes.status == TopologyStatus.AVAILABLE:
        return None
    reasons = {
        TopologyStatus.NOT_REQUESTED: "not requested",
        TopologyStatus.NOT_STORED: "the broker stores no description of its topology",
        TopologyStatus.ERROR: "the broker failed to read the description of its topology; see the broker's log",
    }
    reason = reasons.get(nodes.status, f"the broker reports the unknown status {int(nodes.status)}")
    return f"group '{group.group}': the nodes of its topology are unknown: {reason}"


def topology_rows(group: Group) -> Iterator[TopologyRow]:
    """Yield the topics of a streams group by subtopology; nothing for other groups."""
    topology = group.topology
    if topology is None:
        return
    nodes = dict(topology.nodes.subtopologies) if topology.nodes else {}
    for part in topology.subtopologies or ():
        begin = (group.group, topology.epoch, part.name, tasks_of(group.members or (), part.name))
        found = nodes.get(part.name)
        for name in part.sources:
            yield TopologyRow(*begin, Role.SOURCE, name, None, None, None, found)
        for topic in part.repartition_sources:
            yield _internal_row(begin, Role.REPARTITION_SOURCE, topic, found)
        for topic in part.changelogs:
            yield _internal_row(begin, Role.CHANGELOG, topic, found)
        for name in part.repartition_sinks:
            yield TopologyRow(*begin, Role.REPARTITION_SINK, name, None, None, None, found)
    yield from _global_rows(group.group, topology)


def _global_rows(group: str, topology: Topology) -> Iterator[TopologyRow]:
    for store in topology.nodes.global_stores if topology.nodes else ():
        for topic in store.source.source_topics:
            nodes = Nodes(store)
            yield TopologyRow(group, topology.epoch, "global", 0, Role.GLOBAL_STORE, topic, None, None, None, nodes)


def _internal_row(
    begin: tuple[str, int, str, int], role: str, topic: InternalTopic, nodes: Nodes | None
) -> TopologyRow:
    replicas = topic.replication if topic.replication > 0 else None
    return TopologyRow(*begin, role, topic.name, topic.partitions or None, replicas, topic.configs, nodes)


def tasks_of(members: Iterable[Member], subtopology: str) -> int:
    """Return the number of active tasks of a subtopology."""
    return sum(
        len(entry.partitions)
        for member in members
        if member.streams
        for entry in member.streams.tasks.active.subtopologies
        if entry.subtopology == subtopology
    )
