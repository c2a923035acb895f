"""Details that only streams groups have (KIP-1071): a topology, split into tasks, which brokers assign to processes.

A task is a subtopology on one partition of its input. Active tasks read and write. Standby tasks keep a copy of an
active task's state. Warm-up tasks build such a copy in order to take over the active task.
"""

from __future__ import annotations

from typing import NamedTuple


class Role:
    """The roles of a topic in a subtopology."""

    SOURCE = "source"
    REPARTITION_SOURCE = "repartition source"
    REPARTITION_SINK = "repartition sink"
    CHANGELOG = "changelog"
    GLOBAL_STORE = "global store"


class SubtopologyTasks(NamedTuple):
    """Tasks of one subtopology, by partition, ascending."""

    subtopology: str
    partitions: tuple[int, ...]


class Tasks(NamedTuple):
    """Tasks, by subtopology."""

    subtopologies: tuple[SubtopologyTasks, ...] = ()

    @property
    def size(self) -> int:
        return sum(len(entry.partitions) for entry in self.subtopologies)

    def __str__(self) -> str:
        """Return ``0:0,2,4;1:0``: subtopologies and partitions."""
        return ";".join(f"{entry.subtopology}:{','.join(map(str, entry.partitions))}" for entry in self.subtopologies)


class AssignedTasks(NamedTuple):
    """The tasks of a member: its current or its target tasks."""

    active: Tasks = Tasks()
    standby: Tasks = Tasks()
    warmup: Tasks = Tasks()


class Pairs(tuple[tuple[str, str | int], ...]):
    """Names and values, sorted: client tags, topic settings, delivery counts."""

    __slots__ = ()

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self)


class StreamsMember(NamedTuple):
    """The additional fields of a member of a streams group.

    ``process`` is the ID of its application instance, which has one member per thread. ``endpoint`` serves interactive
    queries of its state. ``classic``: whether it still uses the classic protocol.
    """

    process: str
    topology_epoch: int
    tasks: AssignedTasks
    target: AssignedTasks
    classic: bool = False
    endpoint: str | None = None
    tags: Pairs = Pairs()


class InternalTopic(NamedTuple):
    """A topic that brokers create for the application.

    ``partitions`` is 0 if the number follows from other topics. ``replication`` is -1 or 0 for the broker's default.
    """

    name: str
    partitions: int
    replication: int
    configs: Pairs = Pairs()


class Subtopology(NamedTuple):
    """A part of a topology that runs independently: its source, repartition, and changelog topics."""

    name: str
    sources: tuple[str, ...] = ()
    repartition_sources: tuple[InternalTopic, ...] = ()
    repartition_sinks: tuple[str, ...] = ()
    changelogs: tuple[InternalTopic, ...] = ()


class ProcessingNode(NamedTuple):
    """A node of a topology, as the application names it. ``type``: see :data:`NODE_TYPES`."""

    name: str
    type: int
    source_topics: tuple[str, ...] = ()
    sink_topic: str | None = None
    stores: tuple[str, ...] = ()
    successors: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return ``count [counts] -> to-stream``: the node, its topics or stores, and its successors."""
        topics = ", ".join((*self.source_topics, *([self.sink_topic] if self.sink_topic else ())))
        parts = [self.name, topics and f"({topics})", self.stores and f"[{', '.join(self.stores)}]"]
        parts.append(self.successors and f"-> {', '.join(self.successors)}")
        return " ".join(part for part in parts if part)


NODE_TYPES = {1: "source", 2: "processor", 3: "sink"}
"""Node types, by their number in StreamsGroupDescribe."""


class Nodes(tuple[ProcessingNode, ...]):
    """The nodes of one subtopology, in the broker's order."""

    __slots__ = ()

    def __str__(self) -> str:
        return "; ".join(map(str, self))


class GlobalStore(NamedTuple):
    """A state store that every instance has in full: the node that reads its topic, and the node that fills it."""

    source: ProcessingNode
    processor: ProcessingNode


class TopologyStatus(int):
    """Whether a broker describes the nodes of a topology; a newer Kafka may report other numbers."""

    NOT_REQUESTED = 0
    NOT_STORED = 1
    ERROR = 2
    AVAILABLE = 3


class TopologyNodes(NamedTuple):
    """The nodes of a topology, by subtopology, as far as the broker describes them (KIP-1331, Kafka 4.4)."""

    status: TopologyStatus
    subtopologies: tuple[tuple[str, Nodes], ...] = ()
    global_stores: tuple[GlobalStore, ...] = ()


class Topology(NamedTuple):
    """The topology of a streams group.

    ``subtopologies`` is ``None`` if it is not ready: a source topic is missing, or partition counts do not match.
    ``nodes`` is ``None`` if the broker is older than Kafka 4.4.
    """

    epoch: int
    subtopologies: tuple[Subtopology, ...] | None
    nodes: TopologyNodes | None = None

    @property
    def sources(self) -> frozenset[str]:
        """The input topics, except internal ones."""
        parts = self.subtopologies or ()
        return frozenset(name for part in parts for name in part.sources) - self.internal

    @property
    def repartitions(self) -> frozenset[str]:
        return frozenset(topic.name for part in self.subtopologies or () for topic in part.repartition_sources)

    @property
    def changelogs(self) -> frozenset[str]:
        return frozenset(topic.name for part in self.subtopologies or () for topic in part.changelogs)

    @property
    def internal(self) -> frozenset[str]:
        """The topics that brokers created for the application. Only the contents of changelogs cannot be recreated."""
        return self.repartitions | self.changelogs

    def role(self, topic: str) -> str | None:
        """Return the role of a topic in the application; ``None`` if the application does not use it."""
        if topic in self.changelogs:
            return Role.CHANGELOG
        if topic in self.repartitions:
            return Role.REPARTITION_SOURCE
        return Role.SOURCE if topic in self.sources else None
