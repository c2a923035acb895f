"""Waves: the topics and groups of a cluster that must move together to another cluster.

A wave is a connected component of the graph of groups, topics, and transactional producers. A group is linked with the
topics that it reads, and a producer with the topics that it writes in transactions, and with the groups whose offsets
it commits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from .groups import CONSUMER_PROTOCOL_TYPE, Group, GroupId, GroupState, GroupType
from .offsets import GroupCommits
from .placement import INTERNAL_TOPICS, partition_of
from .streams_groups import owner_of, prefixes
from .subscriptions import subscribed


class Kind(StrEnum):
    GROUP = "group"
    TOPIC = "topic"
    PRODUCER = "producer"


class Link(StrEnum):
    """Why two items of a wave are linked."""

    SUBSCRIBED = "subscribed"
    ASSIGNED = "assigned"
    COMMITTED = "committed"
    """The group has committed offsets in the topic, or start offsets of a share group."""
    TRANSACTION = "transaction"
    """The producer writes the topic, or commits the offsets of the group, in transactions."""
    INTERNAL = "internal"
    """The topic is a changelog in the topology of the streams group."""
    INFERRED = "inferred"
    """The name follows Kafka Streams' rule for the internal topics, or the transactional IDs, of an application."""


class Item(NamedTuple):
    """A group, a topic, or a transactional producer, by its transactional ID."""

    kind: Kind
    name: str


Links = dict[tuple[Item, Item], set[Link]]
"""The links of a graph: first a group or producer, then a topic, or a group."""


class Cut(NamedTuple):
    """The topic, group, or producer without which a wave falls into most parts that have a topic."""

    item: Item
    parts: int


class Wave(NamedTuple):
    """What must move together, sorted by name; ``number`` counts from 1, the largest wave first."""

    number: int
    groups: tuple[GroupId, ...]
    topics: tuple[str, ...]
    producers: tuple[str, ...]
    cut: Cut | None

    @property
    def items(self) -> Iterator[Item]:
        for kind, names in ((Kind.GROUP, self.groups), (Kind.TOPIC, self.topics), (Kind.PRODUCER, self.producers)):
            for name in names:
                yield Item(kind, name)


class Graph:
    """Groups, topics, and producers, and the links between them."""

    def __init__(self) -> None:
        self.items: set[Item] = set()
        self.links: Links = {}

    def link(self, first: Item, second: Item, *why: Link) -> None:
        """Link a group with a topic, or a producer with a topic or a group; add them if they are new."""
        self.items.add(first)
        self.items.add(second)
        self.links.setdefault((first, second), set()).update(why)

    def without(self, ignored: Callable[[Item], bool]) -> frozenset[Item]:
        """Remove items with their links; return them."""
        gone = frozenset(filter(ignored, self.items))
        if gone:
            self.items -= gone
            self.links = {pair: why for pair, why in self.links.items() if gone.isdisjoint(pair)}
        return gone

    def remove_unlinked(self) -> None:
        """Remove topics and producers without links: they can move at any time."""
        linked = {item for pair in self.links for item in pair}
        self.items = {item for item in self.items if item.kind is Kind.GROUP or item in linked}

    def waves(self) -> list[Wave]:
        """Return the waves, the largest first, those of one size by name; takes time linear in items and links."""
        nodes = sorted(self.items)
        places = {node: at for at, node in enumerate(nodes)}
        near: list[list[int]] = [[] for _ in nodes]
        for first, second in self.links:
            near[places[first]].append(places[second])
            near[places[second]].append(places[first])
        found = [
            (sorted(nodes[at] for at in component), cut)
            for component, cut in _components(near, [node.kind is Kind.TOPIC for node in nodes], nodes)
        ]
        found.sort(key=lambda each: (-len(each[0]), each[0]))
        return [_wave(number, items, cut) for number, (items, cut) in enumerate(found, 1)]


def _wave(number: int, items: list[Item], cut: Cut | None) -> Wave:
    names: dict[Kind, list[str]] = {kind: [] for kind in Kind}
    for kind, name in items:
        names[kind].append(name)
    return Wave(number, tuple(names[Kind.GROUP]), tuple(names[Kind.TOPIC]), tuple(names[Kind.PRODUCER]), cut)


_CUT_FIRST = (Kind.TOPIC, Kind.GROUP, Kind.PRODUCER)
"""Which kind is the cut, if several leave equally many parts."""


def _components(
    near: list[list[int]], is_topic: list[bool], nodes: list[Item]
) -> Iterator[tuple[list[int], Cut | None]]:
    """Yield the connected components, each with its cut: one depth-first search, without recursion.

    ``low`` is the earliest node that a subtree has a link to. If that is not before the root of the subtree's parent,
    the subtree is a part of its own without the parent (Hopcroft and Tarjan, articulation points).
    """
    order = [-1] * len(near)
    low = [0] * len(near)
    topics = [0] * len(near)
    """The topics in the subtree of each node."""
    parts = [0] * len(near)
    apart = [0] * len(near)
    """The parts with a topic that fall off without the node, and the topics in all of them."""
    for root in range(len(near)):
        if order[root] >= 0:
            continue
        order[root] = low[root] = 0
        component = [root]
        stack = [(root, -1, iter(near[root]))]
        while stack:
            at, above, others = stack[-1]
            for other in others:
                if order[other] < 0:
                    order[other] = low[other] = len(component)
                    component.append(other)
                    stack.append((other, at, iter(near[other])))
                    break
                low[at] = min(low[at], order[other])
            else:
                stack.pop()
                topics[at] += is_topic[at]
                if above >= 0:
                    topics[above] += topics[at]
                    low[above] = min(low[above], low[at])
                    if low[at] >= order[above] and topics[at]:
                        parts[above] += 1
                        apart[above] += topics[at]
        cuts = []
        for at in component:
            rest = topics[root] - apart[at] - is_topic[at]
            number = parts[at] + (rest > 0)
            if number > 1:
                cuts.append((-number, _CUT_FIRST.index(nodes[at].kind), nodes[at]))
        best = min(cuts, default=None)
        yield component, None if best is None else Cut(best[2], -best[0])


class Producer(NamedTuple):
    """A transactional producer, as the log of its coordinator describes it.

    ``topics``: those that it wrote in transactions. ``offsets``: the partitions of ``__consumer_offsets`` in which it
    committed offsets, and ``groups`` the groups of these offsets, as far as known. ``ids``: its producer IDs.
    ``complete``: whether its first record is known, so that it has written nothing else.
    """

    name: str
    ids: frozenset[int] = frozenset()
    topics: frozenset[str] = frozenset()
    offsets: frozenset[int] = frozenset()
    complete: bool = False
    groups: frozenset[GroupId] = frozenset()


def add_group(graph: Graph, group: Group, commits: GroupCommits) -> None:
    """Add a group with the topics that it subscribes to, owns partitions of, or has committed offsets in."""
    item = Item(Kind.GROUP, group.group)
    graph.items.add(item)

    def link(topics: Iterable[str], why: Link) -> None:
        for topic in topics:
            graph.link(item, Item(Kind.TOPIC, topic), why)

    link(subscribed(group).topics.union(group.subscribed_topics()), Link.SUBSCRIBED)
    for each in group.members or ():
        for assignment in (each.assignment, each.target):
            link((entry.topic for entry in assignment.topics) if assignment else (), Link.ASSIGNED)
    link(commits.topics, Link.COMMITTED)
    link({topic for topic, _ in commits.pending or ()}, Link.COMMITTED)
    link(group.topology.changelogs if group.topology else (), Link.INTERNAL)


def add_producer(graph: Graph, producer: Producer) -> None:
    """Add a producer with the topics and groups of its transactions; one without any joins nothing, and is left out."""
    item = Item(Kind.PRODUCER, producer.name)
    for topic in producer.topics:
        graph.link(item, Item(Kind.TOPIC, topic), Link.TRANSACTION)
    for group in producer.groups:
        graph.link(item, Item(Kind.GROUP, group), Link.TRANSACTION)


def infer_groups(graph: Graph, producer: Producer, missing: Iterable[int], partitions: int) -> set[int]:
    """Link a producer with the group after which Kafka Streams names transactional IDs: ``GROUP-...`` (KIP-447).

    :param missing: the partitions of ``__consumer_offsets`` in which it committed offsets of unknown groups.
    :param partitions: the number of its partitions.
    :return: the partitions in which no group has such a name.
    """
    unknown = set(missing)
    for group in prefixes(producer.name):
        at = partition_of(group, partitions)
        if at in unknown and Item(Kind.GROUP, group) in graph.items:
            graph.link(Item(Kind.PRODUCER, producer.name), Item(Kind.GROUP, group), Link.INFERRED)
            unknown.discard(at)
    return unknown


def infer_internal_topics(graph: Graph, topics: Iterable[str]) -> None:
    """Link topics that are named as the internal topics of a Kafka Streams application with its group."""
    groups = {item.name for item in graph.items if item.kind is Kind.GROUP}
    for topic in topics:
        owner = owner_of(topic, groups)
        if owner is not None and (pair := (Item(Kind.GROUP, owner), Item(Kind.TOPIC, topic))) not in graph.links:
            graph.link(*pair, Link.INFERRED)


def is_of_cluster(topic: str) -> bool:
    """Return whether a topic is an internal one of Kafka or of MirrorMaker 2: it does not move, and joins nothing."""
    return topic in _KAFKA or is_of_mirror(topic)


def is_of_mirror(topic: str) -> bool:
    """Return whether a topic is named as those that MirrorMaker 2 writes for itself."""
    mirror_maker = topic.startswith("mm2-") and topic.endswith(".internal")
    return mirror_maker or topic.endswith(".checkpoints.internal")


_KAFKA = INTERNAL_TOPICS | {"__cluster_metadata"}


def unknown_topics(group: Group) -> str | None:
    """Return why brokers may not report all topics of a group; ``None`` if they do."""
    members = group.members
    if members is None:
        return "its members are unknown"
    if not members:
        return None
    if group.type == GroupType.STREAMS:
        return None if subscribed(group).whole else "its topology is not ready, or its members run different ones"
    if has_no_topics(group):
        return None
    if any(member.subscription.raw or member.assignment.raw for member in members):
        return "the metadata of a member could not be decoded"
    if group.type in (GroupType.CLASSIC, None) and group.state in GroupState.JOINING:
        return "the group rebalances, and brokers do not report subscriptions"
    return None


def has_no_topics(group: Group) -> bool:
    """Return whether a group's protocol has no topics, such as that of Kafka Connect's workers."""
    classic = group.type in (GroupType.CLASSIC, None)
    return classic and bool(group.members) and group.protocol_type != CONSUMER_PROTOCOL_TYPE


def selected_waves(waves: Iterable[Wave], groups: Collection[str] | None, topics: Collection[str]) -> list[Wave]:
    """Return the waves with one of these groups, or of all, and with one of these topics, if there are any."""
    return [
        wave
        for wave in waves
        if (groups is None or any(name in groups for name in wave.groups))
        and (not topics or any(name in topics for name in wave.topics))
    ]
