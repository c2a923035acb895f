"""Undo files on real brokers: which clusters and topics they apply to."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster
from kgroups.sandbox.topics import create_topics
from tests.integration.scratch_cluster import ScratchCluster
from tests.integration.versions import newest_only

TOPIC, GROUP = "undo-recreated", "undo-group"


def create(scratch_cluster: ScratchCluster, records: int) -> None:
    """Create the topic with this number of records."""

    async def created() -> None:
        cluster, _ = await Cluster.connect(
            ClientSettings(parse_bootstrap(scratch_cluster.sandbox.bootstrap), timeout=60)
        )
        async with cluster:
            await create_topics(cluster, {TOPIC: 1})

    asyncio.run(created())
    producer = Producer({"bootstrap.servers": scratch_cluster.sandbox.bootstrap, "enable.idempotence": True})
    for number in range(records):
        producer.produce(TOPIC, b"%d" % number, partition=0)
    assert not producer.flush(60)


def delete(scratch_cluster: ScratchCluster) -> None:
    """Deletes the topic, and waits until no broker has it."""
    client = AdminClient({"bootstrap.servers": scratch_cluster.sandbox.bootstrap})
    client.delete_topics([TOPIC])[TOPIC].result(60)
    until = time.monotonic() + 60
    while TOPIC in client.list_topics(timeout=60).topics:
        assert time.monotonic() < until
        time.sleep(0.2)


@newest_only
def test_undo_of_recreated_topic_is_reported_and_not_written(scratch_cluster: ScratchCluster, tmp_path: Path) -> None:
    create(scratch_cluster, 40)
    scratch_cluster.commit({GROUP: {TOPIC: {0: 30}}})
    undo = tmp_path / "undo.json"
    words = ("--execute", "--yes", "-o", "json")
    answer = scratch_cluster.ask(
        "reset-offsets", GROUP, "--all-topics", "--to-earliest", *words, "--undo-file", str(undo)
    )
    assert answer.code == 0, answer.err
    header = json.loads(undo.read_text().split("\n")[0])
    assert header["cluster_id"] and TOPIC in header["topic_ids"]
    delete(scratch_cluster)
    create(scratch_cluster, 3)
    scratch_cluster.commit({GROUP: {TOPIC: {0: 0}}})
    restore = ("reset-offsets", "--from-file", str(undo), *words)
    answer = scratch_cluster.ask(*restore)
    assert answer.code == 1 and not answer.items
    assert "offset 30 is not restored: the topic was deleted and recreated" in answer.err
    assert scratch_cluster.committed(GROUP) == {GROUP: {(TOPIC, 0): 0}}
    answer = scratch_cluster.ask(*restore, "--accept-mismatch", "topic", "--undo-file", str(tmp_path / "again.json"))
    assert answer.code == 0 and [row["note"] for row in answer.items] == ["beyond log end, not adjusted"]
    assert scratch_cluster.committed(GROUP) == {GROUP: {(TOPIC, 0): 30}}
    delete(scratch_cluster)
