"""Filter and combine the results of librdkafka: lists, groups with their commits, and log offsets. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from kgroups.model.groups import CONSUMER_GROUPS, Group, GroupId, GroupState, GroupType, ListedGroup
from kgroups.model.offsets import GroupCommits, Isolation, LogOffsets, Logs
from kgroups.model.outcome import Failure, Scope
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import LEADER_MOVED, Code, KafkaError

from ..query.list_groups import ListFilter
from ..routing.partition_leaders import TopicPartition, partition_name
from .conversions import UNKNOWN_STATE, is_missing, state_of

Pair = tuple[Group, GroupCommits]

UNLISTED = "librdkafka lists only consumer groups; Connect, share, and streams groups are missing"
MISTAKEN = "librdkafka does not support share and streams groups and reports them as missing"
UNREPORTED = "librdkafka does not report epochs, subscriptions, racks, or which members still use the classic protocol"
UNSEEN = "unknown over librdkafka; --transport wire shows it"
STATELESS = "librdkafka does not support the states Assigning, Reconciling, and NotReady: a state is unknown"
TYPELESS = "the brokers do not report group types (ListGroups v5, Kafka 3.8)"

_LISTED_TYPES = (GroupType.CLASSIC, GroupType.CONSUMER)


def once_each(entries: Iterable[Any]) -> dict[GroupId, Any]:
    """Return each listed group once; of a group that moves between two brokers, not the entry with state Dead."""
    kept: dict[GroupId, Any] = {}
    for entry in entries:
        if entry.group_id not in kept or state_of(kept[entry.group_id]) == GroupState.DEAD:
            kept[entry.group_id] = entry
    return kept


def operations_of(description: Any, entries: Collection[Any]) -> frozenset[str] | None:
    """Return the authorized operations on the cluster; ``None`` if brokers do not report them.

    librdkafka returns ``None`` also if none is authorized. Brokers that list states (Kafka 2.6) report the operations
    (Kafka 2.3).
    """
    operations = description.authorized_operations
    if operations is None:
        old = entries and all(state_of(entry) is None for entry in entries)
        return None if old else frozenset()
    return frozenset(operation.name for operation in operations)


def filtered(
    groups: Sequence[ListedGroup], wanted: ListFilter
) -> tuple[list[ListedGroup], tuple[str, ...], tuple[str, ...]]:
    """Return the matching groups, the reasons why requested groups may be missing, and notices."""
    typeless = any(group.type is None for group in groups)
    stateless = any(group.state is None for group in groups)
    unlisted = [f"{each} groups" for each in wanted.types if each not in _LISTED_TYPES]
    unlisted += [f"groups of protocol type {each!r}" for each in wanted.protocol_types if each not in CONSUMER_GROUPS]
    errors = [f"librdkafka does not list {each}" for each in unlisted]
    if wanted.types and typeless:
        errors.append(f"cannot filter by type: {TYPELESS}")
    if wanted.states and stateless:
        errors.append(f"cannot filter all groups by state: {STATELESS}")
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
    return kept, tuple(errors), tuple(notices)


def description_notices(pairs: Iterable[Pair], failures: Iterable[Failure]) -> tuple[str, ...]:
    """Return the notices for described groups."""
    notices: list[str] = []
    if any(is_missing(failure) for failure in failures):
        notices.append(MISTAKEN)
    if any(group.state == UNKNOWN_STATE for group, _ in pairs):
        notices.append(STATELESS)
    return tuple(notices)


def on_topics(pairs: Iterable[Pair], topics: frozenset[str]) -> list[Pair]:
    """Return the groups with commits or assignments on these topics, and only these commits."""
    kept: list[Pair] = []
    for group, commits in pairs:
        some = {topic: committed for topic, committed in commits.topics.items() if topic in topics}
        if some or group.is_assigned(topics):
            kept.append((group, GroupCommits(group.group_id, some)))
    return kept


def partitions_of(pairs: Iterable[Pair], topics: frozenset[str]) -> set[TopicPartition]:
    """Return the partitions that any group has a commit or an assignment on; only of ``topics``, if any."""
    partitions: set[TopicPartition] = set()
    for group, commits in pairs:
        partitions.update((topic, commit.partition) for topic, made in commits.topics.items() for commit in made)
        for member in group.members or ():
            partitions.update(pair for pair in member.assignment.pairs() if not topics or pair[0] in topics)
    return partitions


def whole_topics(pairs: Iterable[TopicPartition], topics: Mapping[str, TopicLeaders | Failure]) -> set[TopicPartition]:
    """Return these partitions, and all others of their topics."""
    others = {(name, at) for name, entry in topics.items() if not isinstance(entry, Failure) for at in entry.leaders}
    return others.union(pairs)


class LogOffsetCollector:
    """Collects the log start and log end offsets of partitions, and the failures."""

    def __init__(self) -> None:
        self._known: dict[TopicPartition, LogOffsets] = {}
        self._failures: dict[TopicPartition, Failure] = {}

    def place(
        self, pairs: Iterable[TopicPartition], topics: Mapping[str, TopicLeaders | Failure]
    ) -> dict[int, list[TopicPartition]]:
        """Group partitions by leader; record a failure for those without a leader."""
        leaders: dict[int, list[TopicPartition]] = {}
        for pair in sorted(pairs):
            entry = topics[pair[0]]
            leader = entry if isinstance(entry, Failure) else entry.leaders.get(pair[1])
            self._failures.pop(pair, None)
            if leader is None:
                message = "the topic has no such partition now (recreated with fewer?)"
                error = KafkaError(Code.unknown_topic_or_partition, message)
                self._failures[pair] = error.failure(Scope.PARTITION, partition_name(pair), api="Metadata")
            elif isinstance(leader, Failure):
                self._failures[pair] = leader
            elif isinstance(leader, KafkaError):
                self._failures[pair] = leader.failure(Scope.PARTITION, partition_name(pair), api="Metadata")
            else:
                leaders.setdefault(leader, []).append(pair)
        return leaders

    def record(self, pair: TopicPartition, result: LogOffsets | Failure) -> None:
        """Record a start offset, an end offset, or a failure."""
        if isinstance(result, Failure):
            self._failures[pair] = result
        else:
            start, end = self._known.get(pair, LogOffsets())
            self._known[pair] = LogOffsets(
                start if result.start is None else result.start, end if result.end is None else result.end
            )

    def moved(self) -> set[TopicPartition]:
        """Return the partitions that may have another leader after a retry."""
        return {pair for pair, failure in self._failures.items() if failure.code in LEADER_MOVED}

    def logs(self, isolation: Isolation) -> tuple[Logs, tuple[Failure, ...]]:
        """Return the offsets, and each failure once: a topic that was deleted is one failure.

        :param isolation: that of the log end offsets.
        """
        offsets: dict[str, dict[int, LogOffsets]] = {}
        for (topic, partition), log in self._known.items():
            offsets.setdefault(topic, {})[partition] = log
        holes = {pair: failure.message for pair, failure in self._failures.items()}
        failures = tuple(dict.fromkeys(self._failures[pair] for pair in sorted(self._failures)))
        return Logs(offsets, holes, stable=isolation is Isolation.READ_COMMITTED), failures
