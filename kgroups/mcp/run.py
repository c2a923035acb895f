"""``kgroups mcp``."""

from __future__ import annotations

import signal
import sys

import click

from kgroups.cli.frame.exit_status import enable_gc, is_quiet, print_to_stderr, set_endless
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.errors import EXIT_OK, MissingPackage, install_command

from .bounds import Bounds
from .run_tool import Runner
from .tools import tools


def mcp(
    connection: ConnectionOptions,
    store: str | None,
    max_rows: int,
    max_bytes: int,
    show_records: bool,
) -> int:
    """Run ``kgroups mcp``; return the exit code."""
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
    root = click.get_current_context().find_root().command
    assert isinstance(root, click.Group)
    runner = Runner(root, connection.for_reading(), is_quiet())
    offered = tools(records=show_records, store=store, rows=max_rows, seconds=runner.seconds)
    serve(runner, offered, Bounds(max_rows, max_bytes))
    return EXIT_OK
