"""Draw the pages of the full-screen watch as lines of segments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from kgroups.model.counts import count
from kgroups.model.duration import Milliseconds
from kgroups.model.explain.findings import Severity
from kgroups.render.cells import escape
from kgroups.render.color import severity_style
from kgroups.render.wrapping import wrap

from ..state.arrange import ASCENDING, Order
from ..state.cluster_totals import ClusterTotal
from ..state.partitions import PartitionRow, TimeLags
from ..state.reset_dialog import FIELDS, ResetDialog, Step
from ..state.view import CLUSTERS, HELP, Page, View
from ..state.watching import GroupKey, StateChange
from .clusters import cluster_lines, named_failures
from .columns import GAP, aligned, cell_text, command_lines, cut, pad, sparkline
from .table import Column, Layout, columns_of, fitted, rate_text

Line = list[Segment]
_BOLD, _DIM, _RED, _CURSOR = Style(bold=True), Style(dim=True), Style(color="red"), Style(reverse=True)
SORTED = {
    "STATUS": Order.STATUS,
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
"""The orders of the columns."""
_MARK = "> "
_SEVERITY = re.compile(r"(?:- |[^ ].*: )(PROBLEM|WARNING): ")
_COMMAND = "kgroups "
"""Beginning of a line that is a command."""
_KEYS = 26
"""Width of the keys on their page."""
_FORM = 11
"""Width of the names of fields."""
FRAME_LINES = 3
"""Lines around the rows: head, header of the table, and footer."""


class Opened(NamedTuple):
    """The open group."""

    partitions: Sequence[PartitionRow] = ()
    changes: Sequence[tuple[str, StateChange]] = ()
    explained: Sequence[str] = ()
    """The text of ``explain``."""
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
    layout: Layout,
    *,
    utf8: bool,
    styled: bool = True,
) -> list[Line]:
    """Return the lines of the screen, at most ``height``; resize the view to the lines that remain for its rows.

    :param layout: of the pages before.
    :param opened: the open group, or on their page, the totals of the clusters.
    :param styled: without it (NO_COLOR), a character marks the cursor.
    """
    named = named_failures(failures, height, f"; {CLUSTERS} shows all" if view.several else None)
    if view.page is Page.CLUSTERS:
        named = ()
    if view.typing and view.invalid:
        named = (*named, view.invalid)
    view.resize(height - FRAME_LINES - len(named))
    place = ""
    if view.page is Page.GROUPS:
        table = _table(view, layout, width if styled else width - len(_MARK), utf8, styled)
        body = table if styled else _marked(view, table)
    else:
        texts = list(
            _texts(view, opened, width, utf8)
            if isinstance(opened, Opened)
            else (*cluster_lines(opened, width), "", *_wrapped(map(escape, failures), width))
        )
        room = view.height + 1
        view.scrolled = max(0, min(view.scrolled, len(texts) - room))
        body = [_line(text, width, _style_of(text, view.page)) for text in texts[view.scrolled :][:room]]
        if len(texts) > room:
            more = "PgDn: more  " if view.scrolled + room < len(texts) else ""
            place = f"{more}{view.scrolled + 1}-{min(view.scrolled + room, len(texts))} of {len(texts)}  "
    body += [[] for _ in range(view.height + 1 - len(body))]
    lines = [
        _head(view, head, width),
        *body,
        *(_line(escape(text), width, _RED) for text in named),
        _line(flash or f"{place}{_foot(view, width)}", width, _BOLD if flash else _DIM),
    ]
    return lines if styled else [[Segment(each.text) for each in line] for line in lines]


def _head(view: View, head: str, width: int) -> Line:
    """Return the first line: what does not fit is omitted as a whole, from the right."""
    if view.summary is None:
        return _line(f"kgroups watch  {head}", width, _BOLD)
    shown = f"{len(view.shown):,} of " if len(view.shown) != len(view.rows) else ""
    rest = [*(("PAUSED",) if view.paused else ()), *head.split("  ")]
    text = "  ".join((f"kgroups watch  {shown}{view.summary.text()}", *rest))
    if cell_len(text) > width:
        parts = [f"{shown}{view.summary.text(short=True)}", *rest]
        while len(parts) > 1 and cell_len("  ".join(parts)) > width:
            del parts[-1]
        text = "  ".join(parts)
    return _line(text, width, _BOLD)


def _foot(view: View, width: int) -> str:
    if view.typing:
        kind = "invalid" if view.invalid else view.filter.kind
        return f"filter ({kind}): {escape(view.pattern)}_   Enter: apply  Esc: cancel  text, glob*, /REGEX/, !: invert"
    if view.reset is not None and view.page is Page.RESET:
        return _RESET_KEYS[view.reset.step] + ("  y: copy the command above" if view.reset.restore else "")
    if view.page is not Page.GROUPS:
        return _PAGE_KEYS[view.page]
    chosen = [
        f"filter ({view.filter.kind}): {escape(view.pattern)}" if view.pattern else "",
        "problems" if view.problems else "",
        "lagging" if view.lagging else "",
        "changed" if view.changed else "",
        view.type or "",
    ]
    place = f"{min(view.top + 1, len(view.shown))}-{min(view.top + view.height, len(view.shown))} of {len(view.shown)}"
    keys = ["Enter: open", "e: explain", f"{CLUSTERS}: clusters" if view.several else "", "/: filter", "?: keys"]
    words = [f"sort: {view.order.value}", *filter(None, chosen), place]
    while keys and cell_len("  ".join([*words, *filter(None, keys)])) > width:
        del keys[0]
    return "  ".join([*words, *filter(None, keys)])


_PAGE_KEYS = {
    Page.GROUP: "Esc: back  ] [: others  e: explain  R: reset  ?: keys",
    Page.EXPLAIN: "Esc: back  ] [: others  e: again  y: copy command",
    Page.HELP: "Esc: back",
    Page.CLUSTERS: "Esc: back",
}
_RESET_KEYS = {
    Step.TARGET: "Tab: next field  Enter: plan (dry run)  Ctrl-U: clear  Esc: back",
    Step.PLAN: "planning ...",
    Step.NAME: "Enter: write  Ctrl-U: clear  Esc: another target",
    Step.RESULTS: "writing ...",
    Step.OVER: "Esc: back",
}


def _table(view: View, layout: Layout, width: int, utf8: bool, styled: bool) -> list[Line]:
    rows = view.shown[view.top : view.top + view.height]
    least = layout.widths(view.rows, ascii_only=not utf8)
    columns = columns_of(rows, width, ascii_only=not utf8, styled=False)
    shown = fitted(
        [
            each._replace(least=max(least.get(each.header, 0), len(each.header) + (each.header in SORTED)))
            for each in columns
        ],
        width,
    )
    layout.headers, start = {}, 0 if styled else len(_MARK)
    headers = []
    for each, size in shown:
        arrow = _arrow(view, utf8) if SORTED.get(each.header) is view.order else ""
        headers.append(Segment(pad(each.header + arrow, size, each.right), _BOLD))
        layout.headers[each.header] = range(start, start + size + GAP)
        start += size + GAP
    lines = [headers]
    for number, row in enumerate(rows):
        style = _DIM if row.stale else Style()
        line = [_cell(each, number, size, style) for each, size in shown]
        if view.top + number == view.at:
            line = [Segment(text, (style or Style()) + _CURSOR) for text, style, _ in line]
            line.append(Segment(" " * (width - sum(cell_len(each.text) for each in line)), _CURSOR))
        lines.append(line)
    return lines


def _arrow(view: View, utf8: bool) -> str:
    """Return the direction of the order: upwards if values increase from line to line, as A to Z."""
    increases = (view.order in ASCENDING) is not view.backwards
    return ("↑" if utf8 else "^") if increases else ("↓" if utf8 else "v")


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
    match view.page:
        case Page.HELP:
            yield from _help(view, width)
        case Page.RESET if view.reset is not None:
            yield from _reset(view, view.reset, opened, width)
        case Page.EXPLAIN:
            yield from _wrapped(opened.explained, width)
        case _:
            yield from _group(view, opened, width, utf8)


def _reset(view: View, dialog: ResetDialog, opened: Opened, width: int) -> Iterable[str]:
    yield f"Reset group {_full_name(dialog.key)}"
    match dialog.step:
        case Step.TARGET:
            yield from _form(view, dialog, opened, width)
        case Step.NAME:
            yield from command_lines(escape(dialog.command), width)
            dialog.shown_in = width
            yield from _prompt("Type the name of the group to write these offsets:", f"{escape(dialog.name)}_", width)
            if dialog.problem:
                yield from _lines(escape(dialog.problem), width)
        case Step.PLAN:
            yield "planning ..."
        case Step.RESULTS:
            yield "writing ... (the screen stays open until this finishes)"
    yield ""
    yield from _wrapped(map(escape, dialog.lines), width)


def _prompt(text: str, typed: str, width: int) -> Iterable[str]:
    """Yield a prompt and what is typed; if they do not fit in one line, in lines of their own."""
    if cell_len(f"{text} {typed}") <= width:
        yield f"{text} {typed}"
    else:
        yield from _lines(text, width)
        yield from chop_cells(typed, width)


def _form(view: View, dialog: ResetDialog, opened: Opened, width: int) -> Iterable[str]:
    row = next((row for row in view.rows if row.key == dialog.key), None)
    if row is not None and row.members:
        yield f"The group has {count(row.members, 'member')}: a reset is possible only after all members have left."
    topics = dict.fromkeys(escape(each.row.topic) for each in opened.partitions if each.row.topic)
    if topics:
        yield from _lines(f"Topics of the group: {' '.join(topics)}", width)
    yield ""
    for number, (name, _) in enumerate(FIELDS):
        mark, end = ("> ", "_") if number == dialog.at else ("  ", "")
        yield f"{mark}{name}:".ljust(_FORM) + escape(dialog.fields[number]) + end
    yield ""
    yield from _lines(FIELDS[dialog.at][1], width, "  ")
    yield ""
    yield from command_lines(escape(dialog.command), width)


def _style_of(text: str, page: Page) -> Style | None:
    """Return the style of a line: of findings, the color of their severity, which the line names."""
    found = _SEVERITY.match(text) if page is Page.EXPLAIN else None
    return Style.parse(severity_style(Severity[found[1]])) if found else None


def _full_name(key: GroupKey) -> str:
    return f"{escape(key.group)} of cluster {escape(key.cluster)}" if key.cluster else escape(key.group)


def _help(view: View, width: int) -> Iterable[str]:
    yield "Keys"
    for keys, text in (each for each in HELP if view.several or each[0] != CLUSTERS):
        yield from _lines(text, width, f"  {keys}".ljust(_KEYS), _KEYS)


def _group(view: View, opened: Opened, width: int, utf8: bool) -> Iterable[str]:
    row = next((row for row in view.rows if row.key == view.cursor), None)
    yield f"Group {_full_name(view.cursor) if view.cursor else ''}"
    if row is None:
        yield "The group was deleted."
        return
    age = f": lag of {row.lag_age_ms} ago" if row.lag_age_ms is not None else ""
    stale = f"  (stale{age})" if row.stale else ""
    yield f"{row.type}  {escape(row.state)}  members: {row.members_text}{stale}"
    yield from _lines(escape(row.status.reason), width, f"{row.status.status}: ")
    yield ""
    yield from _partitions(opened, width, utf8)
    yield ""
    if opened.times is None:
        yield "Time lag and headroom: reading the first unread records ..."
    else:
        yield f"Time lag and headroom: read {Milliseconds(max(0, opened.now - opened.times.at) // 1000 * 1000)} ago"
        for text in (*opened.times.failures, *filter(None, [opened.times.note])):
            yield from _lines(escape(text), width, "  ")
    yield ""
    yield "State changes since the start" if opened.changes else "No state changes since the start"
    for at, change in opened.changes:
        yield f"  {at}  {escape(change.before)} -> {escape(change.now)}"


def _wrapped(texts: Iterable[str], width: int) -> Iterable[str]:
    """Wrap commands and sentences that do not fit; lines of tables, which contain gaps, are left as they are."""
    for text in texts:
        if cell_len(text) <= width or "  " in text.strip():
            yield text
        elif text.startswith(_COMMAND):
            yield from command_lines(text, width)
        else:
            lead = text[: len(text) - len(text.lstrip(" -"))]
            yield from _lines(text[len(lead) :], width, lead, len(lead) or 2)


def _lines(text: str, width: int, first: str = "", indent: int = 2) -> Iterable[str]:
    """Yield lines that are broken between words; only a word that is wider than the terminal is broken itself."""
    for line in wrap(text, width, first=first, indent=indent).splitlines():
        yield from chop_cells(line, width)


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
                cell_text(row.client_id),
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
        yield f"Columns that do not fit: {', '.join(omitted)}"
    if "MEMBER" in omitted:
        yield from _members(opened)


def _members(opened: Opened) -> Iterable[str]:
    """Yield a line for each member: its ID, client ID, host, and partitions."""
    assigned: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for each in opened.partitions:
        row = each.row
        if row.consumer_id is not None:
            topics = assigned.setdefault((row.consumer_id, row.client_id or "-", row.host or "-"), {})
            if row.topic is not None and row.partition is not None:
                topics.setdefault(row.topic, []).append(row.partition)
    if assigned:
        yield ""
        yield "Members"
    for names, topics in assigned.items():
        member, *where = map(escape, names)
        yield f"  {member}"
        held = (f"{escape(topic)}:{','.join(map(str, numbers))}" for topic, numbers in topics.items())
        yield f"    {'  '.join((*where, ' '.join(held) or 'no partitions'))}"


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
    "CLIENT-ID",
    "HOST",
)
