"""How complete history is.

Strategy: a range that was read is dense if it has about as many records as offsets. Compaction deletes records but not
offsets, and is not visible otherwise: the log start offset does not move. The known history of a partition is the last
run of its ranges, in the order of the log, that are dense and contiguous.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from kgroups.pipeline.derived import COMPLETENESS

from .columns import before, count, shaped, so_far
from .inputs import Rules, Span, Tables


def ranges(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Return the ranges that were read: the columns of ``coverage``, and these.

    reach
        first offset after all previous ranges; null for the first range
    dense
        whether the range is complete
    run
        number of the run of contiguous dense ranges; a range that is not dense starts a new run
    """
    window = Window.partitionBy("log_partition").orderBy("from_offset", "to_offset", "sampled_at")
    offsets = F.col("to_offset") - F.col("from_offset")
    read = tables.coverage.where(F.coalesce("first_time", "sampled_at") < span.end)
    read = read.withColumns(
        {
            "reach": F.max("to_offset").over(before(window)),
            "dense": (offsets < rules.judged) | (F.col("records") >= offsets * rules.dense),
        }
    )
    breaks = ~F.col("dense") | F.coalesce(F.col("from_offset") > F.col("reach"), F.lit(False))
    return read.withColumn("run", F.sum(count(breaks)).over(so_far(window)))


def known(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Return log_partition and known_since (null if history is not complete), for a broadcast join."""
    return F.broadcast(completeness(tables, span, rules).select("log_partition", "known_since"))


def completeness(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Compute :data:`COMPLETENESS` from all ranges with a record before the end of the span."""
    runs = (
        ranges(tables, span, rules)
        .groupBy("log_partition", "run")
        .agg(
            F.min("from_offset").alias("from_offset"),
            F.max("to_offset").alias("to_offset"),
            F.sum("records").alias("records"),
            F.sum(F.col("to_offset") - F.col("from_offset")).alias("offsets"),
            F.sum(F.greatest(F.col("from_offset") - F.col("reach"), F.lit(0))).alias("missing"),
            F.min(F.when(F.col("dense"), F.col("first_time"))).alias("known_since"),
            F.max("last_time").alias("last_time"),
            F.max_by(F.col("high_watermark") - F.col("last_stable_offset"), F.struct("to_offset", "sampled_at")).alias(
                "hung"
            ),
        )
    )
    partitions = runs.groupBy("log_partition").agg(
        F.min("from_offset").alias("from_offset"),
        F.max("to_offset").alias("to_offset"),
        F.sum("records").alias("records"),
        F.try_divide(F.sum("records"), F.sum("offsets")).alias("density"),
        F.coalesce(F.sum("missing"), F.lit(0)).alias("missing"),
        F.max_by("known_since", "run").alias("known_since"),
        F.max("last_time").alias("last_time"),
        F.max_by("hung", "run").alias("hung"),
    )
    return shaped(partitions, COMPLETENESS)
