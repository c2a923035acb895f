"""Ranges of the log that were not read, or were compacted before."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ..completeness import ranges
from ..inputs import Rules, Span, Tables


def gaps(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Return the offsets between ranges that were never read, and the ranges that are not dense, in the span."""
    window = Window.partitionBy("log_partition").orderBy("from_offset", "to_offset", "sampled_at")
    read = ranges(tables, span, rules).withColumn("time_before", F.lag("last_time").over(window))
    gap = F.struct(
        F.col("time_before").alias("since"),
        F.col("first_time").alias("until"),
        F.col("reach").alias("expected"),
        F.col("from_offset").alias("found"),
        F.concat(F.col("from_offset") - F.col("reach"), F.lit(" offsets were never read")).alias("note"),
    )
    share = F.round(F.lit(100) * F.col("records") / (F.col("to_offset") - F.col("from_offset"))).cast("int")
    counted = F.concat(F.lit("compacted: "), "compacted", F.lit(" offsets have no record"))
    sparse = F.struct(
        F.col("first_time").alias("since"),
        F.coalesce("whole_since", "last_time").alias("until"),
        F.col("from_offset").alias("expected"),
        F.coalesce("compacted_to", "to_offset").alias("found"),
        F.coalesce(counted, F.concat(F.lit("compacted: records at "), share, F.lit(" % of the offsets"))).alias("note"),
    )
    found = F.array_compact(
        F.array(F.when(F.col("from_offset") > F.col("reach"), gap), F.when(~F.col("dense"), sparse))
    )
    rows = read.select("log_partition", F.explode(found).alias("gap")).select("log_partition", "gap.*")
    rows = rows.where((F.coalesce("since", "until") < span.end) & (F.coalesce("until", "since") >= span.start))
    return rows.withColumn("anomaly", F.lit("coverage_gap"))
