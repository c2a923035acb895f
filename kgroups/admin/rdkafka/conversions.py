"""Convert and combine what librdkafka returns. No I/O, and no import of confluent_kafka."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgroups.config.secret import MASK
from kgroups.errors import Reason
from kgroups.model.assignment import Assignment, Subscription, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import (
    CONSUMER_GROUPS,
    CONSUMER_PROTOCOL_TYPE,
    Group,
    GroupId,
    GroupState,
    GroupType,
    ListedGroup,
    Member,
)
from kgroups.model.offsets import Commit, GroupCommits
from kgroups.model.outcome import Failure, Scope
from kgroups.model.placement import partition_of
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code, KafkaError, kafka_error

from ..query.list_groups import ListFilter, matching
from ..query.log_offsets import LogCollector
from ..routing.partition_leaders import TopicPartition, partition_name

Pair = tuple[Group, GroupCommits]

UNKNOWN_STATE = "Unknown"
"""Kafka's name for the state of a described group that librdkafka does not know: Assigning, Reconciling, NotReady."""

_STATES = {
    "PREPARING_REBALANCING": GroupState.PREPARING_REBALANCE,
    "COMPLETING_REBALANCING": GroupState.COMPLETING_REBALANCE,
    "STABLE": GroupState.STABLE,
    "DEAD": GroupState.DEAD,
    "EMPTY": GroupState.EMPTY,
}
_TYPES = {"CLASSIC": GroupType.CLASSIC, "CONSUMER": GroupType.CONSUMER}

_NO_OFFSET = (-1, -1001)
"""What a broker, and librdkafka (OFFSET_INVALID), report for a partition without a commit."""

_LONGEST_NAME = 32_767

UNLISTED = "librdkafka lists only consumer groups; Connect, share, and streams groups are missing"
MISTAKEN = "librdkafka does not support share and streams groups and reports them as missing"
UNREPORTED = "librdkafka does not report epochs, subscriptions, racks, or which members still use the classic protocol"
UNSEEN = "unknown over librdkafka; --transport wire shows it"
STATELESS = (
    "librdkafka does not support the states Assigning, Reconciling, and NotReady: the state of a group in one of them "
    "is unknown"
)
TYPELESS = "the brokers do not report group types (ListGroups v5, Kafka 3.8)"

_LISTED_TYPES = (GroupType.CLASSIC, GroupType.CONSUMER)


def why_not_sendable(name: GroupId) -> str | None:
    """Return why librdkafka cannot send this name, or ``None`` if it can.

    With such a name it would query another group, close the connection, or raise an exception.
    """
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "the group name is not valid UTF-8"
    if not name or "\0" in name or size > _LONGEST_NAME:
        return f"librdkafka does not support this name (empty, contains a NUL, or longer than {_LONGEST_NAME:,} bytes)"
    return None


def state_of(group: Any) -> str | None:
    """Return the state of a listed or described group.

    ``None`` if the broker does not report it, or librdkafka has no name for it.
    """
    return _STATES.get(getattr(getattr(group, "state", None), "name", ""))


def known_state(group: Group) -> str | None:
    return None if group.state == UNKNOWN_STATE else group.state


def type_of(group: Any) -> str | None:
    return _TYPES.get(getattr(getattr(group, "type", None), "name", ""))


def protocol_type_of(group: Any) -> str:
    """Return the protocol type; librdkafka lists and describes only groups with ``consumer`` and ``""``."""
    return "" if group.is_simple_consumer_group else CONSUMER_PROTOCOL_TYPE


def group_of(description: Any) -> Group | KafkaError:
    """Return a described group, or GROUP_ID_NOT_FOUND: librdkafka describes groups that do not exist as Dead."""
    if not _is_node(description.coordinator):
        return kafka_error(Code.coordinator_not_available)
    group_type, state = type_of(description), state_of(description)
    empty = not description.members and group_type is None and state is None
    if state == GroupState.DEAD or empty:
        return kafka_error(Code.group_id_not_found)
    return Group(
        group=description.group_id,
        type=group_type or GroupType.CLASSIC,
        state=state or UNKNOWN_STATE,
        protocol_type=protocol_type_of(description),
        protocol=description.partition_assignor or "",
        coordinator=node_of(description.coordinator),
        members=tuple(_member(member, group_type) for member in description.members),
    )


def _member(member: Any, group_type: str | None) -> Member:
    assignment = _assignment(member.assignment)
    target = getattr(member, "target_assignment", None)
    # A KIP-848 member owns its assignment; librdkafka does not expose the owned partitions of a classic member.
    subscription = Subscription(owned=assignment) if group_type == GroupType.CONSUMER else Subscription()
    return Member(
        member_id=member.member_id,
        client_id=member.client_id,
        host=member.host,
        assignment=assignment,
        instance_id=member.group_instance_id,
        subscription=subscription,
        target=None if target is None else _assignment(target),
    )


def _assignment(assignment: Any) -> Assignment:
    return assignment_of((entry.topic, (entry.partition,)) for entry in assignment.topic_partitions)


def commits_of(group: GroupId, response: Any) -> GroupCommits | Failure:
    """Return the commits of a group, without partitions that have none, or why they are unknown."""
    topics: dict[str, list[Commit]] = {}
    for entry in response.topic_partitions or ():
        if entry.error:
            failure = failure_of(Scope.GROUP, group, "OffsetFetch", entry.error)
            return failure._replace(message=f"{entry.topic}-{entry.partition}: {failure.message}")
        if not entry.partition >= 0 or (entry.offset < 0 and entry.offset not in _NO_OFFSET):
            return Failure(Scope.GROUP, group, _invalid(entry), api="OffsetFetch", reason=Reason.INVALID_RESPONSE)
        if entry.offset >= 0:
            epoch = entry.leader_epoch
            known = None if epoch is None or epoch < 0 else epoch
            topics.setdefault(entry.topic, []).append(Commit(entry.partition, entry.offset, known, _metadata_of(entry)))
    return GroupCommits(group, {topic: tuple(commits) for topic, commits in topics.items()})


def log_offset_of(pair: TopicPartition, found: Any) -> int | Failure:
    """Return a log start or log end offset; librdkafka returns a marker if it has none."""
    if found.offset < 0:
        name = partition_name(pair)
        return Failure(
            Scope.PARTITION,
            name,
            f"librdkafka returned no offset ({found.offset})",
            api="ListOffsets",
            reason=Reason.INVALID_RESPONSE,
        )
    return int(found.offset)


def _invalid(entry: Any) -> str:
    return f"librdkafka returned an invalid entry: {entry.topic}, partition {entry.partition}, offset {entry.offset}"


def _metadata_of(entry: Any) -> str | None:
    """Return ``""`` for no metadata, and ``None`` for any metadata, because its end is unknown."""
    try:  # librdkafka copies it without a trailing NUL, so confluent-kafka reads up to the next NUL in memory
        return None if entry.metadata else ""
    except UnicodeDecodeError:
        return None


def _is_node(node: Any) -> bool:
    return node is not None and node.id >= 0


def node_of(node: Any) -> Node:
    return Node(node.id, node.host, node.port)


def leaders_of(description: Any) -> TopicLeaders:
    leaders: dict[int, int | KafkaError] = {
        entry.id: entry.leader.id if _is_node(entry.leader) else kafka_error(Code.leader_not_available)
        for entry in description.partitions
    }
    return TopicLeaders(description.name, None, leaders, _number(getattr(description, "topic_id", None)))


def failed_topic(topic: str, failure: Failure) -> TopicLeaders:
    code = Code.unknown_server_error if failure.code is None else Code(failure.code)
    return TopicLeaders(topic, kafka_error(code, failure.message), {})


def _number(topic_id: Any) -> int:
    """Return a topic ID as a 128-bit number, 0 if it is unknown; confluent-kafka has two signed 64-bit numbers."""
    if topic_id is None:
        return 0
    halves = topic_id.get_most_significant_bits(), topic_id.get_least_significant_bits()
    high, low = (half & (2**64 - 1) for half in halves)
    return int(high << 64 | low)


def failure_of(scope: Scope, name: str, api: str, error: Any) -> Failure:
    """Return the failure for an error that a broker reported, with the message of the wire client.

    librdkafka's own errors, which have no Kafka name, keep librdkafka's message.
    """
    number, text = error.code(), masked(error.str())
    if number <= 0:
        return Failure(scope, name, f"librdkafka: {text}", api=api, reason=Reason.CONNECTION_FAILED)
    try:
        code = Code(number)
    except ValueError:
        return Failure(scope, name, text, error.name(), number, api, reason=Reason.BROKER_ERROR)
    return kafka_error(code, text.removeprefix("Broker: ")).failure(scope, name, api=api)


def masked(text: str) -> str:
    """Mask the expected SCRAM server signature, which librdkafka quotes: it is derived from the password."""
    return _EXPECTED.sub(r"\1" + MASK, text)


_EXPECTED = re.compile(r"(ServerSignature mismatch \(server's .{0,1000}? != ours )[^)]*", re.DOTALL)


def reasons(texts: Iterable[str]) -> list[str]:
    """Return the messages of librdkafka's connection attempts, each once, and without the time that they took.

    ``host:9/bootstrap: Connect to ipv4#127.0.0.1:9 failed: Connection refused (after 0ms in state CONNECT)``
    """
    cut = (masked(text).partition(" (after ")[0].replace("/bootstrap: ", ": ", 1) for text in texts)
    return sorted(dict.fromkeys(" ".join(text.split()) for text in cut))


@dataclass(slots=True)
class Placement:
    """Coordinators by Kafka's rule: the leader of the partition of the offsets topic that the group's name hashes to.

    Other brokers with Kafka's protocol may have another rule.
    """

    leaders: Sequence[Node | None] = ()

    def coordinator(self, group: GroupId) -> Node | None:
        return self.leaders[partition_of(group, len(self.leaders))] if self.leaders else None


def placement_of(description: Any) -> Placement:
    entries = sorted(description.partitions, key=lambda entry: int(entry.id))
    return Placement([node_of(entry.leader) if _is_node(entry.leader) else None for entry in entries])


def is_missing(failure: Failure) -> bool:
    return failure.code == Code.group_id_not_found


def undescribed(failure: Failure) -> Failure:
    """Return the failure of a group that librdkafka reports as missing although it has commits."""
    message = "librdkafka cannot describe it, yet it has commits, as a streams group has: --transport wire can"
    return Failure(failure.scope, failure.name, message, api=failure.api, reason=Reason.NOT_APPLICABLE)


def vanished(failure: Failure) -> Failure:
    """Return the failure of a listed group: if it is missing now, it was deleted in the meantime."""
    return (
        failure._replace(message="the group vanished while it was being described") if is_missing(failure) else failure
    )


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
    return matching(groups, wanted), tuple(errors), tuple(notices)


def description_notices(pairs: Iterable[Pair], failures: Iterable[Failure]) -> tuple[str, ...]:
    """Return the notices for described groups."""
    notices: list[str] = []
    if any(is_missing(failure) for failure in failures):
        notices.append(MISTAKEN)
    if any(group.state == UNKNOWN_STATE for group, _ in pairs):
        notices.append(STATELESS)
    return tuple(notices)


def by_leader(
    collector: LogCollector, pairs: Iterable[TopicPartition], topics: Mapping[str, TopicLeaders | Failure]
) -> dict[int, list[TopicPartition]]:
    """Group partitions by leader; record a failure for those without a leader."""
    leaders: dict[int, list[TopicPartition]] = {}
    for pair in sorted(pairs):
        entry = topics[pair[0]]
        leader = entry if isinstance(entry, Failure) else entry.leaders.get(pair[1])
        collector.failures.pop(pair, None)
        if leader is None:
            message = "the topic has no such partition now (recreated with fewer?)"
            leader = KafkaError(Code.unknown_topic_or_partition, message)
        if isinstance(leader, KafkaError):
            leader = leader.failure(Scope.PARTITION, partition_name(pair), api="Metadata")
        if isinstance(leader, Failure):
            collector.failures[pair] = leader
        else:
            leaders.setdefault(leader, []).append(pair)
    return leaders
