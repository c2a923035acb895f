"""Spark: for stores that are too large for one machine, and for tables in the session of a program."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from kgroups.errors import HistoryError, UsageError

from ..load.manifest import DataFile
from ..load.read import read_files
from ..load.store import Store
from ..load.tasks import check_visible
from ..session import root_cause, tune_session
from ..tables import Table
from ..transform.definitions import Value, union

_TRANSLATIONS = (
    (re.compile(r"(last_value\(\w+) ignore nulls\)"), r"\1) ignore nulls"),
    (re.compile(r"\bepoch_us\("), "unix_micros("),
    (re.compile(r" // "), " div "),
    (re.compile(r"\bmake_timestamptz\("), "timestamp_micros("),
    (re.compile(r"\btimestamptz\b"), "timestamp"),
    (re.compile(r"\[\]"), "array()"),
)
"""SQL of Spark that differs from DuckDB, as far as the definitions use it."""

_UNION_ERRORS = ("spark.sql.unionOutputPartitioning", "spark.sql.constraintPropagation.enabled")
"""Optimizations with which Spark 4.3.0 fails on some unions: "Can't zip RDDs", "key not found"."""


class Spark:
    """Relations of a Spark session; derived ones are views, computed at each query."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._visible: set[str] = set()

    def prepare(self, records: int) -> None:
        tune_session(self.session, records)
        for name in _UNION_ERRORS:
            self.session.conf.set(name, "false")

    def load(self, store: Store, table: Table, files: Sequence[DataFile]) -> None:
        if store.location not in self._visible:
            try:
                check_visible(self.session, store, lambda line: None)
            except (PySparkException, Py4JError) as error:
                raise HistoryError(f"history cannot be read: {root_cause(error)}") from None
            self._visible.add(store.location)
        self.load_frame(table, read_files(self.session, store, table, files))

    def load_frame(self, table: Table, rows: DataFrame) -> None:
        """Define a stored table as these rows."""
        rows.createOrReplaceTempView(table.name)

    def define(self, name: str, query: str, table: Table | None = None) -> None:
        for pattern, replacement in _TRANSLATIONS:
            query = pattern.sub(replacement, query)
        if table:
            columns = ", ".join(f"cast(`{each.name}` as {each.type}) as `{each.name}`" for each in table.columns)
            query = f"select {columns} from ({query}) as {name}"
        try:
            frame = self.session.sql(query)
            # Relations are used several times: without checkpoints, plans grow exponentially.
            (frame if table else frame.localCheckpoint(eager=False)).createOrReplaceTempView(name)
        except (PySparkException, Py4JError) as error:
            raise HistoryError(f"history cannot be read: {root_cause(error)}") from None

    def rename(self, name: str, new: str) -> None:
        self.session.table(name).createOrReplaceTempView(new)

    def unite(self, name: str, column: str, parts: Mapping[str, str]) -> None:
        self.session.sql(union(column, parts, self.literal)).createOrReplaceTempView(name)

    def literal(self, value: Value) -> str:
        if isinstance(value, datetime):
            return f"timestamp '{value.isoformat(sep=' ')}'"
        if isinstance(value, str):
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return "null" if value is None else str(value)

    def fetch(self, query: str) -> pa.Table:
        try:
            # By Arrow: collect() returns naive times in the time zone of this machine.
            return self.session.sql(query).toArrow()
        except (AnalysisException, ParseException) as error:
            raise UsageError(f"sql: {root_cause(error)}") from None
        except (PySparkException, Py4JError) as error:
            raise HistoryError(f"history cannot be read: {root_cause(error)}") from None

    def ask(self, query: str) -> pa.Table:
        return self.fetch(query)
