"""Samples of log start and end offsets."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from .columns import before, count, so_far
from .inputs import Span, Tables

LOG = ("topic", "partition")


def marked_heads(tables: Tables, span: Span) -> DataFrame:
    """Return the samples up to the end of the span, with ``life``: how often the log end offset went back before.

    If it goes back, the log was truncated, or the topic was recreated: an offset is another record in another life.
    """
    window = Window.partitionBy(*LOG).orderBy("sampled_at")
    heads = tables.heads.where(span.reached("sampled_at"))
    went_back = F.col("log_end") < F.last("log_end", ignorenulls=True).over(before(window))
    return heads.withColumn("back", F.coalesce(went_back, F.lit(False))).withColumn(
        "life", F.sum(count(F.col("back"))).over(so_far(window))
    )


def last_heads(heads: DataFrame, samples: int) -> DataFrame:
    """Return the last ``samples`` samples of each log."""
    backwards = Window.partitionBy(*LOG).orderBy(F.desc("sampled_at"))
    return heads.withColumn("age", F.row_number().over(backwards)).where(F.col("age") <= samples).drop("age")
