"""``kgroups-live`` in Spark SQL over fake brokers: filters, plans, partitions, and failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kio.schema.errors import ErrorCode
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

from kgroups import pipeline
from kgroups.history import register
from kgroups.history.live.tables import LIVE
from kgroups.history.session import root_cause
from tests.fakes.broker import FakeCluster
from tests.fakes.live_cluster import live_cluster
from tests.fakes.serving import serving

Load = Callable[..., DataFrame]

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    with serving(live_cluster()) as cluster:
        yield cluster


@pytest.fixture
def load(spark: SparkSession, fake: FakeCluster) -> Load:
    return partial(load_table, spark, fake)


@pytest.fixture(scope="module")
def load_shared(spark: SparkSession) -> Iterator[Load]:
    """Load tables of one cluster for all tests, which do not change it."""
    with serving(live_cluster()) as cluster:
        yield partial(load_table, spark, cluster)


def load_table(spark: SparkSession, fake: FakeCluster, name: str, **options: str) -> DataFrame:
    register(spark)
    reader = spark.read.format("kgroups-live").options(table=name, **options)
    return reader.option("bootstrap.servers", fake.settings().bootstrap_servers).load()


def rows(frame: DataFrame) -> list[Row]:
    return sorted(frame.collect(), key=str)


def test_live_tables_have_their_columns(load: Load) -> None:
    for name, table in LIVE.items():
        frame = load(name)
        assert frame.columns == table.names
        assert bool(frame.collect()) == (name != "failures")


def test_live_default_table_is_offsets(spark: SparkSession, fake: FakeCluster) -> None:
    register(spark)
    servers = fake.settings().bootstrap_servers
    frame = spark.read.format("kgroups-live").option("bootstrap.servers", servers).load()
    assert frame.columns == LIVE["offsets"].names


def test_live_tables_are_joined_in_sql(spark: SparkSession, load: Load) -> None:
    load("offsets").createOrReplaceTempView("live_offsets")
    load("groups").createOrReplaceTempView("live_groups")
    answer = spark.sql(
        "select g.state, sum(o.lag) as lag from live_offsets o join live_groups g on o.group = g.group "
        "where o.topic = 't' group by g.state order by g.state"
    )
    assert [tuple(row) for row in answer.collect()] == [("Empty", 95), ("Reconciling", 1), ("Stable", 40)]


FILTERS = [
    ("groups", "`group` = 'orders'"),
    ("groups", "`group` in ('orders', 'idle', 'nobody')"),
    ("groups", "`group` in ('orders', null)"),
    ("groups", "`group` not in ('orders')"),
    ("groups", "`group` like 'orders%' and state = 'Stable'"),
    ("groups", "state in ('Empty', 'Reconciling')"),
    ("groups", "state = 'stable'"),
    ("groups", "kind = 'share' or kind = 'consumer'"),
    ("groups", "kind = 'classic' and coordinator_id = 1"),
    ("members", "kind = 'consumer'"),
    ("members", "`group` like '%rder%' and instance_id is not null"),
    ("assignments", "topic = 'u' and role = 'current'"),
    ("assignments", "topic in ('t', 'u') and topic in ('u', 'v')"),
    ("offsets", "topic = 't'"),
    ("offsets", "topic in ('t', 'nowhere') and lag > 0"),
    ("offsets", "topic in ('t', 'v') and topic in ('u', 'w')"),
    ("offsets", "topic is null"),
    ("offsets", "topic <=> null"),
    ("offsets", "not (topic = 't')"),
    ("offsets", "`group` = 'orders' and `group` = 'idle'"),
    ("offsets", "`group` = 'ORDERS'"),
    ("offsets", "startswith(`group`, 'orders') and partition = 0"),
    ("offsets", "upper(`group`) = 'ORDERS'"),
    ("failures", "name = 'orders'"),
]


@pytest.fixture(params=["true", "false"], ids=["pushdown", "no-pushdown"])
def with_and_without_pushdown(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[None]:
    """Both values of the session's setting: other sources may need it, and answers must not depend on it."""
    before = spark.conf.get(PUSHDOWN, None)
    spark.conf.set(PUSHDOWN, request.param)
    yield
    if before is None:
        spark.conf.unset(PUSHDOWN)
    else:
        spark.conf.set(PUSHDOWN, before)


@pytest.fixture(scope="module")
def unfiltered_rows(load_shared: Load) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table, by a scan of its own."""
    return {name: [row.asDict(recursive=True) for row in load_shared(name).collect()] for name in LIVE}


@pytest.mark.parametrize(("table", "condition"), FILTERS, ids=[f"{table}: {text}" for table, text in FILTERS])
def test_live_filter_gives_the_same_rows_as_spark(
    load_shared: Load, spark: SparkSession, table: str, condition: str, unfiltered_rows: dict[str, list[dict[str, Any]]]
) -> None:
    """Filtered by the source's scan = filtered by Spark from rows that no source can narrow; and all rows again."""
    live = load_shared(table)
    kept = spark.createDataFrame(unfiltered_rows[table], live.schema)
    assert rows(live.where(condition)) == rows(kept.where(condition))
    assert rows(live) == rows(kept)


GROUPS_OF = {"idle": 1, "orders": 3, "orders-old": 2, "new": 2}
"""Group -> its rows of offsets in the fake cluster."""


@pytest.mark.usefixtures("with_and_without_pushdown")
def test_dataframe_is_reused_after_a_filter(load: Load) -> None:
    live = load("offsets")
    everything = live.count()
    for name, own in GROUPS_OF.items():
        assert live.where(f"`group` = '{name}'").count() == own
        assert live.count() == everything
    live.where("`group` = 'idle'").explain()
    assert live.count() == everything
    assert live.where("topic = 'u'").select("topic").distinct().collect() == [Row(topic="u")]
    assert live.where("`group` = 'orders' and topic = 't'").count() == 2
    assert live.count() == everything


@pytest.mark.usefixtures("with_and_without_pushdown")
def test_union_of_two_filters(load: Load) -> None:
    live = load("offsets")
    first, second = (live.where(f"`group` = '{name}'") for name in ("orders", "orders-old"))
    counted = first.union(second).groupBy("group").count().collect()
    assert {row["group"]: row["count"] for row in counted} == {"orders": 3, "orders-old": 2}
    assert live.union(first).count() == live.count() + 3
    assert first.count() == 3 and second.count() == 2


@pytest.mark.usefixtures("with_and_without_pushdown")
def test_self_join_of_filtered_and_unfiltered(load: Load) -> None:
    live = load("offsets")
    everything = live.count()
    few = live.where("`group` = 'orders'").select("topic").distinct()
    joined = live.alias("all").join(few.alias("few"), "topic")
    expected = sum(row["topic"] in {"t", "u"} for row in live.collect())
    assert joined.count() == expected > 3
    assert live.where("`group` = 'orders'").join(live.select("topic").distinct(), "topic").count() == 3
    assert live.count() == everything


@pytest.mark.usefixtures("with_and_without_pushdown")
def test_cache_after_and_before_a_filter(load: Load) -> None:
    live = load("offsets")
    orders = live.where("`group` = 'orders'").cache()
    everything = load("offsets").count()
    assert orders.count() == 3
    assert live.count() == everything
    live.cache()
    assert live.count() == everything
    assert live.where("`group` = 'idle'").count() == 1 and orders.count() == 3
    live.unpersist()
    orders.unpersist()
    assert live.where("`group` = 'new'").count() == 2
    assert live.count() == everything


@pytest.mark.usefixtures("with_and_without_pushdown")
def test_view_is_reused_by_sql(load: Load, spark: SparkSession) -> None:
    load("offsets").createOrReplaceTempView("live_reused")
    try:
        everything = spark.table("live_reused").count()
        for name, own in GROUPS_OF.items():
            [[found]] = spark.sql(f"select count(*) from live_reused where `group` = '{name}'").collect()
            assert found == own
            assert spark.sql("select * from live_reused").count() == everything
        [[share]] = spark.sql(
            "select (select count(*) from live_reused where topic = 'u') / count(*) from live_reused"
        ).collect()
        [[on_u]] = spark.sql("select count(*) from live_reused where topic = 'u'").collect()
        assert share == pytest.approx(on_u / everything) and 0 < share < 1
        both = spark.sql(
            "with a as (select * from live_reused where `group` = 'orders'), "
            "b as (select * from live_reused where `group` = 'orders-old') "
            "select `group` from a union all select `group` from b"
        ).collect()
        assert sorted(row["group"] for row in both) == ["orders"] * 3 + ["orders-old"] * 2
    finally:
        spark.catalog.dropTempView("live_reused")


def test_live_groups_are_listed_once(load: Load, fake: FakeCluster) -> None:
    frame = load("offsets").where("`group` = 'orders' and topic = 'u'")
    assert [(row["group"], row["topic"], row["lag"]) for row in frame.collect()] == [("orders", "u", 0)]
    assert len(fake.asked("ListGroups")) == len(fake.brokers)  # one list, for planning and reading


def test_live_table_has_one_partition_per_coordinator(load: Load) -> None:
    assert load("offsets").rdd.getNumPartitions() == 2
    assert load("offsets").where("`group` = 'orders'").rdd.getNumPartitions() == 2


def test_live_plan_shows_no_setting(load: Load, fake: FakeCluster, capsys: pytest.CaptureFixture[str]) -> None:
    frame = load("offsets").where("`group` = 'orders'")
    for mode in ("extended", "formatted", "cost"):
        frame.explain(mode)
    plan = capsys.readouterr().out
    assert "kgroups-live" in plan
    assert not any(str(broker.port) in plan for broker in fake.brokers.values())
    assert "bootstrap" not in plan and "client_id=" not in plan


def test_live_failures_are_rows_or_errors(load: Load, fake: FakeCluster) -> None:
    fake.state.fail("DescribeGroups", "orders", ErrorCode.group_authorization_failed)
    [failure] = load("failures").collect()
    assert (failure.scope, failure.name, failure.error) == ("group", "orders", "GROUP_AUTHORIZATION_FAILED")
    assert "orders" not in {row["group"] for row in load("groups", failOnError="false").collect()}
    with pytest.raises(PySparkException) as caught:
        load("groups").collect()
    lines = [line for line in str(caught.value).splitlines() if line.startswith("kgroups.errors.HistoryError: ")]
    assert lines and "table groups is not whole: group 'orders': " in lines[0]


def test_live_profiles_are_one_table(
    load: Load, spark: SparkSession, fake: FakeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = {tuple(row) for row in load("groups").collect()}
    with serving(live_cluster("2.5.1")) as old:
        old.state.cluster_id = "old-cluster"
        servers = {"new": fake.settings(), "old": old.settings()}
        profiles = [f'[profiles.{name}]\nbootstrap = "{each.bootstrap_servers}"\n' for name, each in servers.items()]
        config = tmp_path / "config.toml"
        config.write_text("".join(profiles) + '[profiles.dead]\nbootstrap = "127.0.0.1:1"\n')
        monkeypatch.setitem(spark.sparkContext.environment, "KGROUPS_CONFIG", str(config))
        register(spark)
        reader = spark.read.format("kgroups-live").options(table="groups", profile="*", failOnError="false")
        found = reader.load().collect()
        assert {row[:2] for row in found} == {("new", "fake-cluster"), ("old", "old-cluster")}
        assert {row[2:] for row in found if row["cluster"] == "new"} == alone
        live = reader.option("profile", "new,old").load()
        assert live.rdd.getNumPartitions() == 4
        counted = live.groupBy("cluster").count().collect()
        assert {row["cluster"]: row["count"] for row in counted} == {"new": 6, "old": 4}
    with pytest.raises(
        PySparkException, match=r"HistoryError: kgroups-live: .* is not whole: cluster dead: no bootstrap"
    ):
        reader.option("profile", "*").option("failOnError", "true").load().collect()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({}, "option bootstrap.servers is not set; set it to HOST:PORT"),
        ({"table": "heads"}, "option table: 'heads' must be one of groups, members, "),
        ({"tabel": "groups"}, "option tabel is unknown; use table"),
    ],
)
def test_live_invalid_options_are_one_line(spark: SparkSession, options: dict[str, str], line: str) -> None:
    register(spark)
    servers = {"bootstrap.servers": "h:1"} if options else {}
    with pytest.raises(PySparkException) as caught:
        spark.read.format("kgroups-live").options(**servers, **options).load()
    lines = [each for each in str(caught.value).splitlines() if each.strip() and "SQLSTATE" not in each]
    assert lines[-1].startswith(f"kgroups.errors.UsageError: kgroups-live: {line}")
    assert root_cause(caught.value).startswith(f"kgroups-live: {line}")


def test_live_groups_and_columns_are_options(load: Load, fake: FakeCluster) -> None:
    """What filters cannot do: the scan is narrowed, and all DataFrames of the relation agree."""
    live = load("offsets", groups="orders,nobody", columns="lag,group")
    assert live.columns == ["lag", "group"]
    assert live.count() == 3
    assert {row["group"] for row in live.collect()} == {"orders"}
    assert live.where("lag = 0").union(live).count() == 3 + live.where("lag = 0").count()


def test_live_schema_selects_columns(spark: SparkSession, load: Load, fake: FakeCluster) -> None:
    everything = {row["group"] for row in load("groups").collect()}
    reader = spark.read.format("kgroups-live").schema("state string, `group` string")
    some = reader.options(**{"bootstrap.servers": fake.settings().bootstrap_servers, "table": "groups"}).load()
    assert some.columns == ["state", "group"]
    assert {row["group"] for row in some.collect()} == everything


def test_live_columns_have_comments(load: Load, spark: SparkSession) -> None:
    load("offsets").createOrReplaceTempView("live_described")
    described = {row["col_name"]: row["comment"] for row in spark.sql("describe table live_described").collect()}
    assert described == {column.name: column.doc for column in LIVE["offsets"].columns}
    assert not load("offsets").schema["group"].nullable


@pytest.fixture
def warehouse(spark: SparkSession) -> Iterator[None]:
    yield
    for row in spark.sql("show tables").collect():
        if row["tableName"].startswith("live_table"):
            spark.sql(f"drop table {row['tableName']}")


@pytest.mark.usefixtures("warehouse")
def test_live_table_in_the_catalog(load: Load, spark: SparkSession, fake: FakeCluster) -> None:
    everything = load("offsets").count()
    servers = fake.settings().bootstrap_servers
    spark.sql(
        f"create table live_table using `kgroups-live` options ('bootstrap.servers' '{servers}', failOnError 'false') "
        "comment 'now' tblproperties (team 'x')"
    )
    described = {row["col_name"]: row["comment"] for row in spark.sql("describe table live_table").collect()}
    assert described["lag"] == next(column.doc for column in LIVE["offsets"].columns if column.name == "lag")
    assert spark.table("live_table").count() == everything
    assert spark.sql("select * from live_table where `group` = 'orders'").count() == 3
    assert spark.table("live_table").count() == everything
    joined = spark.sql(
        "select count(*) from live_table a join (select * from live_table where topic = 'u') b on a.topic = b.topic"
    )
    assert joined.collect()[0][0] > 1
    assert spark.sql("select * from live_table with (`groups` = 'orders')").count() == 3
    assert spark.table("live_table").count() == everything


@pytest.mark.usefixtures("warehouse")
def test_live_table_with_a_list_of_columns_names_the_fix(load: Load, spark: SparkSession, fake: FakeCluster) -> None:
    load("groups")
    servers = fake.settings().bootstrap_servers
    spark.sql(
        f"create table live_table_of_columns (`group` string) using `kgroups-live` "
        f"options ('bootstrap.servers' '{servers}', 'table' 'groups')"
    )
    with pytest.raises(Exception, match="for a table, omit the list of columns in CREATE TABLE"):
        spark.table("live_table_of_columns").collect()


def test_register_changes_no_session_setting(spark: SparkSession) -> None:
    before = {row["key"]: row["value"] for row in spark.sql("set").collect()}
    pipeline.register(spark)
    assert {row["key"]: row["value"] for row in spark.sql("set").collect()} == before
