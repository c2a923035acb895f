"""Spark reads the same rows from the files of published tables.

It reads the files themselves: the tables need jars of Iceberg or Delta, which Spark does not have here.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from kgroups.history.publish.delta import DeltaTarget
from kgroups.history.publish.run import publish
from kgroups.history.tables import COMMITS, HEADS, MEMBERS
from tests.fakes.published import compact, delta, digest, make_stores


def test_spark_reads_equal_rows(spark: SparkSession, tmp_path: Path) -> None:
    location = str(tmp_path / "history")
    store, _ = make_stores(location)
    compact(store)
    publish(location, DeltaTarget(location))
    for table in (COMMITS, MEMBERS, HEADS):
        published = delta(store, table)
        rows = spark.read.parquet(*published.file_uris()).toArrow()
        assert digest(rows, table) == digest(published.to_pyarrow_table(), table)
        assert rows.num_rows == (4 if table is HEADS else 12)
