"""One act from plan to result: plan, show, ask, look again, do, tell. Nothing is changed before somebody says yes."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import click

from kgroups.errors import UsageError

from .answer import Shape, complain, or_envelope, put, show
from .confirm import Consent
from .options import Connection

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.outcome import Outcome
    from kgroups.render.views import View

    from .undo_file import UndoFile

P = TypeVar("P")

NOTHING = "there is nothing to do"


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


def perform(connection: Connection, shape: Shape, consent: Consent, act: Act[P]) -> int:
    """Plans, and where it is to be executed, asks and does it; gives the exit code.

    Where somebody is asked, planning and doing each have ``--timeout`` for themselves: nobody is hurried to answer.
    """
    from kgroups.model.outcome import EXIT_FAILED

    shape.check(act.view)
    if consent.execute and consent.yes:
        return _at_once(connection, shape, act)
    planned, cluster_id = or_envelope(
        shape, act.view, lambda: put(connection.settings, act.plan, debug=connection.debug)
    )
    cluster = connection.cluster(cluster_id)
    rows = planned.with_items(map(act.row, planned.items))
    if not consent.execute or not planned.items:
        dry = f"dry run on {cluster}: nothing was changed; add --execute to apply"
        remark = dry if planned.items else f"{_nothing(planned)} on {cluster}"
        return show(rows.with_failures((), (remark,)), cluster_id, shape, act.view)
    _preview(rows, shape, act.view)
    if not _agreed(consent, f"{act.question(planned.items)} on {cluster}?"):
        return EXIT_FAILED

    async def do(admin: GroupAdmin) -> Outcome[Any]:
        _check_same(cluster_id, admin.cluster_id)
        return await act.do(admin, planned.items)

    done, cluster_id = or_envelope(shape, act.view, lambda: _put(connection, act, do))
    return show(done.after(planned), cluster_id, shape, act.view)


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


def _at_once(connection: Connection, shape: Shape, act: Act[P]) -> int:
    """Plan and execute over the same connections."""

    async def both(admin: GroupAdmin) -> Outcome[Any]:
        planned = await act.plan(admin)
        if not planned.items:
            return planned.with_failures((), (f"{_nothing(planned)} on {connection.cluster(admin.cluster_id)}",))
        done = await act.do(admin, planned.items)
        return done.after(planned)

    return show(*or_envelope(shape, act.view, lambda: _put(connection, act, both)), shape, act.view)


def _put(
    connection: Connection, act: Act[P], do: Callable[[GroupAdmin], Awaitable[Outcome[Any]]]
) -> tuple[Outcome[Any], str | None]:
    """Execute it; the result names the cluster."""

    async def named(admin: GroupAdmin) -> Outcome[Any]:
        done = await do(admin)
        return done.with_failures((), (f"executed on {connection.cluster(admin.cluster_id)}",)) if done.items else done

    try:
        return put(connection.settings, named, debug=connection.debug)
    except KeyboardInterrupt:
        click.echo(f"\n{_interrupted(act.undo)}", err=True)
        raise


def _interrupted(undo: UndoFile | None) -> str:
    if undo is None:
        return "kgroups: interrupted: some changes may have been made; describe the groups before you try again"
    if undo.written is None:
        return "kgroups: interrupted: nothing was changed"
    return f"kgroups: interrupted: some changes may have been made; to restore the old offsets: {undo.suggestion}"


def _preview(rows: Outcome[Any], shape: Shape, view: View) -> None:
    """The plan and its failures on stderr: standard output is for the results."""
    from kgroups.render.output import write_outcome

    fmt = "table" if sys.stderr.isatty() else "plain"
    write_outcome(rows, view, fmt=fmt, stream=sys.stderr, tier=shape.tier)
    complain(rows)
