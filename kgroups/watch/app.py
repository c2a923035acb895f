"""The full screen of ``kgroups watch``, on Textual. Polls run on another thread: keys never wait for them."""

from __future__ import annotations

import asyncio
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.filter import LineFilter
from textual.strip import Strip
from textual.widget import Widget

from kgroups.admin.query.pattern import compile_pattern
from kgroups.cli.frame.exit_status import print_to_stderr
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.frame.repeat_options import command_line
from kgroups.errors import EXIT_FAILED, EXIT_OK, KgroupsError
from kgroups.model.offsets import Isolation
from kgroups.model.shell import group_words
from kgroups.render.cells import escape
from kgroups.render.color import chosen_color
from kgroups.render.failures import failure_lines, notice_lines

from .group_page import explained, read_time_lags
from .reset import PlannedReset
from .screen.picture import SORTED, Line, Opened, draw_page
from .screen.table import Layout
from .state.cluster_totals import ClusterTotal
from .state.partitions import TimeLags, partitions_of
from .state.reset_dialog import ResetDialog, Step
from .state.view import Page, View
from .state.watching import GroupKey
from .tick import Tick
from .ticks import Event, Ticks, clock, newest_of, pace_of, poll_into

_LOOK = 0.2
_FLASH = 6.0
_TIMES = 10.0
"""Seconds between two reads of the time lag and the headroom of the open group."""
_ENDING = (signal.SIGTERM, signal.SIGHUP)
_AT_LAST = 5
"""Seconds after a signal in which Textual may restore the terminal: it waits forever for one that takes nothing."""


class Picture(Widget, can_focus=True):
    """The lines of the page."""

    lines: list[Line] = []

    def render_line(self, y: int) -> Strip:
        """Return a line of the page."""
        return Strip(self.lines[y] if y < len(self.lines) else []).crop_extend(0, self.size.width, None)


class WatchApp(App[int]):
    """Show the refreshes that arrive in a queue, and apply keys to the view."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [Binding("ctrl+c", "interrupt", show=False, priority=True)]
    CSS = "Picture { height: 100%; width: 100%; } Screen { overflow: hidden; }"

    def __init__(
        self,
        arriving: queue.SimpleQueue[Event],
        interval: float,
        headline: str,
        asks: Asks,
        *,
        styled: bool,
    ) -> None:
        super().__init__(ansi_color=True)
        self.animation_level = "none"
        self.view = View(_compile)
        self.signal: int | None = None
        self.error: BaseException | None = None
        self._arriving = arriving
        self._headline = headline
        self._interval = interval
        self._asks = asks
        self._planned: PlannedReset | None = None
        self.writer: threading.Thread | None = None
        self.written: list[str] = []
        """The results of a reset that the screen did not show."""
        self._finished: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._latest: Tick | None = None
        self._shown: Tick | None = None
        self._explained: dict[GroupKey, list[str]] = {}
        self._explaining: set[GroupKey] = set()
        self._layout = Layout()
        self._times: tuple[GroupKey, TimeLags] | None = None
        self._timing: threading.Thread | None = None
        self._flash: tuple[str, float] = ("", 0.0)
        self._age = 0
        self._styled = styled
        self._utf8 = (sys.stdout.encoding or "").lower() in ("utf-8", "utf8")

    @property
    def failed(self) -> bool:
        """Whether the newest refresh contains failures, unless the user has quit: the screen has shown them."""
        return self._latest is not None and bool(self._latest.failures) and not self.view.done

    def compose(self) -> ComposeResult:
        """Create the widget."""
        yield Picture()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return what changes styles; without styles nothing, or Textual would write them."""
        return super().get_line_filters() if self._styled else ()

    def on_mount(self) -> None:
        """Begin to look for refreshes and Ctrl-C."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self.action_interrupt)
        self.query_one(Picture).focus()
        self.set_interval(_LOOK, self.look)
        self.look()

    def look(self) -> None:
        """Take the newest refresh; redraw if it, the age, or the flash line changed."""
        new, over = newest_of(self._arriving)
        self._latest = new or self._latest
        age = self._seconds_old()
        flash_over = bool(self._flash[0]) and time.monotonic() > self._flash[1]
        if flash_over:
            self._flash = ("", 0.0)
        finished = not self._finished.empty()
        while not self._finished.empty():
            self._finished.get()()
        if new is not None or age != self._age or flash_over or finished:
            self._age = age
            self.draw()
        self._read_times()
        if isinstance(over, BaseException):
            self.error = over
        if over is not None:
            self.call_after_refresh(self.exit)  # exit() would discard what is drawn, the last table of --count
        elif self.signal is not None or self._terminal_is_gone():
            self.end_by(self.signal or signal.SIGHUP)
            self.exit()

    def draw(self) -> None:
        """Draw the page."""
        tick = self._latest if self._shown is None or not self.view.paused else self._shown
        if tick is not None and tick is not self._shown:
            self._shown = tick
            self.view.several = tick.ids is not None
            self.view.show(tick.rows)
        if tick is None:
            head, failures = f"waiting for the first answer  {self._headline}", []
        else:
            old = f"  {self._age}s old" if self._age else ""
            head = f"{clock(tick.at)}{old}  #{tick.number}{pace_of(tick)}  {self._headline}"
            failures = [*failure_lines(tick.failures), *notice_lines(tick.notices)]
        picture = self.query_one(Picture)
        width, height = self.size
        picture.lines = draw_page(
            self.view,
            head,
            failures,
            self._flash[0],
            self._opened(tick),
            width,
            height,
            self._layout,
            utf8=self._utf8,
            styled=self._styled,
        )
        picture.refresh()

    def on_key(self, event: events.Key) -> None:
        """Apply a key."""
        view, key = self.view, event.character if event.is_printable and event.character else event.key
        if key == "ctrl+j":  # Enter, typed before the terminal was in raw mode
            key = "enter"
        if key == "y" and not view.typing and (view.reset is None or view.reset.step is Step.OVER):
            self._copy()
        else:
            before = view.cursor
            view.press(key)
            if view.page is Page.EXPLAIN and (key == "e" or view.cursor != before):
                self._start_explain()
            self._continue_reset()
        if view.done:
            self.exit()
        else:
            self.draw()

    def on_paste(self, event: events.Paste) -> None:
        """Type a text that was pasted."""
        self.view.paste(event.text)
        self.draw()

    def on_resize(self) -> None:
        """Fit the page to the terminal."""
        self.draw()

    def on_mouse_scroll_down(self) -> None:
        """Scroll down by three lines."""
        self.view.scroll(3)
        self.draw()

    def on_mouse_scroll_up(self) -> None:
        """Scroll up by three lines."""
        self.view.scroll(-3)
        self.draw()

    def on_click(self, event: events.Click) -> None:
        """Sort by the column of a header; put the cursor on a group, or open it by a double click."""
        line, view = event.screen_y - 2, self.view
        if view.page is not Page.GROUPS or view.typing:
            return
        if line == -1:
            header = next((each for each, place in self._layout.headers.items() if event.screen_x in place), "")
            if header in SORTED:
                view.sort(SORTED[header])
        elif 0 <= line < min(view.height, len(view.shown) - view.top):
            view.put(view.top + line)
            if event.chain == 2:
                view.open()
        self.draw()

    def action_interrupt(self) -> None:
        """End as by Ctrl-C."""
        self.error = KeyboardInterrupt()
        self.exit()

    def end_by(self, number: int, _: object = None) -> None:
        """End at the next look; without Textual if that does not happen. May interrupt anything in the main thread."""
        if self.signal is None:
            self.signal = number
            signal.signal(signal.SIGALRM, self._end_at_last)
            signal.alarm(_AT_LAST)

    def _end_at_last(self, *_: object) -> None:
        if self.writer is not None and not self.writer.daemon and self.writer.is_alive():
            signal.alarm(_AT_LAST)  # a reset is written to its end
        else:
            self.end_process()

    def end_process(self) -> None:
        """End this process by the signal that it received, if any."""
        if self.signal is not None:
            signal.signal(self.signal, signal.SIG_DFL)
            os.kill(os.getpid(), self.signal)

    def _terminal_is_gone(self) -> bool:
        """Return whether the terminal is gone; the kernel sends SIGHUP only to processes that it controls."""
        if self.is_headless:
            return False
        try:
            os.get_terminal_size(sys.stdin.fileno())
        except OSError:
            return True
        return False

    def _seconds_old(self) -> int:
        """Return the age of the rows; 0 while refreshes arrive in time."""
        tick = self._shown or self._latest
        age = 0 if tick is None else time.time() - tick.at / 1000
        interval = self._interval if tick is None or tick.slowed is None else tick.slowed
        return int(age) if age > 2 * interval + 1 else 0

    def _opened(self, tick: Tick | None) -> Opened | list[ClusterTotal]:
        key = self.view.cursor
        if self.view.page is Page.CLUSTERS:
            return tick.totals() if tick is not None else []
        if self.view.page is Page.EXPLAIN and key is not None:
            return Opened(explained=self._explained.get(key, ()))
        if tick is None or self.view.page not in (Page.GROUP, Page.RESET) or key is None:
            return Opened()
        sampled = tick.clusters.get(key.cluster)
        if sampled is None or key.group not in sampled.offsets:
            return Opened()
        changes = [(clock(each.at), each) for each in sampled.watch.changes_of(key.group)]
        partitions = partitions_of(sampled.offsets[key.group], sampled.watch.samples_of(key.group))
        times = self._times[1] if self._times is not None and self._times[0] == key else None
        return Opened(partitions, changes, (), times, int(time.time() * 1000))

    def _read_times(self) -> None:
        """Start to read the time lag and the headroom of the open group, if they are missing or old."""
        key, last = self.view.cursor, self._times
        if key is None or self.view.page is not Page.GROUP or self.view.paused:
            return
        if last is not None and last[0] == key and time.time() - last[1].at / 1000 < max(_TIMES, self._interval):
            return
        if self._timing is not None and self._timing.is_alive():
            return

        def run() -> None:
            times = self._asks.time_lags(key)
            self._finished.put(lambda: setattr(self, "_times", (key, times)))

        self._timing = threading.Thread(target=run, daemon=True)
        self._timing.start()

    def _copy(self) -> None:
        key, view = self.view.cursor, self.view
        if view.reset is not None:
            command = view.reset.restore
        elif key is None:
            command = None
        else:
            name = "explain" if view.page is Page.EXPLAIN else "describe"
            command = " ".join(filter(None, (f"kgroups {name} {group_words(key.group)}", self._asks.options(key))))
        if command:
            self.copy_to_clipboard(command)
            self._flash = (f"copied: {escape(command)}", time.monotonic() + _FLASH)

    def _start_explain(self) -> None:
        key = self.view.cursor
        if key is None or key in self._explaining:
            return
        self._explaining.add(key)
        self._explained[key] = [f"explaining group {escape(key.group)} ..."]

        def run() -> None:
            lines = self._asks.explain(key)
            self._finished.put(lambda: self._take_explained(key, lines))

        threading.Thread(target=run, daemon=True).start()

    def _take_explained(self, key: GroupKey, lines: list[str]) -> None:
        self._explained[key] = lines
        self._explaining.discard(key)

    # A reset: each step runs on a thread, and ends with the lines to show.

    def _continue_reset(self) -> None:
        dialog = self.view.reset
        if dialog is None or not dialog.busy or (self.writer is not None and self.writer.is_alive()):
            return
        work = self._run_plan if dialog.step is Step.PLAN else self._run_write
        self.writer = threading.Thread(target=work, args=(dialog,), daemon=dialog.step is Step.PLAN)
        self.writer.start()

    def _run_plan(self, dialog: ResetDialog) -> None:
        try:
            self._planned = self._asks.plan(dialog.key, dialog.target)
            lines, planned = self._planned.plan()
        except (KgroupsError, OSError) as error:
            lines, planned = [str(error)], False
        self._finished.put(lambda: dialog.show(lines, planned=planned))

    def _run_write(self, dialog: ResetDialog) -> None:
        assert self._planned is not None
        self.written = self._planned.execute()
        self._finished.put(lambda: self._show_written(dialog))

    def _show_written(self, dialog: ResetDialog) -> None:
        assert self._planned is not None
        dialog.show(self.written, restore=self._planned.restore)
        self.written = []


Explain = Callable[[GroupKey], list[str]]
"""Explains a group in lines; waits for brokers."""
Plan = Callable[[GroupKey, str], PlannedReset]
"""Parses the target of a reset of a group."""


class Asks(NamedTuple):
    """What the page of a group asks its cluster, on other threads."""

    explain: Explain
    plan: Plan
    time_lags: Callable[[GroupKey], TimeLags]
    options: Callable[[GroupKey], str]
    """Returns the options that connect to its cluster, quoted for a shell."""


def on_full_screen(ticks: Ticks, connection: ConnectionOptions, isolation: Isolation, *, by_cluster: bool) -> int:
    """Run the full screen until the user, a signal, or ``--count`` ends it."""
    arriving: queue.SimpleQueue[Event] = queue.SimpleQueue()
    threading.Thread(target=poll_into, args=(ticks, arriving), daemon=True).start()
    chosen, fleet = chosen_color(), connection.fleet
    if chosen:
        os.environ.pop("NO_COLOR", None)  # which Textual reads
    app = WatchApp(
        arriving,
        ticks.interval,
        connection.servers,
        Asks(
            partial(explained, connection),
            partial(PlannedReset, connection),
            partial(read_time_lags, connection, isolation),
            lambda key: command_line(fleet.as_words(key.cluster) if fleet else connection.as_words()),
        ),
        styled=not os.environ.get("NO_COLOR") if chosen is None else chosen,
    )
    if by_cluster:
        app.view.enter(Page.CLUSTERS)
    # Not as signals of the event loop, which may wait for the terminal. An ignored signal (nohup) stays ignored.
    ending = [each for each in _ENDING if signal.getsignal(each) is signal.SIG_DFL]
    for each in ending:
        signal.signal(each, app.end_by)
    try:
        app.run()
    finally:
        signal.alarm(0)
        for each in ending:
            signal.signal(each, signal.SIG_DFL)
        ticks.stop()
        if app.writer is not None and not app.writer.daemon:  # a reset is written to its end
            app.writer.join()
            for line in app.written:
                print_to_stderr(line)
    app.end_process()
    if app.error is not None:
        raise app.error
    return EXIT_FAILED if app.failed or app.return_code else EXIT_OK


def _compile(text: str, whole: bool) -> Callable[[str], bool]:
    """Return a test of names, or parts of them, regardless of case.

    :raises KgroupsError: if the regular expression is invalid.
    """
    pattern = compile_pattern(text, "filter")
    return pattern.fullmatch if whole else compile_pattern(f"(?is).*(?:{text}).*", "filter").fullmatch
