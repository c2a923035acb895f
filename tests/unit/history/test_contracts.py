"""The JSON Schemas of the tables are those of the definitions. The data dictionary: test_generated_pages.py."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from kgroups.cli.main import cli
from kgroups.history import derived
from kgroups.history.arrow import arrow_schema
from kgroups.history.contracts import TABLES
from kgroups.history.contracts.json_schema import row_schema
from kgroups.history.tables import DECODED, STORED, Column, Table

_LOGICAL = {"INT(16, true)": "INT_16", "STRING": "UTF8", "TIMESTAMP(MICROS, true)": "TIMESTAMP_MICROS"}


def printed(*arguments: str) -> str:
    done = CliRunner().invoke(cli, ["history", "schema", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_schema_is_valid_and_has_every_column(table: Table) -> None:
    schema = json.loads(printed(table.name))
    Draft202012Validator.check_schema(schema)
    assert list(schema["properties"]) == schema["required"] == table.names
    for column in table.columns:
        found = schema["properties"][column.name]
        assert found["description"] == column.doc and column.doc
        assert ("null" in found["type"]) is not column.required


def test_schema_of_all_tables_has_each() -> None:
    schema = json.loads(printed())
    Draft202012Validator.check_schema(schema)
    assert schema["$defs"] == {name: row_schema(table) for name, table in TABLES.items()}
    declared = [value for value in vars(derived).values() if isinstance(value, Table)]
    assert list(TABLES.values()) == [*STORED, *declared, DECODED]


@pytest.mark.parametrize("table", STORED, ids=[table.name for table in STORED])
def test_parquet_types_are_those_of_files(table: Table, tmp_path: Path) -> None:
    pq.write_table(arrow_schema(table).empty_table(), tmp_path / "file.parquet")
    written = pq.ParquetFile(tmp_path / "file.parquet").schema
    properties = row_schema(table)["properties"]
    for at, column in enumerate(table.columns):
        leaf = written.column(at)
        expected = properties[column.name]["x-parquet-type"]
        assert expected.startswith("LIST<") is isinstance(arrow_schema(table).field(at).type, pa.ListType)
        physical, _, logical = expected.removeprefix("LIST<").removesuffix(">").partition(" ")
        assert (leaf.physical_type, leaf.converted_type) == (physical, _LOGICAL.get(logical, "NONE")), column.name


@pytest.mark.parametrize(
    ("kind", "value", "valid"),
    [
        ("smallint", 32_768, False),
        ("int", 2**31 - 1, True),
        ("int", 2**31, False),
        ("bigint", 2**31, True),
        ("bigint", "1", False),
        ("boolean", 1, False),
        ("binary", "00ff", True),
        ("binary", "AP8=", False),
        ("timestamp", "2026-01-31T12:00:00.123Z", True),
        ("timestamp", "2026-01-31T12:00:00+00:00", False),
        ("array<int>", [1, 2], True),
        ("array<int>", [None], False),
        ("double", 0.5, True),
    ],
)
def test_schema_accepts_only_values_of_the_type(kind: str, value: object, valid: bool) -> None:
    for required in (True, False):
        schema = row_schema(Table("t", "a table", (Column("c", kind, "a column", required),)))
        assert Draft202012Validator(schema).is_valid({"c": value}) is valid
        assert Draft202012Validator(schema).is_valid({"c": None}) is not required
    assert not Draft202012Validator(schema).is_valid({})


@pytest.mark.parametrize("arguments", [["nothing"], ["commits", "--format", "markdown"]])
def test_invalid_arguments_are_rejected(arguments: list[str]) -> None:
    done = CliRunner().invoke(cli, ["history", "schema", *arguments])
    assert "TABLE" in str(done.exception) or "use one of records" in str(done.exception)
