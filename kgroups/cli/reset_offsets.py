"""``kgroups reset-offsets``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.client import WireOnly, changing
from kgroups.errors import UsageError
from kgroups.model.counts import count, some
from kgroups.model.operations.origin import Source
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.outcome import Outcome
from kgroups.model.visible import escape
from kgroups.net.cluster import Cluster

from .change.apply_plan import apply_plan
from .change.confirmation import Confirmation
from .change.reset import Reset
from .change.reset_request import Target, reset_request
from .change.safety import Safety
from .frame.options import ConnectionOptions
from .frame.output import Shape, print_failures
from .frame.run_query import run_query
from .frame.selected_groups import GroupOptions


def reset_offsets(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_file: Path | None,
    accepted: tuple[str, ...],
    partial: bool,
    export: bool,
    isolation: str | None,
    create_group: bool,
    safety: Safety,
    chosen: GroupOptions,
    target: Target,
    internal: tuple[str, ...],
    all_internal: bool,
) -> int:
    """Run ``kgroups reset-offsets``; return the exit code."""
    request, notices = reset_request(chosen, target, accepted, isolation)
    request = request._replace(create=create_group, partial=partial)
    if partial and target.scenarios["from_file"] is None:
        raise UsageError("--partial requires --from-file")
    safety = safety.of(confirmation, connection)
    if target.scenarios["from_file"] is not None:
        connection.check_single("--from-file", "a file is for one cluster; give one --profile")
    if export:
        connection.check_single("--export", "a file is for one cluster")
        if confirmation.execute:
            raise UsageError("--export and --execute are mutually exclusive")
        if internal or all_internal:
            raise UsageError("--export cannot be combined with the deletion of internal topics")
        single = len(chosen.names) == 1 and not chosen.globs and chosen.regex is None
        return _export(connection, shape, request, notices, with_group=not single)

    topics = None if all_internal else internal
    return apply_plan(connection, shape, confirmation, Reset(request, safety, notices, topics, undo_file))


def _export(
    connection: ConnectionOptions, shape: Shape, request: ResetRequest, notices: tuple[str, ...], *, with_group: bool
) -> int:
    """Print the plan for ``--from-file`` to standard output; return the exit code."""
    from kgroups.model.operations.plan_file import java_csv, json_plan

    from .change.undo_file import run_source

    WireOnly.CHANGES.check(connection.settings)
    if shape.output not in ("auto", "csv", "json"):
        raise UsageError("--export writes csv or json")

    as_json = shape.output == "json"
    sources: list[Source] = []

    async def plan(cluster: Cluster) -> Outcome[PlannedOffset]:
        planned = (await plan_reset(cluster, request)).with_failures((), notices)
        if as_json:
            sources.append(await run_source(cluster, connection, planned.items))
        return planned

    outcome, _ = run_query(connection.settings, changing(plan), debug=connection.debug)
    lines = json_plan(outcome.items, *sources) if as_json else java_csv(outcome.items, with_group=with_group)
    show = escape if sys.stdout.isatty() and not as_json else str
    sys.stdout.writelines(show(line) + "\n" for line in lines)
    sys.stdout.flush()
    if not as_json and (removals := sum(entry.after is None for entry in outcome.items)):
        removed = count(removals, "offset is removed", "offsets are removed")
        outcome = outcome.with_failures((), [f"{removed}, which CSV cannot express: use -o json"])
    print_failures(outcome.with_failures((), _adjusted(outcome.items)))
    return outcome.exit_code


def _adjusted(planned: Sequence[PlannedOffset]) -> list[str]:
    """Return one notice per reason why planned offsets differ from the requested ones."""
    entries: dict[str, list[str]] = {}
    for entry in planned:
        if entry.clamp:
            where = f"{entry.topic}-{entry.partition} of group '{entry.group}': "
            detail = f"{entry.note}, the plan has {entry.new}" if entry.note != entry.clamp else f"offset {entry.new}"
            entries.setdefault(entry.clamp, []).append(where + detail)
    return [f"{count(len(each), 'offset')} adjusted, {why}: {some(each)}" for why, each in entries.items()]
