"""Samples of where logs start and end."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from .columns import before, count, so_far
from .inputs import Span, Tables

LOG = ("topic", "partition")


def marked_heads(tables: Tables, span: Span) -> DataFrame:
    """The samples up to the end of the span; with ``life``: how often the end of the log went back before it.

    A log whose end goes back was truncated, or its topic was deleted and made again: offsets of different lives are
    not the same records.
    """
    window = Window.partitionBy(*LOG).orderBy("sampled_at")
    heads = tables.heads.where(span.reached("sampled_at"))
    back = F.col("log_end") < F.last("log_end", ignorenulls=True).over(before(window))
    return heads.withColumn("back", F.coalesce(back, F.lit(False))).withColumn(
        "life", F.sum(count(F.col("back"))).over(so_far(window))
    )


def last_heads(heads: DataFrame, samples: int) -> DataFrame:
    """The last so many samples of each log."""
    backwards = Window.partitionBy(*LOG).orderBy(F.desc("sampled_at"))
    return heads.withColumn("age", F.row_number().over(backwards)).where(F.col("age") <= samples).drop("age")
