"""Answers from a store: one table, or SQL over all of them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import NumericType

from kgroups.errors import HistoryError, UsageError
from kgroups.model.listed import ValueList

from ..load.read import read_tables
from ..load.store import Store
from ..session import reason, suit
from ..tables import STORED
from ..transform import DERIVED, Rules, Span, Tables

NAMES = (*(table.name for table in STORED), *DERIVED)
"""Every table that can be asked for."""

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)

TIMES = ("log_time", "sampled_at", "swept_at", "bucket", "since")
"""Columns that place a row in time, the first one that a table has."""


class Wanted(NamedTuple):
    """A table, and which of its rows: of these groups, on these topics, in this window, the latest ``limit``."""

    table: str
    groups: tuple[str, ...]
    topics: tuple[str, ...]
    since: datetime | None
    until: datetime
    limit: int


class Shown(NamedTuple):
    """A column of an answer; ``right`` is how numbers are aligned."""

    name: str
    right: bool


def rows_of(spark: SparkSession, location: str, wanted: Wanted) -> DataFrame:
    """
    :raises HistoryError: when there is no store, or it cannot be read.
    """
    frame = frames(spark, location, wanted.since, wanted.until, (wanted.table,))[wanted.table]
    if wanted.groups and "group" in frame.columns:
        frame = frame.where(F.col("group").isin(*wanted.groups))
    if wanted.topics and "topic" in frame.columns:
        frame = frame.where(F.col("topic").isin(*wanted.topics))
    when = next((name for name in TIMES if name in frame.columns), None)
    if when is None:
        return frame.limit(wanted.limit)
    if wanted.table not in DERIVED:  # those are of the window already; what began before it may last into it
        since = F.col(when) >= F.lit(wanted.since) if wanted.since else F.lit(True)
        frame = frame.where(since & (F.col(when) < F.lit(wanted.until)))
    latest = frame.orderBy(F.desc(when)).limit(wanted.limit)
    return latest.orderBy(when, *[name for name in ("group", "topic", "partition") if name in frame.columns])


def run_sql(spark: SparkSession, location: str, query: str, since: datetime | None, until: datetime) -> DataFrame:
    """
    :raises UsageError: when Spark does not understand the query.
    """
    named = [name for name in NAMES if name in query]  # to plan a derived table takes seconds
    for name, frame in frames(spark, location, since, until, named).items():
        frame.createOrReplaceTempView(name)
    try:
        return spark.sql(query)
    except PySparkException as error:
        raise UsageError(f"sql: {reason(error)}") from None


def fetch(frame: DataFrame) -> tuple[list[Shown], list[tuple[object, ...]]]:
    """The columns and rows of an answer, in words that any output can show.

    :raises HistoryError: when the store's files cannot be read.
    """
    columns = [Shown(field.name, isinstance(field.dataType, NumericType)) for field in frame.schema.fields]
    try:
        # By Arrow: rows that are collected come with times of this machine's zone that do not say so.
        table = frame.toArrow()
        return columns, list(zip(*(map(_plain, column.to_pylist()) for column in table.columns), strict=True))
    except PySparkException as error:
        raise HistoryError(f"history cannot be read: {reason(error)}") from None


def frames(
    spark: SparkSession, location: str, since: datetime | None, until: datetime, names: Collection[str] = NAMES
) -> dict[str, DataFrame]:
    """The tables of these names, collected and derived, of a span of time.

    :raises HistoryError: when there is no store, or it cannot be read.
    """
    store = Store(location)
    store.identity()
    suit(spark, store.records)
    tables = read_tables(spark, store)
    stored, span = Tables(**tables), Span(since or BEGINNING, until)
    derived = {name: each.job(stored, span, Rules()) for name, each in DERIVED.items() if name in names}
    return {name: frame for name, frame in tables.items() if name in names} | derived


def _plain(value: Any) -> object:
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return value.hex()
    return ValueList(map(_plain, value)) if isinstance(value, list) else value
