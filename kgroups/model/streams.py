"""What only streams groups have (KIP-1071): a topology, cut into tasks, that brokers share out among processes.

A task is a subtopology on one partition of what it reads. Active tasks read and write; standby tasks keep a copy of an
active task's state; warm-up tasks make one, to take the active task over.
"""

from __future__ import annotations

from typing import NamedTuple


class Role:
    """What a topic is to a subtopology."""

    SOURCE = "source"
    REPARTITION_SOURCE = "repartition source"
    REPARTITION_SINK = "repartition sink"
    CHANGELOG = "changelog"
    GLOBAL_STORE = "global store"


class SubtopologyTasks(NamedTuple):
    """The tasks of one subtopology, by their partitions, ascending."""

    subtopology: str
    partitions: tuple[int, ...]


class Tasks(NamedTuple):
    """Some tasks, by subtopology."""

    subtopologies: tuple[SubtopologyTasks, ...] = ()

    @property
    def size(self) -> int:
        return sum(len(entry.partitions) for entry in self.subtopologies)

    def __str__(self) -> str:
        """``0:0,2,4;1:0``: the subtopology, and of which partitions."""
        return ";".join(f"{entry.subtopology}:{','.join(map(str, entry.partitions))}" for entry in self.subtopologies)


class AssignedTasks(NamedTuple):
    """What a member has, or is to have."""

    active: Tasks = Tasks()
    standby: Tasks = Tasks()
    warmup: Tasks = Tasks()


class Pairs(tuple[tuple[str, str], ...]):
    """Names and values that clients give, sorted: client tags, settings of topics."""

    __slots__ = ()

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self)


class StreamsMember(NamedTuple):
    """What a member of a streams group has beside what every member has.

    ``process`` is the id of its instance of the application, which has a member for each thread. ``endpoint`` is where
    it answers queries of its state. ``classic``: it speaks the classic protocol still.
    """

    process: str
    topology_epoch: int
    tasks: AssignedTasks
    target: AssignedTasks
    classic: bool = False
    endpoint: str | None = None
    tags: Pairs = Pairs()


class InternalTopic(NamedTuple):
    """A topic that brokers make for the application. ``partitions`` is 0 where they follow from others, and
    ``replication`` -1 or 0 where it is the broker's own."""

    name: str
    partitions: int
    replication: int
    configs: Pairs = Pairs()


class Subtopology(NamedTuple):
    """A part of a topology that runs by itself: what it reads, keeps and writes."""

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
        """``count [counts] -> to-stream``: the node, its topics or stores, and the nodes that follow."""
        topics = ", ".join((*self.source_topics, *([self.sink_topic] if self.sink_topic else ())))
        parts = [self.name, topics and f"({topics})", self.stores and f"[{', '.join(self.stores)}]"]
        parts.append(self.successors and f"-> {', '.join(self.successors)}")
        return " ".join(part for part in parts if part)


NODE_TYPES = {1: "source", 2: "processor", 3: "sink"}
"""What StreamsGroupDescribe's numbers for a node's type mean."""


class Nodes(tuple[ProcessingNode, ...]):
    """The nodes of one subtopology, in the order of the broker."""

    __slots__ = ()

    def __str__(self) -> str:
        return "; ".join(map(str, self))


class GlobalStore(NamedTuple):
    """A state store that every instance has whole: the node that reads its topic, and the node that fills it."""

    source: ProcessingNode
    processor: ProcessingNode


class TopologyStatus(int):
    """Whether a broker describes the nodes of a topology; a number that is none of these comes from a newer Kafka."""

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
    """``subtopologies`` is ``None`` where it is not ready: a source topic is missing, or its partitions do not fit.

    ``nodes`` is ``None`` where the broker is older than Kafka 4.4.
    """

    epoch: int
    subtopologies: tuple[Subtopology, ...] | None
    nodes: TopologyNodes | None = None

    @property
    def sources(self) -> frozenset[str]:
        """The input topics: what it reads of others."""
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
        """What brokers made for the application: it can be made again, but for what stands in the changelogs."""
        return self.repartitions | self.changelogs

    def role(self, topic: str) -> str | None:
        """What a topic is to the application; ``None`` where it is nothing to it."""
        if topic in self.changelogs:
            return Role.CHANGELOG
        if topic in self.repartitions:
            return Role.REPARTITION_SOURCE
        return Role.SOURCE if topic in self.sources else None
