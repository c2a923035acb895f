"""The page: one HTML file with style, script, charts in SVG, and pages of groups, which needs no network.

Its Content-Security-Policy allows only the scripts with the given hashes, and no address: if escaping ever failed, a
name from the cluster still could not run, load, or send anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import Final

from kgroups.version import __version__

from . import lists, words
from .charts import sections as drawn
from .data import ReportData
from .file import MARK
from .findings import CRITICAL, NOTE, VERDICTS, WARNING, Finding, findings, headline, in_trouble
from .html import Html, join, raw, tag
from .pages import pages
from .table import group, name, number, when

LIMIT: Final = 990_000
"""Maximum bytes of a page of 100 groups."""

_SIGNS: Final = {CRITICAL: "◆", WARNING: "▲", NOTE: "●"}

_SECTIONS: Final = (
    ("lag", "Lag"),
    ("rebalances", "Rebalances"),
    ("groups", "Groups"),
    ("consumers", "Consumers by topic"),
    ("offenders", "Top offenders"),
    ("rate", "Commits"),
    ("anomalies", "Anomalies"),
    ("unused", "Stale and expiring"),
    ("migration", "Move to the consumer protocol"),
    ("completeness", "Completeness of history"),
)

_THEME: Final = """\
try { document.documentElement.dataset.theme = localStorage.getItem("kgroups-theme") || ""; }
catch (error) { /* private */ }
"""
"""Runs before the page is drawn, to restore the selected theme."""


def page(data: ReportData) -> str:
    """Render the page."""
    script = asset("page.js")
    head = join(
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy([_THEME, script])),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content=f"kgroups {__version__}"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"Consumer groups, {words.moment(data.period.since)} to {words.moment(data.period.until)}"),
        tag("script", raw(_THEME)),
        tag("style", raw(asset("style.css"))),
        by="\n",
    )
    written = tag("body", "\n", body(data, LIMIT - len(head.encode())), "\n", tag("script", raw(script)), "\n")
    return (
        f"<!DOCTYPE html>\n{MARK}\n"
        + tag("html", "\n", tag("head", "\n", head, "\n"), "\n", written, "\n", lang="en")
        + "\n"
    )


def body(data: ReportData, room: int = LIMIT) -> Html:
    """Render the visible content, without scripts and style, in at most this number of bytes."""
    if data.empty:
        return join(_header(data, "No history found"), tag("main", _nothing(data)), by="\n")
    inner = {**drawn(data), **lists.sections(data)}
    contents = (("findings", "Findings"), *_SECTIONS)
    links = [tag("li", tag("a", title, href=f"#{each}")) for each, title in contents]
    sections = [
        tag(
            "section", tag("h2", title, id=f"{each}-title"), "\n", inner[each], id=each, aria_labelledby=f"{each}-title"
        )
        for each, title in _SECTIONS
    ]
    found = findings(data)
    nav = tag("nav", tag("ul", *links), aria_label="Sections")
    heading = tag("h2", "Findings", id="findings-title")
    engineers = tag("section", heading, "\n", _findings(found), "\n", _tiles(data), id="findings",
                    aria_labelledby="findings-title")  # fmt: skip
    main = tag("main", join(_costs(data), lists.worst(data), nav, engineers, *sections, by="\n"))
    before, after = join(_header(data, headline(data, found)), main, by="\n"), _footer(data)
    return join(before, pages(data, room - len(before.encode()) - len(after.encode())), after, by="\n")


# Header and summary.


def _header(data: ReportData, title: str) -> Html:
    period = data.period
    length = words.span(period.until - period.since)
    cluster = join("cluster ", name(data.cluster_id).shown) if data.cluster_id else "cluster unknown"
    about = tag(
        "p", tag("span", "kgroups history"), tag("span", cluster),
        tag("span", when(period.since), " to ", when(period.until), f" ({length})"), class_="about",
    )  # fmt: skip
    unknown = data.unknown_until
    rest = join("; what happened from then to ", when(unknown), " is unknown") if unknown else ""
    ends = [tag("p", data.age, rest, class_="about")] if data.age else []
    theme = tag("button", "Dark", type="button", id="theme", aria_label="Switch between dark and light")
    return tag("header", "\n", tag("div", about, theme, class_="bar"), *ends, "\n", tag("h1", title), "\n")


def _findings(found: Sequence[Finding]) -> Html:
    if not found:
        return tag("p", "Nothing is wrong in this time, as far as it is known.", class_="none")
    titles = dict(_SECTIONS)
    items = [
        tag(
            "li",
            tag("span", _SIGNS[each.level], class_="sign", aria_hidden="true"),
            tag("span", tag("span", f"{each.level}: ", class_="unseen"), each.text),
            tag("a", titles[each.section], href=f"#{each.section}"),
            tag("code", each.command),
            class_=each.level,
        )
        for each in found
    ]  # fmt: skip
    return tag("ul", join(*items, by="\n"), class_="findings", aria_label="What is wrong")


def _costs(data: ReportData) -> Html:
    """Render what is wrong in four numbers. They are lower bounds where something is unknown."""
    cost, bad = data.cost, in_trouble(data)
    least = "at least; " if data.completeness.has_holes else ""
    most = "at least" if cost.untimed else "up to"
    behind = [f"{most} {words.duration(cost.behind_ms)} behind"] if cost.behind_ms else []
    behind += [f"time unknown of {words.count(cost.untimed, 'group')}"] if cost.untimed else []
    behind += [f"lag unknown of {words.count(cost.unknown, 'group')}"] if cost.unknown else []
    since, lasting = Html(words.ABSENT), ""
    if bad and cost.since:
        since, lasting = when(cost.since), f", for at least {words.span(data.period.until - cost.since)}"
    return tag(
        "dl",
        tag("div", tag("dt", "In trouble since"), tag("dd", since, class_="value time"),
            tag("dd", f"{words.count(bad, 'group')} of {words.exact(data.groups.number())}{lasting}")),
        _tile("Unread records", cost.lag, join("; ".join(behind) or "at the end")),
        _tile("Lost records", cost.lost, join(least, "deleted before they were read")),
        _tile("Repeated records", cost.reread, join(least, "offsets went back")),
        class_="tiles costs",
    )  # fmt: skip


def _tiles(data: ReportData) -> Html:
    worst = data.lag.series.rows[0] if data.lag.series.rows else None
    totals = {
        "Rebalances": (data.rebalances.marks.total, data.rebalances.lanes.total),
        "Anomalies": (data.anomalies.rows.total, data.anomalies.offenders.total),
    }
    return tag(
        "dl",
        _tile("Groups", data.groups.number(), join(f"{words.exact(data.groups.number(use='LIVE'))} in use")),
        _tile(
            "Highest lag",
            worst.peak if worst else None,
            group(data, worst.group).shown if worst else Html(words.ABSENT),
        ),
        *(_tile(title, found, join(f"of {words.count(groups, 'group')}")) for title, (found, groups) in totals.items()),
        class_="tiles",
    )


def _tile(title: str, value: int | None, more: Html) -> Html:
    return tag("div", tag("dt", title), tag("dd", number(value).shown, class_="value"), tag("dd", more))


def _nothing(data: ReportData) -> Html:
    period = join("Between ", when(data.period.since), " and ", when(data.period.until),
                " nothing is known of any group. ")  # fmt: skip
    how = join("History begins with the first run of ", tag("code", "kgroups history collect"),
               "; to include older history, use an older ", tag("code", "--since"), ".")  # fmt: skip
    return tag("p", period, how, class_="none")


def _footer(data: ReportData) -> Html:
    terms = [(each, VERDICTS[each].why) for each in VERDICTS] + [
        ("OK", "keeps up, or has caught up at least once"),
        ("UNKNOWN", "too few samples, a commit beyond the end of the log, or an open transaction that hides commits"),
    ]
    glossary = tag("dl", *(join(tag("dt", term), tag("dd", meaning)) for term, meaning in terms))
    about = (
        f"All times are UTC. What was committed is from __consumer_offsets, ends of logs are samples. Made by kgroups "
        f"{__version__} of history up to {words.moment(data.period.until)}; point at a number to see all its digits. "
        "Commands of kgroups history need --store, or KGROUPS_STORE."
    )
    return tag("footer", tag("h2", "What the verdicts mean"), glossary, tag("p", about))


# Assets.


def asset(file: str) -> str:
    return files(__package__).joinpath("assets", file).read_text(encoding="utf-8")


def policy(scripts: Sequence[str]) -> str:
    """Return the Content-Security-Policy, which allows only these scripts."""
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
