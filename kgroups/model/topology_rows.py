"""The rows of ``describe --topology``: what a streams group runs, topic by topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .groups import Group, Member
from .streams import InternalTopic, Pairs, Role


class TopologyRow(NamedTuple):
    """One topic of one subtopology, of ``describe --topology``. ``tasks`` counts the subtopology's active tasks;
    ``partitions`` and ``replication`` are those that the application asks for, ``None`` where it leaves them open."""

    group: str
    topology_epoch: int
    subtopology: str
    tasks: int
    role: str
    topic: str
    partitions: int | None
    replication: int | None
    configs: Pairs | None


def topology_remark(group: Group) -> str | None:
    """Why a group has no topology to show, if it has none."""
    if group.topology is None:
        return f"group '{group.group_id}' is not a streams group: it has no topology"
    if group.topology.subtopologies is None:
        name = group.group_id
        return f"the topology of group '{name}' is not ready: a source topic is missing, or its partitions do not fit"
    return None


def topology_rows(group: Group) -> Iterator[TopologyRow]:
    """What a streams group runs, by subtopology: what it reads, keeps, writes. Of other groups nothing."""
    topology = group.topology
    for part in (topology.subtopologies if topology else None) or ():
        assert topology
        begin = (group.group_id, topology.epoch, part.name, tasks_of(group.members or (), part.name))
        for name in part.sources:
            yield TopologyRow(*begin, Role.SOURCE, name, None, None, None)
        for topic in part.repartition_sources:
            yield _internal_row(begin, Role.REPARTITION_SOURCE, topic)
        for topic in part.changelogs:
            yield _internal_row(begin, Role.CHANGELOG, topic)
        for name in part.repartition_sinks:
            yield TopologyRow(*begin, Role.REPARTITION_SINK, name, None, None, None)


def _internal_row(begin: tuple[str, int, str, int], role: str, topic: InternalTopic) -> TopologyRow:
    replicas = topic.replication if topic.replication > 0 else None
    return TopologyRow(*begin, role, topic.name, topic.partitions or None, replicas, topic.configs)


def tasks_of(members: Iterable[Member], subtopology: str) -> int:
    """How many tasks of a subtopology are active."""
    return sum(
        len(entry.partitions)
        for member in members
        if member.streams
        for entry in member.streams.tasks.active.subtopologies
        if entry.subtopology == subtopology
    )
