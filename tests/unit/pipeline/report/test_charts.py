"""Charts: limited in size, with gaps at missing samples, and colors for light and dark."""

from __future__ import annotations

from typing import Any

import pytest

from kgroups.pipeline.report.charts import DARK, LINES, REST, Chart, charts, palette
from kgroups.pipeline.report.data import Kept
from tests.fakes.report import HOSTILE, NAMES, busy_day, hours, nothing


@pytest.fixture(scope="module")
def busy_charts() -> dict[str, Chart]:
    return {chart.name: chart for chart in charts(busy_day())}


def test_charts_of_no_data_are_none() -> None:
    assert charts(nothing()) == []


def test_lines_break_at_missing_samples(busy_charts: dict[str, Chart]) -> None:
    first = busy_charts["lag"].figure["data"][0]
    gaps = [time for time, value in zip(first["x"], first["y"], strict=True) if value is None]
    assert gaps == ["2026-02-28 21:00:00.000"]
    assert first["connectgaps"] is False


def test_group_has_the_same_color_on_all_charts(busy_charts: dict[str, Chart]) -> None:
    colors = palette(busy_day())
    assert list(colors.values()) == list(LINES)
    lag = {entry.name: entry.color for entry in busy_charts["lag"].legend}
    rate = {entry.name: entry.color for entry in busy_charts["rate"].legend}
    assert lag["billing"] == rate["billing"] == LINES[0]
    assert lag["audit"] == rate["all others"] == REST


def test_busy_groups_without_lag_get_remaining_colors() -> None:
    day = busy_day()
    busy = tuple(series._replace(group=f"busy-{number}") for number, series in enumerate(day.rate.series.rows[:3]))
    colors = palette(day._replace(rate=day.rate._replace(series=Kept(busy, 3))))
    assert [name for name in colors if name.startswith("busy")] == ["busy-0", "busy-1"]


def test_every_color_has_a_dark_variant(busy_charts: dict[str, Chart]) -> None:
    def colors(value: Any, key: str = "") -> set[str]:
        if isinstance(value, dict):
            return set().union(*(colors(each, name) for name, each in value.items()))
        if isinstance(value, list):
            return set().union(*(colors(each, key) for each in value))
        return {value} if key.endswith("color") else set()

    assert set().union(*(colors(chart.figure) for chart in busy_charts.values())) <= set(DARK)


def test_time_lag_axis_uses_readable_units(busy_charts: dict[str, Chart]) -> None:
    assert busy_charts["behind"].figure["layout"]["annotations"][0]["text"] == "minutes"
    day = busy_day()
    one = day.lag.series.rows[0]
    late = one._replace(points=tuple(point._replace(behind_ms=hours(60)) for point in one.points))
    chart = next(
        each for each in charts(day._replace(lag=day.lag._replace(series=Kept((late,), 1)))) if each.name == "behind"
    )
    assert chart.figure["layout"]["annotations"][0]["text"] == "days"
    assert chart.figure["data"][0]["y"][0] == 2.5
    assert chart.figure["data"][0]["customdata"][0] == "2 d 12 h"


def test_unknown_time_is_shaded(busy_charts: dict[str, Chart]) -> None:
    field = busy_charts["lag"].figure["layout"]["shapes"][0]
    assert (field["x0"], field["x1"]) == ("2026-02-28 12:00:00.000", "2026-02-28 14:30:00.000")
    day = busy_day()
    unknown = charts(day._replace(completeness=day.completeness._replace(unknown=1)))[0]
    assert unknown.figure["layout"]["shapes"][0]["x1"] == "2026-03-01 12:00:00.000"
    whole = charts(day._replace(completeness=day.completeness._replace(known_since=None)))[0]
    assert "shapes" not in whole.figure["layout"] or not whole.figure["layout"]["shapes"]


def test_marks_explain_the_rebalance(busy_charts: dict[str, Chart]) -> None:
    chart = busy_charts["rebalances"]
    assert [entry.name for entry in chart.legend] == [
        "Members joined", "Members left", "Joined and left", "Neither, or unknown",
    ]  # fmt: skip
    told = [text for trace in chart.figure["data"] for text in trace["customdata"]]
    assert len(told) == len(busy_day().rebalances.marks.rows)
    assert any("7 joined:" in text and "and 2 more" in text for text in told)
    assert any("converged after 850 ms (850 ms)" in text for text in told)
    assert any("commits paused for 1.2 s (1,234 ms)" in text for text in told)
    assert not any(HOSTILE in text or "<img" in text for text in told)


def test_marks_of_rebalance_without_history_say_unknown() -> None:
    day = busy_day()
    first = day.rebalances.marks.rows[0]._replace(joined=None, left=None, joined_names=(), left_names=())
    alone = day.rebalances._replace(marks=Kept((first,), 1))
    chart = next(each for each in charts(day._replace(rebalances=alone)) if each.name == "rebalances")
    assert "who joined or left is unknown" in chart.figure["data"][0]["customdata"][0]


def test_group_names_are_not_axis_categories(busy_charts: dict[str, Chart]) -> None:
    """An axis of categories would take a group named 7 for a number, and one named 2026-01-01 for a time."""
    assert all(isinstance(value, int) for trace in busy_charts["rebalances"].figure["data"] for value in trace["y"])
    lanes = busy_charts["rebalances"].figure["layout"]["annotations"]
    assert len(lanes) == len(NAMES[:7])
