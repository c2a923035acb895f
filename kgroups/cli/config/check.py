"""``kgroups config check``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from ..frame.lazy_command import Command
from ..frame.options import ConnectionOptions, explained_connection_options, output_options
from ..frame.run_query import Shape, print_exchange, show

if TYPE_CHECKING:
    from kgroups.model.connection_check import CheckRow


@click.command("check", cls=Command)
@output_options
@explained_connection_options
def check(connection: ConnectionOptions, shape: Shape) -> int:
    """Test the connection to each broker, step by step.

    Shows the effective settings, with secrets masked. Then tests, for each bootstrap server and for each broker at its
    advertised address: DNS, TCP, TLS, ApiVersions, SASL, Metadata. Finally shows the permissions of the principal. A
    failed step comes with a fix; the steps after it are skipped.

    Exit codes: 0 every step succeeded, 1 a step failed, 2 the configuration is invalid.
    """
    from kgroups.admin.diagnose.check_connection import check_connection
    from kgroups.model.connection_check import CheckRow, Result
    from kgroups.net.fanout import run
    from kgroups.render.check_view import CHECK

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
