"""All that the rules know of one group. Asked by :mod:`kgroups.admin.query.explain`; nothing else comes in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.assignors.shape import Topic, TopicPartition
from kgroups.model.group_log import GroupLog
from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE, Group, GroupType, Member


class Limit(NamedTuple):
    """A setting of the broker; ``told`` by it, or else Kafka's default."""

    name: str
    value: int
    told: bool

    def __str__(self) -> str:
        return f"{self.name} is {self.value:,}{'' if self.told else ' by default'}"


class BrokerLimits(NamedTuple):
    """What bounds a group: members, bytes of a request, and bytes of one record in ``__consumer_offsets``."""

    members: Limit = Limit("group.max.size", 2**31 - 1, False)
    consumers: Limit = Limit("group.consumer.max.size", 2**31 - 1, False)
    request: Limit = Limit("socket.request.max.bytes", 100 * 1024 * 1024, False)
    record: Limit = Limit("max.message.bytes", 1_048_588, False)


class Placement(NamedTuple):
    """``how`` the coordinator was found, as in ``FindCoordinator v6``. ``partition`` of ``partitions`` of
    ``__consumer_offsets`` holds the group; ``leader`` is the broker that leads it. ``None``: not told."""

    how: str
    partition: int | None = None
    partitions: int | None = None
    leader: int | None = None


class GroupFacts(NamedTuple):
    """``topics`` are those that exist of all that members ask for or hold; ``missing`` do not exist; ``untold`` could
    not be asked about, so that nothing is said of them. ``recreated`` are partitions with a commit from before their
    topic was deleted and created again, as far as leader epochs tell. ``log``: what the group's own log tells, where it
    was read. ``outsiders``: the commits of a client that is not a member, in words."""

    group: Group
    placement: Placement
    topics: Mapping[str, Topic]
    missing: frozenset[str] = frozenset()
    untold: frozenset[str] = frozenset()
    limits: BrokerLimits = BrokerLimits()
    log: GroupLog | None = None
    outsiders: str | None = None
    recreated: tuple[TopicPartition, ...] = ()

    @property
    def members(self) -> tuple[Member, ...]:
        return self.group.members or ()

    @property
    def is_modern(self) -> bool:
        """Whether it is a KIP-848 group."""
        return self.group.type == GroupType.CONSUMER

    @property
    def of_consumers(self) -> bool:
        """Whether members share out the partitions of topics that they ask for: consumers, of either protocol."""
        classic = self.group.type in (GroupType.CLASSIC, None) and self.group.protocol_type == CONSUMER_PROTOCOL_TYPE
        return self.is_modern or classic

    @property
    def told_its_members(self) -> bool:
        """Whether subscriptions and assignments are known: brokers keep those of a classic group back while it is
        rebalancing."""
        return any(member.subscription.topics or member.subscription.regex for member in self.members)


def wanted_topics(facts: GroupFacts, member: Member) -> tuple[str, ...]:
    """What a member asks for. Brokers do not tell which topics a regular expression matches: what is held, or meant to
    be held, by the members with the same one stands for them."""
    topics = set(member.subscription.topics)
    regex = member.subscription.regex
    if regex:
        for other in facts.members:
            if other.subscription.regex == regex:
                for held in (other.assignment, other.target):
                    topics.update(entry.topic for entry in (held.topics if held else ()))
    return tuple(sorted(topics))
