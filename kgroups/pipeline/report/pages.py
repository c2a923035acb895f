"""The pages of groups, inside the same file: the link to a page shows it, and hides all others, without JavaScript."""

from __future__ import annotations

from collections.abc import Callable

from . import words
from .charts import group_chart
from .data import GroupPage, Kept, ReportData, T
from .html import Html, join, tag
from .lists import verdict
from .table import duration, left_out, name, names, number, plain, when


def pages(data: ReportData) -> Html:
    last = len(data.pages.rows)
    return join(*(_page(data, page, at + 1, last) for at, page in enumerate(data.pages.rows)), by="\n")


def _page(data: ReportData, page: GroupPage, at: int, last: int) -> Html:
    row = page.row
    steps = (
        ("all groups", "groups", True),
        ("previous", f"group-{at - 1}", at > 1),
        ("next", f"group-{at + 1}", at < last),
    )
    chart = group_chart(data, page) or tag("p", "No lag is known.", class_="none")
    return tag(
        "section",
        tag("p", *(join(tag("a", text, href=f"#{to}"), " ") for text, to, there in steps if there), class_="steps"),
        tag("h2", "Group ", name(row.group).shown),
        tag("ul", *(tag("li", join(title, " "), tag("b", shown)) for title, shown in _facts(page)), class_="tallies"),
        chart,
        _listed("Partitions", ("Topic", "Partition", "Verdict", "Lag", "Committed offset", "Last commit", "Remark"),
                page.partitions, lambda each: (
                    name(each.topic).shown, str(each.partition), verdict(each.verdict).shown, words.exact(each.lag),
                    words.exact(each.committed), words.moment(each.last_commit), each.remark or ""),
                "No partition has a committed offset."),
        _listed("Members", ("Client", "Since"), page.members,
                lambda each: (name(each.client).shown, words.moment(each.since)), "No members at the end."),
        _listed("Rebalances", ("Time", "Generation", "Members", "Joined", "Left", "Commits paused"), page.rebalances,
                lambda each: (
                    words.moment(each.time), _count(each.generation), _count(each.members),
                    _who(each.joined, each.joined_names), _who(each.left, each.left_names),
                    words.duration(each.pause_ms)),
                "None in this time."),
        _listed("Anomalies", ("Anomaly", "Since", "Until", "Where", "Description"), page.anomalies,
                lambda each: (
                    each.anomaly.replace("_", " "), words.moment(each.since), words.moment(each.until),
                    _where(each.topic, each.partition, each.member), name(each.note).shown),
                "None in this time."),
        _listed("Expiring offsets", ("Topic", "Partitions", "Left", "Expires, not before"), page.expiring,
                lambda each: (
                    name(each.topic).shown, words.exact(each.partitions), words.duration(each.left_ms),
                    words.moment(each.expires)),
                "None expire soon."),
        id=f"group-{at}", class_="page",
    )  # fmt: skip


def _facts(page: GroupPage) -> list[tuple[str, Html]]:
    row = page.row
    state = join(row.state or "unknown", join(" since ", when(row.state_since)) if row.state_since else None)
    return [
        ("Verdict", verdict(row.verdict).shown),
        ("Lag", number(row.lag, "records").shown if row.lag is not None else Html("unknown")),
        ("Behind", duration(row.behind_ms).shown if row.behind_ms is not None else Html("unknown")),
        ("State", state),
        ("Type", join(row.kind or "unknown")),
        ("Members", number(row.members).shown),
        ("Last commit", when(row.last_commit) if row.last_commit else Html("unknown")),
    ]


def _listed(
    title: str, titles: tuple[str, ...], kept: Kept[T], cells: Callable[[T], tuple[str, ...]], none: str
) -> Html:
    return join(tag("h3", title), plain(titles, map(cells, kept.rows), none), left_out(kept, "rows"))


def _count(number: int | None) -> str:
    return words.ABSENT if number is None else str(number)


def _who(number: int | None, some: tuple[str, ...]) -> Html:
    if number is None:
        return Html("unknown")
    return join(str(number), join(": ", names(some[:2], number)) if some else None)


def _where(topic: str | None, partition: int | None, member: str | None) -> Html:
    parts = [name(topic).shown] if topic is not None else []
    parts += [Html(str(partition))] if partition is not None else []
    parts += [name(member).shown] if member is not None else []
    return join(*parts, by=" / ")
