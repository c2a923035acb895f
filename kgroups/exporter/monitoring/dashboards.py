"""Grafana dashboards for the metrics of the exporter, as tables of panels.

Unknown values are shown as such: no query replaces a missing series by 0, and gaps in graphs are not connected. Each
query selects one Prometheus job, so that clusters are kept apart.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

COUNT, SECONDS, PER_SECOND = "short", "s", "cps"

_ALL, _GROUP, _TOPIC = (
    '{job="$job"}',
    '{job="$job",consumergroup=~"$group"}',
    '{job="$job",consumergroup=~"$group",topic=~"$topic"}',
)
_LOGS = '{job="$job",topic=~"$topic"}'


class Panel(NamedTuple):
    """One panel. ``view``: a panel type of Grafana. ``empty_if``: when a healthy cluster has no result."""

    title: str
    unit: str
    query: str
    legend: str = ""
    view: str = "timeseries"
    empty_if: str = ""
    texts: Mapping[str, str] = {}
    """Value -> the text to show instead."""
    colors: Mapping[str, str] = {}
    """Value -> the color of its text; other values have the color of text, because no limit suits every cluster."""
    columns: Mapping[str, str] = {}
    """The columns of a table: label -> header."""


class Dashboard(NamedTuple):
    """``variables``: name -> query for its values."""

    title: str
    variables: Mapping[str, str]
    panels: Sequence[Panel]


def _rate(metric: str, by: str) -> str:
    """Return the query for records per second; a reset to an earlier offset is not shown as a spike."""
    return f"sum by ({by}) (clamp_min(delta({metric}[5m]), 0)) / 300"


def _number(title: str, query: str, unit: str = COUNT, **rest: Any) -> Panel:
    return Panel(title, unit, query, view="stat", **rest)


_JOB = {"job": "label_values(kgroups_build_info, job)"}
_OF_GROUP = {**_JOB, "group": f"label_values(kafka_consumergroup_stale{_ALL}, consumergroup)"}
_OF_TOPIC = {**_OF_GROUP, "topic": f"label_values(kafka_consumergroup_lag_sum{_GROUP}, topic)"}
_ALERT = {
    "alertname": "alert",
    "severity": "severity",
    "consumergroup": "group",
    "topic": "topic",
    "partition": "partition",
    "instance": "instance",
}

FLEET = Dashboard(
    "Consumer groups: fleet",
    _JOB,
    (
        _number("Cluster reached", f"min(kgroups_up{_ALL})", texts={"0": "no", "1": "yes"}, colors={"0": "red"}),
        _number("Age of the data", f"max(kgroups_data_age_seconds{_ALL})", SECONDS),
        _number("Groups", f"count(kafka_consumergroup_stale{_ALL})"),
        _number("Groups with unknown lag", f"sum(kafka_consumergroup_unknown_partitions{_ALL} > bool 0)"),
        _number("Groups with stale values", f"sum(kafka_consumergroup_stale{_ALL})"),
        _number("Series omitted", f"sum(kgroups_omitted_series{_ALL})"),
        Panel(
            "Firing alerts",
            COUNT,
            f"max by ({', '.join(_ALERT)})"
            ' (ALERTS{alertstate="firing",alertname=~"Kgroups.*|ConsumerGroup.*",job="$job"})',
            view="table",
            empty_if="no alert is firing",
            columns=_ALERT,
        ),
        Panel("Groups by state", COUNT, f"sum by (state) (kafka_consumergroup_state{_ALL})", "{{state}}"),
        Panel("Known lag of all groups", COUNT, f"sum(kafka_consumergroup_known_lag{_ALL})", "lag"),
        Panel(
            "Groups with lag but no members",
            COUNT,
            f"sum((kafka_consumergroup_members{_ALL} == bool 0) * (kafka_consumergroup_known_lag{_ALL} > bool 0))",
            "groups",
        ),
        Panel(
            "Lag: top 10 groups",
            COUNT,
            f"topk(10, max by (consumergroup) (kafka_consumergroup_total_lag{_ALL}))",
            "{{consumergroup}}",
        ),
        Panel(
            "Lag in time: top 10 groups",
            SECONDS,
            f"topk(10, max by (consumergroup) (kafka_consumergroup_lag_seconds{_ALL}))",
            "{{consumergroup}}",
        ),
        Panel(
            "Consumption: top 10 groups",
            PER_SECOND,
            f"topk(10, {_rate('kafka_consumergroup_current_offset_sum' + _ALL, 'consumergroup')})",
            "{{consumergroup}}",
        ),
        Panel(
            "Production: top 10 topics",
            PER_SECOND,
            f"topk(10, {_rate('kafka_topic_partition_current_offset' + _ALL, 'topic')})",
            "{{topic}}",
        ),
        Panel(
            "Rebalances in 5 minutes",
            COUNT,
            f"sum by (consumergroup) (increase(kafka_consumergroup_rebalances_total{_ALL}[5m]))",
            "{{consumergroup}}",
        ),
        Panel(
            "Failures in 5 minutes",
            COUNT,
            f"sum by (scope) (increase(kgroups_scrape_failures_total{_ALL}[5m]))",
            "{{scope}}",
        ),
        Panel("Duration of a poll", SECONDS, f"kgroups_scrape_duration_seconds{_ALL}", "{{instance}}"),
    ),
)

GROUP = Dashboard(
    "Consumer groups: group",
    _OF_GROUP,
    (
        Panel("State", COUNT, f"kafka_consumergroup_state{_GROUP} == 1", "{{consumergroup}}: {{state}}", "stat"),
        Panel("Type", COUNT, f"kafka_consumergroup_info{_GROUP}", "{{type}} {{protocol}}", "stat"),
        _number("Members", f"kafka_consumergroup_members{_GROUP}"),
        _number("Total lag", f"kafka_consumergroup_total_lag{_GROUP}"),
        _number("Partitions with unknown lag", f"kafka_consumergroup_unknown_partitions{_GROUP}"),
        _number(
            "Values", f"kafka_consumergroup_stale{_GROUP}", texts={"0": "current", "1": "stale"}, colors={"1": "orange"}
        ),
        _number("Age of the data", f"time() - kafka_consumergroup_polled_timestamp_seconds{_GROUP}", SECONDS),
        Panel("Total lag", COUNT, f"kafka_consumergroup_total_lag{_GROUP}", "{{consumergroup}}"),
        Panel("Known lag", COUNT, f"kafka_consumergroup_known_lag{_GROUP}", "{{consumergroup}}"),
        Panel("Lag in time", SECONDS, f"kafka_consumergroup_lag_seconds{_GROUP}", "{{consumergroup}}"),
        Panel("Lag by topic", COUNT, f"kafka_consumergroup_lag_sum{_GROUP}", "{{topic}}"),
        Panel(
            "Consumption by topic",
            PER_SECOND,
            _rate(f"kafka_consumergroup_current_offset_sum{_GROUP}", "topic"),
            "{{topic}}",
        ),
        Panel(
            "Production by topic",
            PER_SECOND,
            f"({_rate('kafka_topic_partition_current_offset' + _ALL, 'topic')})"
            f" and on (topic) kafka_consumergroup_current_offset_sum{_GROUP}",
            "{{topic}}",
        ),
        Panel("Top 10 partitions", COUNT, f"topk(10, kafka_consumergroup_lag{_GROUP})", "{{topic}}-{{partition}}"),
        Panel("Members", COUNT, f"kafka_consumergroup_members{_GROUP}", "{{consumergroup}}"),
        Panel(
            "Rebalances in 5 minutes",
            COUNT,
            f"increase(kafka_consumergroup_rebalances_total{_GROUP}[5m])",
            "{{consumergroup}}",
        ),
    ),
)

_OFFSET = "{{topic}}-{{partition}}"
_COMMIT = f"kafka_consumergroup_current_offset{_TOPIC}"

PARTITION = Dashboard(
    "Consumer groups: partition",
    _OF_TOPIC,
    (
        Panel("Lag", COUNT, f"kafka_consumergroup_lag{_TOPIC}", _OFFSET),
        Panel("Lag in time", SECONDS, f"kafka_consumergroup_partition_lag_seconds{_TOPIC}", _OFFSET),
        Panel("Committed offset", COUNT, _COMMIT, _OFFSET),
        Panel("Time without a new offset", SECONDS, f"kafka_consumergroup_offset_unchanged_seconds{_TOPIC}", _OFFSET),
        Panel("Consumption", PER_SECOND, _rate(_COMMIT, "topic, partition"), _OFFSET),
        Panel(
            "Production",
            PER_SECOND,
            _rate(f"kafka_topic_partition_current_offset{_LOGS}", "topic, partition"),
            _OFFSET,
        ),
        Panel("Log end offset", COUNT, f"kafka_topic_partition_current_offset{_LOGS}", _OFFSET),
        Panel("Log start offset", COUNT, f"kafka_topic_partition_oldest_offset{_LOGS}", _OFFSET),
        Panel(
            "Records deleted before they were read",
            COUNT,
            f"clamp_min(kafka_topic_partition_oldest_offset{_LOGS} - on (job, instance, topic, partition)"
            f" group_right {_COMMIT}, 0)",
            _OFFSET,
        ),
        Panel(
            "Age of the last commit",
            SECONDS,
            f"kafka_consumergroup_commit_age_seconds{_TOPIC}",
            _OFFSET,
            empty_if="the exporter runs without --commit-age",
        ),
    ),
)

DASHBOARDS: Mapping[str, Dashboard] = {"fleet": FLEET, "group": GROUP, "partition": PARTITION}

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_COLUMNS = 24
"""Width of Grafana's grid."""
_SIZES = {"stat": (4, 4), "table": (24, 6), "timeseries": (12, 8)}
"""Width and height of a panel."""


def grafana_json(name: str) -> str:
    """Return the JSON text of a dashboard, see :func:`to_grafana`."""
    return json.dumps(to_grafana(name), indent=1)


def to_grafana(name: str) -> dict[str, Any]:
    """Return a dashboard in Grafana's JSON model.

    :raises KeyError: if there is no dashboard of this name.
    """
    dashboard = DASHBOARDS[name]
    return {
        "title": dashboard.title,
        "uid": f"kgroups-{name}",
        "schemaVersion": 39,
        "version": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "tags": ["kafka", "kgroups"],
        "links": [{"type": "dashboards", "title": "Consumer groups", "tags": ["kgroups"], "includeVars": True}],
        "templating": {
            "list": [
                {"name": "datasource", "type": "datasource", "query": "prometheus"},
                *(_variable(variable, query) for variable, query in dashboard.variables.items()),
            ]
        },
        "panels": _panels(dashboard.panels),
    }


def _variable(name: str, query: str) -> dict[str, Any]:
    many = name == "topic"
    return {
        "name": name,
        "type": "query",
        "datasource": _SOURCE,
        "query": query,
        "includeAll": many,
        "multi": many,
        "refresh": 2,
        **({"allValue": ".*"} if many else {}),
    }


def _panels(panels: Sequence[Panel]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    x = y = row = 0
    for number, panel in enumerate(panels, 1):
        width, height = _SIZES[panel.view]
        if x + width > _COLUMNS or (x and height != row):
            x, y = 0, y + row
        made.append(_panel(number, panel, {"x": x, "y": y, "w": width, "h": height}))
        x, row = x + width, height
    return made


def _panel(number: int, panel: Panel, place: dict[str, int]) -> dict[str, Any]:
    texts = {
        value: {"text": text} | ({"color": panel.colors[value]} if value in panel.colors else {})
        for value, text in panel.texts.items()
    }
    made: dict[str, Any] = {
        "id": number,
        "title": panel.title,
        "description": f"Empty if {panel.empty_if}." if panel.empty_if else "",
        "type": panel.view,
        "gridPos": place,
        "datasource": _SOURCE,
        "targets": [{"refId": "A", "expr": panel.query, "legendFormat": panel.legend}],
        "fieldConfig": {
            "defaults": {
                "unit": panel.unit,
                "noValue": "none" if panel.view == "table" else "unknown",
                "mappings": [
                    {"type": "special", "options": {"match": "null+nan", "result": {"text": "unknown"}}},
                    *([{"type": "value", "options": texts}] if texts else []),
                ],
                "custom": {"spanNulls": False} if panel.view == "timeseries" else {},
            },
            "overrides": [],
        },
    }
    if panel.view == "stat":
        shown = "name" if panel.legend else "auto"
        made["options"] = {"reduceOptions": {"calcs": ["lastNotNull"]}, "textMode": shown}
        # A query over the range would also return values that ended within it, such as earlier states of a group.
        made["targets"][0]["instant"] = True
        made["fieldConfig"]["defaults"]["thresholds"] = {
            "mode": "absolute",
            "steps": [{"color": "text", "value": None}],
        }
    if panel.view == "table":
        made["targets"][0].update(format="table", instant=True)
        made["transformations"] = [
            {
                "id": "organize",
                "options": {
                    "excludeByName": {"Time": True, "Value": True},
                    "indexByName": {label: position for position, label in enumerate(panel.columns)},
                    "renameByName": dict(panel.columns),
                },
            }
        ]
    return made
