"""How whole history is.

Strategy: a range that was read is dense where about as many records came as it has offsets. Compaction takes records
and leaves offsets, and nothing else tells of it: the log's start stays where it was. Of each partition's ranges, in the
order of the log, those that are dense and join on without a gap up to the last are what is known.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from kgroups.pipeline.derived import COMPLETENESS

from .columns import before, count, shaped, so_far
from .inputs import Rules, Span, Tables


def ranges(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """The ranges that were read, as in ``coverage``; with

    reach
        first offset behind all ranges before it, null for the first
    dense
        whether it is whole
    run
        number of the contiguous dense ranges that it belongs to; a range that is not dense begins a new one
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
    """log_partition and known_since, null where history is not whole; small enough to be sent to everybody."""
    return F.broadcast(completeness(tables, span, rules).select("log_partition", "known_since"))


def completeness(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Makes :data:`COMPLETENESS`: of all ranges with a record before the end of the span."""
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
    whole = runs.groupBy("log_partition").agg(
        F.min("from_offset").alias("from_offset"),
        F.max("to_offset").alias("to_offset"),
        F.sum("records").alias("records"),
        F.try_divide(F.sum("records"), F.sum("offsets")).alias("density"),
        F.coalesce(F.sum("missing"), F.lit(0)).alias("missing"),
        F.max_by("known_since", "run").alias("known_since"),
        F.max("last_time").alias("last_time"),
        F.max_by("hung", "run").alias("hung"),
    )
    return shaped(whole, COMPLETENESS)
