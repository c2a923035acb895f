"""The sections with charts, and the three rankings: charts with captions and legends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from . import words
from .charts import Chart, Entry
from .data import ReportData
from .html import Html, join, tag
from .table import group as link
from .table import left_out, name, number

RANKED = 10
"""Maximum number of groups in a ranking."""


def lag(data: ReportData, charts: Mapping[str, Chart]) -> Html:
    if "lag" not in charts:
        why = "No lag is known: no log end offsets were sampled in this time, or there were no commits."
        return tag("p", why, class_="none")
    step = words.span(data.lag.bucket)
    of_records = f"The highest total of every {step}, over all partitions of a group."
    of_time = "How long ago the end of the log stood where the group now stands; the worst partition."
    return join(
        figure(charts["lag"], "Lag in records", of_records),
        figure(charts["behind"], "Lag in time", of_time) if "behind" in charts else None,
        left_out(data.lag.series, "groups, those with less lag,"),
        by="\n",
    )


def rebalances(data: ReportData, charts: Mapping[str, Chart]) -> Html:
    kept = data.rebalances
    if "rebalances" not in charts:
        return tag("p", "No group rebalanced.", class_="none")
    return join(
        figure(charts["rebalances"], "A lane for each group, with how often it rebalanced",
              "The log does not contain why a member left: a timeout and a LeaveGroup are the same there."),
        left_out(kept.lanes, "groups, those with fewer,"),
        left_out(kept.marks, "rebalances, those of such groups and the oldest,"),
        by="\n",
    )  # fmt: skip


def rate(data: ReportData, charts: Mapping[str, Chart]) -> Html:
    if "rate" not in charts:
        return tag("p", "No group committed.", class_="none")
    return figure(
        charts["rate"],
        "How often groups commit",
        f"Each bar is {words.span(data.rate.bucket)}; a commit is of one partition.",
    )


def figure(chart: Chart, title: str, caption: str) -> Html:
    """Render a chart with title, legend, and caption."""
    legend = tag("ul", *map(_entry, chart.legend), class_="legend")
    parts = join(tag("h3", title), chart.svg, legend, tag("figcaption", caption), by="\n")
    return tag("figure", parts, class_="card", data_chart=chart.name)


def _entry(entry: Entry) -> Html:
    sign = tag("span", entry.sign, class_=f"c{entry.color}", aria_hidden="true")
    return tag("li", sign, " ", name(entry.name).shown)


def offenders(data: ReportData) -> Html:
    lags = ((row.group, row.peak, None) for row in data.lag.series.rows)
    rebalances = ((row.group, row.rebalances, _pause(row.longest_ms)) for row in data.rebalances.lanes.rows)
    anomalies = ((row.group, row.anomalies, _kinds(row.kinds)) for row in data.anomalies.offenders.rows)
    return tag(
        "div",
        _ranking(data, "Highest lag", "records", lags),
        _ranking(data, "Most rebalances", "rebalances", rebalances),
        _ranking(data, "Most anomalies", "anomalies", anomalies),
        class_="columns",
    )


def _pause(ms: int | None) -> str | None:
    return None if ms is None else f"longest pause {words.duration(ms)}"


def _kinds(kinds: Sequence[str]) -> str:
    return ", ".join(kind.replace("_", " ") for kind in kinds)


def _ranking(data: ReportData, title: str, unit: str, rows: Iterable[tuple[str, int, str | None]]) -> Html:
    first = [row for row in rows if row[1] > 0][:RANKED]
    if not first:
        return tag("div", tag("h3", title), tag("p", "None.", class_="none"), class_="card")
    most = max(row[1] for row in first)
    items = [
        tag(
            "li",
            tag("span", link(data, group).shown, number(value, unit).shown, class_="row"),
            tag("span", class_="bar", style=f"width:{max(1, round(100 * value / most))}%"),
            tag("small", remark) if remark else None,
        )
        for group, value, remark in first
    ]
    return tag("div", tag("h3", title), "\n", tag("ol", join(*items, by="\n"), class_="ranking"), class_="card")
