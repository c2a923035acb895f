"""``kgroups-live`` in Spark, asked by SQL of fake brokers: filters, plans, partitions, and failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from kio.schema.errors import ErrorCode
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

from kgroups.pipeline.live.source import PUSHDOWN, LiveSource, register
from kgroups.pipeline.live.tables import LIVE
from tests.fakes.broker import FakeCluster
from tests.fakes.live_world import live_world
from tests.fakes.serving import serving

Load = Callable[..., DataFrame]


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    with serving(live_world()) as cluster:
        yield cluster


@pytest.fixture
def load(spark: SparkSession, fake: FakeCluster) -> Load:
    register(spark)

    def table(name: str, **options: str) -> DataFrame:
        reader = spark.read.format("kgroups-live").options(table=name, **options)
        return reader.option("bootstrap.servers", fake.settings().bootstrap_servers).load()

    return table


def rows(frame: DataFrame) -> list[Row]:
    return sorted(frame.collect(), key=str)


def asked(fake: FakeCluster, *apis: str) -> set[str]:
    return {key for api in apis for request in fake.asked(api) for key in request.keys}


def test_every_table_has_its_columns(load: Load) -> None:
    for name, table in LIVE.items():
        frame = load(name)
        assert frame.columns == table.names
        assert bool(frame.collect()) == (name != "failures")


def test_the_default_table_is_offsets(spark: SparkSession, fake: FakeCluster) -> None:
    register(spark)
    servers = fake.settings().bootstrap_servers
    frame = spark.read.format("kgroups-live").option("bootstrap.servers", servers).load()
    assert frame.columns == LIVE["offsets"].names


def test_sql(spark: SparkSession, load: Load) -> None:
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


@pytest.mark.parametrize(("table", "condition"), FILTERS, ids=[f"{table}: {text}" for table, text in FILTERS])
def test_a_filter_never_changes_an_answer(load: Load, table: str, condition: str) -> None:
    pushed = load(table).where(condition)
    plain = load(table, pushdown="false")
    assert rows(pushed) == rows(plain.where(condition)) == rows(plain.cache().where(condition))
    plain.unpersist()


def test_a_pushed_filter_asks_about_fewer_groups(load: Load, fake: FakeCluster) -> None:
    frame = load("offsets").where("`group` = 'orders' and topic = 'u'")
    assert [(row["group"], row["topic"], row["lag"]) for row in frame.collect()] == [("orders", "u", 0)]
    assert asked(fake, "DescribeGroups", "ConsumerGroupDescribe", "OffsetFetch") == {"orders"}
    assert asked(fake, "ListOffsets") == {"u"}
    assert len(fake.asked("ListGroups")) == len(fake.brokers)  # one list, whoever plans or reads


def test_states_are_pushed_and_applied(load: Load, fake: FakeCluster) -> None:
    frame = load("groups").where("state = 'Empty'")
    assert [row["group"] for row in frame.collect()] == ["orders-old"]
    assert asked(fake, "DescribeGroups", "ConsumerGroupDescribe") == {"orders-old"}


def test_one_partition_for_each_coordinator(load: Load) -> None:
    assert load("offsets").rdd.getNumPartitions() == 2
    assert load("offsets").where("`group` = 'orders'").rdd.getNumPartitions() == 1


def test_a_plan_shows_no_setting(load: Load, fake: FakeCluster, capsys: pytest.CaptureFixture[str]) -> None:
    frame = load("offsets").where("`group` = 'orders'")
    for mode in ("extended", "formatted", "cost"):
        frame.explain(mode)
    plan = capsys.readouterr().out
    assert "kgroups-live" in plan and "EqualTo(group,orders)" in plan
    assert not any(str(broker.port) in plan for broker in fake.brokers.values())
    assert "bootstrap" not in plan and "client_id=" not in plan


def test_failures(load: Load, fake: FakeCluster) -> None:
    fake.world.fail("DescribeGroups", "orders", ErrorCode.group_authorization_failed)
    [failure] = load("failures").collect()
    assert (failure.scope, failure.name, failure.error) == ("group", "orders", "GROUP_AUTHORIZATION_FAILED")
    assert "orders" not in {row["group"] for row in load("groups", failOnError="false").collect()}
    with pytest.raises(PySparkException) as caught:
        load("groups").collect()
    lines = [line for line in str(caught.value).splitlines() if line.startswith("kgroups.errors.HistoryError: ")]
    assert lines and "table groups is not whole: group 'orders': " in lines[0]


def test_an_option_that_cannot_be_right(spark: SparkSession) -> None:
    register(spark)
    with pytest.raises(PySparkException, match=r"option bootstrap\.servers is needed"):
        spark.read.format("kgroups-live").load()
    with pytest.raises(PySparkException, match="option table: 'heads' is none of groups, members, "):
        spark.read.format("kgroups-live").options(**{"bootstrap.servers": "h"}, table="heads").load()


def test_a_session_that_does_not_push_down(spark: SparkSession, load: Load) -> None:
    """Spark refuses the source and names the setting; without pushdown it is content."""
    spark.dataSource.register(LiveSource)
    spark.conf.set(PUSHDOWN, "false")
    try:
        with pytest.raises(PySparkException, match=PUSHDOWN):
            load("groups").collect()
        assert load("groups", pushdown="false").count() == 6
    finally:
        spark.conf.set(PUSHDOWN, "true")
