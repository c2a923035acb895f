"""Brokers whose settings decide about migrations, and the verdicts of kgroups about their groups."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from kgroups.sandbox import Sandbox
from kgroups.sandbox.versions import FURTHER
from tests.conftest import kafka_versions
from tests.integration.asking import Row, run_here
from tests.integration.migrating_group import PARTITIONS, PATIENT, TOPIC
from tests.integration.versions import MAIN

VERSIONS = (*FURTHER, "4.3.1", "4.4.0")
POLICY, CONSUMER_MAX, CLASSIC_MAX = "group.consumer.migration.policy", "group.consumer.max.size", "group.max.size"
_SETTINGS = {"group.initial.rebalance.delay.ms": "300", **PATIENT}


class Limits(NamedTuple):
    policy: str
    consumer_max: int = 100
    classic_max: int = 100

    @property
    def settings(self) -> Mapping[str, str]:
        return {POLICY: self.policy, CONSUMER_MAX: str(self.consumer_max), CLASSIC_MAX: str(self.classic_max)}

    def __str__(self) -> str:
        return f"{self.policy.lower()}-{self.consumer_max}-{self.classic_max}"


@contextmanager
def migration_broker(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Start a broker of the version that is the parameter of a fixture, with a topic, or skip."""
    version, wanted = request.param, kafka_versions(request.config)
    if version in FURTHER and request.config.getoption("--soak"):
        wanted = (*wanted, *((version,) if MAIN in wanted else ()))
    if version not in wanted:
        pytest.skip(f"not a version of --kafka: {version}")
    with Sandbox.up(version, name=f"pytest-{os.getpid()}-migration", properties=_SETTINGS) as sandbox:
        admin = AdminClient({"bootstrap.servers": sandbox.bootstrap, "log_level": 3})
        for made in admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)]).values():
            made.result(60)
        del admin, made  # or it looks for the broker while that restarts
        yield sandbox


def configure(sandbox: Sandbox, settings: Mapping[str, str]) -> None:
    """Change settings that brokers do not change while they run."""
    file = sandbox.folder / "broker-1" / "server.properties"
    kept = [line for line in file.read_text().splitlines() if not line.startswith(tuple(settings))]
    file.write_text("\n".join([*kept, *(f"{key}={value}" for key, value in settings.items())]) + "\n")
    sandbox.terminate(1)
    sandbox.restart(1)


def judged(sandbox: Sandbox, names: Sequence[str], *, all_exist: bool = True) -> dict[str, Row]:
    """Return the rows of ``kgroups list --migration`` by group."""
    answer = run_here("list", *names, "--migration", "-o", "json", "--timeout", "120s", bootstrap=sandbox.bootstrap)
    assert not all_exist or answer.code == 0, answer.err
    return {row["group"]: row for row in answer.items}
