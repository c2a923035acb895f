"""``kgroups watch``."""

from __future__ import annotations

import os
import sys

from kgroups.cli.frame.exit_status import is_quiet, print_to_stderr, set_endless
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.frame.output import print_once
from kgroups.cli.frame.selected_groups import GroupOptions
from kgroups.errors import EXIT_FAILED, EXIT_OK, UsageError
from kgroups.model.offsets import Isolation
from kgroups.render.console import console_on
from kgroups.render.failures import failure_lines, notice_lines

from .app import on_full_screen
from .screen.lines import write_tick
from .screen.tables import draw
from .ticks import Ticks, clock, pace_of


def watch(
    connection: ConnectionOptions, chosen: GroupOptions, interval: float, count: int | None, by: str, isolation: str
) -> int:
    """Run ``kgroups watch``; return the exit code."""
    by_cluster = by == "cluster"
    if by_cluster and not connection.fleet:
        raise UsageError("--by cluster requires several profiles")
    selection = chosen.selection(all_by_default=True)
    if count is None:
        set_endless()
    on_screen = sys.stdout.isatty()
    level = Isolation[isolation.upper()]
    ticks = Ticks(connection, selection, level, interval, count, on_screen=on_screen)
    if on_screen and _can_draw():
        return on_full_screen(ticks, connection, level, by_cluster=by_cluster)
    if on_screen:
        return _in_tables(ticks, connection.servers, by_cluster=by_cluster)
    return _in_lines(ticks, by_cluster=by_cluster)


def _can_draw() -> bool:
    """Return whether the full screen is possible: a terminal that can be redrawn, and can be read for keys."""
    redrawn = os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
    if redrawn and sys.stdin.isatty() and sys.stderr.isatty():  # Textual draws on stderr
        return True
    reason = "standard input or error is not a terminal" if redrawn else "this terminal cannot be redrawn"
    if not is_quiet():
        print_to_stderr(f"kgroups: note: {reason}; printing one table after another")
    return False


def _in_lines(ticks: Ticks, *, by_cluster: bool) -> int:
    failed, tell = False, print_once()
    for tick in ticks:
        for notice in tick.notices:
            tell(notice)
        totals = tick.totals() if by_cluster else None
        write_tick(tick.rows, tick.failures, tick.notices, tick.number, tick.at, sys.stdout, tick.ids, totals)
        failed = bool(tick.failures)
    return EXIT_FAILED if failed else EXIT_OK


def _in_tables(ticks: Ticks, headline: str, *, by_cluster: bool) -> int:
    console = console_on(sys.stdout)
    failed = False
    for tick in ticks:
        head = f"{clock(tick.at)}  #{tick.number}{pace_of(tick)}  {headline}"
        failures = [*failure_lines(tick.failures), *notice_lines(tick.notices)]
        totals = tick.totals() if by_cluster else None
        console.print(draw(tick.rows, failures, head, console, totals, several=tick.ids is not None))
        failed = bool(tick.failures)
    return EXIT_FAILED if failed else EXIT_OK
