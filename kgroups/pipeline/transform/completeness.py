"""How complete history is.

Strategy: the reader looks for the last record that compaction deleted in each range; history of the range is complete
after it. Stores of earlier versions do not contain that: there, a range is complete if it has about as many records as
offsets. The known history of a partition is the last run of its ranges, in the order of the log, that are contiguous,
and complete but for the start of the first.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from kgroups.pipeline.derived import COMPLETENESS

from .columns import before, count, shaped, so_far
from .inputs import Rules, Span, Tables
from .unread import stalls


def ranges(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Return the ranges that were read: the columns of ``coverage``, and these.

    reach
        first offset after all previous ranges; null for the first range
    dense
        whether the range is complete
    known_since
        log time since which it is complete; null if it is not
    run
        number of the run of contiguous dense ranges; a range that is not dense starts a new run
    """
    window = Window.partitionBy("log_partition").orderBy("from_offset", "to_offset", "sampled_at")
    offsets = F.col("to_offset") - F.col("from_offset")
    # An empty range is a partition in which nothing could be read: see unread.
    read = tables.coverage.where((F.coalesce("first_time", "sampled_at") < span.end) & (offsets > 0))
    read = read.withColumns(
        {
            "reach": F.max("to_offset").over(before(window)),
            "dense": F.coalesce(
                F.col("compacted") == 0, (offsets < rules.judged) | (F.col("records") >= offsets * rules.dense)
            ),
        }
    ).withColumn("known_since", F.when(F.col("dense"), F.col("first_time")).otherwise(F.col("whole_since")))
    breaks = ~F.col("dense") | F.coalesce(F.col("from_offset") > F.col("reach"), F.lit(False))
    return read.withColumn("run", F.sum(count(breaks)).over(so_far(window)))


def known(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Return log_partition, known_since (null if history is not complete), and unread_since, for a broadcast join."""
    return F.broadcast(completeness(tables, span, rules).select("log_partition", "known_since", "unread_since"))


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
            F.min("known_since").alias("known_since"),
            F.max("last_time").alias("last_time"),
        )
    )
    partitions = runs.groupBy("log_partition").agg(
        F.min("from_offset").alias("from_offset"),
        F.max("to_offset").alias("to_offset"),
        F.sum("records").alias("records"),
        F.try_divide(F.sum("records"), F.sum("offsets")).alias("density"),
        F.sum("missing").alias("missing"),
        F.max_by("known_since", "run").alias("known_since"),
        F.max("last_time").alias("last_time"),
    )
    joined = partitions.join(stalls(tables, span), "log_partition", "full_outer")
    counted = {name: F.coalesce(name, F.lit(0)) for name in ("records", "missing", "hung")}
    return shaped(joined.withColumns(counted), COMPLETENESS)
