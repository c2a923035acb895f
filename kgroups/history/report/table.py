"""Tables: columns with a value of each row, and how values are rendered, in full or briefly on pages of groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache, partial
from html import escape
from operator import attrgetter
from typing import Any, NamedTuple

from . import words
from .commands import history
from .data import Kept, ReportData
from .html import Html, join, tag


class Cell(NamedTuple):
    shown: Html
    key: float | None = None
    """Sort key; ``None``: the text that is shown, of which ``words.ABSENT`` is last."""


class Kind(NamedTuple):
    """How the values of a column are rendered."""

    full: Callable[[Any], Cell]
    brief: Callable[[Any], str]
    align: str | None = None
    """``right`` for numbers, ``wide`` for lists and sentences, which wrap."""


class Column(NamedTuple):
    title: str
    value: str | Callable[[Any], Any]
    """Attribute, or function, of a row."""
    kind: Kind

    @property
    def of(self) -> Callable[[Any], Any]:
        """Return the function from a row to the value."""
        return attrgetter(self.value) if isinstance(self.value, str) else self.value


class List(NamedTuple):
    """A list of the report: in the overview as a sortable table, and on pages of groups."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    none: str
    """Text if there are no rows."""
    source: str
    """The table of the store with all rows."""
    command: str | None = None
    """The command that shows all rows, if they are not in the store."""


def table(listed: List, data: ReportData, kept: Kept[Any], rows: Sequence[Html] | None = None) -> Html:
    """Render a sortable table, with the rows in their order, and a line with the number of omitted rows.

    :param rows: the rendered rows; default: all of ``kept``.
    """
    if not kept.rows:
        return tag("p", listed.none, class_="none")
    heads = [
        tag("th", tag("button", title, type="button"), scope="col", class_="right" if kind.align == "right" else None)
        for title, _, kind in listed.columns
    ]
    name = f"{listed.name}-table"
    caption = tag("caption", tag("span", listed.caption), id=f"{name}-caption")
    shown = list(full_rows(listed, data, kept)) if rows is None else rows
    # It must be accessible by keyboard, because it scrolls.
    written = tag("div", framed(caption, heads, shown, id=name), class_="scroll", role="region", tabindex=0,
                  aria_labelledby=f"{name}-caption")  # fmt: skip
    command = listed.command or history(listed.source, data.period)
    return join(written, left_out(kept, "rows", command, len(shown)), by="\n")


def framed(caption: Html, heads: Iterable[Html], rows: Iterable[Html], **attributes: str) -> Html:
    return tag(
        "table", caption, "\n", tag("thead", tag("tr", *heads)), "\n", tag("tbody", join(*rows, by="\n")), **attributes
    )


def full_rows(listed: List, data: ReportData, kept: Kept[Any]) -> Iterator[Html]:
    columns = [(column, column.of) for column in listed.columns]
    for row in kept.rows:
        cells = []
        for at, (column, of) in enumerate(columns):
            value = of(row)
            shown, key = group(data, value) if column.kind is GROUP else column.kind.full(value)
            cell = {"scope": None if at else "row", "class": column.kind.align, "data_key": key}
            cells.append(tag("td" if at else "th", shown, **cell))
        yield tag("tr", *cells)


def brief_rows(columns: Sequence[Column], kept: Kept[Any]) -> Iterator[Html]:
    cells = [(column.kind.brief, column.of) for column in columns]
    for row in kept.rows:
        found = (brief(of(row)) for brief, of in cells)
        first, *rest = (each if isinstance(each, Html) else escape(each) for each in found)
        yield Html(f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>')


def share(lists: Sequence[Iterator[Html]], room: int) -> list[list[Html]]:
    """Take rows of all lists in turn until the next one does not fit into ``room`` bytes."""
    taken: list[list[Html]] = [[] for _ in lists]
    left = list(enumerate(lists))
    while left:
        more = []
        for at, rows in left:
            if (row := next(rows, None)) is not None:
                room -= len(row.encode())
                if room < 0:
                    return taken
                taken[at].append(row)
                more.append((at, rows))
        left = more
    return taken


def left_out(kept: Kept[Any], what: str, command: str | None = None, shown: int | None = None) -> Html | None:
    """Render ``25 of 38 rows are left out``, with the command that shows all; ``None`` if no rows are left out."""
    missing = kept.total - (len(kept.rows) if shown is None else shown)
    if not missing:
        return None
    counted = f"{words.exact(missing)} of {words.exact(kept.total)} {what} {'is' if missing == 1 else 'are'} left out"
    return tag("p", counted, join(": ", tag("code", command)) if command else None, class_="left-out")


@lru_cache(10_000)
def name(text: str | None, title: bool = True) -> Cell:
    """Render text of the cluster, isolated from its surroundings (bidi); truncated text has a title with more of it."""
    if text is None:
        return Cell(Html(words.ABSENT))
    shown = words.visible(text)
    more = words.visible(text, words.WHOLE) if title and shown.endswith("…") else None
    return Cell(tag("bdi", shown, title=more))


def group(data: ReportData, text: str | None) -> Cell:
    """Render the name of a group, with a link to its page, which has the whole name."""
    page = None if text is None else data.page_of(text)
    cell = name(text, title=page is None)
    return cell if page is None else Cell(tag("a", cell.shown, href=f"#{page}"), cell.key)


def names(several: Sequence[str], total: int, data: ReportData | None = None) -> Html:
    """Render the names, and the number of further ones; with ``data``, of groups, with links to their pages."""
    more = f" and {words.exact(total - len(several))} more" if total > len(several) else None
    shown = ((group(data, each) if data else name(each, title=False)).shown for each in several)
    return join(join(*shown, by=", "), more)


def word(text: str | None) -> Cell:
    return Cell(join(text or words.ABSENT))


def number(value: int | None, unit: str = "") -> Cell:
    return _with_exact(words.number(value), value, unit)


def duration(ms: int | None) -> Cell:
    return _with_exact(words.duration(ms), ms, "ms")


def moment(time: datetime | None) -> Cell:
    return Cell(Html(words.ABSENT) if time is None else when(time))


def when(time: datetime) -> Html:
    return tag("time", words.moment(time), title=words.exact_moment(time))


def _with_exact(shown: str, value: int | None, unit: str) -> Cell:
    if value is None or shown == str(value):
        return Cell(Html(shown))
    return Cell(tag("span", shown, title=f"{words.exact(value)} {unit}".rstrip(), class_="n"), value)


CELL = Kind(lambda cell: cell, lambda cell: cell.shown)
DURATION = Kind(duration, words.duration, "right")
GROUP = Kind(name, lambda text: name(text).shown)
ID = Kind(number, lambda value: words.ABSENT if value is None else str(value), "right")
MOMENT = Kind(moment, words.moment)
NAME = Kind(name, lambda text: name(text).shown)
NOTE = NAME._replace(align="wide")
NUMBER = Kind(number, words.exact, "right")
OFFSETS = NUMBER._replace(full=partial(number, unit="offsets"))
RECORDS = NUMBER._replace(full=partial(number, unit="records"))
WIDE = CELL._replace(align="wide")
WORD = Kind(word, lambda text: text or words.ABSENT)
