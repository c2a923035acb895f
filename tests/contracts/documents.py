"""The schemas of the outputs that are nested: check, explain, watch, errors of tools, and the help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kgroups.errors import Reason
from kgroups.model.explain.facts import BrokerLimits
from kgroups.model.explain.findings import Severity as ExplainSeverity
from kgroups.model.explain.rows import ExplainedMember
from kgroups.model.explain.what_if import Shift
from kgroups.model.health.severity import Severity
from kgroups.model.verdicts.facts import Part
from kgroups.model.verdicts.verdict import Key
from kgroups.model.verdicts.verdict import Severity as VerdictSeverity
from kgroups.model.views.share_state_rows import ShareColumns, ShareRow

from .tables import CLUSTER, described
from .values import (
    Schema,
    document,
    envelope,
    fields_of,
    flag,
    listing,
    mapping,
    number,
    one_of,
    or_null,
    record,
    ref,
    text,
    whole,
)

_GROUP = text("Group ID.")
_CLUSTERS = mapping("IDs of the clusters by name; only if several are queried.", {"type": ["string", "null"]})
_AT = whole("Time in ms since 1970.")


def documents() -> Iterator[Schema]:
    yield document("check", 1, "kgroups check: findings about groups, and their overall status", "json", _check())
    yield document("explain", 1, "kgroups explain: findings about groups", "json", envelope("explain", _explained()))
    title = "kgroups explain --partition: verdicts about partitions"
    yield document("explain-partitions", 1, title, "json", envelope("explain-partitions", _verdict()))
    title = "kgroups watch: the groups at one refresh; one line each"
    yield document("watch", 1, title, "jsonl", _tick("watch", _watched()))
    title = "kgroups watch --by cluster: the totals of clusters at one refresh; one line each"
    yield document("watch-by-cluster", 1, title, "jsonl", _tick("watch-by-cluster", _totals()))
    yield document("error", 1, "kgroups mcp: a call without a result", "json", _error())
    yield document("help", 1, "kgroups --help-json: commands and their options", "json", _help())


def _check() -> Schema:
    status = one_of("The worst of its findings, CRITICAL first.", [each.name for each in Severity])
    limit = "in records or, for times, ms. Null: there is none."
    item = record(
        "A finding of one rule about one group.",
        {
            "cluster": CLUSTER,
            "group": or_null(_GROUP | {"description": "Group ID. Null: the finding is not about a group."}),
            "check": text("The rule, such as lag; exists and answered are not rules of the user."),
            "topic": or_null(text("The topic. Null: the finding is not about one.")),
            "status": one_of("The severity.", [each.name for each in Severity]),
            "message": text("The finding in words, which may change."),
            "value": or_null(number("The measured number, in unit. Null: none, or unknown.")),
            "unit": or_null(text("ms for times. Null: a count.")),
            "warning": or_null(number(f"Limit of WARNING, {limit}")),
            "critical": or_null(number(f"Limit of CRITICAL, {limit}")),
        },
        optional=["cluster"],
    )
    return record(
        "The report of a check.",
        {
            "schema": {"const": "kgroups/check/v1", "description": "Name and version of this schema."},
            "cluster_id": or_null(text("ID of the cluster. Null: unknown, or several clusters.")),
            "clusters": _CLUSTERS,
            "status": status,
            "exit_code": one_of("0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.", [0, 1, 2, 3]),
            "at": _AT,
            "items": listing("The findings, sorted by group.", ref("item")),
        },
        optional=["clusters"],
    ) | {"$defs": {"item": item}}


def _explained() -> Schema:
    finding = record(
        "A finding.",
        {
            "severity": one_of("problem: records are not consumed, or will not be.", ExplainSeverity),
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
    shares = described("explain-share-partitions", fields_of(ShareRow) | fields_of(ShareColumns))
    return record(
        "A group.",
        {
            "cluster": CLUSTER,
            "group": _GROUP,
            "type": or_null(text("Group type. Null: not reported.")),
            "state": text("State of the group."),
            "protocol_type": text("Protocol type."),
            "protocol": text("Name of the assignor."),
            "coordinator": ref("node", "The broker that coordinates the group."),
            "placement": placement,
            "findings": listing("The findings.", finding),
            "members": listing(
                "The members.", record("A member.", described("explain-members", fields_of(ExplainedMember)))
            ),
            "share_partitions": or_null(
                listing("Partitions of a share group. Null: not a share group, or unknown.", record("One.", shares))
            ),
            "limits": record("Limits of brokers.", {each.name: limit for each in BrokerLimits()}),
            "what_if": or_null(_what_if()),
        },
        optional=["cluster"],
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
            "shifts": listing("Members.", record("A member.", described("explain-what-if", fields_of(Shift)))),
        },
    )


_FACTS: Final = {
    "committed_offset": or_null(whole("Committed offset. Null: none.")),
    "log_end_offset": whole("Log end offset."),
    "last_stable_offset": whole("Last stable offset, if other than the end."),
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


def _verdict() -> Schema:
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
            "group": _GROUP,
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


def _tick(name: str, item: Schema) -> Schema:
    return record(
        "One refresh.",
        {
            "schema": {"const": f"kgroups/{name}/v1", "description": "Name and version of this schema."},
            "tick": whole("Number of the refresh, from 1."),
            "at": _AT,
            "items": listing("The rows.", ref("item")),
            "failures": listing("What is missing from the rows, and why.", ref("failure")),
            "notices": listing("Remarks in words, which may change.", {"type": "string"}),
            "clusters": _CLUSTERS,
        },
        optional=["clusters"],
    ) | {"$defs": {"item": item}}


def _watched() -> Schema:
    return record(
        "A group.",
        {
            "cluster": CLUSTER,
            "group": _GROUP,
            "state": text("State of the group."),
            "members": or_null(whole("Number of members. Null: not reported.")),
            "total_lag": or_null(whole("Sum of the lags, in records. Null: the lag of a partition is unknown.")),
            "rate_in": or_null(number("Records per second written to its partitions. Null: unknown.")),
            "rate_out": or_null(number("Records per second consumed, in the same span. Null: unknown.")),
            "catch_up_ms": or_null(whole("Time in ms to the lag 0 of the slowest partition. Null: never, or unknown.")),
            "rebalances": whole("Rebalances since the first refresh."),
            "changed": listing("Keys that differ from the previous refresh.", {"type": "string"}),
            "stale": flag("Whether the row is from an earlier refresh, because this one failed."),
            "known_lag": or_null(whole("Sum of the known lags, in records. Null: none is known.")),
            "unknown_partitions": whole("Partitions whose lag is unknown."),
            "last_lag": or_null(whole("Last known total lag, in records. Null: never known.")),
            "lag_age_ms": or_null(whole("Age of last_lag in ms. Null: never known.")),
        },
        optional=["cluster"],
    )


def _totals() -> Schema:
    counts = {
        "groups": "Groups.",
        "stable": "Groups in the state Stable.",
        "empty": "Groups in the state Empty.",
        "rebalancing": "Groups that rebalance.",
        "other_state": "Groups in another state.",
        "lagging": "Groups whose lag is above 0.",
        "total_lag": "Sum of the lags, in records.",
        "known_lag": "Sum of the known lags, in records.",
        "unknown": "Groups whose lag is unknown.",
        "stale": "Groups whose row is from an earlier refresh.",
    }
    properties = {key: or_null(whole(f"{doc} Null: unknown.")) for key, doc in counts.items()}
    return record("A cluster.", {"cluster": text("Name of the cluster."), **properties})


def _error() -> Schema:
    return record(
        "An error of a tool.",
        {
            "schema": {"const": "kgroups/error/v1", "description": "Name and version of this schema."},
            "error": text("The error in words, which may change."),
            "reason": one_of("Why, for programs.", Reason),
            "hint": or_null(text("What to do about it. Null: nothing is known.")),
            "reference": text("Page and anchor of the documentation about the reason."),
            "items": {"type": "array", "description": "No rows.", "maxItems": 0},
            "truncated": {"type": "null", "description": "Nothing was left out."},
        },
    )


def _help() -> Schema:
    argument = {
        "name": text("Name in the usage."),
        "required": flag("Whether it must be given."),
        "repeatable": flag("Whether it may be given several times."),
        "type": text("Type of the value, such as text, integer, path, choice, or duration."),
        "choices": or_null(listing("The values. Null: not a choice.", {"type": "string"})),
    }
    option = {
        "names": listing("Names, such as -o and --output.", {"type": "string"}),
        "off_names": listing("Names that turn a flag off, such as --no-color.", {"type": "string"}),
        "required": flag("Whether it must be given."),
        "repeatable": flag("Whether it may be given several times."),
        "flag": flag("Whether it takes no value."),
        "type": text("Type of the value, such as text, integer, path, choice, or duration."),
        "metavar": or_null(text("The value in the help. Null: a flag.")),
        "choices": or_null(listing("The values. Null: not a choice.", {"type": "string"})),
        "default": {
            "type": ["string", "number", "boolean", "null"],
            "description": "Default. Null: none, or the help says which.",
        },
        "environment": or_null(text("Environment variable with the same meaning. Null: none.")),
        "section": text("Section of the help."),
        "help": text("Help text."),
        "deprecated": or_null(text("The option that replaces it. Null: it is not deprecated.")),
    }
    example = {"text": text("What the command does."), "command": text("Command line.")}
    codes = {"code": text("Exit code, or several."), "meaning": text("Meaning.")}
    command = record(
        "A command.",
        {
            "name": text("The command with its parents, such as kgroups history show."),
            "summary": text("First sentence of the help."),
            "help": text("Help text."),
            "usage": text("Usage line."),
            "arguments": listing("Arguments, in order.", record("An argument.", argument)),
            "options": listing("Options.", record("An option.", option)),
            "examples": listing("Examples.", record("An example.", example)),
            "exit_codes": listing("Exit codes.", record("An exit code.", codes)),
            "commands": listing("Commands of a group of commands.", ref("command")),
        },
    )
    return record(
        "Commands with their options, from the source of --help.",
        {
            "schema": {"const": "kgroups/help/v1", "description": "Name and version of this schema."},
            "version": text("Version of kgroups."),
            "command": ref("command", "The command, with the commands in it."),
        },
    ) | {"$defs": {"command": command}}
