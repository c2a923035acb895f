"""Show the live table. It is redrawn at each tick and key and never scrolls; rows that do not fit are counted."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple, Self, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from kgroups.model.counts import count
from kgroups.model.watch.arrange import Order, arrange, shows_text
from kgroups.model.watch.watching import WatchRow

from ..cells import escape
from ..terminal import console_on
from .table import table_of


class Frame(NamedTuple):
    """The contents of one refresh of the screen."""

    rows: Sequence[WatchRow]
    failures: Sequence[str]
    headline: str
    order: Order = Order.LAG
    backwards: bool = False
    pattern: str = ""
    typing: bool = False
    """Whether the user is typing the pattern."""
    paused: bool = False

    def shown(self) -> list[WatchRow]:
        """Return the rows that match the pattern, sorted."""
        matches = shows_text(self.pattern)
        return arrange((row for row in self.rows if matches(row.group)), self.order, backwards=self.backwards)


class Screen:
    """A terminal that shows frames while the context is open, and is restored afterwards.

    A dumb terminal cannot be redrawn: frames are printed one after the other.
    """

    def __init__(self, stream: TextIO) -> None:
        self._console = console_on(stream)
        self._live = Live(console=self._console, auto_refresh=False, screen=self._console.is_terminal, transient=True)

    def __enter__(self) -> Self:
        if not self._console.is_dumb_terminal:
            self._live.start()
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, frame: Frame) -> None:
        if self._console.is_dumb_terminal:
            self._console.print(draw(frame, self._console))
        else:
            self._live.update(draw(frame, self._console), refresh=True)


def draw(frame: Frame, console: Console) -> Group:
    """Render a frame within the size of the console."""
    width, height = console.size
    rows = frame.shown()
    failures = frame.failures[:3]
    room = max(1, height - len(failures) - 4)
    ascii_only = console.encoding.lower() not in ("utf-8", "utf8")
    table = table_of(rows[:room], width, ascii_only=ascii_only, styled=console.color_system is not None)
    hidden = len(rows) - room
    more = f"  … {count(hidden, 'more group')}" if hidden > 0 else ""
    return Group(
        Text(_head(frame, len(rows)), style="bold", overflow="ellipsis", no_wrap=True),
        table,
        *(Text(escape(line), style="red", overflow="ellipsis", no_wrap=True) for line in failures),
        Text(_foot(frame) + more, style="dim", overflow="ellipsis", no_wrap=True),
    )


def _head(frame: Frame, shown: int) -> str:
    paused = "  PAUSED" if frame.paused else ""
    return f"kgroups watch  {shown:,} of {len(frame.rows):,} groups{paused}  {frame.headline}"


def _foot(frame: Frame) -> str:
    if frame.typing:
        return f"filter: {escape(frame.pattern)}_   (Enter: apply, Esc: cancel)"
    arrow = "↑" if frame.backwards else "↓"
    pattern = f"  filter: {escape(frame.pattern)}" if frame.pattern else ""
    return f"sort: {frame.order.value} {arrow}{pattern}   keys: s sort, r reverse, / filter, space pause, q quit"
