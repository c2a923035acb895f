"""``kgroups watch``."""

from __future__ import annotations

import os
import queue
import sys
import threading
from typing import TYPE_CHECKING

import click

from kgroups.model.outcome import EXIT_FAILED, EXIT_OK

from ..frame.group_options import GroupOptions, group_and_topic_options
from ..frame.options import ConnectionOptions, Duration, connection_options, isolation_option
from .ticks import Event, Tick, Ticks, clock, newest_of, pace_of, poll_into

if TYPE_CHECKING:
    from kgroups.render.watch.screen import Frame

    from .actions import Controls

_FRAME = 0.2
"""Seconds between two checks for a new refresh to show."""


@click.command("watch")
@group_and_topic_options
@click.option("--interval", type=Duration(), default="2s", show_default=True, help="Refresh interval.")
@click.option("--count", type=click.IntRange(1), metavar="N", help="Stop after N refreshes.")
@isolation_option
@connection_options
def watch(
    connection: ConnectionOptions, chosen: GroupOptions, interval: float, count: int | None, isolation: str
) -> int:
    """Watch groups live: state, members, lag, and rates.

    Shows the selected groups; by default all groups.

    On a terminal, shows a live table, with keys to sort and filter; in a pipe, writes one line of JSON per refresh.
    Rates are records per second over the last few refreshes. A broker that does not respond is named, and its
    groups are shown dimmed, as last reported, until it responds again.
    """
    from kgroups.model.offsets import Isolation

    selection = chosen.selection(all_by_default=True)
    on_screen = sys.stdout.isatty()
    level = Isolation[isolation.upper()]
    ticks = Ticks(connection, selection, level, interval, count, bounded=on_screen)
    if _can_draw():
        from .app import on_full_screen

        return on_full_screen(ticks, connection, level)
    if on_screen:
        return _on_screen(ticks, connection.settings.bootstrap_servers)
    return _in_lines(ticks)


def _can_draw() -> bool:
    """Return whether the full screen is possible: a terminal that can be redrawn, and Textual, which uses stderr."""
    from importlib.util import find_spec

    terminal = all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    if not terminal or os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
        return False
    if find_spec("textual"):
        return True
    click.echo("kgroups: note: for scrolling and pages of groups, install kgroups[watch]", err=True)
    return False


def _in_lines(ticks: Ticks) -> int:
    from kgroups.render.watch.lines import write_tick

    failed = False
    for tick in ticks:
        write_tick(tick.rows, tick.failures, tick.number, tick.at, sys.stdout)
        failed = bool(tick.failures)
    return EXIT_FAILED if failed else EXIT_OK


def _on_screen(ticks: Ticks, headline: str) -> int:
    """Poll on a second thread, so that keys are read while a poll waits for a broker."""
    from kgroups.render.watch.screen import Screen

    from .actions import Controls
    from .keyboard import keyboard
    from .signals import ended_by_signals

    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    threading.Thread(target=poll_into, args=(ticks, events), daemon=True).start()
    controls, latest, shown = Controls(), None, None
    try:
        with ended_by_signals(), keyboard() as keys, Screen(sys.stdout) as screen:
            while not controls.done:
                new, over = newest_of(events)
                latest = new or latest
                pressed = list(keys.pressed(0 if over else _FRAME))
                for key in pressed:
                    controls.press(key)
                tick = latest if not controls.paused or shown is None else shown
                if tick is not None and (pressed or tick is not shown):
                    screen.show(_frame(tick, controls, headline))
                    shown = tick
                if isinstance(over, BaseException):
                    raise over
                if over:
                    break
    finally:
        ticks.stop()
    return EXIT_FAILED if latest is not None and latest.failures else EXIT_OK


def _frame(tick: Tick, controls: Controls, headline: str) -> Frame:
    from kgroups.render.failures import failure_lines
    from kgroups.render.watch.screen import Frame

    return Frame(
        tick.rows,
        list(failure_lines(tick.failures)),
        f"{clock(tick.at)}  #{tick.number}{pace_of(tick)}  {headline}",
        order=controls.order,
        backwards=controls.backwards,
        pattern=controls.pattern,
        typing=controls.typing,
        paused=controls.paused,
    )
