"""Every query of the dashboards and of the alert rules has a result in Prometheus, or is documented to be empty."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
import yaml

from tests.integration.asking import run_here
from tests.integration.known_cluster import KnownCluster
from tests.integration.monitoring.prometheus import Prometheus, run_exporter, wait_until
from tests.integration.versions import newest_only

pytestmark = newest_only
JOB = "dashboards"


@pytest.fixture(scope="module")
def scraped(known_cluster: KnownCluster, prometheus: Prometheus) -> Iterator[Prometheus]:
    with run_exporter(known_cluster.sandbox.bootstrap) as exporter, prometheus.scrape(JOB, exporter):
        yield prometheus


def shown(query: str) -> str:
    """Return a query as Grafana sends it with all groups and topics selected."""
    return query.replace("$job", JOB).replace("$group", ".*").replace("$topic", ".*")


@pytest.mark.parametrize("name", ["fleet", "group", "partition"])
def test_queries_of_dashboard_have_results(name: str, scraped: Prometheus) -> None:
    dashboard = json.loads(run_here("exporter", "--dashboard", name, bootstrap="").out)
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            query = shown(target["expr"])
            if panel["description"].startswith("Empty if "):
                assert scraped.query(query) == [], panel["title"]
            else:
                assert wait_until(lambda query=query: scraped.query(query)), panel["title"]
    for variable in dashboard["templating"]["list"][1:]:
        found = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"])
        assert found
        assert scraped.get(f"label/{found[2]}/values", match=shown(found[1])), variable["name"]


def test_expressions_of_alerts_use_metrics_that_exist(scraped: Prometheus) -> None:
    rules = [
        rule
        for group in yaml.safe_load(run_here("exporter", "--alerts", bootstrap="").out)["groups"]
        for rule in group["rules"]
    ]
    for rule in rules:
        scraped.query(rule["expr"])
        if rule["alert"] not in ("ConsumerGroupNearExpiry", "ConsumerGroupHeadroom"):  # need more options
            for metric in set(re.findall(r"\b(?:kafka|kgroups)_\w+", rule["expr"])):
                assert wait_until(lambda metric=metric: scraped.query(f'{metric}{{job="{JOB}"}}')), metric
    evaluated = wait_until(lambda: all_evaluated(scraped))
    assert [each["name"] for each in evaluated if each["health"] != "ok"] == []
    assert len(evaluated) == 2 * len(rules)  # as they are, and shortened


def all_evaluated(prometheus: Prometheus) -> list[dict[str, str]]:
    rules = [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]
    return [] if any(rule["health"] == "unknown" for rule in rules) else rules
