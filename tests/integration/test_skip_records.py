"""Skipped records on real brokers: exactly what a consumer receives first is skipped, and its bytes are kept."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.integration.scratch_cluster import ScratchCluster
from tests.integration.versions import oldest_and_newest

TOPIC, GROUP = "skip-records", "skip-records-group"
LARGE = 3_000_000
"""Bytes of a value that exceeds the fetch size of consumers and of kgroups."""
ISOLATIONS = ("read_uncommitted", "read_committed")

pytestmark = oldest_and_newest


class Received(NamedTuple):
    offset: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


@pytest.fixture(scope="module")
def poisoned(scratch_cluster: ScratchCluster) -> Iterator[ScratchCluster]:
    """A topic with a committed record, an aborted one, a large one, and one in an open transaction at the end."""
    bootstrap = scratch_cluster.sandbox.bootstrap
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(TOPIC, 1, 1, config={"max.message.bytes": "4000000"})])[TOPIC].result(60)
    common = {"bootstrap.servers": bootstrap, "message.max.bytes": 4_000_000}
    writer = Producer({**common, "transactional.id": "skip-records"})
    writer.init_transactions(60)
    writer.begin_transaction()
    writer.produce(TOPIC, b"first", b"key", headers=[("trace", b"\xff\x01"), ("empty", None)])
    writer.commit_transaction(60)
    writer.begin_transaction()
    writer.produce(TOPIC, b"aborted")
    assert not writer.flush(60)
    writer.abort_transaction(60)
    plain = Producer({**common, "enable.idempotence": True})
    plain.produce(TOPIC, bytes(LARGE), b"large")
    plain.produce(TOPIC, b"last")
    assert not plain.flush(60)
    writer.begin_transaction()
    writer.produce(TOPIC, b"open")
    assert not writer.flush(60)
    scratch_cluster.commit({GROUP: {TOPIC: {0: 0}}})
    yield scratch_cluster
    writer.abort_transaction(60)
    admin.delete_consumer_groups([GROUP])[GROUP].result(60)
    admin.delete_topics([TOPIC])[TOPIC].result(60)


def unread(poisoned: ScratchCluster, offset: int, isolation: str) -> list[Received]:
    """Return what a consumer receives from an offset to the end of its log."""
    consumer = Consumer(
        {
            "bootstrap.servers": poisoned.sandbox.bootstrap,
            "group.id": "skip-records-reader",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(TOPIC, 0, offset)])
    found: list[Received] = []
    while (message := consumer.poll(60)) is not None:
        if message.error():  # the end
            break
        found.append(Received(message.offset(), message.key(), message.value(), message.headers() or []))
    consumer.close()
    return found


@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_skipped_records_are_the_first_that_a_consumer_receives(
    poisoned: ScratchCluster, isolation: str, number: int, tmp_path: Path
) -> None:
    undo = tmp_path / "undo.json"
    before = unread(poisoned, 0, isolation)
    words = ("--skip-records", str(number), "--isolation", isolation, "-o", "json")
    answer = poisoned.ask(
        *("reset-offsets", GROUP, "--topic", TOPIC, *words, "--execute", "--yes", "--undo-file", str(undo))
    )
    assert answer.code == 0, answer.err
    (row,) = answer.items
    skipped = before[:number]
    assert row["skipped"] == ",".join(str(each.offset) for each in skipped)
    assert unread(poisoned, row["new_offset"], isolation) == before[number:]
    assert poisoned.committed(GROUP)[GROUP][TOPIC, 0] == row["new_offset"]
    assert saved(tmp_path / "undo.records.jsonl") == skipped
    assert poisoned.ask("reset-offsets", "--from-file", str(undo), "--execute", "--yes").code == 0
    assert poisoned.committed(GROUP)[GROUP][TOPIC, 0] == 0


def saved(path: Path) -> list[Received]:
    _, *lines = map(json.loads, path.read_text().splitlines())

    def plain(text: str | None) -> bytes | None:
        return None if text is None else base64.b64decode(text)

    return [
        Received(
            line["offset"],
            plain(line["key"]),
            plain(line["value"]),
            [(header["name"], plain(header["value"])) for header in line["headers"]],
        )
        for line in lines
    ]


def test_dry_run_names_the_record_and_the_open_transaction(poisoned: ScratchCluster) -> None:
    answer = poisoned.ask(
        *("reset-offsets", GROUP, "--topic", TOPIC, "--skip-records", "9", "--isolation", "read_committed")
    )
    assert answer.code == 0
    assert "skips 3 records: offset 0, " in answer.out and "; an open transaction follows" in answer.out
    assert "value of 3,000,000 bytes" in answer.err
    assert "key of 3 bytes, value of 5 bytes, headers trace, empty" in answer.err
    assert poisoned.committed(GROUP)[GROUP][TOPIC, 0] == 0
