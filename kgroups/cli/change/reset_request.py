"""The options of ``reset-offsets``: groups, partitions, and new offsets."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.errors import UsageError
from kgroups.model.moments import parse_any_duration, parse_time
from kgroups.model.offsets import Isolation
from kgroups.model.operations import reset
from kgroups.model.operations.plan_row import PlanFile
from kgroups.model.topic_scope import in_scope, parse_topic_scope

from ..frame.selected_groups import GroupOptions, check_name


class Target(NamedTuple):
    """The options that select partitions, and their new offsets, before they are checked."""

    topics: tuple[str, ...]
    all_topics: bool
    scenarios: dict[str, Any]
    """The values of the options for new offsets, by the names of their parameters; ``from_file`` may be parsed."""


def target_of(topics: tuple[str, ...], all_topics: bool, **scenarios: Any) -> Target:
    """Return the options of the target."""
    return Target(topics, all_topics, scenarios)


def reset_request(
    chosen: GroupOptions,
    target: Target,
    accepted: tuple[str, ...] = (),
    isolation: str | None = None,
) -> tuple[ResetRequest, tuple[str, ...]]:
    """Return the request of the options, and notices about it.

    :raises UsageError: if options conflict, or if groups, partitions, or target offsets are not selected.
    """
    topics, all_topics, scenarios = target
    flag, value = _one_scenario(scenarios)
    if topics and all_topics:
        raise UsageError("--topic and --all-topics are mutually exclusive")
    scope = parse_topic_scope(topics) if topics else None
    if isolation and flag != "skip_records":
        raise UsageError("--isolation requires --skip-records")
    if flag == "from_file":
        if chosen.in_states or chosen.of_types:
            raise UsageError("--from-file cannot be combined with --state and --type; select groups by name or --regex")
        from .plan_source import plan_for, read_plan

        named = chosen.selection() if chosen.any_given else None
        plan = value if isinstance(value, PlanFile) else read_plan(value)
        scenario, selection, notices = plan_for(plan, named, accepted)
        listed = {group for group, topic, partition in scenario.moves if in_scope(scope, topic, partition)}
        for name in (each for each in selection.names if each not in listed):
            if not listed or (named and name in named.names):
                raise UsageError(f"--topic: {plan.name} has no entries for group '{name}' on the selected partitions")
        selection = selection._replace(names=tuple(name for name in selection.names if name in listed))
        return ResetRequest(selection, scenario, scope), notices
    if accepted:
        raise UsageError("--accept-mismatch requires --from-file")
    if not (topics or all_topics or flag == "to_group"):
        raise UsageError("no partitions selected: use --topic TOPIC[:0,2-5] or --all-topics")
    return ResetRequest(chosen.selection(), _scenario_of(flag, value, isolation or "read_uncommitted"), scope), ()


def _one_scenario(scenarios: dict[str, Any]) -> tuple[str, Any]:
    """Return the only given scenario: the name of its parameter, and its value.

    :raises UsageError: if no scenario is given, or several.
    """
    flags = {name: f"--{name.replace('_', '-')}" for name in scenarios}
    given = [(name, value) for name, value in scenarios.items() if value is not None and value is not False]
    if not given:
        raise UsageError(f"no target offset: use one of {', '.join(flags.values())}")
    if len(given) > 1:
        raise UsageError(f"{' and '.join(flags[name] for name, _ in given)} are mutually exclusive")
    return given[0]


def _scenario_of(flag: str, value: Any, isolation: str) -> reset.Scenario:
    """Return the scenario of an option, except ``from_file``, whose file also selects groups and partitions.

    :param isolation: of the consumers for which records are skipped.

    :raises UsageError: if the value is invalid.
    """
    match flag:
        case "to_earliest":
            return reset.ToEarliest()
        case "to_latest":
            return reset.ToLatest()
        case "to_current":
            return reset.ToCurrent()
        case "to_offset":
            return reset.ToOffset(value)
        case "shift_by":
            return reset.ShiftBy(value)
        case "skip_records":
            return reset.SkipRecords(value, Isolation[isolation.upper()])
        case "to_group":
            check_name(value, "--to-group")
            return reset.ToGroup(value)
    return reset.ToTime(_moment(flag, value))


def _moment(flag: str, text: str) -> int:
    """Parse a time or a duration; return milliseconds since 1970.

    :raises UsageError: if it is invalid, or in the future.
    """
    now = time.time_ns() // 1_000_000
    try:
        if flag == "by_duration":
            return max(0, now - parse_any_duration(text))
        moment = parse_time(text, now)
    except UsageError as error:
        raise UsageError(f"--{flag.replace('_', '-')}: {error}") from None
    if moment > now:
        raise UsageError(f"--to-datetime: {text} is in the future; use --to-latest for the log end")
    return moment
