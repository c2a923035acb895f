"""``kgroups watch``."""

from __future__ import annotations

import itertools
import os
import queue
import sys
import threading
import time
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import click

from kgroups.errors import KgroupsError
from kgroups.model.outcome import EXIT_FAILED, EXIT_OK

from ..frame.exit_status import enable_gc
from ..frame.group_options import GroupOptions, group_and_topic_options
from ..frame.options import ConnectionOptions, Duration, connection_options, isolation_option

if TYPE_CHECKING:
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.offsets import Isolation
    from kgroups.model.outcome import Failure, Outcome
    from kgroups.model.views.offset_row import GroupOffsets
    from kgroups.model.watch.watching import Watch, WatchRow
    from kgroups.render.watch.screen import Frame

    from .actions import Controls

_FRAME = 0.2
"""Seconds between two checks for a new refresh to show."""


class Tick(NamedTuple):
    """One refresh: its number from 1, its time in milliseconds since 1970, and its result."""

    number: int
    at: int
    rows: list[WatchRow]
    failures: tuple[Failure, ...]
    groups: dict[str, GroupOffsets]
    watch: Watch


class End(Enum):
    """The end of the refreshes."""

    OVER = 1


OVER = End.OVER
Event = Tick | BaseException | End


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

    enable_gc()
    ticks = Ticks(connection, chosen.selection(all_by_default=True), Isolation[isolation.upper()], interval, count)
    if _can_draw():
        from .app import on_full_screen

        return on_full_screen(ticks, connection)
    if sys.stdout.isatty():
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


class Ticks:
    """Polls the groups; each refresh begins an interval after the previous one began."""

    def __init__(
        self,
        connection: ConnectionOptions,
        selection: Selection,
        isolation: Isolation,
        interval: float,
        count: int | None,
    ) -> None:
        self._connection = connection
        self._selection = selection
        self._isolation = isolation
        self.interval = interval
        self._count = count
        self._stop = threading.Event()

    def __iter__(self) -> Iterator[Tick]:
        """Yield refreshes.

        :raises KgroupsError: if the first poll fails as a whole; later refreshes contain it as a failure.
        """
        from kgroups.model.watch.watching import Watch

        from ..frame.unanswered import unanswered

        watch_state = Watch()
        groups: dict[str, GroupOffsets] = {}
        for number in itertools.count(1):
            began = time.monotonic()
            outcome = self._poll(first=number == 1)
            at = int(time.time() * 1000)
            rows = watch_state.add(at, outcome.items, unanswered(outcome.failures))
            groups.update((each.group.group_id, each) for each in outcome.items)
            groups = {row.group: groups[row.group] for row in rows}
            yield Tick(number, at, rows, outcome.failures, groups, watch_state)
            if number == self._count or self._stop.wait(max(0.0, began + self.interval - time.monotonic())):
                return

    def stop(self) -> None:
        self._stop.set()

    def _poll(self, *, first: bool) -> Outcome[GroupOffsets]:
        from kgroups.model.outcome import Failure, Outcome, Scope

        from ..frame.run_query import run_query

        try:
            outcome, _ = run_query(
                self._connection.settings,
                lambda admin: admin.describe_offsets(self._selection, isolation=self._isolation, whole_topics=True),
                debug=self._connection.debug,
                quiet=True,
            )
        except KgroupsError as error:
            if first:
                raise
            return Outcome(failures=(Failure.of(error, Scope.CLUSTER, ""),))
        return outcome


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


def poll_into(ticks: Ticks, events: queue.SimpleQueue[Event]) -> None:
    """Put the refreshes, and then the end or the error, into a queue."""
    try:
        for tick in ticks:
            events.put(tick)
        events.put(OVER)
    except BaseException as error:  # raised again by the main thread
        events.put(error)


def newest_of(events: queue.SimpleQueue[Event]) -> tuple[Tick | None, End | BaseException | None]:
    """Return the newest refresh, if there is one, and the end or the error, if the polls have ended."""
    newest: Tick | None = None
    while not events.empty():
        new = events.get()
        if not isinstance(new, Tick):
            return newest, new
        newest = new
    return newest, None


def _frame(tick: Tick, controls: Controls, headline: str) -> Frame:
    from kgroups.render.failures import failure_lines
    from kgroups.render.watch.screen import Frame

    at = time.strftime("%H:%M:%S", time.localtime(tick.at / 1000))
    return Frame(
        tick.rows,
        list(failure_lines(tick.failures)),
        f"{at}  #{tick.number}  {headline}",
        order=controls.order,
        backwards=controls.backwards,
        pattern=controls.pattern,
        typing=controls.typing,
        paused=controls.paused,
    )
