"""``kgroups-offsets`` in plain Spark: filters, reuse, options, tables of the catalog, and streams."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.history import register
from kgroups.history.live.offsets_log import open_log
from kgroups.history.session import root_cause
from kgroups.history.tables import COMMITS
from kgroups.model.placement import partition_of
from kgroups.sandbox import Sandbox
from kgroups.sandbox.commits import Commits, make_commits
from tests.integration.versions import MAIN, newest_only

pytestmark = [pytest.mark.spark, newest_only]

WRITTEN = Commits(groups=8, partitions=5, rounds=3)
EACH = WRITTEN.partitions * WRITTEN.rounds
FIRST, SECOND, *_ = WRITTEN.names()


@pytest.fixture(scope="module")
def log(require_kafka: Callable[[str], None]) -> Iterator[Sandbox]:
    """A cluster with the commits of some groups, to which tests may add others."""
    require_kafka(MAIN)
    with Sandbox.up(MAIN, name=f"pytest-{os.getpid()}-source") as sandbox:
        make_commits(sandbox, WRITTEN)
        yield sandbox


@pytest.fixture(params=["true", "false"], ids=["pushdown", "no-pushdown"])
def with_and_without_pushdown(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[None]:
    """Both values of the session's setting: other sources may need it, and answers must not depend on it."""
    spark.conf.set("spark.sql.python.filterPushdown.enabled", request.param)
    yield
    spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def load(spark: SparkSession, sandbox: Sandbox, **options: str) -> DataFrame:
    register(spark)
    reader = spark.read.format("kgroups-offsets").options(**{"table": "commits", **options})
    return reader.option("bootstrap.servers", sandbox.bootstrap).load()


def counted(frame: DataFrame) -> dict[str, int]:
    """Return the rows of each group, counted here."""
    return Counter(row["group"] for row in frame.collect())


@pytest.mark.usefixtures("with_and_without_pushdown")
def test_offsets_dataframe_is_reused_after_a_filter(spark: SparkSession, log: Sandbox) -> None:
    commits = load(spark, log)
    everything = counted(commits)
    assert everything == dict.fromkeys(WRITTEN.names(), EACH)
    for name in (FIRST, SECOND):
        assert commits.where(f"`group` = '{name}'").count() == EACH
        assert commits.count() == EACH * WRITTEN.groups
    first, second = (commits.where(f"`group` = '{name}'") for name in (FIRST, SECOND))
    assert counted(first.union(second)) == {FIRST: EACH, SECOND: EACH}
    assert counted(commits) == everything
    places = ["log_partition", "log_offset"]
    assert commits.join(first.select(*places), places).count() == EACH
    assert commits.join(first.select("topic").distinct(), "topic").count() == EACH * WRITTEN.groups
    commits.createOrReplaceTempView("reused_commits")
    assert spark.sql(f"select * from reused_commits where `group` = '{FIRST}'").count() == EACH
    assert spark.table("reused_commits").count() == EACH * WRITTEN.groups


def test_offsets_groups_and_columns_are_options(spark: SparkSession, log: Sandbox) -> None:
    whole = load(spark, log, numPartitions="200")
    some = load(spark, log, groups=f"{FIRST},{SECOND},nobody", columns="topic,group", numPartitions="200")
    assert some.columns == ["topic", "group"]
    assert counted(some) == {FIRST: EACH, SECOND: EACH}
    assert counted(some.where(f"`group` = '{FIRST}'")) == {FIRST: EACH} and some.count() == 2 * EACH
    own = whole.where(f"`group` in ('{FIRST}', '{SECOND}')").select("topic", "group")
    assert sorted(own.collect()) == sorted(some.collect())
    records = load(spark, log, table="records", groups=FIRST, columns="log_partition").collect()
    with open_log(ClientSettings(parse_bootstrap(log.bootstrap))) as read:
        partitions = len(read.partitions())
    assert {row["log_partition"] for row in records} == {partition_of(FIRST, partitions)}
    assert len(records) >= EACH


def test_offsets_table_in_the_catalog(spark: SparkSession, log: Sandbox) -> None:
    register(spark)
    spark.sql(
        f"create table commits_table using `kgroups-offsets` "
        f"options ('bootstrap.servers' '{log.bootstrap}', table 'commits', groups '{FIRST},later-00000')"
    )
    try:
        described = {row["col_name"]: row["comment"] for row in spark.sql("describe table commits_table").collect()}
        assert described == {column.name: column.doc for column in COMMITS.columns}
        assert not spark.table("commits_table").schema["log_offset"].nullable
        assert counted(spark.table("commits_table")) == {FIRST: EACH}
        make_commits(log, Commits(groups=1, partitions=1, rounds=1, topic="later"))
        # Each query reads the log as it is.
        assert counted(spark.table("commits_table")) == {FIRST: EACH, "later-00000": 1}
        assert spark.sql(f"select * from commits_table where `group` = '{FIRST}'").count() == EACH
        with_options = spark.sql("select * from commits_table with (`groups` = 'later-00000')")
        assert counted(with_options) == {"later-00000": 1}
    finally:
        spark.sql("drop table commits_table")


def test_offsets_stream_of_groups(spark: SparkSession, log: Sandbox, tmp_path: Path) -> None:
    register(spark)
    reader = spark.readStream.format("kgroups-offsets").options(
        table="commits", groups=SECOND, maxRecordsPerTrigger="4"
    )
    stream = reader.option("bootstrap.servers", log.bootstrap).load()
    for _ in range(2):  # the second reads nothing new
        query = stream.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        query.start(str(tmp_path / "rows"), format="parquet").awaitTermination(120)
        assert counted(spark.read.parquet(str(tmp_path / "rows"))) == {SECOND: EACH}


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"maxOffsetsPerTrigger": "5"}, "option maxoffsetspertrigger is unknown; use maxRecordsPerTrigger"),
        ({"startingOffsets": "soon"}, "option startingOffsets: 'soon' must be earliest, latest, or "),
        ({"startingOffsets": '{"999": 1}'}, "option startingOffsets or endingOffsets: partition 999 does not exist; "),
        ({"maxRecordsPerTrigger": "5"}, "option maxRecordsPerTrigger: '5' applies to streams only; "),
        ({"columns": "grp"}, "table commits has no column 'grp'; use group"),
    ],
)
def test_offsets_error_ends_with_one_line(
    spark: SparkSession, log: Sandbox, options: dict[str, str], line: str
) -> None:
    with pytest.raises(Exception, match=re.escape(line)) as caught:
        load(spark, log, **options).collect()
    assert root_cause(caught.value).startswith(f"kgroups-offsets: {line}")
    text = str(caught.value).partition("\n\tat ")[0]  # Java's stack trace follows in some versions
    lines = [each for each in text.splitlines() if each.strip() and "SQLSTATE" not in each]
    assert lines[-1].startswith(f"kgroups.errors.UsageError: kgroups-offsets: {line}")
