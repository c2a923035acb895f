"""Properties of every derived table."""

from __future__ import annotations

import random
from collections.abc import Callable

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from kgroups.pipeline import derived as schemas
from kgroups.pipeline.tables import STORED, Table, ddl
from kgroups.pipeline.transform import DERIVED, Rules, Span, Tables
from tests.fakes.history import NOON, History, Row, at

from .conftest import RULES, SPAN, ordered, small


def test_derived_tables_match_schemas_and_stored_tables() -> None:
    declared = [each for each in vars(schemas).values() if isinstance(each, Table)]
    assert [each.table for each in DERIVED.values()] == declared
    assert list(Tables._fields) == [table.name for table in STORED]
    assert not DERIVED.keys() & set(Tables._fields)


@pytest.fixture(scope="module")
def empty_tables(spark: SparkSession) -> Tables:
    return Tables(**{name: spark.createDataFrame(table) for name, table in History().arrow().items()})


@pytest.mark.parametrize("name", DERIVED)
def test_derived_table_of_no_rows_has_its_schema(name: str, empty_tables: Tables, spark: SparkSession) -> None:
    table, job = DERIVED[name]
    with small(spark):
        found = job(empty_tables, SPAN, Rules())
        assert found.toArrow().num_rows == 0
    assert [(field.name, field.dataType) for field in found.schema] == [
        (field.name, field.dataType) for field in spark.createDataFrame([], ddl(table)).schema
    ]


@pytest.fixture(scope="module")
def shuffled_tables(history: History, spark: SparkSession) -> Tables:
    """The same rows, in no order."""

    def shuffled(rows: pa.Table) -> DataFrame:
        order = random.Random(7).sample(range(len(rows)), len(rows))
        return spark.createDataFrame(rows.take(order) if order else rows)

    return Tables(**{name: shuffled(rows) for name, rows in history.arrow().items()})


@pytest.mark.parametrize("name", DERIVED)
def test_derived_table_does_not_depend_on_row_placement(
    name: str, shuffled_tables: Tables, spark: SparkSession, derived: Callable[[str], list[Row]]
) -> None:
    with small(spark, partitions=2):
        found = DERIVED[name].job(shuffled_tables, SPAN, RULES).toArrow().to_pylist()
    assert found and ordered(found) == derived(name)


def test_naive_datetime_is_rejected(empty_tables: Tables) -> None:
    with pytest.raises(ValueError, match="without a zone: 2026-03-01 12:00:00"):
        DERIVED["lag"].job(empty_tables, Span(NOON.replace(tzinfo=None), at(1)), Rules())
