"""Real records of ``__consumer_offsets``, and made ones of every type: we read what Kafka itself reads.

``--commits 1000000`` takes more of the real ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kgroups.errors import UndecodableRecord
from kgroups.history.arrow import arrow_schema
from kgroups.history.decode import decode_batch, split
from kgroups.history.decode.rows import decode_rows
from kgroups.history.tables import RECORDS
from kgroups.protocol.offsets_topic import RECORD_TYPES, decode
from kgroups.sandbox import Sandbox
from kgroups.sandbox.load import Load
from tests.fakes.offset_records import Pair
from tests.integration.every_record import (
    ABORTED,
    COMMITTED,
    FORGOTTEN,
    GONE,
    SHARE,
    STREAMS,
    TRANSACTIONS,
    write_every_record,
)
from tests.integration.known_cluster import KnownCluster
from tests.integration.offsets_log import Logged, read_log
from tests.integration.record_oracle import VERSION, as_kafka_tells, ask_kafka
from tests.integration.versions import MAIN
from tests.property.offset_records import SCHEMAS, pairs, records

NEVER_WRITTEN = {0}
"""The one type that no broker since 0.9 writes."""

ONLY_TOMBSTONES = {4}
"""Kafka 4.3 writes it only to have it gone."""

PARTITIONS = 100
EXAMPLES = 40
BATCH = 10_000

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def load(request: pytest.FixtureRequest) -> Load:
    return Load(groups=request.config.getoption("--commits") // PARTITIONS, partitions=PARTITIONS, topics=2, stable=0)


@pytest.fixture(scope="module")
def log(load: Load, require_kafka: Callable[[str], None]) -> list[Logged]:
    """All records that a broker has written after :func:`write_every_record`."""
    require_kafka(MAIN)
    assert MAIN == VERSION
    with Sandbox.up(MAIN, 1, name=f"pytest-{os.getpid()}-records") as sandbox:
        write_every_record(sandbox, load)
        return read_log(sandbox.bootstrap)


@pytest.fixture(scope="module")
def tables(log: list[Logged]) -> dict[str, Rows]:
    """The tables that the pipeline splits the records into."""
    return tables_of(log)


def as_batches(log: Sequence[Logged]) -> Iterator[pa.RecordBatch]:
    schema = arrow_schema(RECORDS)
    for begin in range(0, len(log), BATCH):
        columns = zip(*(each._replace(time=each.time * 1000) for each in log[begin : begin + BATCH]), strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def tables_of(log: Sequence[Logged]) -> dict[str, Rows]:
    found: dict[str, Rows] = {}
    for batch in as_batches(log):
        for name, rows in split(decode_batch(batch)).items():
            found.setdefault(name, []).extend(rows.to_pylist())
    return found


def compare(pairs: Sequence[Pair], scratch: Path) -> list[int]:
    """Return the type of each decodable record, after comparing its values with Kafka's."""
    read = []
    for (key, value), answer in zip(pairs, ask_kafka(pairs, scratch), strict=True):
        try:
            ours = decode(key, value)
        except UndecodableRecord:
            continue
        assert as_kafka_tells(ours) == answer, (key, value)
        read.append(ours.record_type)
    return read


@pytest.mark.usefixtures("jdk")
def test_real_records_match_kafka(log: list[Logged], load: Load, tmp_path: Path) -> None:
    real = [(each.key, each.value) for each in log]
    assert len(real) > load.groups * load.partitions
    read = compare(real, tmp_path)
    assert len(read) == len(real)
    assert set(read) == RECORD_TYPES.keys() - NEVER_WRITTEN
    whole = {int.from_bytes(key[:2], "big") for key, value in real if value is not None}
    assert whole == set(read) - ONLY_TOMBSTONES


@pytest.mark.usefixtures("jdk")
def test_generated_records_match_kafka(tmp_path: Path) -> None:
    made = [pair for schema in SCHEMAS for pair in examples(records(schema), EXAMPLES)]
    read = compare(made, tmp_path)
    assert len(read) == len(made) == len(SCHEMAS) * EXAMPLES
    assert set(read) == set(RECORD_TYPES)


@pytest.mark.usefixtures("jdk")
def test_damaged_records_that_are_read_match_kafka(tmp_path: Path) -> None:
    damaged = examples(pairs.filter(lambda pair: pair[0] is not None), 10 * EXAMPLES)
    read = compare(damaged, tmp_path)
    assert len(damaged) / 4 < len(read) < len(damaged)


def examples(strategy: st.SearchStrategy[Pair], count: int) -> list[Pair]:
    """The same ones every time."""
    found: list[Pair] = []

    @settings(
        max_examples=count,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(pair: Pair) -> None:
        found.append(pair)

    collect()
    return found[:count]


def test_decoded_batches_match_decoded_rows(log: list[Logged]) -> None:
    for batch in as_batches(log):
        decoded = decode_batch(batch)
        by_rows = decode_rows(zip(batch["key"].to_pylist(), batch["value"].to_pylist(), strict=True))
        assert decoded.select(by_rows.schema.names).equals(by_rows)


def test_every_record_is_in_a_table(log: list[Logged], tables: dict[str, Rows]) -> None:
    found = {(row["log_partition"], row["log_offset"]) for rows in tables.values() for row in rows}
    assert found == {each[:2] for each in log}
    assert {row["reason"] for row in tables["undecoded"]} == {None}
    assert {row["record_type"] for row in tables["undecoded"]} == {4, 15, 16, 23}


def test_commits_match_those_made(load: Load, tables: dict[str, Rows]) -> None:
    latest = latest_commits(tables["commits"])
    for group in load.names():
        assert latest[group] == {load.topic_of(group): load.commits_of(group)}
    assert GONE not in latest and FORGOTTEN[0] not in latest
    tried = [row for row in tables["commits"] if row["group"] == TRANSACTIONS]
    expected = [*range(COMMITTED), *range(ABORTED)]
    # The zero byte is confluent-kafka's: it ends the text in C, and is sent along.
    assert [(row["partition"], row["metadata"]) for row in tried] == [(each, "ü" * each + "\0") for each in expected]
    # A topic has one ID. Commits in transactions do not contain it.
    assert {row["topic_id"] for row in tried} == {None}
    ids = {(row["topic"], row["topic_id"]) for row in tables["commits"] if row["topic_id"]}
    assert len(ids) == len(dict(ids)) == len({topic_id for _, topic_id in ids})
    assert {load.topic_of(group) for group in load.names()} <= dict(ids).keys()


def latest_commits(rows: Iterable[dict[str, Any]]) -> dict[str, dict[str, dict[int, int]]]:
    """Group -> topic -> partition -> offset, as the log leaves it; a group without any is not there."""
    last = {(row["group"], row["topic"], row["partition"]): row for row in rows}
    found: dict[str, dict[str, dict[int, int]]] = {}
    for (group, topic, partition), row in last.items():
        if not row["tombstone"]:
            found.setdefault(group, {}).setdefault(topic, {})[partition] = row["committed_offset"]
    return found


def test_members_join_and_leave(tables: dict[str, Rows]) -> None:
    def reported(table: str, group: str, *columns: str) -> list[tuple[Any, ...]]:
        return [tuple(row[column] for column in columns) for row in tables[table] if row["group"] == group]

    assert reported("members", SHARE, "kind", "topics", "tombstone") == [
        ("share", ["orders"], False),
        ("share", None, True),
    ]
    assert ("share", "current", list(range(6))) in reported("assignments", SHARE, "kind", "role", "partitions")
    assert reported("members", STREAMS, "kind", "rack_id", "tombstone") == [
        ("streams", "rack-1", False),
        ("streams", None, True),
    ]
    assert ("target-active", "0", list(range(6))) in reported("assignments", STREAMS, "role", "topic", "partitions")
    assert ("member", "stable") in reported("epochs", STREAMS, "subject", "state")
    assert reported("group_metadata", GONE, "tombstone") == [(True,)]
    # Each member of a classic group is known with what it subscribed to.
    assert {tuple(topics) for (topics,) in reported("members", "orders-roundrobin", "topics")} == {
        ("orders", "payments")
    }
    assert {topics for (topics,) in reported("members", "connect-like", "topics")} == {None}


@pytest.mark.usefixtures("jdk")
def test_records_of_every_broker_version_are_decoded(known_cluster: KnownCluster, tmp_path: Path) -> None:
    """Records of old brokers in older versions are all decoded, and the commits are those of the seeded groups."""
    log = read_log(known_cluster.sandbox.bootstrap)
    assert len(compare([(each.key, each.value) for each in log], tmp_path)) == len(log)
    found = tables_of(log)
    assert {row["reason"] for row in found.get("undecoded", ())} <= {None}
    latest = latest_commits(found["commits"])
    assert {name: latest.get(name, {}) for name in known_cluster.groups} == {
        name: group.commits for name, group in known_cluster.groups.items()
    }
