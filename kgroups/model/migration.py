"""Whether brokers convert a group from the classic to the consumer protocol (KIP-848), and back; and what blocks it.

The rules are those of Kafka's group coordinator, 4.0 to 4.4. A group without members is converted in both directions,
whatever its coordinator is configured to. A group with members is converted when the first member with the consumer
protocol joins, and back when the last one leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, StrEnum, auto
from typing import NamedTuple

from .counts import count, some
from .groups import CONSUMER_PROTOCOL_TYPE, Group, GroupState, GroupType, Member
from .offsets import place_name
from .permissions import TOPIC, Acl
from .severity import Severity
from .streams_groups import STREAMS_ASSIGNOR

BIDIRECTIONAL, UPGRADE, DOWNGRADE, DISABLED = "bidirectional", "upgrade", "downgrade", "disabled"
"""The values of ``group.consumer.migration.policy``; brokers take any other value for ``disabled``."""
UPGRADES = frozenset({BIDIRECTIONAL, UPGRADE})
DOWNGRADES = frozenset({BIDIRECTIONAL, DOWNGRADE})

POLICY = "group.consumer.migration.policy"
CONSUMER_MAX = "group.consumer.max.size"
CLASSIC_MAX = "group.max.size"
PROTOCOLS = "group.coordinator.rebalance.protocols"
ASSIGNORS = "group.consumer.assignors"
MIN_SESSION, MAX_SESSION = "group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms"
FEATURE = "group.version"

COOPERATIVE = "cooperative-sticky"
_STICKY = ("sticky", COOPERATIVE)
"""The assignors whose leader decides: a leader of librdkafka copies the user data of subscriptions to assignments."""
_OWN_PROTOCOLS = {
    "connect": "Kafka Connect workers use the classic protocol only: there is nothing to migrate",
    "sr": "Schema Registry uses the classic protocol only: there is nothing to migrate",
}
_ROLLING = "in the configuration of all brokers, and restart them one by one: brokers do not change it while they run"
_OFFLINE = "or stop all members: brokers convert a group without members whatever they are configured to"


class Verdict(StrEnum):
    """Whether brokers convert the group now.

    READY_IF: not now, but after a change of settings. BLOCKED: a change of its members is necessary. DONE: it already
    has the protocol. NOT_APPLICABLE: its members do not have the other protocol.
    """

    READY = "ready"
    READY_IF = "ready-if"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"
    DONE = "done"
    NOT_APPLICABLE = "not-applicable"

    @property
    def severity(self) -> Severity:
        return _SEVERITIES.get(self, Severity.OK)


_SEVERITIES = {
    Verdict.READY_IF: Severity.WARNING,
    Verdict.BLOCKED: Severity.CRITICAL,
    Verdict.UNKNOWN: Severity.UNKNOWN,
}


class Rule(StrEnum):
    """The rules of brokers, and what keeps a verdict from being known."""

    KAFKA_VERSION = "kafka-version"
    GROUP_VERSION = "group-version"
    REBALANCE_PROTOCOLS = "rebalance-protocols"
    MIGRATION_POLICY = "migration-policy"
    PROTOCOL_TYPE = "protocol-type"
    GROUP_TYPE = "group-type"
    GROUP_SIZE = "group-size"
    GROUP_FULL = "group-full"
    SUBSCRIPTION = "subscription"
    ASSIGNMENT = "assignment"
    USER_DATA = "user-data"
    CLASSIC_STREAMS = "classic-streams"
    PARTITIONS = "partitions"
    BROKER_SETTINGS = "broker-settings"
    REBALANCING = "rebalancing"
    CHANGED = "changed"
    MEMBERS = "members"


class Kind(Enum):
    """What a blocker requires: a setting, another client, or a fact that is unknown."""

    SETTING = auto()
    CLIENT = auto()
    FACT = auto()


class Blocker(NamedTuple):
    """Why brokers do not convert a group, or why that is unknown.

    ``members``: the IDs of those that cause it. ``fixes``: commands, or what to do, the first one first. ``acl``: the
    one that is missing to know it.
    """

    rule: Rule
    kind: Kind
    text: str
    fixes: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    acl: Acl | None = None


class Judgment(NamedTuple):
    """The verdict about one direction. ``reason``: why, other than the blockers."""

    verdict: Verdict
    blockers: tuple[Blocker, ...] = ()
    reason: str | None = None

    @property
    def text(self) -> str | None:
        """The first blocker, and the number of others; or the reason."""
        if not self.blockers:
            return self.reason
        more = len(self.blockers) - 1
        return self.blockers[0].text + (f" (and {more} more)" if more else "")


class Progress(NamedTuple):
    """How many members of a consumer group use the consumer protocol, and who still uses the classic one."""

    upgraded: int
    members: int
    classic: tuple[str, ...]


class Migration(NamedTuple):
    """The verdicts about a group; ``progress``: ``None`` if it is not a consumer group with members."""

    group: Group
    upgrade: Judgment
    rollback: Judgment
    progress: Progress | None

    @property
    def is_unknown(self) -> bool:
        return Verdict.UNKNOWN in (self.upgrade.verdict, self.rollback.verdict)


class BrokerFacts(NamedTuple):
    """The settings of a broker; ``None``: not reported.

    ``supported``: whether it has the consumer protocol as of Kafka 4.0. ``group_version``: the level of the feature,
    0 if it is not finalized. ``protocols``: ``None`` also if it has no such setting, as from Kafka 5.0 on.
    ``sessions``: the limits of session timeouts, in milliseconds. ``counts_replaced``: before Kafka 4.4, a static
    member that replaces another counts as one more. ``unknown``: why its settings are unknown, with the ACL that is
    missing.
    """

    broker: int
    supported: bool | None = None
    group_version: int | None = None
    protocols: frozenset[str] | None = None
    policy: str | None = None
    consumer_max: int | None = None
    classic_max: int | None = None
    assignors: tuple[str, ...] = ()
    sessions: tuple[int | None, int | None] = (None, None)
    counts_replaced: bool = True
    unknown: str | None = None
    acl: Acl | None = None

    @property
    def rules(self) -> dict[str, object]:
        """What decides about groups, by the name of the setting."""
        return {
            "the Kafka version": self.supported,
            FEATURE: self.group_version,
            PROTOCOLS: self.protocols,
            POLICY: self.policy,
            CONSUMER_MAX: self.consumer_max,
            CLASSIC_MAX: self.classic_max,
            ASSIGNORS: self.assignors,
        }


class MigrationFacts(NamedTuple):
    """A group, and the settings of its coordinator.

    ``changed``: how the group changed while it was judged. ``others``: by broker, its settings that differ, which
    decide if it becomes the coordinator. ``partitions``: the number of partitions of each topic that a member is
    assigned, if it exists; ``None``: unknown.
    """

    group: Group
    broker: BrokerFacts
    changed: str | None = None
    others: Mapping[int, tuple[str, ...]] = {}
    partitions: Mapping[str, int | None] = {}

    @property
    def members(self) -> tuple[Member, ...]:
        return self.group.members or ()

    @property
    def is_empty(self) -> bool:
        return not self.members and self.group.state in GroupState.WITHOUT_MEMBERS

    @property
    def rolls_back_only_empty(self) -> bool:
        """Whether the group has no members, and the policy of its coordinator would not allow a rollback with some."""
        return self.is_empty and self.broker.policy not in DOWNGRADES


def judge_migration(facts: MigrationFacts) -> Migration:
    """Return the verdicts of a group."""
    group = facts.group
    if (group.type or GroupType.CLASSIC) not in GroupType.OF_CONSUMERS:
        neither = Judgment(Verdict.NOT_APPLICABLE, reason=_not_consumers(group))
        return Migration(group, neither, neither, None)
    if facts.changed:
        changed = _unknown(Rule.CHANGED, f"it changed while it was judged: {facts.changed}; run the command again")
        return Migration(group, changed, changed, _progress(facts))
    if group.members is None:
        unknown = _unknown(Rule.MEMBERS, "its members are unknown")
        return Migration(group, unknown, unknown, None)
    if group.type != GroupType.CONSUMER and group.members and group.protocol_type in _OWN_PROTOCOLS:
        neither = Judgment(Verdict.NOT_APPLICABLE, reason=_OWN_PROTOCOLS[group.protocol_type])
        return Migration(group, neither, neither, None)
    return Migration(group, _upgrade(facts), _rollback(facts), _progress(facts))


def _not_consumers(group: Group) -> str:
    if group.type == GroupType.STREAMS:
        return (
            "a streams group (KIP-1071) is converted from and to a classic group only if it has no members; not on "
            "Kafka 4.2.0 (KAFKA-20254)"
        )
    return f"a {(group.type or '').lower()} group has no classic protocol"


def _unknown(rule: Rule, text: str) -> Judgment:
    return Judgment(Verdict.UNKNOWN, (Blocker(rule, Kind.FACT, text),))


def _judgment(blockers: Iterable[Blocker], reason: str | None = None) -> Judgment:
    """Return the verdict that follows from blockers: what is certain takes precedence over what is unknown."""
    found = tuple(blockers)
    kinds = {each.kind for each in found}
    for kind, verdict in (
        (Kind.CLIENT, Verdict.BLOCKED),
        (Kind.FACT, Verdict.UNKNOWN),
        (Kind.SETTING, Verdict.READY_IF),
    ):
        if kind in kinds:
            return Judgment(verdict, tuple(sorted(found, key=lambda each: each.kind is not kind)))
    return Judgment(Verdict.READY, reason=reason)


def _upgrade(facts: MigrationFacts) -> Judgment:
    group, members = facts.group, facts.members
    if group.type == GroupType.CONSUMER:
        classic = [member for member in members if member.upgraded is False]
        if not classic:
            return Judgment(Verdict.DONE, reason="it is a consumer group")
        return _judgment(_full(facts), f"{count(len(classic), 'classic member')} can restart with the new protocol")
    blockers = [*_protocol(facts.broker)]
    if facts.is_empty:
        return _judgment(blockers, _of_empty(group))
    blockers += _policy(facts.broker, UPGRADES, "a member with the consumer protocol is rejected (GROUP_ID_NOT_FOUND)")
    if group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        blockers.append(
            Blocker(
                Rule.PROTOCOL_TYPE,
                Kind.CLIENT,
                f"its protocol type is {group.protocol_type!r}: brokers convert groups of the type 'consumer' only",
                ("use another group ID for the consumers", _OFFLINE),
            )
        )
    blockers += _size(facts)
    if group.state != GroupState.STABLE:
        text = f"it is rebalancing ({group.state}): brokers do not report subscriptions and assignments; run the "
        blockers.append(Blocker(Rule.REBALANCING, Kind.FACT, text + "command again when it is Stable"))
    elif group.protocol_type == CONSUMER_PROTOCOL_TYPE:
        blockers += _metadata(facts)
    return _judgment(blockers, "its coordinator converts it when the first member with the consumer protocol joins")


def _of_empty(group: Group) -> str:
    of = f"; its members had the protocol type {group.protocol_type!r}"
    foreign = group.protocol_type not in ("", CONSUMER_PROTOCOL_TYPE)
    return "it has no members: brokers convert it when one joins, whatever the policy" + (of if foreign else "")


def _once_used(broker: BrokerFacts) -> str:
    """Return why a rollback is not possible anymore once the group has members."""
    what = "is unknown" if broker.policy is None else f"is {broker.policy}"
    return f"; with members, the policy decides, which {what} on broker {broker.broker}"


def _rollback(facts: MigrationFacts) -> Judgment:
    group, members, broker = facts.group, facts.members, facts.broker
    if facts.is_empty:
        return _judgment((), _of_empty(group) + (_once_used(broker) if facts.rolls_back_only_empty else ""))
    if group.type != GroupType.CONSUMER and group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        return Judgment(Verdict.NOT_APPLICABLE, reason="it cannot be upgraded")
    effect = "the group remains a consumer group, with classic members, without an error"
    if broker.policy == DISABLED:
        effect += "; from Kafka 4.3.1 on, classic members are rejected (INCONSISTENT_GROUP_PROTOCOL)"
    else:
        effect += "; on Kafka 4.3 and 4.4, the partitions of a member with the consumer protocol that leaves last are "
        effect += "not assigned to another member until one joins"
    blockers = [*_policy(broker, DOWNGRADES, effect), *_full(facts)]
    if broker.classic_max is not None and len(members) > broker.classic_max:
        text = f"{count(len(members), 'member')}, and {CLASSIC_MAX} is {broker.classic_max:,}: {effect}"
        blockers.append(Blocker(Rule.GROUP_SIZE, Kind.SETTING, text, _raise(CLASSIC_MAX, len(members))))
    when = "when the last member with the consumer protocol leaves"
    if group.type == GroupType.CONSUMER and all(member.upgraded is False for member in members):
        when = "when one of its members leaves: all are classic, but it is a consumer group"
    return _judgment(blockers, f"its coordinator converts it back {when}")


def _protocol(broker: BrokerFacts) -> Iterator[Blocker]:
    """Yield why members with the consumer protocol cannot join any group of a broker."""
    rejected = "members with the consumer protocol are rejected (UNSUPPORTED_VERSION)"
    if broker.supported is False:
        text = f"broker {broker.broker}, its coordinator, does not have the consumer protocol of Kafka 4.0: {rejected}"
        yield Blocker(Rule.KAFKA_VERSION, Kind.CLIENT, text, ("upgrade the brokers to Kafka 4.0 or later",))
        return
    if broker.supported is None or broker.group_version is None:
        yield _missing(broker, f"whether it supports the consumer protocol ({FEATURE})")
    elif broker.group_version < 1:
        text = f"the feature {FEATURE} is {broker.group_version}: {rejected}"
        fix = f"kafka-features.sh --bootstrap-server SERVER upgrade --feature {FEATURE}=1"
        yield Blocker(Rule.GROUP_VERSION, Kind.SETTING, text, (fix,))
    if broker.protocols is not None and "consumer" not in broker.protocols:
        text = f"{PROTOCOLS} of broker {broker.broker}, its coordinator, does not contain consumer: {rejected}"
        yield Blocker(Rule.REBALANCE_PROTOCOLS, Kind.SETTING, text, (f"remove {PROTOCOLS} {_ROLLING}",))


def _missing(broker: BrokerFacts, what: str) -> Blocker:
    reason = broker.unknown or "not reported"
    text = f"{what} of broker {broker.broker}, its coordinator, is unknown: {reason}"
    return Blocker(Rule.BROKER_SETTINGS, Kind.FACT, text, acl=broker.acl)


def _policy(broker: BrokerFacts, allowing: frozenset[str], effect: str) -> Iterator[Blocker]:
    if broker.policy is None:
        yield _missing(broker, POLICY)
    elif broker.policy not in allowing:
        yield Blocker(
            Rule.MIGRATION_POLICY,
            Kind.SETTING,
            f"{POLICY} is {broker.policy} on broker {broker.broker}, its coordinator: {effect}",
            (f"set {POLICY}={BIDIRECTIONAL} {_ROLLING}", _OFFLINE),
        )


def _size(facts: MigrationFacts) -> Iterator[Blocker]:
    members, most = len(facts.members), facts.broker.consumer_max
    if most is not None and members > most:
        text = f"{count(members, 'member')}, and {CONSUMER_MAX} is {most:,} on broker {facts.broker.broker}, its "
        text += "coordinator: a member with the consumer protocol is rejected (GROUP_ID_NOT_FOUND)"
        yield Blocker(Rule.GROUP_SIZE, Kind.SETTING, text, _raise(CONSUMER_MAX, members))
    else:
        yield from _full(facts)


def _full(facts: MigrationFacts) -> Iterator[Blocker]:
    """Yield that a consumer group has no room for a member that starts before another one stops.

    What the setting limits is the number of all its members, also of classic ones.
    """
    members, broker = facts.members, facts.broker
    if broker.consumer_max is None:
        yield _missing(broker, CONSUMER_MAX)
        return
    if len(members) < broker.consumer_max:
        return
    if not broker.counts_replaced and all(member.instance_id for member in members):
        return
    text = f"{count(len(members), 'member')}, and {CONSUMER_MAX} is {broker.consumer_max:,} on broker {broker.broker}, "
    text += "its coordinator: one that starts before another has left is rejected (GROUP_MAX_SIZE_REACHED)"
    static = any(member.instance_id for member in members)
    first = "for static members too, " if static and broker.counts_replaced else ""
    leave = f"{first}remove a member before its replacement starts (a static one with kgroups remove-members)"
    yield Blocker(
        Rule.GROUP_FULL,
        Kind.SETTING,
        text,
        (leave if static else "stop a member before its replacement starts", *_raise(CONSUMER_MAX, len(members) + 1)),
    )


def _raise(setting: str, least: int) -> tuple[str, ...]:
    return (f"set {setting} to at least {least:,} {_ROLLING}",)


def _metadata(facts: MigrationFacts) -> Iterator[Blocker]:
    """Yield the blockers in what the members of a stable group sent, as its coordinator parses it."""
    rejected = "a member with the consumer protocol is rejected (GROUP_ID_NOT_FOUND)"
    for rule, broken, unclear in (
        (Rule.SUBSCRIPTION, *_parsed(facts.members, "subscription")),
        (Rule.ASSIGNMENT, *_parsed(facts.members, "assignment")),
    ):
        if broken:
            names, reasons = _names(broken), [_why(member, rule) for member in broken]
            text = f"brokers cannot parse the {rule} of {some(names)} ({reasons[0]}): {rejected}"
            fix = f"fix or update the clients of these members: {some(_clients(broken))}"
            yield Blocker(rule, Kind.CLIENT, text, (fix, _OFFLINE), names)
        if unclear:
            names = _names(unclear)
            yield Blocker(
                rule, Kind.FACT, f"whether brokers can parse the {rule} of {some(names)} is unknown", members=names
            )
    yield from _missing_partitions(facts)
    custom = [member for member in facts.members if member.assignment.user_data is not None]
    if custom:
        yield _user_data(facts, custom)
    elif others := [member for member in facts.members if facts.group.protocol == COOPERATIVE and not _is_java(member)]:
        names = _names(others)
        yield Blocker(
            Rule.USER_DATA,
            Kind.FACT,
            f"the subscription of {some(names)} is not that of a Java client: a leader of librdkafka sets user data in "
            f"assignments with {COOPERATIVE!r} from the second rebalance on, and {rejected}; which client leads the "
            "group is unknown",
            ("stop all members, and start them with group.protocol=consumer",),
            names,
        )


def _is_java(member: Member) -> bool:
    """Return whether a subscription to cooperative-sticky has what only Java's assignor sends: a generation alone."""
    sent = member.subscription.user_data
    known = sent.facts() if sent else {}
    return "generation" in known and known["previous_assignment"] is None


def _missing_partitions(facts: MigrationFacts) -> Iterator[Blocker]:
    """Yield that members are assigned partitions that do not exist: brokers ignore topics, but not partitions."""
    assigned = {member.member_id: set(member.assignment.pairs()) for member in facts.members}
    topics = {topic for pairs in assigned.values() for topic, _ in pairs}
    if unknown := sorted(topic for topic in topics if facts.partitions.get(topic, 0) is None):
        text = f"whether the assigned partitions of {some(unknown)} exist is unknown: the topics cannot be described"
        acl = Acl("DESCRIBE", TOPIC, unknown[0]) if len(unknown) == 1 else None
        yield Blocker(Rule.PARTITIONS, Kind.FACT, f"{text}; this requires DESCRIBE on each of them", acl=acl)
    sizes = {topic: size for topic, size in facts.partitions.items() if size is not None}
    gone = {
        name: found
        for name, pairs in assigned.items()
        if (found := sorted(pair for pair in pairs if pair[1] >= sizes.get(pair[0], pair[1] + 1)))
    }
    if gone:
        names = [place_name(*pair) for found in gone.values() for pair in found]
        text = f"members are assigned partitions that do not exist ({some(names)}): brokers may fail to compute an "
        text += "assignment, and reject a member with the consumer protocol (UNKNOWN_SERVER_ERROR)"
        fix = "restart a member, or wait until the clients have newer metadata: a rebalance removes these partitions"
        yield Blocker(Rule.PARTITIONS, Kind.FACT, text, (fix,), tuple(gone))


def _parsed(members: Iterable[Member], what: str) -> tuple[list[Member], list[Member]]:
    """Return the members whose subscription or assignment brokers cannot parse, and those where that is unknown."""
    broken, unclear = [], []
    for member in members:
        sent = member.subscription if what == "subscription" else member.assignment
        readable = sent.readable
        if what == "subscription" and member.metadata_bytes == 0:
            readable = False
        if readable is False:
            broken.append(member)
        elif readable is None:
            unclear.append(member)
    return broken, unclear


def _why(member: Member, rule: Rule) -> str:
    sent = member.subscription if rule is Rule.SUBSCRIPTION else member.assignment
    return sent.raw.reason if sent.raw else sent.note or "it is empty"


def _user_data(facts: MigrationFacts, members: list[Member]) -> Blocker:
    names, assignor = _names(members), facts.group.protocol
    where = f"the assignment of {count(len(names), 'member')} has user data ({some(names)})"
    rejected = "a member with the consumer protocol is rejected (GROUP_ID_NOT_FOUND)"
    if assignor == STREAMS_ASSIGNOR:
        return Blocker(
            Rule.CLASSIC_STREAMS,
            Kind.CLIENT,
            f"Kafka Streams: {where}, which consumer groups do not keep: {rejected}",
            (
                "use streams groups: stop all instances, and start them with group.protocol=streams (Kafka 4.2); not "
                "on Kafka 4.2.0 (KAFKA-20254)",
            ),
            names,
        )
    fixes: tuple[str, ...] = (
        "change partition.assignment.strategy to range or roundrobin, in two rolling restarts",
        _OFFLINE,
    )
    by = f"which the assignor {assignor!r} sets"
    if assignor in _STICKY:
        by = f"which the assignor {assignor!r} of librdkafka sets, other than Java's"
        fixes = (
            "stop all members, and start them with group.protocol=consumer: brokers convert a group without members",
        )
    text = f"{where}, {by}, and consumer groups do not keep: {rejected}"
    return Blocker(Rule.USER_DATA, Kind.CLIENT, text, fixes, names)


def _names(members: Iterable[Member]) -> tuple[str, ...]:
    return tuple(member.member_id for member in members)


def _clients(members: Iterable[Member]) -> list[str]:
    return list(dict.fromkeys(f"{member.client_id} ({member.host})" for member in members))


def _progress(facts: MigrationFacts) -> Progress | None:
    if facts.group.type != GroupType.CONSUMER or not facts.members:
        return None
    classic = _names(member for member in facts.members if member.upgraded is False)
    return Progress(len(facts.members) - len(classic), len(facts.members), classic)
