"""Queries to a store: the rows of one table, or SQL over all tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import NumericType

from kgroups.errors import HistoryError, UsageError
from kgroups.model.counts import count
from kgroups.model.listed import ValueList
from kgroups.model.placement import OFFSETS_TOPIC

from ..load.read import read_tables
from ..load.store import Store
from ..load.write import TIMES as STORED_TIMES
from ..rules import DEFAULTS, Rules
from ..session import root_cause, tune_session
from ..tables import STORED
from ..transform import DERIVED, Span, Tables
from ..transform.retention import retention
from ..transform.unread import stalls

TABLE_NAMES = (*(table.name for table in STORED), *DERIVED)
"""Names of the tables that can be queried."""

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)

TIMES = (*STORED_TIMES, "bucket", "since")
"""Columns with the time of a row; the first of these that a table has."""


class TableQuery(NamedTuple):
    """A query for the latest ``limit`` rows of a table for these groups, topics (empty: all), and time window."""

    table: str
    groups: tuple[str, ...]
    topics: tuple[str, ...]
    since: datetime | None
    until: datetime
    limit: int
    rules: Rules = DEFAULTS


class OutputColumn(NamedTuple):
    """A column of a result; ``right``: aligned to the right, as numbers are."""

    name: str
    right: bool


def query_table(spark: SparkSession, store: Store, query: TableQuery) -> DataFrame:
    """Return the rows of a table, by time.

    :raises HistoryError: if there is no store, or it cannot be read.
    """
    frame = frames(spark, store, query.since, query.until, (query.table,), query.rules)[query.table]
    if query.groups and "group" in frame.columns:
        frame = frame.where(F.col("group").isin(*query.groups))
    if query.topics and "topic" in frame.columns:
        frame = frame.where(F.col("topic").isin(*query.topics))
    when = next((name for name in TIMES if name in frame.columns), None)
    if when is None:
        return frame.limit(query.limit)
    if query.table not in DERIVED:  # derived tables are limited to the window; their intervals may start before it
        since = F.col(when) >= F.lit(query.since) if query.since else F.lit(True)
        frame = frame.where(since & (F.col(when) < F.lit(query.until)))
    latest = frame.orderBy(F.desc(when)).limit(query.limit)
    return latest.orderBy(when, *[name for name in ("group", "topic", "partition") if name in frame.columns])


def run_sql(
    spark: SparkSession, store: Store, query: str, since: datetime | None, until: datetime, rules: Rules = DEFAULTS
) -> DataFrame:
    """Run a SQL query over all tables.

    :raises UsageError: if Spark rejects the query.
    """
    named = [name for name in TABLE_NAMES if name in query]  # planning a derived table takes seconds
    for name, frame in frames(spark, store, since, until, named, rules).items():
        frame.createOrReplaceTempView(name)
    try:
        return spark.sql(query)
    except PySparkException as error:
        raise UsageError(f"sql: {root_cause(error)}") from None


def fetch(frame: DataFrame) -> tuple[list[OutputColumn], list[tuple[object, ...]]]:
    """Return the columns and rows of a result, as values that any output format can show.

    :raises HistoryError: if the store's files cannot be read.
    """
    columns = [OutputColumn(field.name, isinstance(field.dataType, NumericType)) for field in frame.schema.fields]
    try:
        # By Arrow: collect() returns naive times in the time zone of this machine.
        table = frame.toArrow()
        return columns, list(zip(*(map(_plain, column.to_pylist()) for column in table.columns), strict=True))
    except (PySparkException, Py4JError) as error:
        raise HistoryError(f"history cannot be read: {root_cause(error)}") from None


def notices(
    spark: SparkSession, store: Store, until: datetime, names: Collection[str], rules: Rules = DEFAULTS
) -> tuple[str, ...]:
    """Return what is unknown in derived tables of these names, and what is assumed instead.

    :raises HistoryError: if there is no store, or it cannot be read.
    """
    stored, span = Tables(**read_tables(spark, store)), Span(BEGINNING, until)
    found: list[str] = []
    if "expiring" in names and retention(stored, span, rules).collect()[0]["retention_source"] == "assumed":
        found.append(ASSUMED_RETENTION)
    if DERIVED.keys() & set(names):
        rows = stalls(stored, span).orderBy("log_partition").toArrow().to_pylist()
        found += (_stall(row) for row in rows[:MAX_STALLS])
        if len(rows) > MAX_STALLS:
            found.append(f"{count(len(rows) - MAX_STALLS, 'further partition')} of {OFFSETS_TOPIC} likewise")
    return tuple(found)


MAX_STALLS = 5
"""Maximum number of partitions that are named."""

ASSUMED_RETENTION = (
    "expiring: offsets.retention.minutes of the brokers is unknown; 7 days are assumed. Collect with the ACL "
    "DESCRIBE_CONFIGS on the cluster, or set --rule retention=TIME"
)


def _stall(row: Mapping[str, Any]) -> str:
    waits = count(row["hung"], "offset waits", "offsets wait")
    since = f"; its groups are unknown since {_plain(row['unread_since'])}" if row["unread_since"] else ""
    return f"{OFFSETS_TOPIC}-{row['log_partition']}: {waits} behind an open transaction{since}"


def frames(
    spark: SparkSession,
    store: Store,
    since: datetime | None,
    until: datetime,
    names: Collection[str] = TABLE_NAMES,
    rules: Rules = DEFAULTS,
) -> dict[str, DataFrame]:
    """Return the stored and derived tables of these names, for a time span.

    :raises HistoryError: if there is no store, or it cannot be read.
    """
    snapshot = store.snapshot()
    tune_session(spark, snapshot.records)
    tables = read_tables(spark, store, snapshot)
    stored, span = Tables(**tables), Span(since or BEGINNING, until)
    derived = {name: each.job(stored, span, rules) for name, each in DERIVED.items() if name in names}
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
