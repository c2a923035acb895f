"""Commits that went back."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..columns import KEY, PLACE, in_order
from ..inputs import Rules, Span, Tables


def rewinds(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Return the commits in the span that are lower than the previous one.

    A tombstone has no offset, so the commit after it is not a rewind.
    """
    commits = tables.commits.where(span.reached("log_time"))
    steps = commits.withColumn("expected", F.lag("committed_offset").over(in_order(*KEY)))
    found, expected = F.col("committed_offset"), F.col("expected")
    return steps.where((found < expected) & span.contains("log_time")).select(
        F.lit("rewind").alias("anomaly"),
        *KEY,
        *PLACE,
        F.col("log_time").alias("since"),
        F.col("log_time").alias("until"),
        "expected",
        found.alias("found"),
        F.concat(F.lit("went back by "), expected - found).alias("note"),
    )
