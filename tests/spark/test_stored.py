"""``kgroups-history`` in Spark: the tables of a store, by files of its manifest."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from pyspark.sql import DataFrame, SparkSession

from kgroups.history import register
from kgroups.history.session import root_cause
from kgroups.history.tables import COMMITS
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
