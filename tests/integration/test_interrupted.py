"""Signals during a write on real brokers: the reported results match what a second client reads."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient

from tests.integration.scratch_cluster import LOG, ScratchCluster
from tests.integration.versions import newest_only

GROUPS = 500
OLD, NEW = 15, 13


def read_by_another_client(scratch_cluster: ScratchCluster, groups: Iterable[str]) -> dict[str, int]:
    """The committed offset of partition 0 of each group, as librdkafka reads it."""
    client = AdminClient({"bootstrap.servers": scratch_cluster.sandbox.bootstrap})
    asked = {
        group: client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group] for group in groups
    }
    return {group: future.result(60).topic_partitions[0].offset for group, future in asked.items()}


def interrupted(scratch_cluster: ScratchCluster, undo: Path, number: signal.Signals) -> tuple[int, str, str]:
    """A reset that gets a signal once its first result is there."""
    words = ["reset-offsets", "--regex", f"acts-{number.name}-.*", "--topic", f"{LOG}:0", "--shift-by", str(NEW - OLD)]
    words += ["--max-requests-per-second", "100"]  # or the run may be over before the signal arrives
    words += ["--execute", "--yes", "--undo-file", str(undo), "-o", "json", "-b", scratch_cluster.sandbox.bootstrap]
    command, pipe = [sys.executable, "-m", "kgroups", *words], subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        while not (undo.exists() and '"applied"' in undo.read_text()) and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@newest_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_interrupted_write_reports_what_was_written(
    scratch_cluster: ScratchCluster, tmp_path: Path, number: signal.Signals
) -> None:
    undo = tmp_path / "undo.json"
    groups = [f"acts-{number.name}-{at:03}" for at in range(GROUPS)]  # those moved before are watched for longer
    scratch_cluster.commit({group: {LOG: {0: OLD}} for group in groups})
    code, out, err = interrupted(scratch_cluster, undo, number)
    assert code == 128 + number, err
    results = {row["group"]: row["result"] for row in json.loads(out)["items"]}
    assert sorted(results) == groups
    found = read_by_another_client(scratch_cluster, groups)
    assert {group: found[group] for group, result in results.items() if result == "applied"} == {
        group: NEW for group, result in results.items() if result == "applied"
    }
    assert {found[group] for group, result in results.items() if result == "failed"} <= {OLD}
    assert set(found.values()) <= {OLD, NEW} and NEW in found.values()
    assert "to restore the old offsets: kgroups undo" in err and "plan again" not in err
    answer = scratch_cluster.ask(
        "reset-offsets", "--from-file", str(undo), "--execute", "--yes", "--undo-file", f"{undo}.2"
    )
    assert answer.code == 0, answer.err
    assert read_by_another_client(scratch_cluster, groups) == dict.fromkeys(groups, OLD)
