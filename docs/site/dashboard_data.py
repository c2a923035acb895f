"""What the page in dashboards/ draws: a dashboard, its variables, and the results of its queries in Prometheus.

The options of dashboards that the page can draw are listed here; the page shows the names of all others.
"""

from __future__ import annotations

import json
import re
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

Query = Callable[..., Any]
"""Return the data of a response of Prometheus to a path and its parameters."""


class Time(NamedTuple):
    """The time range of a picture, and the seconds between two points of it."""

    start: float
    end: float
    step: int


ANY = "any value"
BY_TYPE = "by type"
_UNITS = ["short", "s", "cps"]
_MAPPINGS = {
    "special": {"type": ANY, "options": {"match": ["null+nan"], "result": {"text": ANY}}},
    "value": {"type": ANY, "options": {"*": {"text": ANY, "color": ["orange", "red"]}}},
}
_THRESHOLDS = {"mode": ["absolute"], "steps": {"color": ["text"], "value": [None]}}
_TARGET = {"refId": ANY, "expr": ANY, "legendFormat": ANY}


def _panel(target: Any = _TARGET, custom: Any = MappingProxyType({}), **more: Any) -> dict[str, Any]:
    """Return the options of a panel type that are drawn."""
    defaults = {
        "unit": _UNITS,
        "noValue": ANY,
        "mappings": {BY_TYPE: _MAPPINGS},
        "thresholds": _THRESHOLDS,
        "custom": custom,
    }
    return {
        **dict.fromkeys(("id", "title", "description", "type", "gridPos"), ANY),
        "datasource": {"type": ["prometheus"], "uid": ["${datasource}"]},
        "targets": target,
        "fieldConfig": {"defaults": defaults, "overrides": {}},
        **more,
    }


PANEL = {
    BY_TYPE: {
        "stat": _panel(
            {**_TARGET, "instant": [True]},
            options={"reduceOptions": {"calcs": ["lastNotNull"]}, "textMode": ["auto", "name"]},
        ),
        "timeseries": _panel(custom={"spanNulls": [False]}),
        "table": _panel(
            {**_TARGET, "format": ["table"], "instant": [True]},
            transformations={
                "id": ["organize"],
                "options": {"excludeByName": ANY, "indexByName": ANY, "renameByName": ANY},
            },
        ),
    }
}
"""The options of panels that are drawn. A list has the values of an option, and ``*`` is for every name."""
DASHBOARD = {
    # How a server stores, refreshes, and links a dashboard, and its range, are not visible in a picture.
    **dict.fromkeys(("title", "uid", "schemaVersion", "version", "refresh", "time", "tags", "links"), ANY),
    "templating": {
        "list": {
            **dict.fromkeys(("name", "query", "datasource", "refresh", "includeAll", "multi", "allValue"), ANY),
            "type": ["datasource", "query"],
        }
    },
    "panels": ANY,
}


def undrawn(value: Any, drawn: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of options in a dashboard or panel that are not drawn."""
    if isinstance(value, list):
        for part in value:
            yield from undrawn(part, drawn, path)
    elif isinstance(value, dict) and isinstance(drawn, Mapping):
        known = drawn[BY_TYPE].get(value["type"]) if BY_TYPE in drawn else drawn
        if known is None:
            yield f"{path}.type={value['type']}".lstrip(".")
            return
        for name, part in value.items():
            where, inner = f"{path}.{name}".lstrip("."), known.get(name, known.get("*"))
            yield from [where] if inner is None else undrawn(part, inner, where)
    elif drawn is not ANY and value not in drawn:
        yield f"{path}={value}"


def resolved(query: str, variables: Mapping[str, str]) -> str:
    """Return a query with the values of its variables.

    :raises KeyError: if a variable has no value.
    """
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda found: variables[found[1] or found[2]], query)


def page_data(dashboard: Mapping[str, Any], wanted: Mapping[str, str], query: Query, time: Time) -> dict[str, Any]:
    """Return the data of a page.

    :param wanted: values of variables, by name.
    :raises ValueError: if Prometheus does not have a value.
    """
    queried = [each for each in dashboard["templating"]["list"] if each["type"] == "query"]
    variables = {each["name"]: wanted[each["name"]] for each in queried}
    for each in queried:
        _check_value(each, variables, query)
    values = {**variables, "__rate_interval": f"{4 * time.step}s", "__interval": f"{time.step}s"}
    return {
        "dashboard": dashboard,
        "variables": variables,
        "undrawn": {
            "dashboard": list(undrawn(dashboard, DASHBOARD)),
            **{panel["id"]: list(undrawn(panel, PANEL)) for panel in dashboard["panels"]},
        },
        "range": [time.start, time.end],
        "step": time.step,
        "results": {
            panel["id"]: {
                target["refId"]: _result(target, resolved(target["expr"], values), query, time)
                for target in panel["targets"]
            }
            for panel in dashboard["panels"]
        },
    }


def _result(target: Mapping[str, Any], expression: str, query: Query, time: Time) -> Any:
    if target.get("instant"):
        return query("query", query=expression, time=time.end)["result"]
    return query("query_range", query=expression, **time._asdict())["result"]


def _check_value(variable: Mapping[str, Any], values: Mapping[str, str], query: Query) -> None:
    found = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"])
    if not found:
        raise ValueError(f"variable {variable['name']}: {variable['query']} is not label_values(SERIES, LABEL)")
    known = query(f"label/{found[2]}/values", **{"match[]": resolved(found[1], values)})
    if values[variable["name"]] not in known:
        raise ValueError(f"variable {variable['name']}: no value {values[variable['name']]} in {known}")


def prometheus(address: str) -> Query:
    """Return the function that queries a server."""

    def query(path: str, **parameters: Any) -> Any:
        words = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{address}/api/v1/{path}?{words}", timeout=60) as answer:
            return json.load(answer)["data"]

    return query
