"""What is set for groups: as kgroups shows it, and as Kafka's own tool does."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from kgroups.sandbox import Sandbox
from tests.integration.asking import run_here

SECONDS = 120.0
_KAFKAS = re.compile(r"  (\S+)=(\S*) sensitive")


def kafka_configs(cluster: Sandbox, kind: str, name: str, *words: str) -> str:
    """Run ``kafka-configs.sh`` for an entity, and return what it prints."""
    tool = "org.apache.kafka.tools.ConfigCommand" if cluster.version.name == "4.4.0" else "kafka.admin.ConfigCommand"
    entity = ("--bootstrap-server", cluster.bootstrap, "--entity-type", kind, "--entity-name", name)
    done = cluster.java(tool, *entity, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def by_kafka(cluster: Sandbox, group: str) -> dict[str, str]:
    """Return the values that are set for a group, as Kafka's own tool shows them."""
    return dict(_KAFKAS.findall(kafka_configs(cluster, "groups", group, "--describe")))


def until_shown(cluster: Sandbox, groups: Sequence[str], wanted: dict[tuple[str, str], str]) -> None:
    """Wait until the brokers have applied a change, which is shortly after they respond."""
    end = time.monotonic() + SECONDS
    while (found := _shown(cluster, groups)) != wanted:
        assert time.monotonic() < end, found


def _shown(cluster: Sandbox, groups: Sequence[str]) -> dict[tuple[str, str], str]:
    answer = run_here("settings", "show", *groups, "--overridden", "-o", "json", bootstrap=cluster.bootstrap)
    assert answer.code == 0, answer.err
    return {(row["group"], row["key"]): row["value"] for row in answer.items}
