"""Tests that need Spark, but no brokers: marked so. And one history that the tests of derived tables look at.

Such a test module writes its part of that history in a function ``scene``; its groups have names of their own. Each
derived table is computed once, for everybody: on two cores, a query costs more than all its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kgroups.pipeline.transform import DERIVED, Rules, Span, Tables
from tests.fakes.history import History, Row, at

HERE = Path(__file__).parent
SPAN = Span(at(0), at(600))
RULES = Rules(samples=5, storm=4, storm_window=timedelta(minutes=2), flap_window=timedelta(minutes=2))

Show = Callable[..., list[Row]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.spark)


_SMALL = {
    "spark.sql.adaptive.enabled": "false",  # it plans anew behind each shuffle, for the sake of large ones
    "spark.sql.codegen.wholeStage": "false",  # to compile takes longer than the rows
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


_PARTITIONS = ("spark.sql.shuffle.partitions", "spark.sql.leafNodeDefaultParallelism")


@contextmanager
def small(spark: SparkSession, partitions: int = 1) -> Iterator[None]:
    """The session as it suits a hundred rows, in so many partitions."""
    settings = _SMALL | dict.fromkeys(_PARTITIONS, str(partitions))
    kept = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, before in kept.items():
            if before is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, before)


@pytest.fixture(scope="session")
def history(request: pytest.FixtureRequest) -> History:
    """The history that the scenes of the selected test modules write."""
    modules = {item.module for item in request.session.items if isinstance(item, pytest.Function)}
    written = History()
    for module in sorted(modules, key=lambda module: str(module.__name__)):
        if hasattr(module, "scene"):
            module.scene(written)
    return written


@pytest.fixture(scope="session")
def tables(spark: SparkSession, history: History) -> Tables:
    return Tables(**{name: spark.createDataFrame(table) for name, table in history.arrow().items()})


@pytest.fixture(scope="session")
def derived(spark: SparkSession, tables: Tables) -> Callable[[str], list[Row]]:
    """Return the sorted rows of a derived table; it is computed on first use."""
    kept: dict[str, list[Row]] = {}

    def rows(name: str) -> list[Row]:
        if name not in kept:
            with small(spark):
                kept[name] = ordered(DERIVED[name].job(tables, SPAN, RULES).toArrow().to_pylist())
        return kept[name]

    return rows


@pytest.fixture(scope="session")
def show(derived: Callable[[str], list[Row]]) -> Show:
    """Some columns of some rows: ``show("lag", "lag", "remark", group="g")``; of one column its values.
    In their order, null first."""

    def shown(name: str, *columns: str, **where: Any) -> list[Any]:
        found = [row for row in derived(name) if all(row[column] == value for column, value in where.items())]
        chosen = ordered([{column: row[column] for column in columns} for row in found])
        return [next(iter(row.values())) if len(columns) == 1 else tuple(row.values()) for row in chosen]

    return shown


def ordered(rows: list[Row]) -> list[Row]:
    """By their columns, from left to right, null first."""
    return sorted(rows, key=lambda row: [(value is not None, value) for value in row.values()])
