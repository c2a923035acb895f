"""The schemas of ``kgroups explain``."""

from __future__ import annotations

from typing import Final

from kgroups.model.explain.facts import BrokerLimits
from kgroups.model.explain.findings import Severity
from kgroups.model.migration import Rule, Verdict
from kgroups.model.severity import Severity as GroupSeverity
from kgroups.model.status import Status
from kgroups.model.verdicts.facts import Part
from kgroups.model.verdicts.verdict import Key
from kgroups.model.verdicts.verdict import Severity as VerdictSeverity
from kgroups.model.views.share_state_rows import ShareColumns, ShareRow

from .compose import envelope
from .definitions import fields_of
from .values import Schema, flag, listing, number, one_of, or_null, record, ref, text, whole
from .views import CLUSTER, described, fields, view_named


def groups() -> Schema:
    """Return the schema of ``explain``."""
    return envelope("explain", _group())


def partitions() -> Schema:
    """Return the schema of ``explain --partition``."""
    return envelope("explain-partitions", _partition())


def migrations() -> Schema:
    """Return the schema of ``explain --migration``."""
    return envelope("explain-migration", _migration())


def _group() -> Schema:
    finding = record(
        "A finding.",
        {
            "severity": one_of("problem: records are not consumed, or will not be.", Severity),
            "rule": text("Stable name of the rule."),
            "text": text("The finding in words, which may change."),
            "subjects": listing("Members, topics, or partitions that it is about.", {"type": "string"}),
        },
    )
    placement = record(
        "The coordinator of the group.",
        {
            "how": text("How it was found, such as FindCoordinator v6."),
            "partition": or_null(whole("Partition of __consumer_offsets. Null: not reported.")),
            "partitions": or_null(whole("Partitions of __consumer_offsets. Null: not reported.")),
            "leader": or_null(whole("ID of the leader of the partition. Null: not reported.")),
        },
    )
    limit = record(
        "A setting of brokers.",
        {"value": whole("Value."), "told": flag("Whether brokers report it; otherwise it is Kafka's default.")},
    )
    shares = described(
        view_named("explain_views:SHARE_PARTITIONS").columns, fields_of(ShareRow) | fields_of(ShareColumns)
    )
    return record(
        "A group.",
        {
            "cluster": CLUSTER,
            "group": text("Group ID."),
            "type": or_null(text("Group type. Null: not reported.")),
            "state": text("State of the group."),
            "protocol_type": text("Protocol type."),
            "protocol": text("Name of the assignor."),
            "coordinator": ref("node", "The broker that coordinates the group."),
            "placement": placement,
            "summary": or_null(_summary()),
            "findings": listing("The findings.", finding),
            "members": listing("The members.", record("A member.", fields("explain_views:MEMBERS"))),
            "share_partitions": or_null(
                listing("Partitions of a share group. Null: not a share group, or unknown.", record("One.", shares))
            ),
            "limits": record("Limits of brokers.", {each.name: limit for each in BrokerLimits()}),
            "what_if": or_null(_what_if()),
        },
        optional=["cluster"],
    )


def _summary() -> Schema:
    worst = record(
        "The partition with the worst verdict.",
        {
            "topic": text("Topic."),
            "partition": whole("Partition number."),
            "lag": or_null(whole("Lag. Null: unknown.")),
            "verdict": one_of("Why the group makes progress, or does not.", Key),
            "severity": one_of("problem: records are not consumed.", VerdictSeverity),
            "text": text("The verdict in words, which may change."),
        },
    )
    return record(
        "The status of the group.",
        {
            "status": one_of("What is proved about the group.", Status),
            "severity": one_of("UNKNOWN: it is not proved that the group is well.", GroupSeverity.__members__),
            "reason": text("Why, in words, which may change."),
            "total_lag": or_null(whole("Sum of the lags. Null: the lag of a partition is unknown.")),
            "known_lag": or_null(whole("Sum of the known lags. Null: none is known.")),
            "worst": or_null(worst),
            "next": or_null(text("What to do, mostly a command. Null: nothing.")),
        },
    )


def _what_if() -> Schema:
    return record(
        "The result of --what-if. Null: not requested, or not possible.",
        {
            "changes": listing("The changes, in order.", {"type": "string"}),
            "assignor": text("The assignor."),
            "members": whole("Members after the changes."),
            "partitions": whole("Assigned partitions after the changes."),
            "moved": whole("Partitions that move from members that stay."),
            "taken_over": whole("Partitions that move from members that leave."),
            "added": whole("Partitions that have no member now."),
            "dropped": whole("Partitions that would have no member."),
            "paused": whole("Partitions that are not read during the change."),
            "rebalances": whole("Number of rebalances."),
            "stop_the_world": flag("Whether all members stop during a rebalance."),
            "text": text("The result in words, which may change."),
            "shifts": listing("Members.", record("A member.", fields("explain_views:SHIFTS"))),
        },
    )


_FACTS: Final = {
    "committed_offset": or_null(whole("Committed offset. Null: none.")),
    "log_end_offset": whole("Log end offset."),
    "last_stable_offset": whole("Last stable offset, if other than the end."),
    "diverged_offset": whole("First offset before the committed one whose record was replaced after it was read."),
    "member": text("Member that the partition is assigned to."),
    "state": text("State of the group, if the partition is not assigned."),
    "last_commit": whole("Time of the last commit in ms since 1970."),
    "last_progress": whole("Time in ms since 1970 when the committed offset was first committed, or earlier."),
    "membership_changes": whole("Membership changes since then."),
    "first_unread_offset": whole("Offset of the first unread record."),
    "first_unread_age_ms": whole("Age of the first unread record in ms."),
    "record_size": whole("Size of that record in bytes."),
    "batch_size": whole("Size of its batch in bytes."),
    "header_names": text("Names of its headers, comma-separated."),
    "consumer_byte_rate": number("Quota of the member in bytes per second."),
    "producer_id": whole("Producer ID of an open transaction."),
}


def _partition() -> Schema:
    unavailable = record(
        "A part that could not be read.",
        {"part": one_of("The part.", Part), "reason": text("Why, in words.")},
    )
    contents = record(
        "The first unread record; only with --show-record.", {"key": text("Key."), "value": text("Value.")}
    )
    return record(
        "A partition of a group.",
        {
            "cluster": CLUSTER,
            "group": text("Group ID."),
            "topic": text("Topic."),
            "partition": whole("Partition number."),
            "verdict": one_of("Why the group makes progress, or does not.", Key),
            "severity": one_of("problem: records are not consumed.", VerdictSeverity),
            "text": text("The verdict in words, which may change."),
            "facts": record("What is known; absent: unknown, or does not apply.", _FACTS, optional=_FACTS),
            "evidence": listing("The facts in words, which may change.", {"type": "string"}),
            "next": or_null(text("The command to run next. Null: none.")),
            "unavailable": listing("What could not be read.", unavailable),
            "record": contents,
        },
        optional=["cluster", "record"],
    )


def _migration() -> Schema:
    progress = record(
        "How far a consumer group is. Null: it is not one, or has no members.",
        {
            "upgraded": whole("Members with the consumer protocol."),
            "members": whole("All members."),
            "classic": listing("IDs of the members with the classic protocol.", {"type": "string"}),
        },
    )
    broker = record(
        "The settings of the coordinator that decide.",
        {
            "broker": whole("ID of the broker."),
            "policy": or_null(text("group.consumer.migration.policy. Null: not reported.")),
            "consumer_max_size": or_null(whole("group.consumer.max.size. Null: not reported.")),
            "classic_max_size": or_null(whole("group.max.size. Null: not reported.")),
            "group_version": or_null(whole("Level of the feature group.version. Null: not reported.")),
            "unknown": or_null(text("Why settings are unknown. Null: they are not.")),
        },
    )
    note = record(
        "What changes, or what to know before.",
        {
            "topic": text("Stable name of the subject."),
            "text": text("The note in words, which may change."),
            "fix": or_null(text("A command, or what to do. Null: nothing.")),
        },
    )
    return record(
        "A group.",
        {
            "cluster": CLUSTER,
            "group": text("Group ID."),
            "type": or_null(text("Group type. Null: not reported.")),
            "state": text("State of the group."),
            "protocol_type": text("Protocol type."),
            "protocol": text("Name of the assignor."),
            "coordinator": ref("node", "The broker that coordinates the group."),
            "upgrade": _judgment("From the classic to the consumer protocol."),
            "rollback": _judgment("From the consumer to the classic protocol."),
            "progress": or_null(progress),
            "broker": broker,
            "other_brokers": listing("IDs of the brokers with other settings.", {"type": "integer"}),
            "notes": listing("What changes, and what to know.", note),
            "what_if": or_null(_what_if()),
        },
        optional=["cluster"],
    )


def _judgment(about: str) -> Schema:
    acl = record(
        "The missing ACL. Null: none.",
        {"operation": text("Operation."), "resource": text("Type of the resource."), "name": or_null(text("Name."))},
    )
    blocker = record(
        "Why brokers do not convert the group, or why that is unknown.",
        {
            "rule": one_of("The rule.", Rule),
            "text": text("The rule and the evidence in words, which may change."),
            "fixes": listing("Commands, or what to do.", {"type": "string"}),
            "members": listing("IDs of the members that cause it.", {"type": "string"}),
            "missing_acl": or_null(acl),
        },
    )
    return record(
        about,
        {
            "verdict": one_of("Whether brokers convert the group while it has members.", Verdict),
            "reason": or_null(text("Why, in words, which may change. Null: nothing to add.")),
            "blockers": listing("What blocks it, the first one decides.", blocker),
        },
    )
