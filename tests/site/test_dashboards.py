"""The pictures of the Grafana dashboards: what is drawn, and what is queried. Nothing here needs npm or a browser."""

from __future__ import annotations

import json
import re
import runpy
from typing import Any

import pytest

from kgroups.exporter.monitoring.dashboards import DASHBOARDS, to_grafana
from tests.documentation.pages import ROOT

SITE = ROOT / "docs/site"
DATA = runpy.run_path(str(SITE / "dashboard_data.py"))
PANEL, DASHBOARD, BY_TYPE = DATA["PANEL"], DATA["DASHBOARD"], DATA["BY_TYPE"]
WANTED = {"job": "kafka", "group": "invoices", "topic": "shipments"}
TIME = DATA["Time"](1000.0, 1300.0, 2)


class FakePrometheus:
    """Has one value of each variable, and no samples."""

    def __init__(self) -> None:
        self.queries: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, path: str, **parameters: Any) -> Any:
        self.queries.append((path, parameters))
        return list(WANTED.values()) if path.startswith("label/") else {"result": []}


def undrawn(value: Any, drawn: Any) -> list[str]:
    return list(DATA["undrawn"](value, drawn))


@pytest.mark.parametrize("name", DASHBOARDS)
def test_everything_in_a_dashboard_is_drawn(name: str) -> None:
    dashboard = to_grafana(name)
    assert undrawn(dashboard, DASHBOARD) == []
    assert {panel["title"]: undrawn(panel, PANEL) for panel in dashboard["panels"]} == {
        panel["title"]: [] for panel in dashboard["panels"]
    }


def test_page_draws_the_listed_panel_types() -> None:
    views = re.search(r"const VIEWS = \{(.+)\}", (SITE / "dashboards/page.jsx").read_text(encoding="utf-8"))
    assert views
    assert set(re.findall(r"(\w+):", views[1])) == set(PANEL[BY_TYPE])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"type": "gauge"}, ["type=gauge"]),
        ({"transformations": [{"id": "merge"}]}, ["transformations"]),
        ({"options": {"textMode": "value", "colorMode": "none"}}, ["options.textMode=value", "options.colorMode"]),
        ({"targets": [{"refId": "A", "expr": "up", "format": "heatmap"}]}, ["targets.format"]),
        ({"fieldConfig": {"defaults": {"unit": "bytes"}, "overrides": []}}, ["fieldConfig.defaults.unit=bytes"]),
        ({"fieldConfig": {"defaults": {"max": 1}, "overrides": []}}, ["fieldConfig.defaults.max"]),
        ({"fieldConfig": {"overrides": [{"properties": []}]}}, ["fieldConfig.overrides.properties"]),
        (
            {"fieldConfig": {"defaults": {"mappings": [{"type": "regex"}]}}},
            ["fieldConfig.defaults.mappings.type=regex"],
        ),
    ],
)
def test_other_options_are_named(change: dict[str, Any], expected: list[str]) -> None:
    assert undrawn(to_grafana("group")["panels"][0] | change, PANEL) == expected


@pytest.mark.parametrize("name", DASHBOARDS)
def test_queries_have_the_values_of_the_variables(name: str) -> None:
    prometheus, dashboard = FakePrometheus(), to_grafana(name)
    found = DATA["page_data"](dashboard, WANTED, prometheus, TIME)
    assert json.loads(json.dumps(found))["dashboard"] == dashboard
    assert found["undrawn"]["dashboard"] == []
    assert [list(results) for results in found["results"].values()] == [["A"]] * len(dashboard["panels"])
    expressions = [each.get("query", each.get("match[]", "")) for _, each in prometheus.queries]
    assert all("$" not in expression for expression in expressions)
    assert list(found["variables"]) == list(DASHBOARDS[name].variables)
    for variable in found["variables"]:
        assert variable == "topic" or any(WANTED[variable] in expression for expression in expressions)


def test_table_is_an_instant_query_at_the_end_of_the_range() -> None:
    prometheus = FakePrometheus()
    DATA["page_data"](to_grafana("fleet"), WANTED, prometheus, TIME)
    instant = [parameters for path, parameters in prometheus.queries if path == "query"]
    ranges = [parameters for path, parameters in prometheus.queries if path == "query_range"]
    assert {each["time"] for each in instant} == {1300.0}
    assert [each["query"] for each in instant if "ALERTS{" in each["query"]]
    assert {(each["start"], each["end"], each["step"]) for each in ranges} == {(1000.0, 1300.0, 2)}


def test_variable_without_a_value_is_an_error() -> None:
    with pytest.raises(KeyError, match="cluster"):
        DATA["resolved"]('up{cluster="$cluster"}', WANTED)
    with pytest.raises(ValueError, match="variable group: no value other in"):
        DATA["page_data"](to_grafana("group"), WANTED | {"group": "other"}, FakePrometheus(), TIME)


def test_resolves_both_ways_to_write_a_variable() -> None:
    resolved = DATA["resolved"](
        'rate(x{job="$job",topic=~"${topic}"}[$__rate_interval])', WANTED | {"__rate_interval": "8s"}
    )
    assert resolved == 'rate(x{job="kafka",topic=~"shipments"}[8s])'


def test_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SITE))
    pictures = runpy.run_path(str(SITE / "dashboard_pictures.py"))
    monkeypatch.setenv("PATH", "")
    assert pictures["prepare"](None) == "they need Chromium, npm, prometheus"


def test_picture_has_the_height_of_all_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SITE))
    height = runpy.run_path(str(SITE / "dashboard_pictures.py"))["_height"]
    assert height({"panels": [{"gridPos": {"y": 0, "h": 8}}, {"gridPos": {"y": 8, "h": 2}}]}) == 80 + 10 * 38
