"""``kgroups reset-offsets``."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgroups.errors import UsageError

from .answer import Shape, complain, put
from .choice import check_name, choose, group_options
from .confirm import Consent, consent_options
from .options import Connection, connection_options, output_options
from .perform import Act, perform
from .undo_file import check_free, undo_option, write_undo

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.admin.reset_plan import ResetRequest
    from kgroups.model.acts import AppliedOffset
    from kgroups.model.outcome import Outcome
    from kgroups.model.reset import PlannedOffset, Scenario

_SCENARIOS = (
    click.option("--to-earliest", is_flag=True, help="To the start of the log."),
    click.option("--to-latest", is_flag=True, help="To the end of the log."),
    click.option("--to-current", is_flag=True, help="Where it is; to the end where there is no commit."),
    click.option("--to-offset", type=click.IntRange(0), metavar="N", help="To this offset."),
    click.option(
        "--shift-by",
        type=int,
        metavar="N",
        help="So many records forwards, or with a minus backwards.",
    ),
    click.option(
        "--to-datetime",
        metavar="TIME",
        help="To the first record of that time or later: 2026-01-31T12:00:00.500, with Z or +01:00 behind it; "
        "without a zone it is UTC, as for Kafka's own tool.",
    ),
    click.option(
        "--by-duration", metavar="DURATION", help="To the first record younger than an ISO duration: P1DT2H, PT90M."
    ),
    click.option(
        "--from-file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="To what a file says: CSV as --export writes it, a plan in JSON, or an undo file.",
    ),
    click.option("--to-group", metavar="GROUP", help="To where another group is."),
)
_SCOPE = (
    click.option(
        "--topic",
        "topics",
        multiple=True,
        metavar="TOPIC[:0,2-5]",
        help="All partitions of a topic, or some; may be repeated.",
    ),
    click.option("--all-topics", is_flag=True, help="All partitions that the group has committed."),
)


def _scenario_options(command: Any) -> Any:
    for option in reversed((*_SCOPE, *_SCENARIOS)):
        command = option(command)
    return command


@click.command("reset-offsets")
@group_options
@_scenario_options
@consent_options
@undo_option
@click.option(
    "--export", is_flag=True, help="Print the plan for --from-file, as the Java tool's CSV; with -o json as JSON."
)
@output_options
@connection_options
def reset_offsets(
    connection: Connection,
    shape: Shape,
    consent: Consent,
    undo_file: Path | None,
    export: bool,
    names: tuple[str, ...],
    groups: tuple[str, ...],
    regex: str | None,
    all_groups: bool,
    topics: tuple[str, ...],
    all_topics: bool,
    **scenarios: Any,
) -> int:
    """Move the offsets of groups that have no members.

    Shows what would be written; --execute writes it. The old offsets are kept in a file first, which --from-file takes
    back. A group with members is refused, and the others are reset.
    """
    named = (*names, *groups)
    request, remarks = _request(named, regex, all_groups, topics, all_topics, scenarios)
    if export:
        if consent.execute:
            raise UsageError("--export and --execute exclude each other")
        single = len(set(named)) == 1 and regex is None
        return _export(connection, shape, request, remarks, with_group=not single)
    check_free(undo_file)
    from kgroups.model.rows import reset_row, told
    from kgroups.render.views import RESET_OFFSETS

    async def plan(admin: GroupAdmin) -> Outcome[PlannedOffset]:
        return (await admin.plan_reset(request)).with_failures((), remarks)

    async def do(admin: GroupAdmin, planned: Sequence[PlannedOffset], old: bool) -> Outcome[Any]:
        applied = await write(admin, planned, undo_file, old=old)
        return applied.with_items(reset_row(each.planned, told(each.result, each.failure)) for each in applied.items)

    def question(planned: Sequence[PlannedOffset]) -> str:
        return f"Write {len(planned):,} offsets of {len({entry.group_id for entry in planned}):,} groups?"

    return perform(connection, shape, consent, Act(RESET_OFFSETS, plan, reset_row, question, do))


async def write(
    admin: GroupAdmin,
    planned: Sequence[PlannedOffset],
    undo_file: Path | None,
    *,
    old: bool,
    with_members: bool = False,
) -> Outcome[AppliedOffset]:
    """Looks again whether an old plan still holds, keeps the old offsets in a file, and writes the new ones."""
    from kgroups.model.acts import AppliedOffset, Result
    from kgroups.model.outcome import Outcome
    from kgroups.model.plan_file import json_undo

    fresh = Outcome(tuple(planned))
    checked = await admin.still_true(planned, with_members=with_members) if old else fresh
    kept = {entry.key for entry in checked.items}
    reasons = {failure.name: failure for failure in checked.failures}
    dropped = [
        AppliedOffset(entry, Result.FAILED, reasons.get(entry.group_id)) for entry in planned if entry.key not in kept
    ]
    if checked.items:
        write_undo(undo_file, sorted({entry.group_id for entry in checked.items}), json_undo(checked.items))
    applied = await admin.apply_offsets(checked.items)
    items = sorted((*applied.items, *dropped), key=lambda each: each.planned.key)
    return applied.with_items(items).with_failures(checked.failures)


def _request(
    named: tuple[str, ...],
    regex: str | None,
    all_groups: bool,
    topics: tuple[str, ...],
    all_topics: bool,
    scenarios: dict[str, Any],
) -> tuple[ResetRequest, tuple[str, ...]]:
    """What the flags ask for, and what is to be said about it.

    :raises UsageError: when they contradict each other, or leave open which groups, partitions or offsets are meant.
    """
    from kgroups.admin.reset_plan import ResetRequest
    from kgroups.model.topic_scope import parse_topic_scope

    flag, value = _one_scenario(scenarios)
    if topics and all_topics:
        raise UsageError("--topic and --all-topics exclude each other")
    scope = parse_topic_scope(topics) if topics else None
    if flag == "from_file":
        from .plan_source import plan_for, read_plan

        chosen = choose(named, regex, all_groups) if named or regex is not None or all_groups else None
        scenario, selection, remarks = plan_for(read_plan(value), value, chosen)
        return ResetRequest(selection, scenario, scope), remarks
    if not (topics or all_topics or flag == "to_group"):
        raise UsageError("which partitions? Say --topic TOPIC[:0,2-5], or --all-topics")
    return ResetRequest(choose(named, regex, all_groups), _scenario(flag, value), scope), ()


def _one_scenario(scenarios: dict[str, Any]) -> tuple[str, Any]:
    flags = {name: f"--{name.replace('_', '-')}" for name in scenarios}
    given = [(name, value) for name, value in scenarios.items() if value is not None and value is not False]
    if not given:
        raise UsageError(f"where to? Say one of {', '.join(flags.values())}")
    if len(given) > 1:
        raise UsageError(f"{' and '.join(flags[name] for name, _ in given)} exclude each other")
    return given[0]


def _scenario(flag: str, value: Any) -> Scenario:
    from kgroups.model import reset

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
        case "to_group":
            check_name(value, "--to-group")
            return reset.ToGroup(value)
    return reset.ToTime(_moment(flag, value))


def _moment(flag: str, text: str) -> int:
    """:raises UsageError: when it is none, or is still to come."""
    from kgroups.model.moments import parse_duration, parse_moment

    now = time.time_ns() // 1_000_000
    try:
        if flag == "by_duration":
            return max(0, now - parse_duration(text))
        moment = parse_moment(text)
    except UsageError as error:
        raise UsageError(f"--{flag.replace('_', '-')}: {error}") from None
    if moment > now:
        raise UsageError(f"--to-datetime: {text} is still to come; for the end of the log there is --to-latest")
    return moment


def _export(
    connection: Connection, shape: Shape, request: ResetRequest, remarks: tuple[str, ...], *, with_group: bool
) -> int:
    """The plan on standard output, to be read by ``--from-file``."""
    from kgroups.model.plan_file import java_csv, json_plan

    if shape.output not in ("auto", "csv", "json"):
        raise UsageError("--export writes csv or json")

    async def plan(admin: GroupAdmin) -> Outcome[PlannedOffset]:
        return (await admin.plan_reset(request)).with_failures((), remarks)

    outcome, _ = put(connection.settings, plan, debug=connection.debug)
    as_json = shape.output == "json"
    lines = json_plan(outcome.items) if as_json else java_csv(outcome.items, with_group=with_group)
    sys.stdout.writelines(line + "\n" for line in lines)
    sys.stdout.flush()
    if not as_json and (lost := sum(entry.after is None for entry in outcome.items)):
        outcome = outcome.with_failures((), [f"{lost} commits are to go, which CSV cannot say: use -o json"])
    complain(outcome)
    return outcome.exit_code
