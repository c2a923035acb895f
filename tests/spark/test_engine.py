"""Spark as the engine of derived tables: the same definitions give the same rows as DuckDB."""

from __future__ import annotations

from datetime import timedelta

from pyspark.sql import SparkSession

from kgroups.pipeline.engine import derive
from kgroups.pipeline.engine.duck import DuckDB
from kgroups.pipeline.engine.spark import Spark
from kgroups.pipeline.report.data import Period
from kgroups.pipeline.report.gather import gather
from kgroups.pipeline.rules import Rules
from kgroups.pipeline.tables import STORED
from kgroups.pipeline.transform.definitions import DERIVED, Span
from tests.fakes.group_protocol import END, START, RandomGroups
from tests.fakes.history import at, derived_in, ordered

from .conftest import small

RULES = Rules(samples=5, stale_after=timedelta(minutes=2), expiring_within=timedelta(days=8), storm=3, flaps=2)
SPAN = Span(at(START), at(END))


def test_derived_tables_are_the_same_on_spark_and_duckdb(spark: SparkSession) -> None:
    history = RandomGroups(seed=20260303, logs=12, groups=10, actions=60).history
    engine = Spark(spark)
    rows = history.arrow()
    with DuckDB() as other, small(spark):
        expected = derived_in(other, history, DERIVED, SPAN, RULES)
        for table in STORED:
            engine.load_frame(table, spark.createDataFrame(rows[table.name]))
        derive(engine, DERIVED, SPAN, RULES)
        for name in DERIVED:
            assert ordered(engine.fetch(f"select * from {name}").to_pylist()) == expected(name), name
            assert expected(name), name
        for each in (engine, other):
            each.define("retention", "select 1000 as retention_ms, 'rule' as retention_source")
        assert gather(engine, Period(*SPAN), "cluster") == gather(other, Period(*SPAN), "cluster")


def test_names_and_texts_with_special_characters(spark: SparkSession) -> None:
    for text in ("it's", 'a"b', "back\\slash", "$until", "`"):
        engine = Spark(spark)
        assert engine.fetch(f"select {engine.literal(text)} as text")["text"].to_pylist() == [text]
