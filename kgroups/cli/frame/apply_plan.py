"""Change groups: plan, show the plan, ask, check again, apply, show the results. Nothing changes before the consent."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import click

from kgroups.errors import EXIT_FAILED, UsageError

from .confirmation import Confirmation
from .exit_status import discard_output
from .options import ConnectionOptions
from .run_query import Shape, hinted, or_error_envelope, print_failures, run_query, show

if TYPE_CHECKING:
    from kgroups.admin.change.interruption import Interruption
    from kgroups.admin.port import GroupAdmin
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.outcome import Outcome
    from kgroups.render.views import View

    from .undo_file import UndoFile

P = TypeVar("P")

NOTHING_TO_DO = "nothing to do"


class Operation(NamedTuple, Generic[P]):
    """One operation: ``plan`` it, show each planned item by ``row``, ask ``question`` about all, ``apply`` them.

    ``apply`` checks each group again right before the change, and returns rows with results.
    """

    view: View
    plan: Callable[[GroupAdmin], Awaitable[Outcome[P]]]
    row: Callable[[P], Any]
    question: Callable[[Sequence[P]], str]
    """Returns the question without a question mark: the name of the cluster follows."""
    apply: Callable[[GroupAdmin, Sequence[P]], Awaitable[Outcome[Any]]]
    undo: UndoFile | None = None
    stop: Interruption | None = None
    """The interruption of an operation without an undo file."""
    selection: Selection | None = None
    """The selected groups; if there are none, the reason is shown."""

    @property
    def hinted_plan(self) -> Callable[[GroupAdmin], Awaitable[Outcome[Any]]]:
        return hinted(self.plan, self.selection)


def apply_plan(connection: ConnectionOptions, shape: Shape, confirmation: Confirmation, operation: Operation[P]) -> int:
    """Plan an operation, and with ``--execute`` ask and apply it; return the exit code.

    If the user is asked, planning and applying each have the whole ``--timeout``, and the question has no time limit.
    """
    from kgroups.admin.change.interruption import Interruption

    shape.check(operation.view)
    stop = operation.undo.stop if operation.undo else operation.stop or Interruption()
    if confirmation.execute and confirmation.yes:
        return _plan_and_apply(connection, shape, operation, stop)
    planned, cluster_id = or_error_envelope(
        shape, operation.view, lambda: run_query(connection.settings, operation.hinted_plan, debug=connection.debug)
    )
    cluster = connection.cluster(cluster_id)
    rows = planned.with_items(map(operation.row, planned.items))
    if not confirmation.execute or not planned.items:
        dry_run = f"dry run on {cluster}: nothing was changed; add --execute to apply"
        notice = dry_run if planned.items else f"{_nothing_planned(planned)} on {cluster}"
        return show(rows.with_failures((), (notice,)), cluster_id, shape, operation.view, more=_undo_file(operation))
    _preview(rows, shape, operation.view)
    if not _confirmed(confirmation, f"{operation.question(planned.items)} on {cluster}?"):
        return EXIT_FAILED

    async def apply(admin: GroupAdmin) -> Outcome[Any]:
        _check_same(cluster_id, admin.cluster_id)
        return await _execute(operation, stop, admin, planned.items)

    applied, cluster_id = or_error_envelope(shape, operation.view, lambda: _run(connection, operation, stop, apply))
    return _show(applied.after(planned), cluster_id, shape, operation, stop)


def _nothing_planned(planned: Outcome[Any]) -> str:
    return "nothing was changed" if planned.failures else NOTHING_TO_DO


def _confirmed(confirmation: Confirmation, question: str) -> bool:
    """Ask for the confirmation; if it is denied or interrupted, print that nothing was changed."""
    try:
        confirmed = confirmation.confirm(question)
    except (click.Abort, KeyboardInterrupt):
        click.echo("\nkgroups: nothing was changed", err=True)
        raise
    if not confirmed:
        click.echo("kgroups: nothing was changed", err=True)
    return confirmed


def _check_same(planned: str | None, now: str | None) -> None:
    """Check that the plan was made for this cluster.

    :raises UsageError: if the bootstrap servers belong to another cluster now.
    """
    if planned and now and planned != now:
        raise UsageError(
            f"the plan is for cluster {planned}, but the bootstrap servers now belong to cluster {now}; "
            "nothing was changed"
        )


def _plan_and_apply(connection: ConnectionOptions, shape: Shape, operation: Operation[P], stop: Interruption) -> int:
    """Plan and apply an operation over the same connections."""

    async def plan_and_apply(admin: GroupAdmin) -> Outcome[Any]:
        planned = await operation.hinted_plan(admin)
        if not planned.items:
            return planned.with_failures(
                (), (f"{_nothing_planned(planned)} on {connection.cluster(admin.cluster_id)}",)
            )
        applied = await _execute(operation, stop, admin, planned.items)
        return applied.after(planned)

    return _show(
        *or_error_envelope(shape, operation.view, lambda: _run(connection, operation, stop, plan_and_apply)),
        shape,
        operation,
        stop,
    )


async def _execute(
    operation: Operation[P], stop: Interruption, admin: GroupAdmin, planned: Sequence[P]
) -> Outcome[Any]:
    """Apply planned items until a signal arrives."""
    from kgroups.model.outcome import Outcome

    stop.listen()
    return await stop.bound(operation.apply(admin, planned)) or Outcome()


def _run(
    connection: ConnectionOptions,
    operation: Operation[P],
    stop: Interruption,
    apply: Callable[[GroupAdmin], Awaitable[Outcome[Any]]],
) -> tuple[Outcome[Any], str | None]:
    """Run an operation; the result includes a notice that names the cluster."""

    async def named(admin: GroupAdmin) -> Outcome[Any]:
        applied = await apply(admin)
        return (
            applied.with_failures((), (f"executed on {connection.cluster(admin.cluster_id)}",))
            if applied.items
            else applied
        )

    try:
        return run_query(connection.settings, named, debug=connection.debug)
    except KeyboardInterrupt:
        click.echo(f"\nkgroups: {_interrupted(operation, stop, ())}", err=True)
        raise


def _show(
    outcome: Outcome[Any], cluster_id: str | None, shape: Shape, operation: Operation[Any], stop: Interruption
) -> int:
    """Show the results, also those of an interrupted run; return the exit code."""
    try:
        code = show(outcome, cluster_id, shape, operation.view, more=_undo_file(operation))
        if stop.signal is None:
            return code
        click.echo(f"kgroups: {_interrupted(operation, stop, outcome.items)}", err=True)
    except KeyboardInterrupt:
        click.echo(f"\nkgroups: {_interrupted(operation, stop, outcome.items)}", err=True)
        raise
    except OSError:
        if stop.signal is None:
            raise
        discard_output()  # SIGHUP: the terminal is gone; the undo file has the results
    return stop.exit_code


def _undo_file(operation: Operation[Any]) -> dict[str, str | None]:
    """Return the key of the JSON envelope for the undo file, if the operation has one."""
    if operation.undo is None:
        return {}
    return {"undo_file": str(operation.undo.written) if operation.undo.written else None}


def _interrupted(operation: Operation[Any], stop: Interruption, rows: Sequence[Any]) -> str:
    """Return the message of an interrupted run: the numbers of results, and how to restore the old offsets."""
    results = Counter(row.result for row in rows)
    text = "".join(f", {results[result]:,} {result}" for result in ("applied", "failed", "unknown") if results[result])
    text = f"{stop.reason}{text}"
    if operation.undo is None or operation.undo.written is None:
        changed = stop.begun and (operation.undo is None or results["applied"] or results["unknown"])
        return f"{text}: describe the groups before you try again" if changed else f"{text}: nothing was changed"
    return f"{text}; to restore the old offsets: {operation.undo.suggestion}"


def _preview(rows: Outcome[Any], shape: Shape, view: View) -> None:
    """Print the plan and its failures to stderr: stdout is for the results."""
    from kgroups.render.output import write_outcome

    fmt = "table" if sys.stderr.isatty() else "plain"
    write_outcome(rows, view, fmt=fmt, stream=sys.stderr, tier=shape.tier)
    print_failures(rows)
