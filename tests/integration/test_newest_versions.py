"""Each API is as new as in the newest clients of Kafka that are published, or a reason is given."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from kgroups.sandbox import VERSIONS, kafka_version
from kgroups.sandbox.jars import ensure_jars
from tests.integration.java_program import java_command
from tests.newest_versions import supported, undecided

VERSION = list(VERSIONS)[-1]

PROGRAM = """
import org.apache.kafka.common.protocol.ApiKeys;

public class Versions {
    public static void main(String[] none) {
        for (ApiKeys api : ApiKeys.values()) {
            System.out.println(api.id + " " + api.latestVersion());
        }
    }
}
"""


def test_every_newer_version_of_kafka_is_decided(
    require_kafka: Callable[[str], None], jdk: None, tmp_path: Path
) -> None:
    require_kafka(VERSION)
    program = tmp_path / "Versions.java"
    program.write_text(PROGRAM)
    command = java_command(program, [ensure_jars(kafka_version(VERSION))])
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    newest = {int(key): int(version) for key, version in (line.split() for line in done.stdout.splitlines())}
    assert {api.key for _, api in supported()} <= newest.keys()
    assert undecided(newest, exact=True) == []
