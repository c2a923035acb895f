"""Tables: a caption, columns with a value and a sort key for each row, and a text for an empty table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from . import words
from .data import Kept, ReportData
from .html import Html, join, tag

T = TypeVar("T")


class Cell(NamedTuple):
    """``key`` is the sort key: a number or text; ``None`` sorts last."""

    shown: Html
    key: float | str | None


class Column(NamedTuple, Generic[T]):
    title: str
    cell: Callable[[T], Cell]
    right: bool = False
    """Aligned to the right, for numbers."""
    wide: bool = False
    """Wraps, for lists and sentences."""


def table(name: str, caption: str, columns: Sequence[Column[T]], kept: Kept[T], *, none: str) -> Html:
    """Render the rows as a sortable table, in their order, and a line with the number of omitted rows.

    :param name: ID of the table.
    :param none: text if there are no rows.
    """
    if not kept.rows:
        return tag("p", none, class_="none")
    head = tag("tr", *(_head(column) for column in columns))
    rows = [tag("tr", *(_body(column, row) for column in columns)) for row in kept.rows]
    written = tag(
        "table",
        tag("caption", tag("span", caption), id=f"{name}-caption"),
        "\n",
        tag("thead", head),
        "\n",
        tag("tbody", join(*rows, by="\n")),
        id=name,
    )
    # tabindex: the scrolling region must be accessible by keyboard.
    scrolls = tag("div", written, class_="scroll", role="region", tabindex=0, aria_labelledby=f"{name}-caption")
    return join(scrolls, left_out(kept, "rows"), by="\n")


def plain(titles: Sequence[str], rows: Iterable[Sequence[str]], none: str) -> Html:
    """Render rows of text or markup as a table that is not sortable; ``none`` if there are no rows."""
    body = [tag("tr", *(tag("td", cell) for cell in cells)) for cells in rows]
    if not body:
        return tag("p", none, class_="soft")
    head = tag("tr", *(tag("th", title) for title in titles))
    return tag("div", tag("table", head, *body), class_="scroll", tabindex=0)


def left_out(kept: Kept[T], what: str) -> Html | None:
    """Render ``25 of 38 rows are left out.``; ``None`` if no rows are left out."""
    if not kept.left_out:
        return None
    verb = "is" if kept.left_out == 1 else "are"
    counted = f"{words.exact(kept.left_out)} of {words.exact(kept.total)} {what}"
    return tag("p", f"{counted} {verb} left out.", class_="left-out")


def _head(column: Column[T]) -> Html:
    return tag("th", tag("button", column.title, type="button"), scope="col", class_="right" if column.right else None)


def _body(column: Column[T], row: T) -> Html:
    cell = column.cell(row)
    class_ = "right" if column.right else "wide" if column.wide else None
    return tag("td", cell.shown, class_=class_, data_key=cell.key)


def name(text: str | None) -> Cell:
    """Render text of the cluster, isolated from its surroundings (bidi); truncated text is in full in the title."""
    if text is None:
        return Cell(Html(words.ABSENT), None)
    shown = words.visible(text)
    whole = words.visible(text, 1000) if shown.endswith("…") else None
    return Cell(tag("bdi", shown, title=whole), shown)


def group(data: ReportData, text: str | None) -> Cell:
    """Render the name of a group, with a link to its page."""
    cell = name(text)
    page = None if text is None else data.page_of(text)
    return cell if page is None else Cell(tag("a", cell.shown, href=f"#{page}"), cell.key)


def names(several: Sequence[str], total: int, data: ReportData | None = None) -> Html:
    """Render the names, and the number of further ones; with ``data``, of groups, with links to their pages."""
    more = f" and {words.exact(total - len(several))} more" if total > len(several) else None
    return join(join(*((group(data, each) if data else name(each)).shown for each in several), by=", "), more)


def word(text: str | None) -> Cell:
    return Cell(join(text or words.ABSENT), text)


def number(value: int | None, unit: str = "") -> Cell:
    return Cell(_with_exact(words.number(value), value, unit), value)


def duration(ms: int | None) -> Cell:
    return Cell(_with_exact(words.duration(ms), ms, "ms"), ms)


def moment(time: datetime | None) -> Cell:
    if time is None:
        return Cell(Html(words.ABSENT), None)
    return Cell(when(time), time.timestamp())


def when(time: datetime) -> Html:
    return tag("time", words.moment(time), title=words.exact_moment(time))


def _with_exact(shown: str, value: int | None, unit: str) -> Html:
    if value is None:
        return Html(shown)
    return tag("span", shown, title=f"{words.exact(value)} {unit}".rstrip(), class_="n")
