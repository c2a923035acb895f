"""Change groups: plan, show the plan, ask, check again, apply, show the results. Nothing changes before the consent."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from kgroups.admin.change.apply.interruption import Interruption
from kgroups.admin.client import Client, WireOnly, wire_of
from kgroups.errors import EXIT_FAILED
from kgroups.model.outcome import Outcome
from kgroups.render.output import write_outcome
from kgroups.render.views import View

from ..frame.exit_status import discard_output, print_below, print_to_stderr
from ..frame.options import ConnectionOptions
from ..frame.output import Shape, or_error_envelope, print_failures, show, with_omitted
from ..frame.run_query import Query, Session
from .confirmation import Confirmation
from .operation import Operation, Plan, Target, check_changeable, execute, nothing_planned

if TYPE_CHECKING:
    from .fleet_change import FleetChange
    from .undo_file import UndoFile


def apply_plan(
    connection: ConnectionOptions, shape: Shape, confirmation: Confirmation, operation: Operation[Any]
) -> int:
    """Plan an operation, and with ``--execute`` ask and apply it; return the exit code.

    If the user is asked, planning and applying each have the whole ``--timeout``, and the question has no time limit.
    """
    WireOnly.CHANGES.check(connection.settings)
    check_changeable(connection.settings.positions, operation.selection)
    change: _OneCluster | FleetChange
    if connection.fleet:
        from .fleet_change import FleetChange

        change = FleetChange(connection, connection.fleet, operation)
    else:
        change = one = _OneCluster(connection, operation, execute=confirmation.execute)
        if confirmation.execute and confirmation.yes:
            shape.check(change.view)
            return _show(*or_error_envelope(shape, change.view, one.plan_and_apply), shape, change)
    shape.check(change.view)
    with closing(change):
        plan = or_error_envelope(shape, change.view, change.plan)
        going = confirmation.execute and plan.rows.items and not plan.blocked
        if going:
            _preview(plan.rows, shape, change.view)
            if not _confirmed(change, confirmation):
                return EXIT_FAILED
            applied, cluster_id = or_error_envelope(shape, change.view, change.apply)
    if going:
        return _show(applied.after(plan.rows), cluster_id, shape, change)
    notice = plan.notice(execute=confirmation.execute)
    return show(plan.rows.with_failures((), (notice,)), plan.cluster_id, shape, change.view, more=change.envelope())


class _OneCluster:
    """The change of one cluster."""

    def __init__(self, connection: ConnectionOptions, operation: Operation[Any], *, execute: bool) -> None:
        """Check the path of the undo file before the cluster is contacted.

        :raises UsageError: if it already exists or cannot be created.
        """
        self._connection = connection
        self.operation = operation
        self.stop = Interruption()
        path = operation.undo_path
        self._undo = operation.undo_file(path, connection, stop=self.stop) if execute or path else None
        self._target: Target[Any] | None = None
        self._session = Session(connection.settings, debug=connection.debug, side=connection.side)
        self.view = operation.view

    @property
    def undo_files(self) -> list[UndoFile]:
        return [self._undo] if self._undo and self._undo.written else []

    def plan(self) -> Plan:
        planned, cluster_id = self._session.query(self.operation.hinted_plan)
        self._target = Target(self._connection, self._undo, cluster_id, planned)
        rows = self.operation.planned_rows(planned)
        blocked = self.operation.blocked(planned.items) if planned.items else ""
        return Plan(rows, cluster_id, self._target.where, blocked)

    def confirmed(self, confirmation: Confirmation) -> bool:
        assert self._target
        return confirmation.confirm(f"{self.operation.question(self._target.planned.items)} on {self._target.where}?")

    def apply(self) -> tuple[Outcome[Any], str | None]:
        assert self._target
        return self._run(self._target.write(self.operation))

    def plan_and_apply(self) -> tuple[Outcome[Any], str | None]:
        """Plan and apply over the same connections."""

        async def query(admin: Client) -> Outcome[Any]:
            assert self._undo
            planned = await self.operation.hinted_plan(admin)
            if not planned.items:
                where = self._connection.cluster(admin.cluster_id)
                return planned.with_failures((), (f"{nothing_planned(planned)} on {where}",))
            applied = await execute(self.operation, wire_of(admin, WireOnly.CHANGES), planned.items, self._undo)
            return applied.after(planned)

        return self._run(query)

    def envelope(self) -> dict[str, object]:
        if not self.operation.saves_offsets:
            return {}
        return {"undo_file": next((str(undo.written) for undo in self.undo_files), None)}

    def _run(self, query: Query) -> tuple[Outcome[Any], str | None]:
        try:
            return self._session.query(query)
        except KeyboardInterrupt:
            print_below(f"kgroups: {_interrupted(self, ())}")
            raise
        finally:
            self.close()  # before the output: signals interrupt it again

    def close(self) -> None:
        self._session.close()


def _confirmed(change: _OneCluster | FleetChange, confirmation: Confirmation) -> bool:
    """Ask for the confirmation; if it is denied or interrupted, print that nothing was changed."""
    try:
        confirmed = change.confirmed(confirmation)
    except (click.Abort, KeyboardInterrupt):
        print_below("kgroups: nothing was changed")
        raise
    if not confirmed:
        print_to_stderr("kgroups: nothing was changed")
    return confirmed


def _show(
    outcome: Outcome[Any],
    cluster_id: str | None,
    shape: Shape,
    change: _OneCluster | FleetChange,
) -> int:
    """Show the results, also those of an interrupted run; return the exit code."""
    stop = change.stop
    try:
        code = show(outcome, cluster_id, shape, change.view, more=change.envelope())
        if stop.signal is None:
            return code
        print_to_stderr(f"kgroups: {_interrupted(change, outcome.items)}")
    except KeyboardInterrupt:
        print_below(f"kgroups: {_interrupted(change, outcome.items)}")
        raise
    except OSError:
        if stop.signal is None:
            raise
        discard_output()  # SIGHUP: the terminal is gone; the undo file has the results
    return stop.exit_code


def _interrupted(change: _OneCluster | FleetChange, rows: Iterable[Any]) -> str:
    """Return the message of an interrupted run: the numbers of results, and how to restore the old offsets."""
    (result,) = (column.value for column in change.view.columns if column.key == "result")
    results = Counter(map(result, rows))
    text = "".join(f", {results[result]:,} {result}" for result in ("applied", "failed", "unknown") if results[result])
    text = f"{change.stop.reason}{text}"
    unchanged = results and not (results["applied"] or results["unknown"])
    if not unchanged and (undo_files := change.undo_files):
        commands = "; ".join(each.suggestion for each in undo_files)
        return f"{text}; to restore the old {undo_files[0].what}: {commands}"
    changed = change.stop.begun and (not change.operation.saves_offsets or results["applied"] or results["unknown"])
    return f"{text}: describe the groups before you try again" if changed else f"{text}: nothing was changed"


def _preview(rows: Outcome[Any], shape: Shape, view: View) -> None:
    """Print the plan and its failures to stderr: stdout is for the results."""
    fmt = "table" if sys.stderr.isatty() else "plain"
    omitted = write_outcome(rows, view, fmt=fmt, stream=sys.stderr, tier=shape.tier)
    print_failures(with_omitted(rows, omitted))
