"""Tests that need Spark, but no brokers: marked so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.spark)


_SMALL = {
    "spark.sql.adaptive.enabled": "false",  # it plans again after each shuffle, which helps only large queries
    "spark.sql.codegen.wholeStage": "false",  # to compile takes longer than the rows
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


_PARTITIONS = ("spark.sql.shuffle.partitions", "spark.sql.leafNodeDefaultParallelism")


@contextmanager
def small(spark: SparkSession, partitions: int = 1) -> Iterator[None]:
    """Tune the session for a hundred rows, in this number of partitions."""
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
