"""The tools: each is a command, some of its options, and arguments that have another form than these."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from kgroups.model.health.judge import CHECKS

NOTHING: Mapping[str, Mapping[str, str]] = MappingProxyType({})

WAITS: Mapping[str, float] = MappingProxyType({"window": 30.0})
"""Argument that makes a call wait -> its default in seconds; a call waits for half of its time limit at most."""

SELECTION = ("group", "regex", "all_groups", "topic")
COLUMNS = ("columns", "sort")


class Tool(NamedTuple):
    """A command as a tool; its arguments are named as the options: ``--all-groups`` is ``all_groups``."""

    name: str
    title: str
    description: str
    command: tuple[str, ...]
    arguments: tuple[str, ...]
    """The options that a client can set; ``group`` are the names and globs that the command takes as arguments."""
    choices: Mapping[str, Mapping[str, str]] = NOTHING
    """Argument -> its values -> the flag of each."""
    files: Mapping[str, str] = MappingProxyType({})
    """Argument with the content of a file -> the option with its path."""
    required: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    """Words that are always part of the command line."""
    one_cluster: bool = False
    """Whether the tool is for one cluster at a time."""
    connects: bool = True
    """Whether the tool queries a cluster."""
    seconds: float = 30.0
    """Time limit of a call."""


_PLAN = "Nothing is changed: the tool cannot execute the plan. Returns one row for each {row}; `result` is null."

GROUP_TOOLS = (
    Tool(
        "list_groups",
        "List groups",
        "List the groups of a cluster, of every type, with state and type. Start here to find names.",
        ("list",),
        ("group", "regex", "exclude", "topic", "host", "client_id", "coordinator", "state", "type", "protocol_type",
         "by", *COLUMNS),
    ),
    Tool(
        "describe_groups",
        "Describe groups",
        "Describe groups: `offsets` (default: committed offset, log end offset, and lag of each partition), `members` "
        "(with their assignments), `state` (coordinator, assignor, number of members), `topology` (of streams groups), "
        "or `summary` (one row for each group).",
        ("describe",),
        (*SELECTION, "in_state", "type", "isolation", *COLUMNS),
        choices={"view": {view: f"--{view}" for view in ("offsets", "members", "state", "topology", "summary")}},
    ),
    Tool(
        "lag",
        "Show lag",
        "Show the lag of groups in records, by group, topic, partition, member, or cluster; with `time`, `headroom`, "
        "or `exact` also in time. An unknown lag is null, never 0. For an overview, use `top`.",
        ("lag",),
        (*SELECTION, "state", "type", "by", "only_lagging", "min", "top", "time", "headroom", "exact", "isolation",
         *COLUMNS),
    ),
    Tool(
        "explain_groups",
        "Explain groups",
        "Explain the state and the problems of groups: members without partitions, unassigned partitions, differences "
        "between members, timeouts, the size of a rebalance. `what_if` computes which partitions would move.",
        ("explain",),
        (*SELECTION, "state", "type", "what_if"),
    ),
    Tool(
        "explain_partitions",
        "Explain partitions",
        "Return one verdict for each partition: why it is not consumed, such as an open transaction, no member, or a "
        "record that the consumer does not get past, with the evidence and the next command. Set `partition` or "
        "`lagging`.",
        ("explain",),
        (*SELECTION, "state", "type", "partition", "lagging", "stuck_after"),
    ),
    Tool(
        "check_groups",
        "Check groups",
        "Check groups against limits. `status` is the verdict: OK, WARNING, CRITICAL, or UNKNOWN, which is never OK. "
        "Give limits as arguments, or rules in TOML. With `trend`, the call takes longer than `window`.",
        ("check",),
        (*SELECTION, "in_state", "of_type", *(check.key.replace("-", "_") for check in CHECKS), "window", "samples",
         "isolation"),
        files={"rules_toml": "--rules"},
    ),
    Tool(
        "show_settings",
        "Show settings of groups",
        "Show the settings of groups, and where they come from. Requires Kafka 3.8.",
        ("settings", "show"),
        ("group", "regex", "all_groups", "key", "overridden", *COLUMNS),
    ),
    Tool(
        "plan_reset_offsets",
        "Plan a reset of offsets",
        "Plan a reset of committed offsets. " + _PLAN.format(row="partition, with old and new offset") + " Set one of "
        "the targets, and `topic` or `all_topics`.",
        ("reset-offsets",),
        ("group", "regex", "all_groups", "state", "type", "topic", "all_topics", "to_earliest", "to_latest",
         "to_current", "to_offset", "shift_by", "skip_records", "to_datetime", "by_duration", "to_group", *COLUMNS),
        one_cluster=True,
    ),
    Tool(
        "plan_delete_groups",
        "Plan the deletion of groups",
        "Plan the deletion of groups without members. " + _PLAN.format(row="group"),
        ("delete",),
        (*SELECTION, "state", "type", *COLUMNS),
        one_cluster=True,
    ),
    Tool(
        "plan_delete_offsets",
        "Plan the deletion of offsets",
        "Plan the deletion of committed offsets of topics. " + _PLAN.format(row="partition"),
        ("delete-offsets",),
        ("group", "regex", "all_groups", "state", "type", "topic", *COLUMNS),
        required=("topic",),
        one_cluster=True,
    ),
)  # fmt: skip


def history_tool(store: str, rows: int, seconds: float) -> Tool:
    """Return the tool that queries a store.

    :param rows: the result has at most this number of rows.
    :param seconds: time limit of a query.
    """
    return Tool(
        "query_history",
        "Query history",
        "Query the recorded history of groups with one SELECT statement of DuckDB's SQL. Tables: commits, rebalances, "
        "group_states, memberships, lag, commit_rate, latest_offsets, stale, expiring, verdicts, anomalies, "
        "completeness; `DESCRIBE commits` shows the columns of one. Quote the column `group`.",
        ("history", "sql"),
        ("query", "since", "until", "cluster", "all_clusters", "rule"),
        required=("query",),
        fixed=(f"--store={store}", "--untrusted", f"--max-rows={rows}", f"--max-time={seconds:g}"),
        connects=False,
    )


def tools(*, records: bool, store: str | None, rows: int, seconds: float) -> tuple[Tool, ...]:
    """Return the tools of a server.

    :param records: whether clients can see keys and values of records.
    :param store: the store of history; ``None``: there is no tool that queries it.
    """
    shown = []
    for tool in GROUP_TOOLS:
        more = ("show_record",) if records and "stuck_after" in tool.arguments else ()
        waits = tuple(f"--{name}={min(default, seconds / 2):g}s" for name, default in WAITS.items())
        fixed = tool.fixed + (waits if WAITS.keys() & set(tool.arguments) else ())
        shown.append(tool._replace(arguments=(*tool.arguments, *more), fixed=fixed, seconds=seconds))
    return (*shown, *(() if store is None else (history_tool(store, rows, seconds),)))
