"""State of a fake cluster: groups, topics, and the errors that its brokers return."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kio.index import load_entity_schema
from kio.schema.errors import ErrorCode
from kio.static.constants import EntityType

from kgroups.model.offsets import Commit
from kgroups.model.placement import partition_of
from kgroups.model.streams import AssignedTasks, Subtopology
from kgroups.protocol.record_batch import Aborted

from .oracle import build, nested, write
from .record_batches import Batch

Held = Mapping[str, tuple[int, ...]]


@dataclass
class FakeMember:
    member_id: str
    holds: Held = field(default_factory=dict)
    client_id: str = "client"
    host: str = "/127.0.0.1"
    instance_id: str | None = None
    garbage: bytes | None = None
    """Sent as the assignment, instead of the held partitions."""
    metadata: bytes | None = None
    """Sent as the subscription, instead of the topics that are held."""
    tasks: AssignedTasks = field(default_factory=AssignedTasks)
    """The tasks of a streams group's member."""


@dataclass
class FakeGroup:
    name: str
    coordinator: int = 0
    state: str = "Empty"
    type: str = "Classic"
    protocol_type: str = "consumer"
    protocol: str = "range"
    members: tuple[FakeMember, ...] = ()
    commits: dict[tuple[str, int], int | Commit] = field(default_factory=dict)
    pending: set[tuple[str, int]] = field(default_factory=set)
    """The partitions with an offset in an open transaction."""
    subtopologies: tuple[Subtopology, ...] | None = ()
    """The subtopologies of a streams group."""
    dead_on: int | None = None
    """A broker that coordinated it until now, and still lists it, as dead."""
    lags: dict[tuple[str, int], int] = field(default_factory=dict)
    """Reported lags of a share group, if other than end minus start; its start offsets are its commits."""


@dataclass
class FakeTopic:
    """Per partition: its leader (-1: none), and where its log starts and ends; ``stable``: under read_committed."""

    name: str
    leaders: list[int]
    start: int = 0
    end: int = 100
    stable: int | None = None
    epoch: int = 4
    """The leader epoch of every partition."""
    times: Mapping[int, int] = field(default_factory=dict)
    """Offset -> its record's time; of partition 0 as of any other."""
    leader_seen: dict[int, list[int]] = field(default_factory=dict)
    """Partition -> leaders in the next Metadata responses, one per response, before the real one."""
    epochs: dict[int, int] = field(default_factory=dict)
    """Partition -> its leader epoch, where that is not 0."""
    logs: dict[int, Sequence[Batch]] = field(default_factory=dict)
    """Partition -> the batches that Fetch returns."""
    aborted: Sequence[Aborted] = ()
    topic_id: int = 1
    history: dict[int, Mapping[int, int]] = field(default_factory=dict)
    """Partition -> the leader epochs in its log, each with its first offset; by default, only ``epoch``."""
    sizes: Mapping[int, int] = field(default_factory=dict)
    """Partition -> the size of its log in bytes."""


_NOT_AUTHORIZED = {
    ErrorCode.group_authorization_failed,
    ErrorCode.topic_authorization_failed,
    ErrorCode.cluster_authorization_failed,
}


@dataclass
class ClusterState:
    groups: dict[str, FakeGroup] = field(default_factory=dict)
    topics: dict[str, FakeTopic] = field(default_factory=dict)
    cluster_id: str = "fake-cluster"
    operations: int = 256
    """Authorized operations on the cluster, one bit each (256: DESCRIBE), or ``-(1 << 31)``: not reported."""
    authorized: dict[str, int] = field(default_factory=dict)
    """Authorized operations on groups and topics, as ``operations``; of others, they are not reported."""
    has_authorizer: bool = False
    """Whether the brokers check ACLs, as they do if they are to return an error about it."""
    features: dict[str, int] | None = None
    """The levels of finalized features; ``None``: not reported."""
    settings: dict[str, dict[str, str | None]] = field(default_factory=dict)
    """Settings of brokers by ID, and of topics."""
    omitted: set[str] = field(default_factory=set)
    """Groups and topics that are missing in every response except ListGroups."""
    coordinators: dict[int, int | None] | None = None
    """Partition of the offsets topic -> the broker that has its groups loaded, ``None`` if no broker has; if
    given, no other broker lists or describes such groups, whatever the leaders and coordinators are."""
    loading: set[tuple[int, int]] = field(default_factory=set)
    """Brokers and partitions of the offsets topic that they are loading."""
    unasked: list[str] = field(default_factory=list)
    """Topics that brokers add to every Metadata response."""
    _errors: dict[tuple[str, str], list[ErrorCode]] = field(default_factory=dict)
    _always: dict[tuple[str, str], ErrorCode] = field(default_factory=dict)

    def hindrance(self, broker: int, name: str) -> ErrorCode:
        """Return a broker's error for a group that it does not coordinate, or ``none``."""
        if self.coordinators is None:
            return ErrorCode.none
        at = partition_of(name, len(self.coordinators))
        if (broker, at) in self.loading:
            return ErrorCode.coordinator_load_in_progress
        return ErrorCode.none if self.coordinators[at] == broker else ErrorCode.not_coordinator

    def group(self, name: str, coordinator: int = 0, **rest: object) -> FakeGroup:
        self.groups[name] = FakeGroup(name, coordinator, **rest)  # type: ignore[arg-type]
        return self.groups[name]

    def topic(self, name: str, leaders: Iterable[int], **rest: object) -> FakeTopic:
        known = self.topics.get(name)
        rest.setdefault("topic_id", known.topic_id if known else len(self.topics) + 1)
        self.topics[name] = FakeTopic(name, list(leaders), **rest)  # type: ignore[arg-type]
        return self.topics[name]

    def fail(self, api: str, name: str, code: ErrorCode, times: int | None = None) -> None:
        """Return an error for a group, topic, ``topic-partition``, or ``""`` (whole response), always or N times."""
        if times is None:
            self._always[api, name] = code
        else:
            self._errors.setdefault((api, name), []).extend([code] * times)

    @property
    def acls_error(self) -> ErrorCode:
        """Return the error of DescribeAcls."""
        codes = {*self._always.values(), *(code for queued in self._errors.values() for code in queued)}
        return ErrorCode.none if self.has_authorizer or codes & _NOT_AUTHORIZED else ErrorCode.security_disabled

    def error(self, api: str, name: str) -> ErrorCode:
        queued = self._errors.get((api, name))
        return queued.pop(0) if queued else self._always.get((api, name), ErrorCode.none)


def subscription_bytes(topics: Iterable[str]) -> bytes:
    kind = load_entity_schema("consumer_protocol_subscription", 1, EntityType.data)
    return b"\0\1" + write(build(kind, topics=tuple(topics), user_data=None, owned_partitions=()))


def assignment_bytes(holds: Held) -> bytes:
    kind = load_entity_schema("consumer_protocol_assignment", 0, EntityType.data)
    part = nested(kind, "TopicPartition")
    entries = tuple(build(part, topic=topic, partitions=partitions) for topic, partitions in holds.items())
    return b"\0\0" + write(build(kind, assigned_partitions=entries, user_data=None))
