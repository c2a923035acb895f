"""Charts: limited in size, with gaps at missing samples, and colors for light and dark."""

from __future__ import annotations

import re

import pytest

from kgroups.history.report.charts import LINES, OTHER, REST, Chart, Scale, charts, figure, palette
from kgroups.history.report.data import Kept, ReportData
from kgroups.history.report.page import asset
from tests.fakes.report import HOSTILE, NAMES, busy_day, hours, nothing


@pytest.fixture(scope="module")
def busy_charts() -> dict[str, Chart]:
    return by_name(busy_day())


def by_name(day: ReportData) -> dict[str, Chart]:
    return {chart.name: chart for chart in charts(day)}


def paths(chart: Chart, kind: str) -> list[str]:
    return re.findall(rf'<path class="{kind}[^"]*" d="([^"]*)"', chart.svg)


def test_charts_of_no_data_are_none() -> None:
    assert charts(nothing()) == []


def test_lines_break_at_missing_samples(busy_charts: dict[str, Chart]) -> None:
    """Nothing was sampled between 9:00 and 11:00: the line ends at 8:45, and starts again at 11:00."""
    for line in paths(busy_charts["lag"], "line"):
        assert line.count("M") == 2
        before, after = line[1:].split("M")
        assert before.split("L")[-1].split()[0] == "365" and after.startswith("458 ")


def test_one_sample_is_a_bar_for_each_group() -> None:
    day = busy_day()
    rows = tuple(row._replace(points=row.points[:1]) for row in day.lag.series.rows[:3])
    found = charts(day._replace(lag=day.lag._replace(series=Kept(rows, 3))))
    assert [chart.name for chart in found][:2] == ["lag", "rebalances"]
    assert found[0].svg.count('class="bar"') == 3 and "<path" not in found[0].svg
    assert found[0].caption.startswith("One sample, of 2026-02-28T14:30:00Z.")


def test_sample_between_gaps_is_a_dot() -> None:
    day = busy_day()
    series = tuple(each._replace(points=each.points[:1]) for each in day.lag.series.rows)
    chart = by_name(day._replace(lag=day.lag._replace(series=Kept(series, 13))))["lag"]
    assert all(re.fullmatch(r"M104 \d+h0", line) for line in paths(chart, "line"))


def test_coordinates_are_integers_in_the_chart(busy_charts: dict[str, Chart]) -> None:
    for chart in busy_charts.values():
        for path in re.findall(r' d="([^"]*)"', chart.svg):
            assert re.fullmatch(r"(?:[MLHVhz][ \d]*)+", path), path
            assert all(int(number) <= 1000 for number in re.findall(r"\d+", path))


def test_group_has_the_same_color_on_all_charts(busy_charts: dict[str, Chart]) -> None:
    assert list(palette(busy_day()).values()) == list(range(LINES))
    lag = {entry.name: entry.color for entry in busy_charts["lag"].legend}
    rate = {entry.name: entry.color for entry in busy_charts["rate"].legend}
    assert lag["billing"] == rate["billing"] == 0
    assert lag["audit"] == rate["all others"] == REST


def test_busy_groups_without_lag_get_remaining_colors() -> None:
    day = busy_day()
    busy = tuple(series._replace(group=f"busy-{number}") for number, series in enumerate(day.rate.series.rows[:3]))
    colors = palette(day._replace(rate=day.rate._replace(series=Kept(busy, 3))))
    assert [name for name in colors if name.startswith("busy")] == ["busy-0", "busy-1"]


def test_lines_differ_without_color(busy_charts: dict[str, Chart]) -> None:
    style = asset("style.css")
    dashes = re.findall(r"\.line\.c(\d) {[^}]*stroke-dasharray: ([^;]*);", style)
    assert [int(number) for number, _ in dashes] == list(range(1, REST + 1))
    assert len({dash for _, dash in dashes}) == REST
    for number in range(OTHER + 1):
        assert f".c{number} {{ color: var(--c{number}); }}" in style
    signs = {entry.sign for entry in busy_charts["rebalances"].legend}
    assert len(signs) == len(busy_charts["rebalances"].legend)
    assert "stacked in this order" in busy_charts["rate"].caption
    legend = re.findall(r'<path class="line c(\d)" d="M0 6H30">', figure(busy_charts["lag"]))
    assert legend == [str(entry.color) for entry in busy_charts["lag"].legend]


@pytest.mark.parametrize(
    ("most", "ticks"),
    [
        (0, [1]),
        (1, [0.5, 1]),
        (7, [2, 4, 6, 8]),
        (1_261_000, [500_000, 1_000_000, 1_500_000]),
        (0.003, [0.001, 0.002, 0.003]),
        (4000, [1000, 2000, 3000, 4000]),
    ],
)
def test_scale_is_round_and_includes_the_highest_value(most: float, ticks: list[float]) -> None:
    scale = Scale(most, 100)
    assert scale.ticks == pytest.approx(ticks)
    assert scale.y(0) == 100 and 0 <= scale.y(most) <= 100


def test_time_lag_axis_uses_readable_units(busy_charts: dict[str, Chart]) -> None:
    assert " minutes<" in busy_charts["behind"].svg
    day = busy_day()
    one = day.lag.series.rows[0]
    late = one._replace(points=tuple(point._replace(behind_ms=hours(60)) for point in one.points))
    chart = by_name(day._replace(lag=day.lag._replace(series=Kept((late,), 1))))["behind"]
    assert ">3 days<" in chart.svg
    assert "billing 2 d 12 h</title>" in chart.svg


def test_tooltips_have_the_highest_values_of_a_time(busy_charts: dict[str, Chart]) -> None:
    tip = re.findall(r'<path class="tip"[^>]*><title>([^<]*)</title>', busy_charts["lag"].svg)[-1].splitlines()
    assert tip[:2] == ["2026-03-01T11:45:00Z", "billing 1.23 M"]
    assert (len(tip), tip[-1]) == (7, "and 8 more")
    assert "commits, progress " in busy_charts["rate"].svg


def test_unknown_time_is_shaded(busy_charts: dict[str, Chart]) -> None:
    shaded = r'<path class="unknown" d="M0 0V260H(\d+)V0z"><title>history is not complete'
    assert re.findall(shaded, busy_charts["lag"].svg) == ["104"]
    day = busy_day()
    unknown = charts(day._replace(completeness=day.completeness._replace(unknown=1)))[0]
    assert re.findall(shaded, unknown.svg) == ["1000"]
    whole = charts(day._replace(completeness=day.completeness._replace(known_since=None)))[0]
    assert "unknown" not in whole.svg


def test_marks_explain_the_rebalance(busy_charts: dict[str, Chart]) -> None:
    chart = busy_charts["rebalances"]
    assert [entry.name for entry in chart.legend] == [
        "Members joined", "Members left", "Joined and left", "Neither, or unknown",
    ]  # fmt: skip
    shown = marks(chart)
    assert len(shown) == len(busy_day().rebalances.marks.rows)
    assert any("7 joined:" in text and "and 2 more" in text for text in shown)
    assert any("converged after 850 ms (850 ms)" in text for text in shown)
    assert any("commits paused for 1.2 s (1,234 ms)" in text for text in shown)
    assert HOSTILE not in chart.svg and "<img" not in chart.svg
    assert len(re.findall(r'<text y="', chart.svg)) == len(NAMES[:7])


def marks(chart: Chart) -> list[str]:
    return re.findall(r'<text class="mark c\d" x="[\d.]+%" y="\d+">.<title>([^<]*)</title>', chart.svg)


def test_marks_of_rebalance_without_history_say_unknown() -> None:
    day = busy_day()
    first = day.rebalances.marks.rows[0]._replace(joined=None, left=None, joined_names=(), left_names=())
    alone = day.rebalances._replace(marks=Kept((first,), 1))
    assert "who joined or left is unknown" in marks(by_name(day._replace(rebalances=alone))["rebalances"])[0]
