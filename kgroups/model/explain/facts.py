"""The facts about one group, collected by :mod:`kgroups.admin.query.explain`; rules have no other input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.assignors.shape import Topic, TopicPartition
from kgroups.model.effective_setting import Effective
from kgroups.model.group_log import GroupLog
from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE, Group, GroupType, Member
from kgroups.model.offsets import GroupCommits
from kgroups.model.share.partition import ShareFacts
from kgroups.model.status import Known
from kgroups.model.stays import Instances
from kgroups.model.subscriptions import member_topics
from kgroups.model.verdicts.facts import PartitionFacts


class Limit(NamedTuple):
    """A broker setting; ``reported`` by the broker, otherwise Kafka's default."""

    name: str
    value: int
    reported: bool

    def __str__(self) -> str:
        return f"{self.name} is {self.value:,}{'' if self.reported else ' by default'}"


class BrokerLimits(NamedTuple):
    """The limits on a group: members, bytes of a request, and bytes of a record in ``__consumer_offsets``."""

    members: Limit = Limit("group.max.size", 2**31 - 1, False)
    consumers: Limit = Limit("group.consumer.max.size", 2**31 - 1, False)
    request: Limit = Limit("socket.request.max.bytes", 100 * 1024 * 1024, False)
    record: Limit = Limit("max.message.bytes", 1_048_588, False)


class MemberTimeouts(NamedTuple):
    """The settings of a group that is not classic, from which members get their timeouts."""

    session: Effective
    heartbeat: Effective


class Placement(NamedTuple):
    """How the coordinator was found, and the partition of ``__consumer_offsets`` that stores the group.

    ``how``: as in ``FindCoordinator v6``. ``partitions``: their number. ``leader``: the broker that leads
    ``partition``. ``None``: not reported.
    """

    how: str
    partition: int | None = None
    partitions: int | None = None
    leader: int | None = None


class LagFacts(NamedTuple):
    """The lag of a group, and its partitions that lag, or whose lag is unknown."""

    known: Known
    partitions: tuple[PartitionFacts, ...] = ()


class GroupFacts(NamedTuple):
    """The facts about one group.

    ``topics``: the existing topics that members subscribe to or own. ``missing``: those that do not exist.
    ``undescribed``: those that could not be described, about which there are no findings. ``log``: the facts from the
    group's log, if it was read. ``outsiders``: the commits of a client that is not a member, as text. ``epochs_ahead``:
    partitions whose commit has a later leader epoch than they have (:data:`..lag.EPOCH_AHEAD`).
    ``share``: the partitions of a share group, if they were queried. ``timeouts``: ``None`` for classic groups, whose
    members have their own. ``commits``: ``None`` if they are unknown.
    """

    group: Group
    placement: Placement
    topics: Mapping[str, Topic]
    missing: frozenset[str] = frozenset()
    undescribed: frozenset[str] = frozenset()
    limits: BrokerLimits = BrokerLimits()
    log: GroupLog | None = None
    outsiders: str | None = None
    epochs_ahead: tuple[TopicPartition, ...] = ()
    share: ShareFacts | None = None
    timeouts: MemberTimeouts | None = None
    commits: GroupCommits | None = None

    instances: Instances = Instances()
    lag: LagFacts | None = None
    """``None`` if the offsets were not read."""

    @property
    def members(self) -> tuple[Member, ...]:
        return self.group.members or ()

    @property
    def is_modern(self) -> bool:
        """Whether it is a KIP-848 group."""
        return self.group.type == GroupType.CONSUMER

    @property
    def of_consumers(self) -> bool:
        """Whether members are consumers, which distribute the partitions of topics, in either protocol."""
        classic = self.group.type in (GroupType.CLASSIC, None) and self.group.protocol_type == CONSUMER_PROTOCOL_TYPE
        return self.is_modern or classic

    @property
    def has_subscriptions(self) -> bool:
        """Whether subscriptions and assignments are known: brokers omit them for rebalancing classic groups."""
        return any(member.subscription.topics or member.subscription.regex for member in self.members)


def subscribed_topics(facts: GroupFacts, member: Member) -> tuple[str, ...]:
    """Return the topics that a member subscribes to, sorted; see :func:`kgroups.model.subscriptions.member_topics`."""
    return tuple(sorted(member_topics(facts.group, member)))
