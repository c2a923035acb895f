"""The status of groups by Burrow's rules: https://github.com/linkedin/Burrow/wiki/Consumer-Lag-Evaluation-Rules.

They are applied to samples of the log end offset, not to commits: between two samples, the log end offset appears
unchanged, so lag appears to shrink with every commit.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from kgroups.pipeline.derived import VERDICTS

from .columns import KEY, shaped
from .heads import last_heads, marked_heads
from .inputs import Rules, Span, Tables
from .standing import offsets_at_samples

STATUSES: Final = ("OK", "UNKNOWN", "WARN", "STOP", "STALL", "REWIND")
"""From best to worst, as in Burrow."""


_KNOWN_AT: Final = "case when lag is not null then sampled_at end"


def verdicts(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Compute :data:`VERDICTS` of the partitions that have a commit at the last sample of the span."""
    heads = last_heads(marked_heads(tables, span).where(span.contains("sampled_at")), rules.samples)
    rows = offsets_at_samples(tables, span, heads)
    window = Window.partitionBy(*KEY).orderBy("sampled_at")
    has_offset = F.col("committed_offset").isNotNull() | F.col("unread_remark").isNotNull()
    at_last = F.last(has_offset).over(window.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing))
    steps = (
        rows.withColumn("has_offset", at_last)
        .where("has_offset and (lag is not null or unread_remark is not null)")
        .withColumns(
            {
                "went_back": F.col("committed_offset") < F.lag("committed_offset").over(window),
                "shrank": F.col("lag") < F.lag("lag").over(window),
            }
        )
    )
    judged = steps.groupBy(*KEY).agg(
        F.count("*").alias("taken"),
        F.count("lag").alias("samples"),
        F.max("unread_remark").alias("remark"),
        F.coalesce(F.min(F.expr(_KNOWN_AT)), F.min("sampled_at")).alias("since"),
        F.coalesce(F.max(F.expr(_KNOWN_AT)), F.max("sampled_at")).alias("until"),
        _at_first("committed_offset").alias("first_offset"),
        _at_last("committed_offset").alias("last_offset"),
        _at_first("lag").alias("first_lag"),
        _at_last("lag").alias("last_lag"),
        _at_last("committed_at").alias("committed_at"),
        (F.count("lag") * 2 < F.count("*")).alias("mostly_unread"),
        F.min("committed_offset").alias("lowest"),
        F.max("committed_offset").alias("highest"),
        F.min("lag").alias("least"),
        F.coalesce(F.bool_or("went_back"), F.lit(False)).alias("went_back"),
        F.coalesce(F.bool_or("shrank"), F.lit(False)).alias("shrank"),
    )
    found = judged.withColumn("status", _status(rules))
    ranks = F.array(*(F.lit(each) for each in STATUSES))
    worst = F.max(F.array_position(ranks, F.col("status"))).over(Window.partitionBy("group"))
    return shaped(found.withColumn("group_status", F.element_at(ranks, worst.cast("int"))), VERDICTS)


def _status(rules: Rules) -> Column:
    return (
        F.when(F.col("mostly_unread"), "UNKNOWN")
        .when(F.col("went_back") & (F.col("last_offset") < F.col("highest")), "REWIND")
        .when(F.col("least") <= 0, "OK")
        .when(F.col("taken") < rules.samples, "UNKNOWN")
        .when(F.col("committed_at") <= F.col("since"), "STOP")
        .when(F.col("lowest") == F.col("highest"), "STALL")
        .when(~F.col("shrank"), "WARN")
        .otherwise("OK")
    )


def _at_first(column: str) -> Column:
    return F.min_by(column, F.expr(_KNOWN_AT))


def _at_last(column: str) -> Column:
    return F.max_by(column, F.expr(_KNOWN_AT))
