"""When the log end offset passed an offset, from samples of the log end offset: no record is read."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from .columns import so_far
from .heads import LOG

_LIFE = (*LOG, "life")


def with_passed_at(heads: DataFrame, rows: DataFrame) -> DataFrame:
    """Add ``passed_at`` to rows: when the log end offset passed their ``committed_offset``.

    Assumes steady growth between two samples; if the log end offset was unchanged for several samples, growth starts
    at the last of them. Null before the first sample, and if no later log end offset is known.

    :param heads: result of :func:`~.heads.marked_heads`.
    :param rows: rows with topic, partition, life, committed_offset, and other columns.
    """
    offset = F.col("committed_offset")
    ends = (
        heads.where("log_end is not null")
        .groupBy(*_LIFE, F.col("log_end").alias("committed_offset"))
        .agg(F.min("sampled_at").alias("first_at"), F.max("sampled_at").alias("last_at"))
        .withColumn("is_row", F.lit(0))
    )
    merged = ends.unionByName(rows.withColumn("is_row", F.lit(1)), allowMissingColumns=True)
    # The last end at or below the offset, and the next one above it: equal ends count upwards, but not downwards.
    upwards = so_far(Window.partitionBy(*_LIFE).orderBy(offset, "is_row"))
    downwards = so_far(Window.partitionBy(*_LIFE).orderBy(offset.desc(), F.desc("is_row")))
    ended = merged.withColumns(
        {"below": _last_end("last_at").over(upwards), "above": _last_end("first_at").over(downwards)}
    )
    return ended.where("is_row = 1").withColumn("passed_at", _passed()).select(*rows.columns, "passed_at")


def _last_end(time: str) -> Column:
    end = F.struct(F.col("committed_offset").alias("offset"), F.unix_micros(time).alias("at"))
    return F.last(F.when(F.col("is_row") == 0, end), ignorenulls=True)


def _passed() -> Column:
    below, above = F.col("below.at"), F.col("above.at")
    share = (F.col("committed_offset") - F.col("below.offset")) / (F.col("above.offset") - F.col("below.offset"))
    return F.timestamp_micros((below + share * (above - below)).cast("bigint"))
