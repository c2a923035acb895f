"""Rebalances of groups of every type."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from kgroups.pipeline.derived import REBALANCES

from . import classic, modern
from .columns import LISTS, PLACE, millis, shaped, so_far
from .completeness import known
from .inputs import Rules, Span, Tables


def rounds(tables: Tables, span: Span) -> DataFrame:
    """Return every rebalance up to the end of the span: REBALANCES without pause_ms and complete."""
    both = classic.rounds(tables, span).unionByName(
        modern.rounds(modern.states(modern.merged_records(tables, span))), allowMissingColumns=True
    )
    # Members that joined are known in a group's first round, and if the previous round is known.
    compared = F.col("begins") | F.col("previous_generation").isNotNull()
    return both.withColumns({each: F.when(compared, F.sort_array(each)) for each in LISTS})


def with_pauses(tables: Tables, span: Span, rounds: DataFrame) -> DataFrame:
    """Add ``pause_ms`` to rounds: the time from the group's last commit before to its first commit after."""
    groups = F.broadcast(rounds.select("group").distinct())
    commits = tables.commits.where(span.reached("log_time") & ~F.col("tombstone")).join(groups, "group", "left_semi")
    both = commits.select("group", *PLACE, F.col("log_time").alias("committed")).unionByName(
        rounds, allowMissingColumns=True
    )
    forwards = Window.partitionBy("group").orderBy(*PLACE)
    backwards = Window.partitionBy("group").orderBy(*(F.desc(each) for each in PLACE))
    pause = millis(_nearest("committed").over(so_far(forwards)), _nearest("committed").over(so_far(backwards)))
    return both.withColumn("pause_ms", pause).where("round is not null")


def _nearest(column: str) -> Column:
    return F.last(column, ignorenulls=True)


def rebalances(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Compute :data:`REBALANCES` in the span."""
    found = rounds(tables, span).where(span.contains("log_time"))
    found = with_pauses(tables, span, found).join(known(tables, span, rules), "log_partition", "left")
    complete = F.coalesce(F.col("log_time") >= F.col("known_since"), F.lit(False))
    return shaped(found.withColumn("complete", complete), REBALANCES)
