"""``kgroups config check``."""

from __future__ import annotations

from typing import Any

import click

from ..frame.lazy_command import Command
from ..frame.options import ConnectionOptions, explained_connection_options, output_options
from ..frame.run_query import Shape, print_exchange, show


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
    import asyncio

    from kgroups.admin.diagnose.check_connection import check_connection
    from kgroups.model.connection_check import CheckRow, Result
    from kgroups.render.check_view import CHECK

    shape.check(CHECK)
    settings = [
        CheckRow(each.origin, each.key, Result.UNDERSTOOD, None, f"{each.value}: {each.meaning}")
        for each in connection.effective_settings
    ]
    results: list[Any] = []  # appended, not returned: see run_query

    async def query() -> None:
        results.append(await check_connection(connection.settings, print_exchange if connection.debug else None))

    asyncio.run(query())
    ((outcome, cluster_id),) = results
    return show(outcome.with_items([*settings, *outcome.items]), cluster_id, shape, CHECK)
