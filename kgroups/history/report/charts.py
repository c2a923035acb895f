"""The charts and rankings, as inline SVG: as wide as the page, with a fixed height, and colors of the style sheet.

Strategy: paths are in an inner SVG, 1000 units wide, which stretches to the width of the page; text and marks are in
the outer one, placed in percent, so they keep their size at each width.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from . import words
from .commands import history
from .data import GroupPage, LagPoint, LagSeries, Period, RatePoint, RateSeries, Rebalance, ReportData
from .html import Html, join, tag
from .table import group as link
from .table import left_out, name, number

LINES: Final = 8
"""Number of colors that are distinguishable with color blindness: CSS classes ``c0`` to ``c7``."""
REST: Final = 8
"""Color of further lines: gray."""
OTHER: Final = 9
"""Color of marks without a category."""

WIDTH, TOP, BOTTOM, LANE = 1000, 22, 36, 44
"""Width in units; heights in pixels: of the unit, of the times, of a lane of the timeline."""
SMALL = 120
"""Height of the chart on a group's page, in pixels."""
NAMED = 5
"""Maximum number of values in a tooltip."""
SHORT = 36
"""Maximum bytes of a name in a chart."""
RANKED = 10
"""Maximum number of groups in a ranking."""
LINE = "line"
"""Sign of a line in a legend."""


class Entry(NamedTuple):
    """An entry of a legend."""

    name: str
    color: int
    sign: str


class Chart(NamedTuple):
    name: str
    title: str
    svg: Html
    legend: tuple[Entry, ...]
    caption: str


def charts(data: ReportData) -> list[Chart]:
    """Return the charts that have data."""
    made: list[Chart] = []
    colors = palette(data)
    if len({point.time for series in data.lag.series.rows for point in series.points}) == 1:
        made.append(lag_bars(data))
    elif data.lag.series.rows:
        made.append(lag_chart(data, colors))
        if any(point.behind_ms for series in data.lag.series.rows for point in series.points):
            made.append(time_chart(data, colors))
    if data.rebalances.marks.rows:
        made.append(rebalance_chart(data))
    if data.rate.series.rows:
        made.append(rate_chart(data, colors))
    return made


def palette(data: ReportData) -> dict[str, int]:
    """Assign colors to groups, the same on every chart; the groups that get none are gray."""
    lagging = [series.group for series in data.lag.series.rows]
    busy = [series.group for series in data.rate.series.rows if series.group is not None]
    groups = dict.fromkeys([*lagging[:6], *busy, *lagging])
    return {group: number for number, group in enumerate(groups) if number < LINES}


def sections(data: ReportData) -> dict[str, Html]:
    """Render the sections that consist of charts and rankings."""
    drawn = {chart.name: figure(chart) for chart in charts(data)}
    lag, rebalances = data.lag.series, data.rebalances

    def section(none: str, *parts: Html | None) -> Html:
        return join(*parts, by="\n") if parts[0] else tag("p", none, class_="none")

    return {
        "lag": section(
            "No lag is known: no log end offsets were sampled in this time, or there were no commits.",
            drawn.get("lag"),
            drawn.get("behind"),
            left_out(lag, "groups, those with less lag,", history("lag", data.period)),
        ),
        "rebalances": section(
            "No group rebalanced.",
            drawn.get("rebalances"),
            left_out(rebalances.lanes, "groups, those with fewer,", history("rebalances", data.period)),
            left_out(
                rebalances.marks, "rebalances, those of such groups and the oldest,", history("rebalances", data.period)
            ),
        ),
        "rate": section("No group committed.", drawn.get("rate")),
        "offenders": _rankings(data),
    }


def figure(chart: Chart) -> Html:
    """Render a chart with title, legend, and caption."""
    legend = tag("ul", *map(_entry, chart.legend), class_="legend") if chart.legend else None
    parts = join(tag("h3", chart.title), chart.svg, legend, tag("figcaption", chart.caption), by="\n")
    return tag("figure", parts, class_="card", data_chart=chart.name)


def _entry(entry: Entry) -> Html:
    if entry.sign == LINE:
        sample = tag("path", class_=f"line c{entry.color}", d="M0 6H30")
        sign = tag("svg", sample, class_="key", width=30, height=12, aria_hidden="true")
    else:
        sign = tag("span", entry.sign, class_=f"c{entry.color}", aria_hidden="true")
    return tag("li", sign, " ", name(entry.name, title=False).shown)


# Lag.


def lag_chart(data: ReportData, colors: Mapping[str, int]) -> Chart:
    rows = data.lag.series.rows
    about = (
        f"Lines: lag in records of {words.count(len(rows), 'group')}, {_from_to(data.shown)}. "
        f"The highest is {words.visible(rows[0].group)} with {words.exact(rows[0].peak)} records."
    )
    caption = f"The highest total of every {words.span(data.lag.bucket)}, over all partitions of a group."
    return _lines(
        data, colors, lambda point: point.lag, words.number, "records", ("lag", "Lag in records", about, caption)
    )


def lag_bars(data: ReportData) -> Chart:
    """Return a bar for each group, of a history with one sample, in which lines would be dots."""
    rows = data.lag.series.rows
    caption = f"One sample, of {words.moment(rows[0].points[0].time)}. With a second one, this is a chart over time."
    bars = _bars(data, "records", [(row.group, row.peak, None) for row in rows])
    return Chart("lag", "Lag in records", bars, (), caption)


def time_chart(data: ReportData, colors: Mapping[str, int]) -> Chart:
    rows = data.lag.series.rows
    most = max(point.behind_ms or 0 for series in rows for point in series.points)
    unit, size = next((name, ms) for name, ms in _TIME_UNITS if most >= 2 * ms or ms == 1)
    about = (
        f"Lines: how long {words.count(len(rows), 'group')} lag behind, {_from_to(data.shown)}. "
        f"The most is {words.duration(most)}."
    )
    caption = "How long ago the end of the log stood where the group now stands; the worst partition."
    texts = ("behind", "Lag in time", about, caption)
    return _lines(data, colors, lambda point: point.behind_ms, words.duration, unit, texts, size)


_TIME_UNITS = (("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000), ("seconds", 1_000), ("ms", 1))


def _lines(
    data: ReportData, colors: Mapping[str, int], value: Callable[[LagPoint], int | None],
    shown: Callable[[int], str], unit: str, texts: tuple[str, str, str, str], size: int = 1,
) -> Chart:  # fmt: skip
    name, title, about, caption = texts
    rows, height = data.lag.series.rows, 260
    values = [found for series in rows for point in series.points if (found := value(point)) is not None]
    scale = Scale(max(values, default=0) / size, height)
    # Gray lines are below the others, the first group is on top.
    paths = [
        _path(series, data, value, scale, size, colors.get(series.group, REST))
        for series in sorted(rows, key=lambda series: colors.get(series.group, REST), reverse=True)
    ]
    points: dict[datetime, list[tuple[int, str]]] = defaultdict(list)
    for series in rows:
        for point in series.points:
            if (found := value(point)) is not None:
                points[point.time].append((found, f"{words.visible(series.group, SHORT)} {shown(found)}"))
    tips = _tips(points, data, height)
    svg = _numbered(data.shown, scale, unit, title, about, _unknown(data, height), *paths, tips)
    legend = tuple(Entry(row.group, colors.get(row.group, REST), LINE) for row in rows)
    return Chart(name, title, svg, legend, caption + _shaded(data))


def _path(
    series: LagSeries, data: ReportData, value: Callable[[LagPoint], int | None], scale: Scale, size: int, color: int
) -> Html:
    found: list[str] = []
    pen = "M"
    for point in with_breaks(series.points, data.lag.bucket):
        number = value(point)
        if number is not None:
            # A line of no length is a dot: a sample between two gaps is visible.
            found.append(f"{pen}{_x(point.time, data.shown)} {scale.y(number / size)}{'h0' if pen == 'M' else ''}")
        pen = "M" if number is None else "L"
    return tag("path", class_=f"line c{color}", d="".join(found))


def with_breaks(points: Sequence[LagPoint], bucket: timedelta) -> list[LagPoint]:
    """Return the points, with a point without values in each gap between samples, which interrupts the line."""
    steps = sorted(after.time - before.time for before, after in pairwise(points))
    usual = steps[len(steps) // 2] if steps else bucket
    found: list[LagPoint] = []
    for point in points:
        if found and point.time - found[-1].time > 3 * usual:
            found.append(LagPoint(found[-1].time + usual, None, None))
        found.append(point)
    return found


def group_chart(data: ReportData, page: GroupPage) -> Html | None:
    """Return the lag of one group, for its page; ``None`` if no lag is known."""
    known = [point.lag for point in page.points if point.lag is not None]
    if not known:
        return None
    peak, height = max(known), SMALL
    about = f"{_from_to(data.shown)}. The highest is {words.exact(peak)}, the last {words.exact(known[-1])}."
    scale = Scale(peak, height)
    line = _path(LagSeries(page.row.group, peak, known[-1], page.points), data, lambda point: point.lag, scale, 1, 0)
    return _numbered(data.shown, scale, "records", "Lag in records", about, _unknown(data, height), line)


# Rebalances.

_EVENTS: Final = {
    "joined": ("Members joined", 0, "▲"),
    "left": ("Members left", 1, "▼"),
    "both": ("Joined and left", 6, "◆"),
    "other": ("Neither, or unknown", OTHER, "●"),
}


def rebalance_chart(data: ReportData) -> Chart:
    rebalances = data.rebalances
    lanes = {lane.group: LANE * number + 36 for number, lane in enumerate(rebalances.lanes.rows)}
    marks = [mark for mark in rebalances.marks.rows if mark.group in lanes]
    kinds = [kind for kind in _EVENTS if any(_event(mark) == kind for mark in marks)]
    names = [
        tag("text", f"{words.visible(lane.group, SHORT)}  {lane.rebalances:,}", y=lanes[lane.group] - 12)
        for lane in rebalances.lanes.rows
    ]
    signs = [
        tag("text", _EVENTS[kind][2], tag("title", describe(mark)), class_=f"mark c{_EVENTS[kind][1]}",
            x=_percent(mark.time, data.shown), y=lanes[mark.group] + 5)
        for mark, kind in ((mark, _event(mark)) for mark in marks)
    ]  # fmt: skip
    most = rebalances.lanes.rows[0]
    about = (
        f"Timeline: {words.count(rebalances.marks.total, 'rebalance')}, a lane for each of "
        f"{words.count(len(lanes), 'group')}, {_from_to(data.shown)}. "
        f"{words.visible(most.group)} has most: {words.exact(most.rebalances)}."
    )
    height = LANE * len(lanes) + 8
    grid = tag("path", class_="grid", d="".join(f"M0 {y}H{WIDTH}" for y in lanes.values()))
    title = "A lane for each group, with how often it rebalanced"
    svg = _svg(data.shown, 0, height, title, about, [_unknown(data, height), grid], [*names, *signs])
    caption = "The log does not contain why a member left: a timeout and a LeaveGroup are the same there."
    return Chart("rebalances", title, svg, tuple(Entry(*_EVENTS[kind]) for kind in kinds), caption + _shaded(data))


def _event(mark: Rebalance) -> str:
    return {(True, True): "both", (True, False): "joined", (False, True): "left"}.get(
        (bool(mark.joined), bool(mark.left)), "other"
    )


def describe(mark: Rebalance) -> str:
    """Describe a rebalance in a few lines."""
    word = "generation" if mark.kind in (None, "classic") else "epoch"
    members = "" if mark.members is None else f", {words.count(mark.members, 'member')}"
    lines = [
        words.visible(mark.group, SHORT),
        words.exact_moment(mark.time),
        f"{word} {words.ABSENT if mark.generation is None else mark.generation}{members}",
        *_changes("joined", mark.joined, mark.joined_names),
        *_changes("left", mark.left, mark.left_names),
    ]
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
    return "\n".join(lines)


def _changes(verb: str, number: int | None, names: Sequence[str]) -> list[str]:
    if not number:
        return []
    more = [f"  and {number - len(names)} more"] if number > len(names) else []
    return [f"{number} {verb}:", *(f"  {words.visible(name, 24)}" for name in names), *more]


# Commits.


def rate_chart(data: ReportData, colors: Mapping[str, int]) -> Chart:
    rate, height = data.rate, 220
    rows, seconds = rate.series.rows, rate.bucket.total_seconds()
    totals: dict[datetime, float] = defaultdict(float)
    for series in rows:
        for point in series.points:
            totals[point.time] += point.commits / seconds
    scale = Scale(max(totals.values(), default=0), height)
    below: dict[datetime, float] = defaultdict(float)
    bars = []
    points: dict[datetime, list[tuple[int, str]]] = defaultdict(list)
    for series in rows:
        drawn = []
        for point in series.points:
            start, end = _x(point.time, data.shown), _x(point.time + rate.bucket, data.shown)
            low, high = below[point.time], below[point.time] + point.commits / seconds
            below[point.time] = high
            drawn.append(f"M{start} {scale.y(low)}V{scale.y(high)}H{max(end - 1, start + 1)}V{scale.y(low)}z")
            points[point.time].append((point.commits, f"{words.visible(_name(series), SHORT)} {_rate(point, seconds)}"))
        bars.append(tag("path", class_=f"bar c{_color(series, colors)}", d="".join(drawn)))
    title = "How often groups commit"
    about = (
        f"Stacked bars: commits a second, {_from_to(data.shown)}, in steps of {words.span(rate.bucket)}; "
        f"{words.exact(sum(series.commits for series in rows))} commits of {words.count(rate.series.total, 'group')}."
    )
    svg = _numbered(
        data.shown, scale, "commits a second", title, about, _unknown(data, height), *bars, _tips(points, data, height)
    )
    legend = tuple(Entry(_name(series), _color(series, colors), "■") for series in rows)
    caption = f"Each bar is {words.span(rate.bucket)}; a commit is of one partition. Groups are stacked in this order."
    return Chart("rate", title, svg, legend, caption + _shaded(data))


def _name(series: RateSeries) -> str:
    return "all others" if series.group is None else series.group


def _rate(point: RatePoint, seconds: float) -> str:
    read = "unknown" if point.progress is None else f"{words.number(point.progress / seconds)} records a second"
    return f"{words.exact(point.commits)} commits, progress {read}"


def _color(series: RateSeries, colors: Mapping[str, int]) -> int:
    return REST if series.group is None else colors.get(series.group, REST)


# Common parts.


class Scale:
    """A y axis from 0 to a round number."""

    def __init__(self, most: float, height: int) -> None:
        self.height = height
        power = 10.0**-9
        while power * 10 <= most / 4:
            power *= 10
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor * 4 >= most) if most else 1.0
        self.ticks = [step * number for number in range(1, 5) if number == 1 or step * (number - 1) < most]
        self.top = self.ticks[-1]

    def y(self, value: float) -> int:
        return round(self.height * (1 - value / self.top))


def _numbered(shown: Period, scale: Scale, unit: str, title: str, about: str, *parts: Html | None) -> Html:
    """Return a chart with a y axis of numbers; the first part is below the grid."""
    below, *above = parts
    grid = tag("path", class_="grid", d="".join(f"M0 {scale.y(tick)}H{WIDTH}" for tick in (0, *scale.ticks)))
    labels = [
        tag("text", words.number(float(f"{tick:.6g}")) + (f" {unit}" if tick == scale.top else ""), class_="tick",
            y=TOP + scale.y(tick) - 4)
        for tick in scale.ticks
    ]  # fmt: skip
    return _svg(shown, TOP, scale.height, title, about, [below, grid, *above], labels)


def _svg(
    shown: Period, top: int, height: int, title: str, about: str, inner: Iterable[Html | None], labels: Iterable[Html]
) -> Html:
    times = _times(shown, top + height, 8 if height > SMALL else 4)
    box = f"0 0 {WIDTH} {height}"
    stretched = tag("svg", *inner, y=top, width="100%", height=height, viewBox=box, preserveAspectRatio="none")
    texts = (tag("title", title), tag("desc", about))
    return tag("svg", *texts, stretched, *times, *labels, class_="plot", role="img", width="100%",
               height=top + height + BOTTOM)  # fmt: skip


@cache
def _times(shown: Period, bottom: int, most: int) -> tuple[Html, ...]:
    """Return the labels of the x axis: round times, with the date at the first one and at midnight."""
    step = words.bucket(shown.until - shown.since, most)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    time = shown.since - (shown.since - epoch) % step
    found: list[Html] = []
    while time < shown.until:
        if 0.07 < (time - shown.since) / (shown.until - shown.since) < 0.93:
            x = _percent(time, shown)
            day = step >= timedelta(days=1)
            text = f"{time:%m-%d}" if day else f"{time:%H:%M}" if step.seconds >= 60 else f"{time:%H:%M:%S}"
            dated = bool(found)
            found.append(tag("text", text, class_="time", x=x, y=bottom + 15))
            if not dated or (not day and (time - epoch) % timedelta(days=1) == timedelta(0)):
                date = f"{time:%Y}" if day else f"{time:%Y-%m-%d}"
                found.append(tag("text", date, class_="time", x=x, y=bottom + 30))
        time += step
    return tuple(found)


def _tips(points: Mapping[datetime, list[tuple[int, str]]], data: ReportData, height: int) -> Html:
    """Return an invisible column for each time, whose tooltip has the highest values."""
    times = sorted(points)
    usual = min((after - before for before, after in pairwise(times)), default=data.lag.bucket)
    return join(
        *(
            tag("path", tag("title", "\n".join([words.moment(time), *_highest(points[time])])), class_="tip",
                d=f"M{_x(time, data.shown)} 0V{height}H{_x(time + usual, data.shown)}V0z")
            for time in times
        )
    )  # fmt: skip


def _highest(values: list[tuple[int, str]]) -> list[str]:
    first = [text for _, text in sorted(values, key=lambda each: -each[0])]
    return first[:NAMED] + ([f"and {len(first) - NAMED} more"] if len(first) > NAMED else [])


def _unknown(data: ReportData, height: int) -> Html | None:
    """Return the period without complete history, as an area below all others."""
    since = data.shown.until if data.completeness.unknown else data.completeness.known_since
    if since is None or since <= data.shown.since:
        return None
    return tag("path", tag("title", "history is not complete"), class_="unknown",
               d=f"M0 0V{height}H{_x(min(since, data.shown.until), data.shown)}V0z")  # fmt: skip


def _shaded(data: ReportData) -> str:
    return " History of the shaded time is not complete." if _unknown(data, 0) else ""


def _x(time: datetime, shown: Period) -> int:
    return round(WIDTH * ((time - shown.since) / (shown.until - shown.since)))


def _percent(time: datetime, shown: Period) -> str:
    return f"{_x(time, shown) / (WIDTH / 100):g}%"


def _from_to(period: Period) -> str:
    return f"{words.moment(period.since)} to {words.moment(period.until)}"


# Rankings.


def _rankings(data: ReportData) -> Html:
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
    return tag("div", tag("h3", title), "\n", _bars(data, unit, first), class_="card")


def _bars(data: ReportData, unit: str, rows: Sequence[tuple[str, int, str | None]]) -> Html:
    most = max(1, *(row[1] for row in rows))
    items = [
        tag(
            "li",
            tag("span", link(data, group).shown, number(value, unit).shown, class_="row"),
            tag("span", class_="bar", style=f"width:{max(1 if value else 0, round(100 * value / most))}%"),
            tag("small", remark) if remark else None,
        )
        for group, value, remark in rows
    ]
    return tag("ol", join(*items, by="\n"), class_="ranking")
