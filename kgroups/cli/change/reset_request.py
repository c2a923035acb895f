"""Plan and write a reset, from the options of ``reset-offsets``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from kgroups.admin.change.apply.write_in_chunks import write_in_chunks
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.errors import UsageError
from kgroups.model.moments import parse_any_duration, parse_time
from kgroups.model.offsets import Isolation
from kgroups.model.operations import reset
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.operations.skip import skip_notices
from kgroups.model.outcome import Outcome
from kgroups.model.topic_scope import parse_topic_scope
from kgroups.model.views.operation_rows import ResetRow, reset_row, result_and_error
from kgroups.net.cluster import Cluster

from ..frame.group_options import GroupOptions, check_name
from .plan_source import plan_for, read_plan
from .safety import Safety
from .undo_file import UndoFile


class Target(NamedTuple):
    """The options that select partitions, and their new offsets, before they are checked."""

    topics: tuple[str, ...]
    all_topics: bool
    scenarios: dict[str, Any]
    """The values of the options for new offsets, by the names of their parameters."""


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
        named = chosen.selection() if chosen.any_given else None
        scenario, selection, notices = plan_for(read_plan(value), value, named, accepted)
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


async def screened_reset(
    cluster: Cluster, request: ResetRequest, notices: Sequence[str], safety: Safety, *, execute: bool
) -> Outcome[PlannedOffset]:
    """Return the plan, without the groups for which a client still commits."""
    planned = await safety.plan(cluster, lambda: plan_reset(cluster, request))
    planned = planned.with_failures(
        (), (*notices, *skip_notices((entry.key, entry.skipped) for entry in planned.items))
    )
    # An undo is screened, too: an unchanged offset does not prove that commits ended, because a client with nothing
    # to read commits the same offset again, and an undo file contains no commit times.
    return await safety.screen_offsets(cluster, planned, execute=execute)


async def write_reset(
    cluster: Cluster, planned: Sequence[PlannedOffset], undo: UndoFile, safety: Safety
) -> tuple[Outcome[AppliedOffset], list[ResetRow]]:
    """Write planned offsets; return the results, and a row for each."""
    applied = await write_offsets(cluster, planned, undo, force=safety.force, together=safety.together)
    return applied, [reset_row(each.planned, result_and_error(each.result, each.failure)) for each in applied.items]


async def write_offsets(
    cluster: Cluster,
    planned: Sequence[PlannedOffset],
    undo: UndoFile,
    *,
    force: bool = False,
    with_members: bool = False,
    together: bool = False,
) -> Outcome[AppliedOffset]:
    """Write planned offsets with :func:`.write_in_chunks`; return a result for each, also for skipped groups."""
    done = await write_in_chunks(cluster, planned, undo, force=force, with_members=with_members, together=together)
    items = sorted((*done.applied, *done.left_alone), key=lambda each: each.planned.key)
    return Outcome(tuple(items), done.failures, done.notices)
