"""Spark as the engine of derived tables: the same definitions give the same rows as DuckDB."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pyspark.sql import SparkSession

from kgroups.pipeline.engine import derive
from kgroups.pipeline.engine.duck import DuckDB
from kgroups.pipeline.engine.spark import Spark
from kgroups.pipeline.jobs.show import TableQuery, run_sql_over_clusters, show_clusters
from kgroups.pipeline.load.store import Store
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


def test_rows_of_several_clusters_are_the_same_on_spark_and_duckdb(spark: SparkSession, tmp_path: Path) -> None:
    stores = []
    for number in range(2):
        history = RandomGroups(seed=number, logs=2, groups=3, actions=20).history
        store = history.stored_in(tmp_path, f"it's {number}")
        stores.append(Store(str(tmp_path), store.cluster))
    query = "select cluster_id, `group`, count(*) from commits join stale using (cluster_id, `group`) group by 1, 2"
    request = TableQuery("stale", (), (), None, at(END), 100)
    with DuckDB() as first, DuckDB() as second, small(spark):
        shown = [show_clusters(engine, stores, request) for engine in (first, Spark(spark))]
        queried = [sorted(run_sql_over_clusters(each, stores, query, SPAN).rows) for each in (second, Spark(spark))]
    assert shown[0] == shown[1]
    assert queried[0] == queried[1]
    assert {row[0] for row in queried[0]} == {row[0] for row in shown[0].rows} == {"it's 0", "it's 1"}


def test_names_and_texts_with_special_characters(spark: SparkSession) -> None:
    for text in ("it's", 'a"b', "back\\slash", "$until", "`"):
        engine = Spark(spark)
        assert engine.fetch(f"select {engine.literal(text)} as text")["text"].to_pylist() == [text]
