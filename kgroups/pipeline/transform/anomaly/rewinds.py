"""Commits that went back."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..columns import KEY, PLACE, in_order
from ..inputs import Rules, Span, Tables


def rewinds(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Commits in the span that are lower than the one before. A tombstone between the two has no offset: after it there
    is nothing to go back from."""
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
