"""The lag of groups, in records and in time."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kgroups.pipeline.derived import LAG

from .columns import millis, shaped
from .heads import marked_heads
from .inputs import Rules, Span, Tables
from .standing import offsets_at_samples
from .time_lag import with_passed_at


def lag(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Compute :data:`LAG` at the samples in the span. Time lag also uses the samples before it."""
    heads = marked_heads(tables, span)
    rows = offsets_at_samples(tables, span, heads.where(span.contains("sampled_at")))
    timed = with_passed_at(heads, rows)
    time_lag = F.when(F.col("lag") == 0, 0).when(F.col("lag") > 0, millis(F.col("passed_at"), F.col("sampled_at")))
    return shaped(timed.withColumns({"time_lag_ms": time_lag, "remark": F.coalesce("unread_remark", remark())}), LAG)


def remark() -> Column:
    """Return the remark with the text of :func:`kgroups.model.lag.remark`."""
    lost = F.col("log_start") - F.col("committed_offset")
    return F.when(lost > 0, F.concat(F.lit("data lost: "), lost, F.lit(" offsets deleted before they were read"))).when(
        F.col("lag") < 0, "committed beyond the end of the log"
    )
