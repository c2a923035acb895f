"""Spark as the engine of derived tables: the same definitions give the same rows as DuckDB."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from kgroups.history import materialized, register
from kgroups.history.arrow import arrow_schema
from kgroups.history.engine import open_tables
from kgroups.history.engine.duck import DuckDB
from kgroups.history.engine.spark import Spark
from kgroups.history.jobs.show import TableQuery, run_sql_over_clusters, show_clusters
from kgroups.history.load.manifest import BATCH
from kgroups.history.load.store import Identity, Store
from kgroups.history.report.data import Period
from kgroups.history.report.gather import gather
from kgroups.history.rules import Rules
from kgroups.history.tables import STORED
from kgroups.history.transform.definitions import DERIVED, Span, has_span
from kgroups.history.upkeep.materialize import materialize
from tests.fakes.group_protocol import END, START, RandomGroups
from tests.fakes.history import History, at, hide, hide_groups, ordered
from tests.spark.conftest import small
from tests.unit.history.transform.test_materialize import batches

RULES = Rules(samples=5, stale_after=timedelta(minutes=2), expiring_within=timedelta(days=8), storm=3, flaps=2)
SPAN = Span(at(START), at(END) + timedelta(microseconds=123_456))


def random_value(chance: random.Random, kind: str) -> Any:
    if kind.startswith("array<"):
        return [random_value(chance, kind[6:-1]) for _ in range(chance.randrange(3))]
    bits = {"smallint": 15, "int": 31, "bigint": 63}.get(kind)
    if bits:
        return chance.choice((0, -(2**bits), 2**bits - 1, chance.getrandbits(bits)))
    if kind == "timestamp":
        return at(chance.uniform(START, END))
    return {
        "boolean": chance.random() < 0.5,
        "binary": chance.randbytes(chance.randrange(3)),
        "string": chance.choice(("", "group", "it's", "zürich", "日本", "a\u0000b", "\U0001f600")),
    }[kind]


def fill_other_tables(history: History, chance: random.Random) -> None:
    """Write rows of any values to the tables that no group of the history writes."""
    for table in STORED:
        if not history.rows[table.name]:
            history.rows[table.name] = [
                {
                    column.name: random_value(chance, column.type)
                    for column in table.columns
                    if column.required or chance.random() < 0.8
                }
                for _ in range(20)
            ]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Store]:
    """A store with every kind of record, as it was collected, and as a copy that is materialized: ``True``."""
    chance = random.Random(20260303)
    history = RandomGroups(seed=20260303, logs=8, groups=10, actions=60).history
    for second in (-150, 300):
        history.sweep(second, "g-0-0", {("topic-0", 0): 5}, complete=second > 0)
        history.swept(second, complete=second > 0, retention=86_400.0005)
    shifts = {row["sampled_at"]: timedelta(microseconds=chance.randrange(10**6)) for row in history.rows["heads"]}
    for row in history.rows["heads"]:
        row["sampled_at"] += shifts[row["sampled_at"]]
    hide(history, chance)
    hide_groups(history, chance, 0.03)
    entries = batches(history, 3, chance)
    fill_other_tables(history, chance)
    collected = Store(str(tmp_path_factory.mktemp("collected")))
    collected.create(Identity("cluster", "__consumer_offsets", "2026-03-01"))
    for kind, rows in entries:
        collected.add(kind, {table: pa.Table.from_pylist(each, arrow_schema(table)) for table, each in rows.items()})
    written = {table for _, rows in entries for table in rows}
    others = {table: pa.Table.from_pylist(history.rows[table.name], arrow_schema(table)) for table in STORED}
    collected.add(BATCH, {table: rows for table, rows in others.items() if table not in written})
    folder = tmp_path_factory.mktemp("materialized") / "store"
    shutil.copytree(collected.location, folder)
    changed = Store(str(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(materialized, "SETTLED", timedelta(seconds=100))
        assert materialize(changed)
    assert changed.snapshot().materialized
    return {False: collected, True: changed}


STORED_NAMES = tuple(table.name for table in STORED)


class Opened(NamedTuple):
    """Three engines with the same tables: the oracle has them without anything materialized."""

    oracle: DuckDB
    duckdb: DuckDB
    spark: Spark


@pytest.fixture(scope="module")
def opened(request: pytest.FixtureRequest, spark: SparkSession, stores: dict[bool, Store]) -> Iterator[Opened]:
    """The engines with the stored or the derived tables of one of the stores."""
    names, is_materialized = request.param
    with DuckDB() as oracle, DuckDB() as engine, small(spark):
        engines = Opened(oracle, engine, Spark(spark))
        for each, store in zip(engines, (stores[False], stores[is_materialized], stores[is_materialized]), strict=True):
            open_tables(each, store, names, SPAN, RULES)
        yield engines


def in_stores(names: tuple[str, ...], are_materialized: tuple[bool, ...] = (False, True)) -> pytest.MarkDecorator:
    """Open these tables of each store once, for all tests of them."""
    stores = {"materialized" if each else "collected": (names, each) for each in are_materialized}
    # Parameters of a fixture have the scope of a test where the mark names no other.
    return pytest.mark.parametrize("opened", stores.values(), ids=stores, indirect=True, scope="module")


def is_the_same_on_all(opened: Opened, name: str) -> None:
    answers = []
    for engine in opened:
        found = engine.fetch(f"select * from {name}")
        answers.append(({field.name: field.type for field in found.schema}, ordered(found.to_pylist())))
    expected, by_duckdb, by_spark = answers
    assert expected[1]
    assert by_duckdb == expected
    assert by_spark == expected


@in_stores(STORED_NAMES)
@pytest.mark.parametrize("name", STORED_NAMES)
def test_stored_table_is_the_same_on_both_engines_before_and_after_materializing(opened: Opened, name: str) -> None:
    is_the_same_on_all(opened, name)


@in_stores(tuple(DERIVED))
@pytest.mark.parametrize("name", DERIVED)
def test_derived_table_is_the_same_on_both_engines_before_and_after_materializing(opened: Opened, name: str) -> None:
    is_the_same_on_all(opened, name)


@pytest.mark.parametrize("is_materialized", [False, True], ids=["collected", "materialized"])
def test_every_table_of_the_data_source_is_that_of_sql(
    spark: SparkSession, stores: dict[bool, Store], is_materialized: bool
) -> None:
    register(spark)
    span = {"since": SPAN.since.isoformat(), "until": SPAN.until.isoformat()}
    rules = {"rules": "samples=5,stale-after=2m,expiring-within=8d,storm=3,flaps=2"}
    with DuckDB() as oracle, small(spark):
        open_tables(oracle, stores[False], [*STORED_NAMES, *DERIVED], SPAN, RULES)
        for name in (*STORED_NAMES, *DERIVED):
            reader = spark.read.format("kgroups-history").options(table=name, numPartitions="3")
            if name in DERIVED:
                reader = reader.options(**rules, until=span["until"])
                reader = reader.options(since=span["since"]) if has_span(name) else reader
            found = reader.load(stores[is_materialized].location).toArrow()
            expected = oracle.fetch(f"select 'cluster' as cluster_id, * from {name}")
            assert found.schema.names == expected.schema.names
            assert ordered(found.to_pylist()) == ordered(expected.to_pylist()), name


@in_stores(tuple(DERIVED), (False,))
def test_reports_are_the_same_on_spark_and_duckdb(opened: Opened) -> None:
    engines = opened.oracle, opened.spark
    for each in engines:
        each.define("retention", "select 1000 as retention_ms, 'rule' as retention_source")
    expected, found = (gather(each, Period(*SPAN), "cluster") for each in engines)
    assert found == expected


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
