"""One act from plan to result: plan, show, ask, do, tell. Nothing is changed before somebody has said yes."""

from __future__ import annotations

import sys
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


class Act(NamedTuple, Generic[P]):
    """What is done: ``plan`` it, show each planned thing by ``row``, ask ``question`` about them all, ``do`` them.

    ``do`` gives rows, with their results.
    """

    view: View
    plan: Callable[[GroupAdmin], Awaitable[Outcome[P]]]
    row: Callable[[P], Any]
    question: Callable[[Sequence[P]], str]
    do: Callable[[GroupAdmin, Sequence[P]], Awaitable[Outcome[Any]]]


def perform(connection: Connection, shape: Shape, consent: Consent, act: Act[P]) -> int:
    """Plans, and where it is to be executed, asks and does it; gives the exit code.

    Planning and doing each have ``--timeout`` for themselves: nobody is hurried to answer.
    """
    from kgroups.model.outcome import EXIT_FAILED, Outcome

    shape.check(act.view)
    planned, cluster_id = put(connection.settings, act.plan, debug=connection.debug)
    rows = planned.with_items(map(act.row, planned.items))
    if not consent.execute or not planned.items:
        remark = (DRY_RUN,) if planned.items else ("there is nothing to do",)
        return show(rows.with_failures((), remark), cluster_id, shape, act.view)
    if not consent.yes:
        _preview(rows, shape, act.view)
    if not consent.given(act.question(planned.items)):
        click.echo("kgroups: nothing is changed", err=True)
        return EXIT_FAILED

    async def do(admin: GroupAdmin) -> Outcome[Any]:
        return await act.do(admin, planned.items)

    try:
        done, cluster_id = put(connection.settings, do, debug=connection.debug)
    except KeyboardInterrupt:
        click.echo("kgroups: interrupted: some of it may be done; plan again to see what is left", err=True)
        raise
    whole = Outcome(done.items, (*planned.failures, *done.failures), (*planned.notices, *done.notices))
    return show(whole, cluster_id, shape, act.view)


def _preview(rows: Outcome[Any], shape: Shape, view: View) -> None:
    """The plan and its failures on stderr: standard output is for the results."""
    from kgroups.render.output import write_outcome

    fmt = "table" if sys.stderr.isatty() else "plain"
    write_outcome(rows, view, fmt=fmt, stream=sys.stderr, tier=shape.tier)
    complain(rows)
