"""One act from plan to result: plan, show, ask, look again, do, tell. Nothing is changed before somebody says yes."""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import click

from .answer import Shape, complain, put, show
from .confirm import Consent
from .options import Connection

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.outcome import Outcome
    from kgroups.render.views import View

P = TypeVar("P")

DRY_RUN = "this was a dry run, and nothing is changed; --execute does it"
NOTHING = "there is nothing to do"

FRESH = 2.0
"""Seconds from the start of planning for which a plan is taken to be true still; then what it says is looked at again,
so that an undo file holds what is really written over."""


class Act(NamedTuple, Generic[P]):
    """What is done: ``plan`` it, show each planned thing by ``row``, ask ``question`` about them all, ``do`` them.

    ``do`` gives rows, with their results. It is told whether the plan is old, and so has to be looked at again.
    """

    view: View
    plan: Callable[[GroupAdmin], Awaitable[Outcome[P]]]
    row: Callable[[P], Any]
    question: Callable[[Sequence[P]], str]
    do: Callable[[GroupAdmin, Sequence[P], bool], Awaitable[Outcome[Any]]]


def perform(connection: Connection, shape: Shape, consent: Consent, act: Act[P]) -> int:
    """Plans, and where it is to be executed, asks and does it; gives the exit code.

    Where somebody is asked, planning and doing each have ``--timeout`` for themselves: nobody is hurried to answer.
    """
    from kgroups.model.outcome import EXIT_FAILED

    shape.check(act.view)
    if consent.execute and consent.yes:
        return _at_once(connection, shape, act)
    planned, cluster_id = put(connection.settings, act.plan, debug=connection.debug)
    rows = planned.with_items(map(act.row, planned.items))
    if not consent.execute or not planned.items:
        remark = DRY_RUN if planned.items else NOTHING
        return show(rows.with_failures((), (remark,)), cluster_id, shape, act.view)
    _preview(rows, shape, act.view)
    if not consent.given(act.question(planned.items)):
        click.echo("kgroups: nothing is changed", err=True)
        return EXIT_FAILED

    async def do(admin: GroupAdmin) -> Outcome[Any]:
        return await act.do(admin, planned.items, True)

    done, cluster_id = _put(connection, do)
    return show(done.after(planned), cluster_id, shape, act.view)


def _at_once(connection: Connection, shape: Shape, act: Act[P]) -> int:
    """Plans and does it by the same connections: a plan that was quickly made is itself the look right before."""

    async def both(admin: GroupAdmin) -> Outcome[Any]:
        began = time.monotonic()
        planned = await act.plan(admin)
        if not planned.items:
            return planned.with_failures((), (NOTHING,))
        done = await act.do(admin, planned.items, time.monotonic() - began > FRESH)
        return done.after(planned)

    return show(*_put(connection, both), shape, act.view)


def _put(
    connection: Connection, do: Callable[[GroupAdmin], Awaitable[Outcome[Any]]]
) -> tuple[Outcome[Any], str | None]:
    try:
        return put(connection.settings, do, debug=connection.debug)
    except KeyboardInterrupt:
        click.echo("kgroups: interrupted: some of it may be done; plan again to see what is left", err=True)
        raise


def _preview(rows: Outcome[Any], shape: Shape, view: View) -> None:
    """The plan and its failures on stderr: standard output is for the results."""
    from kgroups.render.output import write_outcome

    fmt = "table" if sys.stderr.isatty() else "plain"
    write_outcome(rows, view, fmt=fmt, stream=sys.stderr, tier=shape.tier)
    complain(rows)
