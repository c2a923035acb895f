"""The charts as plotly figures, in colors of the light theme; the script of the page replaces them in the dark theme.

Rules: text of the cluster is passed to plotly in ``meta`` or ``customdata`` only, by :func:`label`, because plotly
interprets markup in every text; names are never categories of an axis, which would parse numbers and times in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from itertools import pairwise
from typing import Any, Final, NamedTuple

import plotly.graph_objects as go

from . import words
from .data import Lag, LagPoint, LagSeries, Period, RatePoint, RateSeries, Rebalance, Rebalances, ReportData

INK, SOFT, MUTED = "#0b0b0b", "#52514e", "#75736d"
GRID, AXIS, SURFACE, UNKNOWN = "#e8e7e1", "#c3c2b7", "#ffffff", "#f1f0ea"
LINES: Final = ("#2a78d6", "#eb6834", "#1baf7a", "#eda100", "#e87ba4", "#008300", "#4a3aa7", "#e34948")
"""Colors of lines, distinguishable in this order with color blindness; further lines are gray."""
REST: Final = "#b9b8b0"
OTHER: Final = "#898781"
"""Color of marks of no other category."""

DARK: Final = {
    **dict(
        zip(
            LINES,
            ("#3987e5", "#d95926", "#199e70", "#c98500", "#d55181", "#1a9a1a", "#9085e9", "#e66767"),
            strict=True,
        )
    ),
    REST: "#5d5c57", OTHER: "#8f8d86", INK: "#ffffff", SOFT: "#c3c2b7", MUTED: "#96948c",
    GRID: "#2c2c2a", AXIS: "#4a4945", SURFACE: "#1f1f1e", UNKNOWN: "#292927",
}  # fmt: skip
"""Color in the light theme -> color in the dark theme."""

MARKS: Final = (*LINES, REST, OTHER)
"""Colors in legends."""

FONT: Final = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif'
LANE: Final = 44
"""Height of a lane of the timeline in pixels."""


class Entry(NamedTuple):
    """An entry of a legend, and the numbers of the traces that it shows and hides."""

    name: str
    color: str
    mark: str
    """``line``, ``bar``, or a plotly symbol."""
    traces: tuple[int, ...]


class Chart(NamedTuple):
    name: str
    figure: dict[str, Any]
    legend: tuple[Entry, ...]
    alt: str


def label(text: str, longest: int = 60) -> str:
    """Escape text of the cluster for plotly, which interprets markup."""
    return escape(words.visible(text, longest), quote=False)


def charts(data: ReportData) -> list[Chart]:
    """Return the charts that have data."""
    made: list[Chart] = []
    colors = palette(data)
    if data.lag.series.rows:
        made.append(lag_chart(data, colors))
        if any(point.behind_ms for series in data.lag.series.rows for point in series.points):
            made.append(time_chart(data, colors))
    if data.rebalances.marks.rows:
        made.append(rebalance_chart(data))
    if data.rate.series.rows:
        made.append(rate_chart(data, colors))
    return made


def palette(data: ReportData) -> dict[str, str]:
    """Assign colors to groups, the same on every chart; the groups that get none are gray."""
    lagging = [series.group for series in data.lag.series.rows]
    busy = [series.group for series in data.rate.series.rows if series.group is not None]
    groups = dict.fromkeys([*lagging[:6], *busy, *lagging])
    return dict(zip(groups, LINES, strict=False))


def to_json(made: Iterable[Chart]) -> str:
    """Encode all figures and the dark colors as JSON for a script element: without <, >, and &."""
    content = {
        "dark": DARK,
        "charts": {each.name: each.figure for each in made},
    }
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


# Lag.


def lag_chart(data: ReportData, colors: Mapping[str, str]) -> Chart:
    rows = data.lag.series.rows
    traces = [
        _line(series, points, [point.lag for point in points], [words.exact(point.lag) for point in points],
              "%{customdata} records", colors)
        for series, points in _lines(data.lag)
    ]  # fmt: skip
    alt = (
        f"Lines: lag in records of {words.count(len(rows), 'group')}, {_from_to(data.shown)}. "
        f"The highest is {words.visible(rows[0].group)} with {words.exact(rows[0].peak)} records."
    )
    return Chart("lag", _figure(traces, data, 340, unit="records"), _entries(rows, colors), alt)


def time_chart(data: ReportData, colors: Mapping[str, str]) -> Chart:
    rows = data.lag.series.rows
    most = max(point.behind_ms or 0 for series in rows for point in series.points)
    unit, size = next((name, ms) for name, ms in _TIME_UNITS if most >= 2 * ms or ms == 1)
    traces = [
        _line(series, points, [None if point.behind_ms is None else point.behind_ms / size for point in points],
              [words.duration(point.behind_ms) for point in points], "%{customdata} behind", colors)
        for series, points in _lines(data.lag)
    ]  # fmt: skip
    alt = (
        f"Lines: how long {words.count(len(rows), 'group')} lag behind, {_from_to(data.shown)}. "
        f"The most is {words.duration(most)}."
    )
    return Chart("behind", _figure(traces, data, 300, unit=unit), _entries(rows, colors), alt)


_TIME_UNITS = (("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000), ("seconds", 1_000), ("ms", 1))


def _lines(lag: Lag) -> list[tuple[LagSeries, list[LagPoint]]]:
    return [(series, _with_breaks(series.points, lag.bucket)) for series in lag.series.rows]


def _with_breaks(points: Sequence[LagPoint], bucket: timedelta) -> list[LagPoint]:
    """Return the points, with a point without values in each gap between samples, which interrupts the line."""
    steps = sorted(after.time - before.time for before, after in pairwise(points))
    usual = steps[len(steps) // 2] if steps else bucket
    found: list[LagPoint] = []
    for point in points:
        if found and point.time - found[-1].time > 3 * usual:
            found.append(LagPoint(found[-1].time + usual, None, None))
        found.append(point)
    return found


def _line(
    series: LagSeries, points: list[LagPoint], values: Sequence[float | None], shown: list[str], hover: str,
    colors: Mapping[str, str],
) -> go.Scatter:  # fmt: skip
    return go.Scatter(
        x=[_time(point.time) for point in points],
        y=values,
        customdata=shown,
        meta={"group": label(series.group)},
        name="%{meta.group}",
        mode="lines" if len(points) > 2 else "lines+markers",
        connectgaps=False,
        zorder=int(series.group in colors),
        line={"color": colors.get(series.group, REST), "width": 2 if series.group in colors else 1.25},
        marker={"size": 6},
        hovertemplate=f"<b>%{{meta.group}}</b><br>{hover}<br>%{{x|%Y-%m-%dT%H:%M:%SZ}}<extra></extra>",
    )


def _entries(rows: Sequence[LagSeries], colors: Mapping[str, str]) -> tuple[Entry, ...]:
    return tuple(Entry(row.group, colors.get(row.group, REST), "line", (number,)) for number, row in enumerate(rows))


# Rebalances.

_EVENTS: Final = (
    ("joined", "Members joined", LINES[0], "triangle-up"),
    ("left", "Members left", LINES[1], "triangle-down"),
    ("both", "Joined and left", LINES[6], "diamond"),
    ("other", "Neither, or unknown", OTHER, "circle"),
)


def rebalance_chart(data: ReportData) -> Chart:
    rebalances = data.rebalances
    lanes = {lane.group: number for number, lane in enumerate(rebalances.lanes.rows)}
    traces: list[go.Scatter] = []
    legend: list[Entry] = []
    for kind, title, color, symbol in _EVENTS:
        marks = [mark for mark in rebalances.marks.rows if mark.group in lanes and _event(mark) == kind]
        if marks:
            legend.append(Entry(title, color, symbol, (len(traces),)))
            traces.append(_marks(marks, lanes, title, color, symbol))
    across = {"x0": 0, "x1": 1, "xref": "paper"}
    lines = [
        _shape("line", {**across, "y0": number, "y1": number}, line={"color": GRID, "width": 1})
        for number in lanes.values()
    ]
    yaxis = {
        "range": [len(lanes) - 0.6, -0.8], "showticklabels": False, "showgrid": False, "zeroline": False,
        "fixedrange": True,
    }  # fmt: skip
    figure = _figure(
        traces, data, 56 + LANE * len(lanes), yaxis=yaxis, annotations=_lane_names(rebalances), shapes=lines
    )
    most = rebalances.lanes.rows[0]
    alt = (
        f"Timeline: {words.count(rebalances.marks.total, 'rebalance')}, a lane for each of "
        f"{words.count(len(lanes), 'group')}, {_from_to(data.shown)}. "
        f"{words.visible(most.group)} has most: {words.exact(most.rebalances)}."
    )
    return Chart("rebalances", figure, tuple(legend), alt)


def _lane_names(rebalances: Rebalances) -> list[dict[str, Any]]:
    """Return annotations above each lane's line, where they do not reduce its width."""
    place = {"x": 0, "xref": "paper", "xanchor": "left", "xshift": -_TITLE_OFFSET, "yshift": 15, "showarrow": False}
    return [
        {
            **place,
            "y": number,
            "text": f"{label(lane.group, 36)}  <b>{lane.rebalances:,}</b>",
            "font": {"size": 12, "color": SOFT},
        }
        for number, lane in enumerate(rebalances.lanes.rows)
    ]


def _event(mark: Rebalance) -> str:
    return {(True, True): "both", (True, False): "joined", (False, True): "left"}.get(
        (bool(mark.joined), bool(mark.left)), "other"
    )


def _marks(marks: list[Rebalance], lanes: dict[str, int], title: str, color: str, symbol: str) -> go.Scatter:
    return go.Scatter(
        x=[_time(mark.time) for mark in marks],
        y=[lanes[mark.group] for mark in marks],
        customdata=[_describe(mark) for mark in marks],
        name=title,
        mode="markers",
        cliponaxis=False,
        marker={
            "symbol": symbol,
            "size": 9 if symbol == "circle" else 12,
            "color": color,
            "line": {"color": SURFACE, "width": 1.5},
        },
        hovertemplate="%{customdata}<extra></extra>",
    )


def _describe(mark: Rebalance) -> str:
    """Describe a rebalance in a few lines of plotly's markup."""
    word = "generation" if mark.kind in (None, "classic") else "epoch"
    lines = [f"<b>{label(mark.group)}</b>", words.exact_moment(mark.time)]
    members = "" if mark.members is None else f", {words.count(mark.members, 'member')}"
    lines.append(f"{word} {words.ABSENT if mark.generation is None else mark.generation}{members}")
    lines += _changes("joined", mark.joined, mark.joined_names) + _changes("left", mark.left, mark.left_names)
    lines += [
        f"{number} {word}"
        for number, word in ((mark.restarted, "restarted"), (mark.resubscribed, "resubscribed"))
        if number
    ]
    if mark.joined is None:
        lines.append("who joined or left is unknown")
    if mark.pause_ms is not None:
        lines.append(f"commits paused for {words.duration(mark.pause_ms)} ({words.exact(mark.pause_ms)} ms)")
    if mark.converge_ms is not None:
        lines.append(f"converged after {words.duration(mark.converge_ms)} ({words.exact(mark.converge_ms)} ms)")
    return "<br>".join(lines)


def _changes(verb: str, number: int | None, names: Sequence[str]) -> list[str]:
    if not number:
        return []
    more = [f"  and {number - len(names)} more"] if number > len(names) else []
    return [f"{number} {verb}:", *(f"  {label(name, 48)}" for name in names), *more]


# Commits.


def rate_chart(data: ReportData, colors: Mapping[str, str]) -> Chart:
    rate = data.rate
    rows = rate.series.rows
    traces = [_bars(series, rate.bucket, _color(series, colors)) for series in rows]
    alt = (
        f"Stacked bars: commits a second, {_from_to(data.shown)}, in steps of {words.span(rate.bucket)}; "
        f"{words.exact(sum(series.commits for series in rows))} commits of {words.count(rate.series.total, 'group')}."
    )
    legend = tuple(
        Entry(_OTHERS if series.group is None else series.group, _color(series, colors), "bar", (number,))
        for number, series in enumerate(rows)
    )
    figure = _figure(traces, data, 300, unit="commits a second", barmode="stack")
    return Chart("rate", figure, legend, alt)


_OTHERS = "all others"


def _bars(series: RateSeries, bucket: timedelta, color: str) -> go.Bar:
    seconds = bucket.total_seconds()
    return go.Bar(
        x=[_time(point.time + bucket / 2) for point in series.points],
        y=[round(point.commits / seconds, 6) for point in series.points],
        width=seconds * 1000 * 0.86,
        customdata=[[_progress(point, seconds), words.moment(point.time)] for point in series.points],
        meta={"group": _OTHERS if series.group is None else label(series.group)},
        name="%{meta.group}",
        marker={"color": color, "line": {"width": 0.75, "color": SURFACE}},
        hovertemplate="<b>%{meta.group}</b><br>%{y:.3~g} commits a second<br>%{customdata[0]}<br>"
        f"{words.span(bucket)} from %{{customdata[1]}}<extra></extra>",
    )


def _progress(point: RatePoint, seconds: float) -> str:
    read = "unknown" if point.progress is None else f"{words.number(point.progress / seconds)} records a second"
    return f"{words.exact(point.commits)} commits<br>progress: {read}"


def _color(series: RateSeries, colors: Mapping[str, str]) -> str:
    return REST if series.group is None else colors.get(series.group, REST)


# Common parts.


def _figure(
    traces: Sequence[Any], data: ReportData, height: int, *, unit: str | None = None, shapes: Sequence[Any] = (),
    annotations: Sequence[Any] = (), **layout: Any,
) -> dict[str, Any]:  # fmt: skip
    """Return a figure as plain values; with ``unit``, the y axis has numbers of this unit."""
    numeric = {} if unit is None else {"yaxis": _NUMBERS}
    made = go.Figure(data=list(traces), layout={
        "height": height,
        "margin": {"l": 46, "r": 10, "t": 8 if unit is None else 28, "b": 40},
        "paper_bgcolor": SURFACE, "plot_bgcolor": SURFACE,
        "font": {"family": FONT, "size": 12, "color": SOFT},
        "hovermode": "closest", "hoverdistance": 24,
        "hoverlabel": {"bgcolor": SURFACE, "bordercolor": AXIS, "font": {"color": INK, "size": 12, "family": FONT},
                       "align": "left"},
        "showlegend": False,
        "legend": {"orientation": "h", "traceorder": "normal", "x": 0, "y": -0.14, "font": {"color": INK}},
        "xaxis": {
            "type": "date", "range": [_time(data.shown.since), _time(data.shown.until)],
            "linecolor": AXIS, "showgrid": False, "showline": True, "zeroline": False, "ticks": "outside", "ticklen": 4,
            "tickcolor": AXIS, "nticks": 10, "tickformatstops": _TICKS,
        },
        "shapes": [*_unknown(data), *shapes],
        "annotations": [*([] if unit is None else [_unit(unit)]), *annotations],
        **numeric,
        **layout,
    })  # fmt: skip
    found: dict[str, Any] = json.loads(json.dumps(made.to_plotly_json()))
    # Remove plotly's default template.
    found["layout"]["template"] = {}
    return found


_NUMBERS: Final = {
    "rangemode": "tozero", "gridcolor": GRID, "zeroline": True, "zerolinecolor": AXIS, "zerolinewidth": 1,
    "exponentformat": "B", "minexponent": 3, "separatethousands": True, "nticks": 6, "fixedrange": True,
    "automargin": True,
}  # fmt: skip

_TICKS: Final = (
    {"dtickrange": [None, 1000], "value": "%H:%M:%S.%L\n%Y-%m-%d"},
    {"dtickrange": [1000, 60_000], "value": "%H:%M:%S\n%Y-%m-%d"},
    {"dtickrange": [60_000, 43_200_000], "value": "%H:%M\n%Y-%m-%d"},
    {"dtickrange": [43_200_000, "M1"], "value": "%m-%d\n%Y"},
    {"dtickrange": ["M1", None], "value": "%Y-%m"},
)
"""ISO 8601, by the distance of ticks."""


_TITLE_OFFSET: Final = 38
"""Pixels between the start of titles, in the left margin, and the axis."""


def _unit(text: str) -> dict[str, Any]:
    """Return an annotation above the axis, which is horizontal, unlike an axis title."""
    return {
        "text": text, "x": 0, "xref": "paper", "xanchor": "left", "xshift": -_TITLE_OFFSET, "y": 1, "yref": "paper",
        "yanchor": "bottom", "yshift": 8, "showarrow": False, "font": {"size": 11, "color": MUTED},
    }  # fmt: skip


def _unknown(data: ReportData) -> list[dict[str, Any]]:
    """Return the period without complete history, as a rectangle below all traces."""
    since = data.completeness.known_since
    if data.completeness.unknown:
        since = data.shown.until
    if since is None or since <= data.shown.since:
        return []
    place = {"x0": _time(data.shown.since), "x1": _time(min(since, data.shown.until)), "y0": 0, "y1": 1}
    return [_shape("rect", {**place, "yref": "paper"}, fillcolor=UNKNOWN, line={"width": 0})]


def _shape(kind: str, place: dict[str, Any], **style: Any) -> dict[str, Any]:
    return {"type": kind, "layer": "below", **place, **style}


def _time(time: datetime) -> str:
    """Format a time for plotly: UTC, without a time zone."""
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(" ", timespec="milliseconds")


def _from_to(period: Period) -> str:
    return f"{words.moment(period.since)} to {words.moment(period.until)}"
