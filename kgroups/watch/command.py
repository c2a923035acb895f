"""``kgroups watch``."""

from __future__ import annotations

import os
import sys

import click

from kgroups.cli.frame.exit_status import is_quiet, set_endless
from kgroups.cli.frame.group_options import GroupOptions, group_and_topic_options
from kgroups.cli.frame.lazy_command import Command
from kgroups.cli.frame.options import ConnectionOptions, Duration, fleet_options, isolation_option
from kgroups.cli.frame.run_query import print_once
from kgroups.errors import EXIT_FAILED, EXIT_OK, UsageError

from .ticks import Ticks, clock, pace_of


@click.command("watch", cls=Command)
@group_and_topic_options
@click.option("--interval", type=Duration(), default="2s", show_default=True, help="Refresh interval.")
@click.option("--count", type=click.IntRange(1), metavar="N", help="Stop after N refreshes.")
@click.option(
    "--by",
    type=click.Choice(["group", "cluster"]),
    default="group",
    show_default=True,
    help="Show one row for each group, or the totals of each of several clusters.",
)
@isolation_option
@fleet_options
def watch(
    connection: ConnectionOptions, chosen: GroupOptions, interval: float, count: int | None, by: str, isolation: str
) -> int:
    """Watch groups live: state, members, lag, and rates.

    Shows the selected groups; by default all groups.

    On a terminal, shows a screen with keys to scroll, sort, filter, and open groups; in a pipe, writes one line of
    JSON per refresh. With several profiles, shows the groups of all their clusters.
    Rates are records per second over the last few refreshes. A broker that does not respond is named, and its
    groups are shown dimmed, as last reported, until it responds again.
    """
    from kgroups.model.offsets import Isolation

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
        from .app import on_full_screen

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
        click.echo(f"kgroups: note: {reason}; printing one table after another", err=True)
    return False


def _in_lines(ticks: Ticks, *, by_cluster: bool) -> int:
    from .screen.lines import write_tick

    failed, tell = False, print_once()
    for tick in ticks:
        for notice in tick.notices:
            tell(notice)
        totals = tick.totals() if by_cluster else None
        write_tick(tick.rows, tick.failures, tick.notices, tick.number, tick.at, sys.stdout, tick.ids, totals)
        failed = bool(tick.failures)
    return EXIT_FAILED if failed else EXIT_OK


def _in_tables(ticks: Ticks, headline: str, *, by_cluster: bool) -> int:
    from kgroups.render.failures import failure_lines, notice_lines
    from kgroups.render.terminal import console_on

    from .screen.tables import draw

    console = console_on(sys.stdout)
    failed = False
    for tick in ticks:
        head = f"{clock(tick.at)}  #{tick.number}{pace_of(tick)}  {headline}"
        failures = [*failure_lines(tick.failures), *notice_lines(tick.notices)]
        totals = tick.totals() if by_cluster else None
        console.print(draw(tick.rows, failures, head, console, totals, several=tick.ids is not None))
        failed = bool(tick.failures)
    return EXIT_FAILED if failed else EXIT_OK
