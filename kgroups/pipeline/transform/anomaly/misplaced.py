"""Commits outside the offsets of their log."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ..columns import KEY
from ..heads import marked_heads
from ..inputs import Rules, Span, Tables
from ..lag import remark
from ..standing import offsets_at_samples


def misplaced(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Return the commits that are outside the log at a sample in the span: one row for each commit.

    Only samples after the commit count: the log end offset grows, so an earlier sample proves nothing.
    """
    heads = marked_heads(tables, span).where(span.contains("sampled_at"))
    rows = offsets_at_samples(tables, span, heads)
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
