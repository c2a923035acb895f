"""The rows of every table, as ``-o json`` prints them, are valid by the table's JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator, FormatChecker

from kgroups.cli.main import cli
from kgroups.history.contracts import TABLES
from kgroups.history.contracts.json_schema import row_schema
from kgroups.history.decode import decode_batch
from kgroups.history.jobs.dump import _json_lines
from kgroups.history.load.manifest import BATCH
from kgroups.history.load.records import entry_of, write_records
from kgroups.history.load.store import Identity, Store
from kgroups.history.tables import DECODED, STORED
from tests.fakes.history import History, at
from tests.fakes.offset_records import record_batch
from tests.schemas import validate, validate_output
from tests.unit.history.verify.test_store import PAIRS

RULES = ("storm=3", "flaps=3", "samples=2", "expiring-within=8d")


def written() -> History:
    history = History()
    history.commit("g", 10, 100)
    history.commit("g", 20, 90)
    for generation, second in enumerate((30, 40, 50, 60), 1):
        history.snapshot("g", second, generation, ["m"])
    history.snapshot("empty", 30, 1, [])
    history.commit("empty", 31, 5)
    history.epoch("k", 70, "group", 1)
    history.member("k", 71, "m=i", topics=["orders"], protocols=["range"])
    history.epoch("k", 72, "target", 1)
    history.epoch("k", 73, "m", 1)
    history.rows["assignments"].append(
        {"log_partition": 0, "log_offset": 8, "log_time": at(74), "group": "k", "kind": "consumer", "member_id": "m"}
        | {"role": "current", "topic": "orders", "partitions": [0, 2], "epoch": 1, "tombstone": False}
    )
    for second in (15, 25, 35):
        history.head(second, 100 + second)
    history.head(45, None)
    history.read(0, (0, 12), 12, (10, 74), compacted=0)
    history.read(3, (0, 6), 6, (10, 74), compacted=1, compacted_to=2, whole_since=at(11), unread_since=at(70))
    history.rows["share_states"].append(
        {"log_partition": 1, "log_offset": 4, "log_time": at(20), "group": "s", "topic_id": "AAAAAAAAAAAAAAAAAAAAAQ"}
        | {"topic": "orders", "partition": 0, "record_name": "update", "tombstone": False, "snapshot_epoch": 1}
        | {"first_offsets": [7], "last_offsets": [9], "delivery_states": ["archived"], "delivery_counts": [5]}
    )
    history.rows["share_coverage"].append(
        {"sampled_at": at(30), "log_partition": 1, "from_offset": 4, "to_offset": 5, "records": 1, "compacted": 0}
        | {"first_time": at(20), "last_time": at(20)}
    )
    history.swept(5, retention=3600)
    history.sweep(5, "g", {("orders", 0): 80})
    return history


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows") / "history"
    made = Store(str(folder))
    made.create(Identity("cluster-1", "__consumer_offsets", "2026-03-01"))
    rows = written().arrow()
    made.add(BATCH, {table: rows[table.name] for table in STORED if len(rows[table.name])})
    made.commit(entry_of(BATCH, [write_records(made.storage, made.cluster, [record_batch(PAIRS)])], ()))
    return folder


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if table != DECODED])
def test_rows_of_show_are_valid(name: str, store: Path) -> None:
    rules = [word for rule in RULES for word in ("--rule", rule)]
    command = ["history", "show", name, "--store", str(store), "-o", "json", "--until", "2026-03-01T12:10", *rules]
    done = CliRunner().invoke(cli, command, catch_exceptions=False)
    assert done.exit_code == 0
    validate_output(command, done.stdout)
    items = json.loads(done.stdout)["items"]
    assert items, f"no rows of {name}"
    check(name, items)


def test_rows_of_dump_are_valid() -> None:
    lines = list(_json_lines(decode_batch(record_batch(PAIRS))))
    assert len(lines) == len(PAIRS)
    check(DECODED.name, [json.loads(line) for line in lines])
    for line in lines:
        validate(json.loads(line), "history-decoded")


def check(name: str, rows: list[dict[str, object]]) -> None:
    validator = Draft202012Validator(row_schema(TABLES[name]), format_checker=FormatChecker())
    for row in rows:
        assert list(row) == TABLES[name].names
        validator.validate(row)
