"""The pages of groups, inside the same file: the link to a page shows it, and hides all others, without JavaScript.

All pages together have a limited number of bytes: each list shows its first rows, as many as there is room for, and
lists grow evenly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import words
from .charts import group_chart
from .commands import explain, history
from .data import GroupPage, ReportData
from .findings import UNJUDGED, status, what
from .html import Html, join, tag
from .lists import OF_GROUP, level, verdict
from .table import GROUP, Column, List, brief_rows, framed, left_out, share


def pages(data: ReportData, room: int) -> Html:
    """Render the pages in at most this number of bytes, if there is room for the pages without rows."""
    shown = data.pages.rows
    ids = [words.anchor(page.row.group) for page in shown]
    steps = zip(shown, [None, *ids], [*ids[1:], None], strict=False)
    heads = [_head(data, *each) for each in steps]
    lists = [(page, listed) for page in shown for listed in OF_GROUP]
    columns = {listed: [column for column in listed.columns if column.kind is not GROUP] for listed in OF_GROUP}

    def written(rows: Sequence[Sequence[Html]]) -> Html:
        made = [_list(page, listed, columns[listed], some) for (page, listed), some in zip(lists, rows, strict=True)]
        step = len(OF_GROUP)
        return join(
            *(
                tag("section", head, *_lists(data, page, made[at * step : (at + 1) * step]), id=each, class_="page",
                    tabindex=-1)
                for at, (page, each, head) in enumerate(zip(shown, ids, heads, strict=True))
            ),
            by="\n",
        )  # fmt: skip

    rows = [brief_rows(columns[listed], getattr(page, listed.name)) for page, listed in lists]
    return written(share(rows, room - len(written([()] * len(lists)).encode())))


def _head(data: ReportData, page: GroupPage, previous: str | None, following: str | None) -> Html:
    group = page.row.group
    steps = (("all groups", "groups"), ("previous", previous), ("next", following))
    return join(
        tag("p", *(join(tag("a", text, href=f"#{to}"), " ") for text, to in steps if to), class_="steps"),
        tag("h2", "Group ", tag("bdi", words.visible(group, words.WHOLE))),
        tag("ul", *(tag("li", title, " ", tag("b", shown)) for title, shown in _facts(data, page)), class_="tallies"),
        tag("p", "Next: ", tag("code", explain([group], words.WHOLE))),
        group_chart(data, page) or tag("p", "No lag is known.", class_="none"),
    )


def _lists(data: ReportData, page: GroupPage, lists: Sequence[tuple[Html, bool]]) -> Iterator[Html]:
    """Yield the lists, in a region that scrolls, and the command that shows all rows."""
    yield tag("div", *(each for each, _ in lists), class_="scroll", role="region", tabindex=0, aria_label="Lists")
    if short := [listed.source for listed, (_, whole) in zip(OF_GROUP, lists, strict=True) if not whole]:
        command = history(short, data.period, [page.row.group], words.WHOLE)
        yield tag("p", "All rows: ", tag("code", command))


def _facts(data: ReportData, page: GroupPage) -> list[tuple[str, str]]:
    row = page.row
    since = f" since {words.moment(row.state_since)}" if row.state_since else ""
    facts = [
        ("Lag", row.lag, words.exact),
        ("Behind", row.behind_ms, words.duration),
        ("State", row.state, lambda state: f"{state}{since}"),
        ("Type", row.kind, str),
        ("Members", row.members, words.exact),
        ("Last commit", row.last_commit, words.moment),
    ]
    shown = [(title, "unknown" if value is None else text(value)) for title, value, text in facts]  # type: ignore[operator]
    why = [("Unknown because", UNJUDGED[row.unjudged].why or "")] if row.unjudged else []
    problems = [("Findings", problem)] if (problem := what(data, row)) else []
    return [
        ("Status", level(status(data, row)).shown),
        *problems,
        ("Verdict", verdict(row.verdict).shown),
        *why,
        *shown,
    ]


def _list(page: GroupPage, listed: List, columns: Sequence[Column], rows: Sequence[Html]) -> tuple[Html, bool]:
    """Render a list of a page, and return whether it shows all rows."""
    title, kept = tag("h3", listed.caption), getattr(page, listed.name)
    if not kept.total:
        return join(title, tag("p", listed.none, class_="soft")), True
    heads = (tag("th", column.title, scope="col") for column in columns)
    note = left_out(kept, "rows", shown=len(rows))
    return join(framed(tag("caption", title), heads, rows), note), note is None
