"""``kgroups config``: the effective settings, and a test of the connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kgroups.admin.diagnose.check_connection import check_connection
from kgroups.model.connection_check import CheckRow, Result
from kgroups.model.outcome import Outcome
from kgroups.net.fanout import run
from kgroups.render.check_view import CHECK, SETTINGS

from .frame.options import ConnectionOptions
from .frame.output import Shape, print_exchange, show


def check(connection: ConnectionOptions, shape: Shape) -> int:
    """Run ``kgroups config check``; return the exit code."""
    shape.check(CHECK)
    settings = [
        CheckRow(each.origin, each.key, Result.UNDERSTOOD, None, f"{each.value}: {each.meaning}")
        for each in connection.effective_settings
    ]
    results: list[Any] = []  # appended, not returned: see run_query

    async def query() -> None:
        results.append(await check_connection(connection.settings, print_exchange if connection.debug else None))

    run(query())
    ((outcome, cluster_id),) = results
    rows = [*settings, *outcome.items]
    if shape.format in ("table", "plain"):
        rows = list(_with_each_fix_once(rows))
    return show(outcome.with_items(rows), cluster_id, shape, CHECK)


def _with_each_fix_once(rows: Iterable[CheckRow]) -> Iterator[CheckRow]:
    """Yield the rows; a fix that was shown before is not repeated."""
    shown: set[str] = set()
    for row in rows:
        yield row._replace(fix="as above") if row.fix in shown else row
        if row.fix:
            shown.add(row.fix)


def show_settings(connection: ConnectionOptions, shape: Shape) -> int:
    """Run ``kgroups config show``; return the exit code."""
    shape.check(SETTINGS)
    return show(Outcome(connection.effective_settings), None, shape, SETTINGS)
