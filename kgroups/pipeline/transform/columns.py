"""Column expressions that the jobs share, and the schema of their results."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from kgroups.pipeline.tables import Table

PLACE: Final = ("log_partition", "log_offset")
"""The only order of records: all records of a group are in one partition of the log. Times tie, and go back."""

KEY: Final = ("group", "topic", "partition")
"""The key of a commit."""

ROUND: Final = (
    "group",
    "kind",
    "round",
    *PLACE,
    "log_time",
    "generation",
    "previous_generation",
    "begins",
    "members",
)
"""Columns of a rebalance of any group type: ``round`` is its number in the group, ``begins`` whether the group is new;
``previous_generation`` is null if unknown."""

LISTS: Final = ("joined", "left", "restarted", "resubscribed")
"""Columns with the members that changed in a rebalance."""

DEAD, EMPTY, STABLE, RECONCILING, UNKNOWN = "Dead", "Empty", "Stable", "Reconciling", "Unknown"
"""States of groups, as brokers report them; Unknown: the records are unread."""

CLASSIC: Final = "classic"
MILLISECOND: Final = timedelta(milliseconds=1)


def shaped(frame: DataFrame, table: Table) -> DataFrame:
    """Return the table's columns, in its order and of its types."""
    return frame.select(*(F.col(column.name).cast(column.type).alias(column.name) for column in table.columns))


def place() -> Column:
    """Return the position of a record in the log, as a value that can be compared."""
    return F.struct(*PLACE)


def in_order(*by: str) -> WindowSpec:
    """Return a window over the records of each value of ``by``, in log order."""
    return Window.partitionBy(*by).orderBy(*PLACE)


def before(window: WindowSpec) -> WindowSpec:
    """Return the frame of all rows before the current one."""
    return window.rowsBetween(Window.unboundedPreceding, -1)


def so_far(window: WindowSpec) -> WindowSpec:
    """Return the frame of all rows up to the current one.

    Spark computes a frame that ends after the current row again for each row: sort in reverse instead.
    """
    return window.rowsBetween(Window.unboundedPreceding, Window.currentRow)


def millis(since: Column, until: Column) -> Column:
    """Return the milliseconds between two times."""
    return F.unix_millis(until) - F.unix_millis(since)


def micros(span: timedelta) -> int:
    return span // timedelta(microseconds=1)


def later(time: Column, by: timedelta) -> Column:
    return F.timestamp_micros(F.unix_micros(time) + F.lit(micros(by)))


def count(condition: Column) -> Column:
    """Return 1 if the condition is true, otherwise 0, for sums."""
    return F.when(condition, 1).otherwise(0)
