"""Commits outside their log."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ..columns import KEY
from ..heads import marked_heads
from ..inputs import Rules, Span, Tables
from ..lag import remark
from ..standing import standing


def misplaced(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Commits that a head sample of the span found outside the log: one row for each, however often it was found.

    The sample is the first after the commit, and later ones: the end of a log only grows, so one that was sampled
    before the commit could not tell.
    """
    heads = marked_heads(tables, span).where(span.contains("sampled_at"))
    rows = standing(tables, span, heads)
    outside = F.coalesce(
        F.when(F.col("committed_offset") < F.col("log_start"), _finding("data_lost", "log_start")),
        F.when(F.col("lag") < 0, _finding("beyond_end", "log_end")),
    )
    last = F.struct("outside.expected", remark().alias("note"))
    return (
        rows.withColumn("outside", outside)
        .where("outside is not null")
        .groupBy(*KEY, "committed_offset", "committed_at", "outside.anomaly")
        .agg(
            F.min("sampled_at").alias("since"),
            F.max("sampled_at").alias("until"),
            F.max_by(last, "sampled_at").alias("last"),
        )
        .select(*KEY, "anomaly", "since", "until", "last.*", F.col("committed_offset").alias("found"))
    )


def _finding(anomaly: str, expected: str) -> Column:
    return F.struct(F.lit(anomaly).alias("anomaly"), F.col(expected).alias("expected"))
