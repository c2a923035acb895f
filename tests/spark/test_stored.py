"""``kgroups-history`` in Spark: the tables of a store, by files of its manifest."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pyspark
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kgroups.history import register
from kgroups.history.load.manifest import BATCH
from kgroups.history.session import root_cause
from kgroups.history.tables import COMMITS
from kgroups.history.upkeep.compact import compact
from tests.documentation.pages import ROOT
from tests.fakes.history import three_commits

Load = Callable[..., DataFrame]


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of two clusters with three commits each, of which the second has a group more."""
    path = tmp_path_factory.mktemp("stored") / "store"
    three_commits().stored_in(path, "A")
    more = three_commits()
    more.commit("pay", 86_400, 7)
    more.stored_in(path, "B")
    return str(path)


@pytest.fixture
def load(spark: SparkSession, location: str) -> Load:
    register(spark)
    return lambda **options: spark.read.format("kgroups-history").options(**options).load(location)


def test_stored_table_has_the_cluster_and_comments(load: Load) -> None:
    frame = load(cluster="*")
    assert frame.columns == ["cluster_id", *COMMITS.names]
    assert [field.nullable for field in frame.schema][:4] == [False, False, False, True]
    assert frame.schema["topic"].metadata["comment"] == "topic of the commit"
    found = sorted((row["cluster_id"], row["group"], row["committed_offset"]) for row in frame.collect())
    orders = [("orders", offset) for offset in (100, 101, 102)]
    assert found == [("A", *each) for each in orders] + [("B", *each) for each in [*orders, ("pay", 7)]]


def test_stored_rows_are_selected(load: Load) -> None:
    assert load(cluster="A,[!A]", groups="p*").select("group").collect() == [("pay",)]
    assert load(cluster="B", groups="pay,ord", columns="cluster_id").collect() == [("B",)]
    late = load(cluster="B", since="2026-03-01T12:00:01Z", until="2026-03-02", columns="committed_offset")
    assert sorted(late.collect()) == [(101,), (102,)]
    assert late.rdd.getNumPartitions() == 1


def test_stored_files_outside_the_span_are_no_partitions(load: Load) -> None:
    assert load(cluster="B", numPartitions="9").rdd.getNumPartitions() == 2
    assert load(cluster="B", numPartitions="9", since="2026-03-02").rdd.getNumPartitions() == 1


def test_stored_table_in_the_catalog(spark: SparkSession, load: Load, location: str) -> None:
    load(cluster="*").createOrReplaceTempView("stored_commits")
    spark.sql(f"create table stored_table using `kgroups-history` options (store '{location}', cluster 'A')")
    try:
        described = {row["col_name"]: row["comment"] for row in spark.sql("describe table stored_table").collect()}
        assert described == {"cluster_id": "ID of the cluster"} | {
            column.name: column.doc for column in COMMITS.columns
        }
        assert spark.table("stored_table").count() == 3
        assert spark.sql("select * from stored_table with (cluster = 'B')").count() == 4
        assert spark.sql("select * from stored_commits join stored_table using (log_offset, `group`)").count() == 6
    finally:
        spark.sql("drop table stored_table")


SEVERAL = "store LOCATION holds the history of 2 clusters: A, B; select some with option cluster, or all with cluster=*"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({}, SEVERAL),
        ({"cluster": "A,C"}, "option cluster: 'C' is not in store LOCATION; it has: A, B"),
        ({"table": "lags"}, "option table: 'lags' must be one of records, "),
        ({"cluster": "A", "since": "soon"}, "option since: 'soon' is neither a time such as "),
        ({"cluster": "A", "since": "2h", "until": "3h"}, "option since: '2h' is not before until, 3h"),
        ({"table": "heads", "groups": "a"}, "option groups: 'a' has no effect on table heads, "),
        ({"table": "stale", "since": "2h"}, "option since: '2h' has no effect on table stale, "),
        ({"rules": "samples=3"}, "option rules: 'samples=3' has no effect on table commits, "),
        ({"table": "stale", "rules": "samples=x"}, "option rules: 'samples=x' is invalid: --rule samples=x: "),
        ({"startingEntry": "5"}, "option startingEntry: '5' applies to streams only; remove the option"),
        ({"store": "elsewhere"}, "option store: 'elsewhere' and path 'LOCATION' are mutually exclusive; remove one"),
        ({"tables": "lag"}, "option tables is unknown; use table"),
    ],
)
def test_stored_option_error_is_one_line(load: Load, location: str, options: dict[str, str], line: str) -> None:
    line = (line if line is SEVERAL else f"kgroups-history: {line}").replace("LOCATION", location)
    with pytest.raises(Exception, match=re.escape(line)) as caught:
        load(**options).collect()
    assert root_cause(caught.value).startswith(line)


def test_stored_file_that_was_deleted_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    """A merge replaced it after the DataFrame was planned; another one is damaged."""
    register(spark)
    store = three_commits().stored_in(tmp_path, "A")
    reader = spark.read.format("kgroups-history")
    frames = [reader.options(table=name).load(store.location) for name in ("commits", "latest_offsets")]
    assert [frame.count() for frame in frames] == [3, 1]
    store.add(BATCH, {COMMITS: three_commits().arrow()["commits"]})
    compact(store)
    assert [frame.count() for frame in frames] == [3, 1]
    compact(store, grace=timedelta(0))
    for frame in frames:
        with pytest.raises(PySparkException) as caught:
            frame.count()
        assert "was deleted after a merge or an expiration replaced it" in root_cause(caught.value)
    [file] = store.snapshot().files(COMMITS)
    assert store.storage.folder
    (store.storage.folder / file.path).write_bytes(b"x" * file.size)
    with pytest.raises(PySparkException) as caught:
        reader.load(store.location).count()
    assert f"{file.path}: Parquet magic bytes not found" in root_cause(caught.value)


def test_stored_stream_has_each_row_once_after_a_crash(spark: SparkSession, tmp_path: Path) -> None:
    """The sink has committed a batch, and Spark has not: it repeats the batch, which the sink knows by its number."""
    register(spark)
    store = three_commits().stored_in(tmp_path / "store", "A")

    def run() -> None:
        stream = spark.readStream.format("kgroups-history").options(maxEntriesPerTrigger="1", streamName="test")
        writer = stream.load(store.location).writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = writer.trigger(availableNow=True).start(str(tmp_path / "rows"), format="parquet")
        query.awaitTermination(300)

    run()
    store.add(BATCH, {COMMITS: three_commits().arrow()["commits"]})
    store.add(BATCH, {COMMITS: three_commits().arrow()["commits"]})
    run()
    assert spark.read.parquet(str(tmp_path / "rows")).count() == 9
    commits = tmp_path / "checkpoint" / "commits"
    (commits / "2").unlink()
    (commits / ".2.crc").unlink()
    compact(store)
    compact(store, grace=timedelta(0))
    run()
    assert spark.read.parquet(str(tmp_path / "rows")).count() == 9


def test_stored_derived_table_has_no_stream(spark: SparkSession, location: str) -> None:
    register(spark)
    with pytest.raises(PySparkException, match="option table: lag is a derived table, which has no stream; read it in"):
        spark.readStream.format("kgroups-history").option("table", "lag").load(location).writeStream.start(
            format="noop", checkpointLocation=f"{location}-checkpoint"
        ).awaitTermination(60)


def test_stored_tables_in_a_pipeline(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of the example, which Spark's own command runs with Spark Connect only."""
    declared: dict[str, DataFrame] = {}

    def declare(comment: str) -> Callable[[Callable[[], DataFrame]], None]:
        return lambda query: declared.update({query.__name__: query()})

    monkeypatch.setattr(pyspark, "pipelines", SimpleNamespace(table=declare, materialized_view=declare), raising=False)
    monkeypatch.setenv("KGROUPS_STORE", three_commits().stored_in(tmp_path, "A").location)
    run_path(str(ROOT / "docs/examples/spark_pipeline.py"))
    assert {name: frame.isStreaming for name, frame in declared.items()} == {"all_commits": True, "stale_groups": False}
    assert [row["group"] for row in declared["stale_groups"].collect()] == ["orders"]
