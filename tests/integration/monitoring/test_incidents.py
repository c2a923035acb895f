"""Incidents on real brokers: the alert for each fires; and a healthy cluster is silent.

For incidents, the durations of the rules are divided by ``SHORTER``. The rules as they are must be silent on the
healthy cluster, for ``--quiet-minutes``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.sandbox import Sandbox
from kgroups.sandbox.topics import make_topics
from tests.integration.asking import run_here
from tests.integration.conftest import wanted_versions
from tests.integration.monitoring.load import PARTITIONS, Consuming, Producing
from tests.integration.monitoring.prometheus import Prometheus, run_exporter, wait_until
from tests.integration.versions import MAIN

pytestmark = pytest.mark.soak
TOPIC = "monitored"
JOB = "incidents"
QUICK = ("--broker-timeout", "2s")


class Scene(NamedTuple):
    """A cluster with a producer, and an exporter that Prometheus scrapes."""

    sandbox: Sandbox
    prometheus: Prometheus

    def consuming(self, group: str, *stuck: int) -> Consuming:
        return Consuming(self.sandbox.bootstrap, group, TOPIC, stuck)

    def await_lag(self, group: str) -> None:
        """Wait until all partitions of a group have commits."""
        query = f'kafka_consumergroup_total_lag{{job="{JOB}",consumergroup="{group}"}}'
        wait_until(lambda: self.prometheus.query(query))

    def await_alert(self, name: str, **labels: str) -> None:
        wanted = {"alertname": name, **labels}.items()
        wait_until(lambda: any(wanted <= each.items() for each in self.prometheus.firing(JOB, quick=True)))


@pytest.fixture(scope="module")
def scene(
    request: pytest.FixtureRequest, require_kafka: Callable[[str], None], prometheus: Prometheus
) -> Iterator[Scene]:
    if MAIN not in wanted_versions(request.config):
        pytest.skip(f"harm is done to Kafka {MAIN} only")
    require_kafka(MAIN)
    with Sandbox.up(MAIN, brokers=3, name=f"pytest-{os.getpid()}-monitoring") as sandbox:
        settings = ClientSettings(parse_bootstrap(sandbox.bootstrap), timeout=60, broker_timeout=60)
        make_topics(settings, {TOPIC: dict.fromkeys(range(PARTITIONS), 1)})
        with (
            Producing(sandbox.bootstrap, TOPIC),
            run_exporter(sandbox.bootstrap, *QUICK) as exporter,
            prometheus.scrape(JOB, exporter),
        ):
            yield Scene(sandbox, prometheus)


def test_healthy_cluster_is_silent(scene: Scene, request: pytest.FixtureRequest) -> None:
    with scene.consuming("healthy"):
        scene.await_lag("healthy")
        until = time.monotonic() + 60 * request.config.getoption("--quiet-minutes")
        while time.monotonic() < until:
            assert scene.prometheus.firing(JOB) == []
            time.sleep(1)


def test_stopped_consumer(scene: Scene) -> None:
    with scene.consuming("stopped"):
        scene.await_lag("stopped")
    scene.await_alert("ConsumerGroupStopped", consumergroup="stopped")


def test_stuck_partition(scene: Scene) -> None:
    with scene.consuming("stuck"):
        scene.await_lag("stuck")
    with scene.consuming("stuck", 1):
        scene.await_alert("ConsumerGroupPartitionStuck", consumergroup="stuck", topic=TOPIC, partition="1")


def test_deleted_group(scene: Scene, tmp_path: Path) -> None:
    with scene.consuming("deleted"):
        scene.await_lag("deleted")
    undo = ("--undo-file", str(tmp_path / "undo.json"))
    answer = run_here("delete", "deleted", "--execute", "--yes", *undo, bootstrap=scene.sandbox.bootstrap)
    assert answer.code == 0, answer.err
    scene.await_alert("ConsumerGroupDisappeared", consumergroup="deleted")


def test_killed_broker(scene: Scene) -> None:
    """The last test: this broker is not started again."""
    with scene.consuming("survivor"):
        scene.await_lag("survivor")
        query = f'kafka_consumergroup_info{{job="{JOB}",consumergroup="survivor"}}'
        coordinator = int(scene.prometheus.query(query)[0]["metric"]["coordinator"])
        scene.sandbox.kill(coordinator)
        scene.await_alert("KgroupsPartialData")
        scene.await_alert("ConsumerGroupStale", consumergroup="survivor")
        gone = {"alertname": "ConsumerGroupDisappeared", "consumergroup": "survivor"}.items()
        assert not [each for each in scene.prometheus.firing(JOB, quick=True) if gone <= each.items()]
