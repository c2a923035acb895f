"""One act from plan to result: plan, show, ask, look again, do, tell. Nothing is changed before somebody says yes."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import click

from kgroups.errors import UsageError

from .confirmation import Consent
from .exit_status import give_up_output
from .options import Connection
from .run_query import Shape, complain, or_envelope, put, show

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.outcome import Outcome
    from kgroups.render.views import View

    from .interruption import Interruption
    from .undo_file import UndoFile

P = TypeVar("P")

NOTHING = "nothing to do"


class Act(NamedTuple, Generic[P]):
    """What is done: ``plan`` it, show each planned thing by ``row``, ask ``question`` about them all, ``do`` them.

    ``do`` gives rows, with their results. It checks each group again right before it is changed.
    """

    view: View
    plan: Callable[[GroupAdmin], Awaitable[Outcome[P]]]
    row: Callable[[P], Any]
    question: Callable[[Sequence[P]], str]
    """Without a question mark: the cluster's name follows."""
    do: Callable[[GroupAdmin, Sequence[P]], Awaitable[Outcome[Any]]]
    undo: UndoFile | None = None
    stop: Interruption | None = None
    """Of an operation without an undo file."""


def perform(connection: Connection, shape: Shape, consent: Consent, act: Act[P]) -> int:
    """Plans, and where it is to be executed, asks and does it; gives the exit code.

    Where somebody is asked, planning and doing each have ``--timeout`` for themselves: nobody is hurried to answer.
    """
    from kgroups.model.outcome import EXIT_FAILED

    from .interruption import Interruption

    shape.check(act.view)
    stop = act.undo.stop if act.undo else act.stop or Interruption()
    if consent.execute and consent.yes:
        return _at_once(connection, shape, act, stop)
    planned, cluster_id = or_envelope(
        shape, act.view, lambda: put(connection.settings, act.plan, debug=connection.debug)
    )
    cluster = connection.cluster(cluster_id)
    rows = planned.with_items(map(act.row, planned.items))
    if not consent.execute or not planned.items:
        dry = f"dry run on {cluster}: nothing was changed; add --execute to apply"
        remark = dry if planned.items else f"{_nothing(planned)} on {cluster}"
        return show(rows.with_failures((), (remark,)), cluster_id, shape, act.view, undo_file=_undo_file(act))
    _preview(rows, shape, act.view)
    if not _agreed(consent, f"{act.question(planned.items)} on {cluster}?"):
        return EXIT_FAILED

    async def do(admin: GroupAdmin) -> Outcome[Any]:
        _check_same(cluster_id, admin.cluster_id)
        return await _execute(act, stop, admin, planned.items)

    done, cluster_id = or_envelope(shape, act.view, lambda: _put(connection, act, stop, do))
    return _show(done.after(planned), cluster_id, shape, act, stop)


def _nothing(planned: Outcome[Any]) -> str:
    return "nothing was changed" if planned.failures else NOTHING


def _agreed(consent: Consent, question: str) -> bool:
    """Ask. Whoever interrupts the question, or closes the terminal's input, is told that nothing was changed."""
    try:
        agreed = consent.given(question)
    except (click.Abort, KeyboardInterrupt):
        click.echo("\nkgroups: nothing was changed", err=True)
        raise
    if not agreed:
        click.echo("kgroups: nothing was changed", err=True)
    return agreed


def _check_same(planned: str | None, now: str | None) -> None:
    """:raises UsageError: if the bootstrap servers lead to another cluster than the plan was made for."""
    if planned and now and planned != now:
        raise UsageError(
            f"the plan is for cluster {planned}, but the bootstrap servers now belong to cluster {now}; "
            "nothing was changed"
        )


def _at_once(connection: Connection, shape: Shape, act: Act[P], stop: Interruption) -> int:
    """Plan and execute over the same connections."""

    async def both(admin: GroupAdmin) -> Outcome[Any]:
        planned = await act.plan(admin)
        if not planned.items:
            return planned.with_failures((), (f"{_nothing(planned)} on {connection.cluster(admin.cluster_id)}",))
        done = await _execute(act, stop, admin, planned.items)
        return done.after(planned)

    return _show(*or_envelope(shape, act.view, lambda: _put(connection, act, stop, both)), shape, act, stop)


async def _execute(act: Act[P], stop: Interruption, admin: GroupAdmin, planned: Sequence[P]) -> Outcome[Any]:
    """Do it; a signal that arrives meanwhile ends it."""
    from kgroups.model.outcome import Outcome

    stop.listen()
    return await stop.bound(act.do(admin, planned)) or Outcome()


def _put(
    connection: Connection, act: Act[P], stop: Interruption, do: Callable[[GroupAdmin], Awaitable[Outcome[Any]]]
) -> tuple[Outcome[Any], str | None]:
    """Execute it; the result names the cluster."""

    async def named(admin: GroupAdmin) -> Outcome[Any]:
        done = await do(admin)
        return done.with_failures((), (f"executed on {connection.cluster(admin.cluster_id)}",)) if done.items else done

    try:
        return put(connection.settings, named, debug=connection.debug)
    except KeyboardInterrupt:
        click.echo(f"\nkgroups: {_interrupted(act, stop, ())}", err=True)
        raise


def _show(outcome: Outcome[Any], cluster_id: str | None, shape: Shape, act: Act[Any], stop: Interruption) -> int:
    """Show the results, also those of an interrupted run; return the exit code."""
    try:
        code = show(outcome, cluster_id, shape, act.view, undo_file=_undo_file(act))
        if stop.signal is None:
            return code
        click.echo(f"kgroups: {_interrupted(act, stop, outcome.items)}", err=True)
    except KeyboardInterrupt:
        click.echo(f"\nkgroups: {_interrupted(act, stop, outcome.items)}", err=True)
        raise
    except OSError:
        if stop.signal is None:
            raise
        give_up_output()  # SIGHUP: the terminal is gone; the undo file has the results
    return stop.exit_code


def _undo_file(act: Act[Any]) -> dict[str, str | None]:
    """What the JSON envelope of an operation with an undo file says about it."""
    if act.undo is None:
        return {}
    return {"undo_file": str(act.undo.written) if act.undo.written else None}


def _interrupted(act: Act[Any], stop: Interruption, rows: Sequence[Any]) -> str:
    """What a run has come to that a signal ended, and how to restore what was."""
    results = Counter(row.result for row in rows)
    told = "".join(f", {results[result]:,} {result}" for result in ("applied", "failed", "unknown") if results[result])
    told = f"{stop.reason}{told}"
    if act.undo is None or act.undo.written is None:
        changed = stop.begun and (act.undo is None or results["applied"] or results["unknown"])
        return f"{told}: describe the groups before you try again" if changed else f"{told}: nothing was changed"
    return f"{told}; to restore the old offsets: {act.undo.suggestion}"


def _preview(rows: Outcome[Any], shape: Shape, view: View) -> None:
    """The plan and its failures on stderr: standard output is for the results."""
    from kgroups.render.output import write_outcome

    fmt = "table" if sys.stderr.isatty() else "plain"
    write_outcome(rows, view, fmt=fmt, stream=sys.stderr, tier=shape.tier)
    complain(rows)
