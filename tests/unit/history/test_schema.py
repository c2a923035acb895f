"""Schemas of the data sources: comments, nullability, and the columns that Spark requests."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import LongType, StructType

from kgroups.errors import HistoryError, UsageError
from kgroups.history.extract.options import TABLES
from kgroups.history.extract.source import OffsetsSource
from kgroups.history.live.source import LiveSource
from kgroups.history.live.tables import LIVE
from kgroups.history.schema import conform, select_columns, stored_options, struct_type
from kgroups.history.tables import COMMITS, MEMBERS, Table

SERVERS = {"bootstrap.servers": "h:1"}
ALL = [*TABLES.values(), *LIVE.values()]


@pytest.mark.parametrize("table", ALL, ids=lambda table: table.name)
def test_schema_has_types_comments_and_nullability(table: Table) -> None:
    schema = struct_type(table)
    assert [
        (field.name, field.dataType.simpleString(), field.metadata["comment"], not field.nullable) for field in schema
    ] == [(column.name, column.type, column.doc, column.required) for column in table.columns]
    # Spark compares the first batch with its own Arrow schema, nullability included.
    assert to_arrow_schema(schema, timezone="UTC").equals(select_columns("s", table, schema))


def test_position_in_the_log_is_never_null() -> None:
    for table in TABLES.values():
        required = [column.name for column in table.columns if column.required]
        assert required[:2] == ["log_partition", "log_offset"]
        assert ("group" in required) == (table.name not in ("records", "decoded", "undecoded"))


def test_some_columns_are_selected_in_any_order() -> None:
    schema = struct_type(COMMITS, ("topic", "group"))
    [batch] = conform("s", iter([_commits(["a", "b"])]), select_columns("s", COMMITS, schema))
    assert batch.to_pylist() == [{"topic": "t", "group": "a"}, {"topic": "t", "group": "b"}]


def test_unknown_columns_and_other_types_are_errors() -> None:
    with pytest.raises(UsageError, match=r"^s: table commits has no column 'grop'; use group$"):
        select_columns("s", COMMITS, StructType().add("grop", "string"))
    with pytest.raises(UsageError, match=r"^s: column partition of table commits has type int, not bigint; "):
        select_columns("s", COMMITS, StructType().add("partition", LongType()))
    with pytest.raises(UsageError, match=r"^kgroups-live: table groups has no column 'sate'; use state$"):
        LiveSource(SERVERS | {"table": "groups", "columns": "group,sate"}).schema()


def test_null_in_a_required_column_is_an_error() -> None:
    schema = select_columns("s", COMMITS, struct_type(COMMITS, ("group",)))
    with pytest.raises(HistoryError, match=r"^s: column group has 1 null, but is NOT NULL; "):
        list(conform("s", iter([_commits(["a", None])]), schema))


def test_options_of_create_table_are_stored_in_the_schema() -> None:
    created = {"table": "members", **SERVERS}
    catalog = {"provider": "kgroups-offsets", "owner": "me", **{f"option.{key}": text for key, text in created.items()}}
    schema = OffsetsSource(created | catalog | {"team": "x"}).schema()
    assert stored_options(schema) == created
    reader = OffsetsSource({}).reader(schema)  # as Spark reads the table: without options
    assert (reader._options.table, reader._options.settings.bootstrap) == (MEMBERS, (("h", 1),))
    assert OffsetsSource({"numpartitions": "3"}).reader(schema)._options.splits == 3
    assert stored_options(OffsetsSource(created).schema()) == {}
    pickle.loads(pickle.dumps(reader))


def test_table_without_stored_options_names_the_fix() -> None:
    with pytest.raises(UsageError, match=r"kgroups-live: option bootstrap\.servers is not set; .* omit the list of"):
        LiveSource({}).reader(StructType().add("group", "string"))


def test_options_of_the_other_kind_of_reading_are_errors() -> None:
    limited = OffsetsSource(SERVERS | {"maxRecordsPerTrigger": "5"})
    assert limited.streamReader(limited.schema())
    with pytest.raises(UsageError, match="maxRecordsPerTrigger: '5' applies to streams only; remove the option"):
        limited.reader(limited.schema())
    ending = OffsetsSource(SERVERS | {"endingTimestamp": "2026-01-01"})
    assert ending.reader(ending.schema())
    with pytest.raises(UsageError, match="endingTimestamp: '2026-01-01' applies to batches only; remove the option"):
        ending.streamReader(ending.schema())


def _commits(groups: list[str | None]) -> pa.RecordBatch:
    rows = [{"log_partition": 0, "log_offset": 1, "group": group, "topic": "t"} for group in groups]
    return pa.RecordBatch.from_pylist(rows, schema=pa.schema(list(_TYPES.items())))


_TYPES = {"log_partition": pa.int32(), "log_offset": pa.int64(), "group": pa.string(), "topic": pa.string()}
