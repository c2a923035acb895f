"""When the end of a log stood at an offset, from samples of that end: no record is read."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from .columns import so_far
from .heads import LOG

_LIFE = (*LOG, "life")


def with_passed(heads: DataFrame, rows: DataFrame) -> DataFrame:
    """``rows`` with ``passed_at``: when the end of the log left their ``committed_offset`` behind.

    Between two samples the log is taken to grow evenly; an end that stood still left when it was last seen there. Null
    before the first sample, and where no later end is known.

    :param heads: of :func:`~.heads.marked_heads`.
    :param rows: with topic, partition, life and committed_offset, besides others.
    """
    offset = F.col("committed_offset")
    ends = (
        heads.where("log_end is not null")
        .groupBy(*_LIFE, F.col("log_end").alias("committed_offset"))
        .agg(F.min("sampled_at").alias("came"), F.max("sampled_at").alias("left"))
        .withColumn("asked", F.lit(0))
    )
    line = ends.unionByName(rows.withColumn("asked", F.lit(1)), allowMissingColumns=True)
    # The end at or below the offset, and the next one above it: upwards an equal end counts, downwards it does not.
    upwards = so_far(Window.partitionBy(*_LIFE).orderBy(offset, "asked"))
    downwards = so_far(Window.partitionBy(*_LIFE).orderBy(offset.desc(), F.desc("asked")))
    ended = line.withColumns({"below": _last_end("left").over(upwards), "above": _last_end("came").over(downwards)})
    return ended.where("asked = 1").withColumn("passed_at", _passed()).select(*rows.columns, "passed_at")


def _last_end(time: str) -> Column:
    end = F.struct(F.col("committed_offset").alias("offset"), F.unix_micros(time).alias("at"))
    return F.last(F.when(F.col("asked") == 0, end), ignorenulls=True)


def _passed() -> Column:
    below, above = F.col("below.at"), F.col("above.at")
    share = (F.col("committed_offset") - F.col("below.offset")) / (F.col("above.offset") - F.col("below.offset"))
    return F.timestamp_micros((below + share * (above - below)).cast("bigint"))
