"""What changes for a group that moves from the classic to the consumer protocol (KIP-848), other than its type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kgroups.model.assignors import INCREMENTAL, OF_BROKERS
from kgroups.model.counts import count, some
from kgroups.model.duration import Milliseconds
from kgroups.model.effective_setting import Effective
from kgroups.model.group_log import GroupLog
from kgroups.model.groups import GroupType
from kgroups.model.migration import DISABLED, BrokerFacts, Migration, MigrationFacts, Verdict
from kgroups.model.shell import group_words_in_text

from .change import InvalidChange, parse_change
from .facts import GroupFacts, subscribed_topics
from .what_if import NotEnoughData, WhatIf, simulate

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
"""The settings of the group that replace those of its members."""
DEFAULT_ASSIGNOR = "uniform"


class Note(NamedTuple):
    """What changes, or what to know before. ``topic`` is a stable name. ``fix``: a command, or what to do."""

    topic: str
    text: str
    fix: str | None = None


class MigrationExplained(NamedTuple):
    """The verdicts about a group, what changes, and which partitions would move to other members."""

    facts: MigrationFacts
    migration: Migration
    notes: tuple[Note, ...]
    moves: WhatIf | None = None


def explain_migration(
    facts: MigrationFacts,
    migration: Migration,
    members: GroupFacts,
    settings: tuple[Effective, Effective],
    log: GroupLog | None,
) -> MigrationExplained:
    """Return the whole answer about a group.

    :param members: the members, and the partitions of their topics.
    :param settings: the values of :data:`SESSION` and :data:`HEARTBEAT`.
    :param log: the timeouts of members, if they were read.
    """
    notes: list[Note] = []
    moves = None
    group = facts.group
    if facts.others:
        brokers = [f"broker {each} ({', '.join(names)})" for each, names in facts.others.items()]
        verb = "differs" if len(brokers) == 1 else "differ"
        text = f"{some(brokers)} {verb}: the settings of the broker that becomes the coordinator decide"
        notes.append(Note("other-brokers", text))
    if group.type == GroupType.CONSUMER and facts.members:
        notes += _of_mixed(facts, migration)
        notes += static_notes(facts)
    if facts.members and migration.upgrade.verdict in (Verdict.READY, Verdict.READY_IF, Verdict.UNKNOWN):
        if group.type != GroupType.CONSUMER:
            assignor = facts.broker.assignors[0] if facts.broker.assignors else DEFAULT_ASSIGNOR
            moves, unknown = _moves(members, assignor)
            notes += _assignor(facts, assignor, moves, unknown)
            notes += static_notes(facts)
        notes += _timeouts(facts, settings, log)
        notes += _racks(facts)
        notes.append(_acls(members))
        notes.append(_versions(facts))
    return MigrationExplained(facts, migration, tuple(notes), moves)


def _moves(members: GroupFacts, assignor: str) -> tuple[WhatIf | None, str | None]:
    """Return what would move with the assignor of brokers, or why that is unknown."""
    if assignor not in OF_BROKERS:
        return None, f"the assignor '{assignor}' is not one of Kafka's"
    try:
        return simulate(members, [parse_change(f"assignor={assignor}")]), None
    except (NotEnoughData, InvalidChange) as error:
        return None, str(error)


def _assignor(facts: MigrationFacts, assignor: str, moves: WhatIf | None, unknown: str | None) -> Iterator[Note]:
    before = facts.group.protocol
    text = f"brokers assign partitions with '{assignor}' instead of '{before}'"
    if moves is None:
        yield Note("assignor", f"{text}; which partitions would move is unknown: {unknown}")
    else:
        move = f"{count(moves.moved, 'partition')} of {moves.partitions:,} would move to other members"
        yield Note("assignor", f"{text}: {move}, step by step: members continue to read the partitions that they keep")
    if before != assignor and before in OF_BROKERS and before in facts.broker.assignors:
        yield Note(
            "remote-assignor",
            f"the assignor '{before}' is available on brokers, too",
            f"to keep it, start the members with group.remote.assignor={before}",
        )
    if before and before not in INCREMENTAL:
        yield Note(
            "eager",
            f"until all members have the consumer protocol, members with '{before}' stop reading all of their "
            "partitions in each rebalance",
        )


def _timeouts(facts: MigrationFacts, settings: tuple[Effective, Effective], log: GroupLog | None) -> Iterator[Note]:
    session = settings[0]
    words = group_words_in_text(facts.group.group)
    ignored = "session.timeout.ms and heartbeat.interval.ms of members have no effect with the consumer protocol"
    now = " and ".join(map(_shown, settings))
    text = f"{ignored}: the settings {now} of the group replace them"
    timeouts = [each.session for each in log.timeouts.values() if each.session] if log else []
    if not timeouts:
        yield Note("timeouts", f"{text}; --deep shows the session timeouts of the members")
        return
    longest = max(timeouts)
    range_ = f" to {Milliseconds(longest)}" if min(timeouts) != longest else ""
    text += f"; the members' session timeouts are {Milliseconds(min(timeouts))}{range_}"
    if session.number in (None, longest):
        yield Note("timeouts", text)
        return
    least, most = facts.broker.sessions
    allowed = max(longest, least or 0) if not most else min(max(longest, least or 0), most)
    if allowed == session.number:
        yield Note("timeouts", f"{text}; brokers allow no other value nearer to them")
    else:
        fix = f"kgroups settings set {SESSION}={allowed} {words} --execute"
        near = "" if allowed == longest else f"; the nearest value that brokers allow is {Milliseconds(allowed)}"
        yield Note("timeouts", f"{text}{near}", fix)


def _shown(setting: Effective) -> str:
    if setting.number is None:
        return f"{setting.name} (unknown: {setting.unknown or 'not reported'})"
    return f"{setting.name} ({Milliseconds(setting.number)})"


def static_notes(facts: MigrationFacts) -> Iterator[Note]:
    """Yield what to know of static members, and of those that stopped."""
    static = sorted(member.instance_id for member in facts.members if member.instance_id)
    if static:
        yield Note(
            "static-members",
            f"{count(len(static), 'static member')} ({some(static)}): a member with the other protocol and the "
            "same group.instance.id replaces one that runs, at once, and that client ends with an error. Between "
            "two members with the consumer protocol, the second one is rejected until the first has left "
            "(UNRELEASED_INSTANCE_ID): from then on, a restart that starts the new instance first fails",
        )
    if left := [member.instance_id for member in facts.members if member.has_left and member.instance_id]:
        yield Note(
            "static-members-left",
            f"{some(sorted(left))} stopped, and {'counts' if len(left) == 1 else 'count'} as "
            f"{'a member' if len(left) == 1 else 'members'} with the consumer protocol until the session timeout is "
            "over: only then does the coordinator convert the group back",
        )


def _racks(facts: MigrationFacts) -> Iterator[Note]:
    racks = {rack for member in facts.members if (rack := member.rack_id or member.subscription.rack)}
    if racks:
        yield Note(
            "racks",
            f"members report {count(len(racks), 'rack')} ({some(sorted(racks))}): brokers do not fully support "
            "rack-aware assignment (KAFKA-19387): members may read from other racks",
        )


def _acls(members: GroupFacts) -> Note:
    topics = sorted({topic for member in members.members for topic in subscribed_topics(members, member)})
    of = f" ({some(topics)})" if topics else ""
    return Note(
        "acls",
        f"the principals of members need READ on the group, and DESCRIBE on each subscribed topic{of}: without one of "
        "them, the member is rejected for all topics (TOPIC_AUTHORIZATION_FAILED)",
    )


def _versions(facts: MigrationFacts) -> Note:
    clients = sorted({member.client_id for member in facts.members})
    versions = sorted({member.subscription.version for member in facts.members if member.subscription.version})
    hints = f"hints are the client IDs ({some(clients)})"
    if versions:
        hints += f", the version of the subscriptions ({', '.join(map(str, versions))})"
    return Note(
        "client-versions",
        "no Kafka API reports the versions of clients; the consumer protocol requires Java clients of Kafka 4.0, "
        f"librdkafka 2.12, or later: {hints}, and on brokers the metrics of connections by clientSoftwareName and "
        "clientSoftwareVersion",
    )


def _of_mixed(facts: MigrationFacts, migration: Migration) -> Iterator[Note]:
    """Yield what is in progress, who is still classic, and what would end it."""
    progress, broker = migration.progress, facts.broker
    if progress is None:
        return
    names = some(progress.classic)
    if not progress.upgraded:
        yield Note(
            "progress",
            f"all {count(progress.members, 'member')} use the classic protocol ({names}), but the group is a consumer "
            "group: its coordinator did not convert it back; it does when a member leaves, if the rollback is ready",
        )
    elif progress.classic:
        yield Note(
            "progress",
            f"{progress.upgraded:,} of {count(progress.members, 'member')} use the consumer protocol, the others the "
            f"classic one ({names}); the migration is complete when these have restarted with "
            "group.protocol=consumer, and undone when the others have restarted with group.protocol=classic",
        )
        if broker.policy == DISABLED:
            yield Note(
                "classic-rejected",
                "the policy is disabled: from Kafka 4.3.1 on, classic members are rejected when they rejoin "
                "(INCONSISTENT_GROUP_PROTOCOL)",
            )
    patterns = sorted({member.subscription.regex for member in facts.members if member.subscription.regex})
    if patterns:
        yield Note(
            "regex",
            f"members subscribe to a pattern that brokers evaluate ({some(patterns)}): clients with the classic "
            "protocol do not have it; a rollback requires that they subscribe to names, or to a Pattern",
        )


def broker_text(broker: BrokerFacts) -> str:
    """Return the settings of the coordinator that decide, in one line."""
    if broker.unknown:
        return f"broker {broker.broker}: settings unknown: {broker.unknown}"
    limits = f"{_most(broker.consumer_max)} in a consumer group, {_most(broker.classic_max)} in a classic group"
    return f"broker {broker.broker}: migration policy {broker.policy or 'not reported'}; most members: {limits}"


def _most(limit: int | None) -> str:
    return "unknown" if limit is None else "no limit" if limit == 2**31 - 1 else f"{limit:,}"
