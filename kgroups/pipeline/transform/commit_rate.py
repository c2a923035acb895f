"""How often groups commit, and by how many records."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kgroups.pipeline.derived import COMMIT_RATE

from .columns import KEY, in_order, later, micros, shaped
from .completeness import known
from .inputs import Rules, Span, Tables


def commit_rate(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Compute :data:`COMMIT_RATE` from the commits in the span."""
    window = in_order(*KEY)
    commits = tables.commits.where(span.reached("log_time")).join(known(tables, span, rules), "log_partition", "left")
    # A tombstone has no offset, so the commit after it has no step.
    steps = commits.select(
        "group",
        "topic",
        "partition",
        "commit_time",
        "log_time",
        "tombstone",
        "known_since",
        "unread_since",
        (F.col("committed_offset") - F.lag("committed_offset").over(window)).alias("step"),
        (F.lag("log_time").over(window) < F.col("known_since")).alias("was_unknown"),
    ).where(span.contains("log_time") & ~F.col("tombstone"))
    # Before history is complete, one commit may remain of many: the step from it does not belong to a known bucket.
    step = F.when(F.col("was_unknown") & (F.col("log_time") >= F.col("known_since")), None).otherwise(F.col("step"))
    size = micros(rules.bucket)
    time = F.unix_micros("log_time")
    buckets = (
        steps.withColumns({"step": step, "bucket": F.timestamp_micros(time - F.pmod(time, F.lit(size)))})
        .groupBy("group", "bucket")
        .agg(
            F.count("*").alias("commits"),
            F.size(F.collect_set("commit_time")).alias("requests"),
            F.size(F.collect_set(F.struct("topic", "partition"))).alias("partitions"),
            F.sum(_positive(F.col("step"))).alias("progress"),
            F.sum(_positive(-F.col("step"))).alias("rewound"),
            F.max("known_since").alias("known_since"),
            F.max("unread_since").alias("unread_since"),
        )
    )
    complete = (
        (F.col("bucket") >= F.col("known_since"))
        & (F.col("bucket") >= span.start)
        & (later(F.col("bucket"), rules.bucket) <= F.coalesce("unread_since", span.end))
    )
    return shaped(buckets.withColumn("complete", F.coalesce(complete, F.lit(False))), COMMIT_RATE)


def _positive(number: Column) -> Column:
    """Replace negative numbers by 0; keep null, which ``greatest`` would ignore."""
    return F.when(number.isNotNull(), F.greatest(number, F.lit(0)))
