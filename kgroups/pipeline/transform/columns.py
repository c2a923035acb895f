"""Words for columns that the jobs share, and the form that each result has."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from kgroups.pipeline.tables import Table

PLACE: Final = ("log_partition", "log_offset")
"""The only order of records: a group lives in one partition of the log. Times tie, and clocks go back."""

KEY: Final = ("group", "topic", "partition")
"""What a commit is of."""

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
"""What is known of a rebalance of any kind: ``round`` is its number in the group, ``begins`` whether the group is new,
``previous_generation`` null where none is known."""

LISTS: Final = ("joined", "left", "restarted", "resubscribed")
"""What can become of a member in a rebalance."""

DEAD, EMPTY, STABLE, RECONCILING = "Dead", "Empty", "Stable", "Reconciling"
"""States of groups, as brokers spell them."""

CLASSIC: Final = "classic"
MILLISECOND: Final = timedelta(milliseconds=1)


def shaped(frame: DataFrame, table: Table) -> DataFrame:
    """With the table's columns, in their order and of their types."""
    return frame.select(*(F.col(column.name).cast(column.type).alias(column.name) for column in table.columns))


def place() -> Column:
    """The place of a record, to compare."""
    return F.struct(*PLACE)


def in_order(*by: str) -> WindowSpec:
    """The records of each of ``by``, as they are in the log."""
    return Window.partitionBy(*by).orderBy(*PLACE)


def before(window: WindowSpec) -> WindowSpec:
    """All rows before this one; not this one."""
    return window.rowsBetween(Window.unboundedPreceding, -1)


def so_far(window: WindowSpec) -> WindowSpec:
    """All rows up to this one. A frame that ends behind its row would be computed anew for each: sort backwards."""
    return window.rowsBetween(Window.unboundedPreceding, Window.currentRow)


def millis(since: Column, until: Column) -> Column:
    """From one time to another, in milliseconds."""
    return F.unix_millis(until) - F.unix_millis(since)


def micros(span: timedelta) -> int:
    return span // timedelta(microseconds=1)


def later(time: Column, by: timedelta) -> Column:
    return F.timestamp_micros(F.unix_micros(time) + F.lit(micros(by)))


def count(condition: Column) -> Column:
    """1 where it holds, else 0: to be summed up."""
    return F.when(condition, 1).otherwise(0)
