"""The schemas of the outputs with keys of their own: check, watch, errors of tools, and the help."""

from __future__ import annotations

from kgroups.errors import Reason
from kgroups.model.severity import Severity
from kgroups.model.status import Status

from .values import Schema, flag, listing, mapping, number, one_of, or_null, record, ref, text, whole
from .views import CLUSTER

_AT = whole("Time in ms since 1970.")
_CLUSTERS = mapping("IDs of the clusters by name; only if several are queried.", {"type": ["string", "null"]})


_SHARED = record(
    "An instance ID.",
    {
        "instance_id": text("Group instance ID."),
        "clients": listing("Client ID and host of each member; one entry if all are the same.", {"type": "string"}),
    },
)


def check() -> Schema:
    """Return the schema of a report."""
    status = one_of("The worst of its findings, CRITICAL first.", [each.name for each in Severity])
    limit = "in records or, for times, ms. Null: there is none."
    item = record(
        "A finding of one rule about one group.",
        {
            "cluster": CLUSTER,
            "group": or_null(text("Group ID. Null: the finding is not about a group.")),
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


def watch() -> Schema:
    """Return the schema of the groups at a refresh."""
    return _tick("watch", _watched())


def watch_by_cluster() -> Schema:
    """Return the schema of the totals of clusters at a refresh."""
    return _tick("watch-by-cluster", _totals())


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
            "group": text("Group ID."),
            "status": one_of("What the refreshes so far prove about the group, worst first.", Status),
            "severity": one_of("The severity of its status.", [each.name for each in Severity]),
            "state": text("State of the group."),
            "members": or_null(whole("Number of members. Null: not reported.")),
            "total_lag": or_null(whole("Sum of the lags, in records. Null: the lag of a partition is unknown.")),
            "rate_in": or_null(number("Records per second written to its partitions. Null: unknown.")),
            "rate_out": or_null(number("Records per second consumed, in the same span. Null: unknown.")),
            "catch_up_ms": or_null(whole("Time in ms to the lag 0 of the slowest partition. Null: never, or unknown.")),
            "falls_behind": flag("Whether it never catches up at this pace. False: it does, or this is unknown."),
            "steady": flag("Whether the lag is usual, or remains the same. False: it does not, or this is unknown."),
            "rebalances": whole("Rebalances since the first refresh."),
            "changed": listing("Keys that differ from the previous refresh.", {"type": "string"}),
            "stale": flag("Whether the row is from an earlier refresh, because this one failed."),
            "known_lag": or_null(whole("Sum of the known lags, in records. Null: none is known.")),
            "unknown_partitions": whole("Partitions whose lag is unknown."),
            "last_lag": or_null(whole("Last known total lag, in records. Null: never known.")),
            "lag_age_ms": or_null(whole("Age of last_lag in ms. Null: never known.")),
            "ahead": whole("Partitions whose committed offset is beyond the log end offset."),
            "data_lost": whole("Partitions with records that were deleted before they were read."),
            "shared_instances": listing("Instance IDs of members that were replaced repeatedly.", _SHARED),
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
        "ahead": "Partitions whose committed offset is beyond the log end offset.",
        "data_lost": "Partitions with records that were deleted before they were read.",
        "stale": "Groups whose row is from an earlier refresh.",
        "critical": "Groups with a status that is CRITICAL.",
        "warning": "Groups with a status that is a WARNING.",
    }
    properties = {key: or_null(whole(f"{doc} Null: unknown.")) for key, doc in counts.items()}
    return record("A cluster.", {"cluster": text("Name of the cluster."), **properties})


def error() -> Schema:
    """Return the schema of a call of a tool without a result."""
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


def help_page() -> Schema:
    """Return the schema of ``--help-json``."""
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
