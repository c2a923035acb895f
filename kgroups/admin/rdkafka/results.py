"""What librdkafka's answers come to: the list filtered, groups beside their commits, the logs. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from kgroups.model.groups import CONSUMER_GROUPS, Group, GroupId, GroupState, GroupType, ListedGroup
from kgroups.model.offsets import GroupCommits, LogOffsets, Logs
from kgroups.model.outcome import Failure, Scope
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import LEADER_MOVED, Code, KafkaError

from ..query.list_groups import ListFilter
from ..routing.partition_leaders import TopicPartition, partition_name
from .conversions import UNKNOWN_STATE, is_missing, state_of

Pair = tuple[Group, GroupCommits]

UNLISTED = "librdkafka lists groups of consumers only: Connect, share and streams groups are left out"
MISTAKEN = "librdkafka does not support share and streams groups and reports them as missing"
UNTOLD = "librdkafka does not report epochs, subscriptions, racks, or which members still use the classic protocol"
UNREAD = "librdkafka is not asked for records: time lag is unknown; the wire client reads them (--transport wire)"
UNREAD_LOG = (
    "librdkafka is not asked for records: the groups' log is unknown; the wire client reads it (--transport wire)"
)
UNSEEN = "librdkafka does not list hidden topics"
UNSAVED = (
    "librdkafka does not report where the metadata of a commit ends: it is neither saved nor copied; the wire client "
    "does both (--transport wire)"
)
STATELESS = "librdkafka has no name for the states Assigning, Reconciling and NotReady: a state is unknown"
TYPELESS = "the brokers do not report group types (ListGroups v5, Kafka 3.8)"

_LISTED_TYPES = (GroupType.CLASSIC, GroupType.CONSUMER)


def once_each(entries: Iterable[Any]) -> dict[GroupId, Any]:
    """A group that two brokers list is moving from one to the other: kept once, and not as the dead one."""
    kept: dict[GroupId, Any] = {}
    for entry in entries:
        if entry.group_id not in kept or state_of(kept[entry.group_id]) == GroupState.DEAD:
            kept[entry.group_id] = entry
    return kept


def operations_of(description: Any, entries: Collection[Any]) -> frozenset[str] | None:
    """What we may do to the cluster; ``None`` where nobody tells.

    librdkafka gives ``None`` for nothing allowed too. Brokers that list states (Kafka 2.6) do tell (Kafka 2.3).
    """
    told = description.authorized_operations
    if told is None:
        old = entries and all(state_of(entry) is None for entry in entries)
        return None if old else frozenset()
    return frozenset(operation.name for operation in told)


def filtered(
    groups: Sequence[ListedGroup], wanted: ListFilter
) -> tuple[list[ListedGroup], tuple[str, ...], tuple[str, ...]]:
    """The groups that match; what cannot be told although it was asked for; and remarks."""
    typeless = any(group.type is None for group in groups)
    stateless = any(group.state is None for group in groups)
    unlisted = [f"{kind} groups" for kind in wanted.types if kind not in _LISTED_TYPES]
    unlisted += [f"groups of protocol type {kind!r}" for kind in wanted.protocol_types if kind not in CONSUMER_GROUPS]
    refused = [f"librdkafka does not list {kind}" for kind in unlisted]
    if wanted.types and typeless:
        refused.append(f"cannot filter by type: {TYPELESS}")
    if wanted.states and stateless:
        refused.append(f"cannot filter all groups by state: {STATELESS}")
    notices = [f"{TYPELESS}; TYPE is unknown"] if wanted.with_types and typeless and not wanted.types else []
    if wanted.with_states and stateless and not wanted.states:
        notices.append(STATELESS)
    kept = [
        group
        for group in groups
        if (not wanted.states or group.state in wanted.states)
        and (not wanted.types or group.type in wanted.types)
        and (not wanted.protocol_types or group.protocol_type in wanted.protocol_types)
    ]
    return kept, tuple(refused), tuple(notices)


def remarks(pairs: Iterable[Pair], failures: Iterable[Failure], *, listed: bool) -> tuple[str, ...]:
    """What a reader of described groups has to know."""
    notices = [UNLISTED] if listed else []
    if any(is_missing(failure) for failure in failures):
        notices.append(MISTAKEN)
    if any(group.state == UNKNOWN_STATE for group, _ in pairs):
        notices.append(STATELESS)
    return tuple(notices)


def metadata_remarks(pairs: Iterable[Pair]) -> tuple[str, ...]:
    """What a reader of planned offsets has to know."""
    made = (commit for _, commits in pairs for each in commits.topics.values() for commit in each)
    return (UNSAVED,) if any(commit.metadata is None for commit in made) else ()


def on_topics(pairs: Iterable[Pair], topics: frozenset[str]) -> list[Pair]:
    """The groups that have commits or assignments on these topics, with these commits only."""
    kept: list[Pair] = []
    for group, commits in pairs:
        some = {topic: committed for topic, committed in commits.topics.items() if topic in topics}
        if some or any(entry.topic in topics for member in group.members or () for entry in member.assignment.topics):
            kept.append((group, GroupCommits(group.group_id, some)))
    return kept


def partitions_of(pairs: Iterable[Pair], topics: frozenset[str]) -> set[TopicPartition]:
    """All partitions that any group has a commit or an assignment on; of some topics, where given."""
    wanted: set[TopicPartition] = set()
    for group, commits in pairs:
        wanted.update((topic, commit.partition) for topic, made in commits.topics.items() for commit in made)
        for member in group.members or ():
            wanted.update(pair for pair in member.assignment.pairs() if not topics or pair[0] in topics)
    return wanted


def whole_topics(pairs: Iterable[TopicPartition], topics: Mapping[str, TopicLeaders | Failure]) -> set[TopicPartition]:
    """These partitions, and the others of their topics."""
    others = {(name, at) for name, told in topics.items() if not isinstance(told, Failure) for at in told.leaders}
    return others.union(pairs)


class LogOffsetCollector:
    """What is known so far of each log: its ends, and what stands in the way."""

    def __init__(self) -> None:
        self._known: dict[TopicPartition, LogOffsets] = {}
        self._holes: dict[TopicPartition, Failure] = {}

    def place(
        self, pairs: Iterable[TopicPartition], topics: Mapping[str, TopicLeaders | Failure]
    ) -> dict[int, list[TopicPartition]]:
        """Leader -> its partitions; those without a leader become holes."""
        leaders: dict[int, list[TopicPartition]] = {}
        for pair in sorted(pairs):
            entry = topics[pair[0]]
            leader = entry if isinstance(entry, Failure) else entry.leaders.get(pair[1])
            self._holes.pop(pair, None)
            if leader is None:
                message = "the topic has no such partition now (recreated with fewer?)"
                told = KafkaError(Code.unknown_topic_or_partition, message)
                self._holes[pair] = told.failure(Scope.PARTITION, partition_name(pair), api="Metadata")
            elif isinstance(leader, Failure):
                self._holes[pair] = leader
            elif isinstance(leader, KafkaError):
                self._holes[pair] = leader.failure(Scope.PARTITION, partition_name(pair), api="Metadata")
            else:
                leaders.setdefault(leader, []).append(pair)
        return leaders

    def note(self, pair: TopicPartition, answer: LogOffsets | Failure) -> None:
        """What was asked: a start, an end, or neither for the reason given."""
        if isinstance(answer, Failure):
            self._holes[pair] = answer
        else:
            start, end = self._known.get(pair, LogOffsets())
            self._known[pair] = LogOffsets(
                start if answer.start is None else answer.start, end if answer.end is None else answer.end
            )

    def moved(self) -> set[TopicPartition]:
        """The partitions whose leader may be known in a moment."""
        return {pair for pair, failure in self._holes.items() if failure.code in LEADER_MOVED}

    def logs(self) -> tuple[Logs, tuple[Failure, ...]]:
        """All that is known, and each failure once: a topic that is gone is one."""
        offsets: dict[str, dict[int, LogOffsets]] = {}
        for (topic, partition), log in self._known.items():
            offsets.setdefault(topic, {})[partition] = log
        holes = {pair: failure.message for pair, failure in self._holes.items()}
        return Logs(offsets, holes), tuple(dict.fromkeys(self._holes[pair] for pair in sorted(self._holes)))
