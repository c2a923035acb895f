"""Draw the pages of the full-screen watch as lines of segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from kgroups.model.counts import count
from kgroups.model.duration import Milliseconds
from kgroups.render.cells import escape

from ..state.arrange import Order
from ..state.cluster_totals import ClusterTotal
from ..state.partitions import PartitionRow, TimeLags
from ..state.view import CLUSTERS, HELP, Page, View
from ..state.watching import GroupKey, StateChange
from .clusters import cluster_lines, named_failures
from .columns import aligned, cell_text, cut, pad, sparkline
from .table import Column, columns_of, fitted, rate_text

Line = list[Segment]
_BOLD, _DIM, _RED, _CURSOR = Style(bold=True), Style(dim=True), Style(color="red"), Style(reverse=True)
_SORTED = {
    "LAG": Order.LAG,
    "GROUP": Order.GROUP,
    "OUT/S": Order.RATE,
    "STATE": Order.STATE,
    "REBALANCES": Order.REBALANCES,
    "#MEMBERS": Order.MEMBERS,
    "IN/S": Order.WRITES,
    "CATCH-UP": Order.CATCH_UP,
    "CLUSTER": Order.CLUSTER,
}
_MARK = "> "
_SENTENCES = ("- ", "kgroups: ", "the old offsets are in ")
"""Beginnings of findings, notices, failures, and the note about the undo file."""
_KEYS = 26
"""Width of the keys on their page."""
FRAME_LINES = 3
"""Lines around the rows: head, header of the table, and footer."""


class Opened(NamedTuple):
    """The open group: its partitions, state changes, and text of ``explain``."""

    partitions: Sequence[PartitionRow] = ()
    changes: Sequence[tuple[str, StateChange]] = ()
    explained: Sequence[str] = ()
    times: TimeLags | None = None
    now: int = 0
    """Milliseconds since 1970."""


def draw_page(
    view: View,
    head: str,
    failures: Sequence[str],
    flash: str,
    opened: Opened | Sequence[ClusterTotal],
    width: int,
    height: int,
    *,
    utf8: bool,
    styled: bool = True,
) -> list[Line]:
    """Return the lines of the screen, at most ``height``; resize the view to the lines that remain for its rows.

    :param opened: the open group, or on their page, the totals of the clusters.
    :param styled: without it (NO_COLOR), a character marks the cursor.
    """
    named = named_failures(failures, height, f"; {CLUSTERS} shows all" if view.several else None)
    if view.page is Page.CLUSTERS:
        named = ()
    view.resize(height - FRAME_LINES - len(named))
    if view.page is Page.GROUPS:
        body = _table(view, width, utf8) if styled else _marked(view, _table(view, width - len(_MARK), utf8))
    else:
        texts = list(
            _texts(view, opened, width, utf8)
            if isinstance(opened, Opened)
            else (*cluster_lines(opened, width), "", *_wrapped(map(escape, failures), width))
        )
        view.scrolled = max(0, min(view.scrolled, len(texts) - view.height - 1))
        body = [_line(text, width) for text in texts[view.scrolled :][: view.height + 1]]
    body += [[] for _ in range(view.height + 1 - len(body))]
    lines = [
        _line(_head(view, head), width, _BOLD),
        *body,
        *(_line(escape(text), width, _RED) for text in named),
        _line(flash or _foot(view, utf8), width, _BOLD if flash else _DIM),
    ]
    return lines if styled else [[Segment(each.text) for each in line] for line in lines]


def _head(view: View, head: str) -> str:
    paused = "  PAUSED" if view.paused else ""
    return f"kgroups watch  {len(view.shown):,} of {count(len(view.rows), 'group')}{paused}  {head}"


def _foot(view: View, utf8: bool) -> str:
    if view.typing:
        invalid = "; invalid regular expression" if view.invalid else ""
        return f"filter: {escape(view.pattern)}_   (Enter: apply, Esc: cancel, ~REGEX, !: invert{invalid})"
    if view.page is Page.GROUP:
        return "Esc: back  e: explain  R: plan a reset  y: copy command  ?: keys"
    if view.reset is not None:
        return "Enter: plan, or execute  Ctrl-U: erase  Esc: back"
    if view.page in (Page.HELP, Page.CLUSTERS):
        return "Esc: back"
    chosen = [
        f"filter: {escape(view.pattern)}" if view.pattern else "",
        "lagging" if view.lagging else "",
        "changed" if view.changed else "",
        view.type or "",
    ]
    place = f"{min(view.top + 1, len(view.shown))}-{min(view.top + view.height, len(view.shown))} of {len(view.shown)}"
    keys = f"Enter: open  {f'{CLUSTERS}: clusters  ' if view.several else ''}/: filter  ?: keys"
    return "  ".join([f"sort: {view.order.value}", *filter(None, chosen), place, keys])


def _table(view: View, width: int, utf8: bool) -> list[Line]:
    rows = view.shown[view.top : view.top + view.height]
    arrow = ("↑" if utf8 else "^") if view.backwards else ("↓" if utf8 else "v")
    columns = [
        each._replace(header=each.header + arrow) if _SORTED.get(each.header) is view.order else each
        for each in columns_of(rows, not utf8, styled=False)
    ]
    shown = fitted(columns, width)
    lines = [[Segment(pad(each.header, size, each.right), _BOLD) for each, size in shown]]
    for number, row in enumerate(rows):
        style = _DIM if row.stale else Style()
        line = [_cell(each, number, size, style) for each, size in shown]
        if view.top + number == view.at:
            line = [Segment(text, (style or Style()) + _CURSOR) for text, style, _ in line]
            line.append(Segment(" " * (width - sum(cell_len(each.text) for each in line)), _CURSOR))
        lines.append(line)
    return lines


def _marked(view: View, table: list[Line]) -> list[Line]:
    """Put a column with a mark at the cursor before a table."""
    blank, marked = Segment(" " * len(_MARK)), view.at - view.top + 1
    return [[Segment(_MARK) if number == marked else blank, *line] for number, line in enumerate(table)]


def _cell(column: Column, number: int, width: int, row: Style) -> Segment:
    text: Text = column.cells[number]
    style = Style.parse(text.style) if isinstance(text.style, str) else text.style
    return Segment(pad(text.plain, width, column.right), row + style)


def _line(text: str, width: int, style: Style | None = None) -> Line:
    return [Segment(cut(text, width), style)]


def _texts(view: View, opened: Opened, width: int, utf8: bool) -> Iterable[str]:
    if view.reset is not None and view.page is Page.RESET:
        yield f"Reset group {_full_name(view.reset.key)}"
        yield escape(view.reset.prompt)
        yield ""
        yield from _wrapped(map(escape, view.reset.lines), width)
    else:
        yield from _help(view, width) if view.page is Page.HELP else _group(view, opened, width, utf8)


def _full_name(key: GroupKey) -> str:
    return f"{escape(key.group)} of cluster {escape(key.cluster)}" if key.cluster else escape(key.group)


def _help(view: View, width: int) -> Iterable[str]:
    yield "Keys"
    for keys, text in (each for each in HELP if view.several or each[0] != CLUSTERS):
        first, *rest = wrap(text, max(20, width - _KEYS))
        yield f"  {keys}".ljust(_KEYS) + first
        yield from (" " * _KEYS + each for each in rest)


def _group(view: View, opened: Opened, width: int, utf8: bool) -> Iterable[str]:
    row = next((row for row in view.rows if row.key == view.cursor), None)
    yield f"Group {_full_name(view.cursor) if view.cursor else ''}"
    if row is None:
        yield "The group was deleted."
        return
    age = f": lag of {row.lag_age_ms} ago" if row.lag_age_ms is not None else ""
    stale = f"  (stale{age})" if row.stale else ""
    yield f"{row.type}  {escape(row.state)}  members: {row.members_text}{stale}"
    yield ""
    yield from _partitions(opened, width, utf8)
    yield ""
    if opened.times is None:
        yield "Time lag and headroom: reading the first unread records ..."
    else:
        yield f"Time lag and headroom: read {Milliseconds(max(0, opened.now - opened.times.at) // 1000 * 1000)} ago"
        for text in (*opened.times.failures, *filter(None, [opened.times.note])):
            yield from wrap(escape(text), width, initial_indent="  ", subsequent_indent="  ")
    yield ""
    yield "State changes since the start" if opened.changes else "No state changes since the start"
    for at, change in opened.changes:
        yield f"  {at}  {escape(change.before)} -> {escape(change.now)}"
    yield ""
    yield from _wrapped(opened.explained, width) if opened.explained else ("Press e to explain the group.",)


def _wrapped(texts: Iterable[str], width: int) -> Iterable[str]:
    """Wrap sentences that do not fit; lines of tables are left as they are."""
    for text in texts:
        if len(text) > width and text.startswith(_SENTENCES):
            yield from wrap(text, width, subsequent_indent="  ")
        else:
            yield text


def _partitions(opened: Opened, width: int, utf8: bool) -> Iterable[str]:
    cells = [_PARTITION_HEADERS]
    ages, rooms = (opened.times.ages, opened.times.rooms) if opened.times else ({}, {})
    for each in opened.partitions:
        row = each.row
        place = row.topic or "", -1 if row.partition is None else row.partition
        time, room = ages.get(place), rooms.get(place)
        cells.append(
            (
                cell_text(row.topic),
                cell_text(row.partition),
                cell_text(row.current_offset),
                cell_text(row.log_end_offset),
                cell_text(row.lag),
                "-" if time is None or time.age is None else str(time.age),
                cell_text(room and (room.by if room.least is None else str(room.least))),
                rate_text(each.rate_in),
                rate_text(each.rate_out),
                sparkline(each.lags, 12, ascii_only=not utf8),
                cell_text(row.consumer_id),
                cell_text(row.host),
            )
        )
    omitted = yield from aligned(cells, width)
    notes = [(each.row.topic, each.row.partition, each.row.note) for each in opened.partitions if each.row.note]
    for topic, partition, note in dict.fromkeys(notes[:_NOTES]):
        yield f"{cell_text(topic)}-{cell_text(partition)}: {cell_text(note)}"
    if len(notes) > _NOTES:
        yield f"{count(len(notes) - _NOTES, 'more note')}: kgroups describe GROUP"
    if omitted:
        yield f"Omitted on this narrow terminal: {', '.join(omitted)}"
    if "MEMBER" in omitted:
        yield from _members(opened)


def _members(opened: Opened) -> Iterable[str]:
    """Yield a line for each member: its ID, host, and partitions."""
    assigned: dict[tuple[str, str], dict[str, list[int]]] = {}
    for each in opened.partitions:
        row = each.row
        if row.consumer_id is not None:
            topics = assigned.setdefault((row.consumer_id, row.host or "-"), {})
            if row.topic is not None and row.partition is not None:
                topics.setdefault(row.topic, []).append(row.partition)
    if assigned:
        yield ""
        yield "Members"
    for (member, host), topics in assigned.items():
        yield f"  {escape(member)}  {escape(host)}"
        held = (f"{escape(topic)}:{','.join(map(str, numbers))}" for topic, numbers in topics.items())
        yield f"    {'  '.join(held) or 'no partitions'}"


_NOTES = 5
"""Maximum number of notes about partitions, which are those of ``describe``."""
_PARTITION_HEADERS = (
    "TOPIC",
    "PARTITION",
    "COMMITTED",
    "LOG-END",
    "LAG",
    "TIME-LAG",
    "HEADROOM",
    "IN/S",
    "OUT/S",
    "LAG HISTORY",
    "MEMBER",
    "HOST",
)
