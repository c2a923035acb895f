"""``kgroups mcp``."""

from __future__ import annotations

import signal
import sys

import click

from kgroups.cli.frame.exit_status import enable_gc, is_quiet, print_to_stderr, set_endless
from kgroups.cli.frame.lazy_command import Command
from kgroups.cli.frame.options import ConnectionOptions, fleet_options
from kgroups.errors import EXIT_OK, MissingPackage, install_command

STORE_ENV = "KGROUPS_STORE"


@click.command("mcp", cls=Command)
@click.option(
    "--store",
    metavar="DIR",
    envvar=STORE_ENV,
    help=f"Store of history to query: a directory or a URL, as for kgroups history.  [env: {STORE_ENV}]",
)
@click.option(
    "--max-rows",
    type=click.IntRange(1, 100_000),
    metavar="N",
    default=500,
    show_default=True,
    help="Maximum number of rows of a result.",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(2_000, 100_000_000),
    metavar="N",
    default=200_000,
    show_default=True,
    help="Maximum size of a result.",
)
@click.option(
    "--show-records",
    is_flag=True,
    help="Let clients see the start of the key and of the value of records that a group does not get past.",
)
@fleet_options
@click.pass_context
def mcp(
    context: click.Context,
    connection: ConnectionOptions,
    store: str | None,
    max_rows: int,
    max_bytes: int,
    show_records: bool,
) -> int:
    """Serve read-only tools to language models (MCP).

    Speaks the Model Context Protocol on standard input and output; the program that uses the tools starts this command.
    The tools list, describe, explain, and check groups, show their lag, plan resets and deletions without executing
    them, and query the history in --store with SQL. None of them changes anything.

    The clusters, credentials, and the store are those of the options. A client can choose among several profiles, and
    nothing else. --timeout and --broker-timeout apply to each call.
    """
    from .bounds import Bounds
    from .run_tool import Runner
    from .tools import tools

    try:
        from .server import serve
    except ImportError:
        raise MissingPackage(f"kgroups mcp needs the package mcp: {install_command('mcp')}") from None
    enable_gc()
    set_endless()
    if sys.stdin.isatty() and not is_quiet():
        print_to_stderr(
            "kgroups: note: waiting for requests on standard input; the program that uses the tools starts this command"
        )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # there is nothing to clean up, and a thread waits for input
    root = context.find_root().command
    assert isinstance(root, click.Group)
    runner = Runner(root, connection.for_reading(), is_quiet())
    offered = tools(records=show_records, store=store, rows=max_rows, seconds=runner.seconds)
    serve(runner, offered, Bounds(max_rows, max_bytes))
    return EXIT_OK
