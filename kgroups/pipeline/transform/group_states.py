"""The states of groups, and how long they lasted."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kgroups.pipeline.derived import GROUP_STATES

from . import classic, modern
from .columns import DEAD, PLACE, UNKNOWN, in_order, shaped
from .inputs import Rules, Span, Tables
from .positions import gone_groups
from .unread import unread_groups

_EVENT = ("group", "kind", *PLACE, "log_time", "state")


def events(tables: Tables, span: Span) -> DataFrame:
    """Return the state after each operation of a coordinator: group, kind, PLACE, log_time, state.

    A group has one timeline for all group types: a conversion to another type (KIP-848) is one operation.
    """
    of_modern = modern.states(modern.merged_records(tables, span)).where("state is not null").select(*_EVENT)
    both = classic.snapshots(tables, span).select(*_EVENT).unionByName(of_modern)
    following = F.lead("log_time").over(in_order("group"))
    return both.withColumn("following", following).where("following is null or following <> log_time").drop("following")


def timeline(tables: Tables, span: Span) -> DataFrame:
    """Return all states of all groups up to the end of the span: the columns of GROUP_STATES."""
    order = in_order("group")
    state = F.struct("kind", "state")
    was = F.lag(state).over(order)
    changes = events(tables, span).withColumn("changed", was.isNull() | (state != was)).where("changed")
    intervals = (
        changes.withColumn("next", F.lead("log_time").over(order))
        .join(gone_groups(tables, span), "group", "left")
        .join(unread_groups(tables, span), "group", "left")
    )
    # A group that a complete sweep does not find is dead, whatever its last known state.
    vanished = F.col("next").isNull() & (F.col("state") != DEAD) & F.col("gone_at").isNotNull()
    # After the last record read, only a later sweep shows that it does not exist.
    hidden_since = F.when(
        F.col("next").isNull() & ~F.coalesce(F.col("gone_at") >= F.col("unread_since"), F.lit(False)),
        F.greatest("unread_since", "log_time"),
    )
    hidden = hidden_since.isNotNull() & F.col("unread_since").isNotNull()
    until = F.when(hidden, hidden_since)
    rows = F.array(
        _interval(
            F.col("state"),
            F.col("log_time"),
            F.when(vanished, F.col("gone_at")).otherwise(F.coalesce("next", until)),
            "log",
        ),
        F.when(vanished, _interval(F.lit(DEAD), F.col("gone_at"), until, "baseline")),
        F.when(hidden, _interval(F.lit(UNKNOWN), hidden_since, F.lit(None).cast("timestamp"), "unread")),
    )
    return intervals.select("group", "kind", F.explode(F.array_compact(rows)).alias("row")).select(
        "group", "kind", "row.*"
    )


def _interval(state: Column, since: Column, until: Column, source: str) -> Column:
    return F.struct(state.alias("state"), since.alias("since"), until.alias("until"), F.lit(source).alias("source"))


def group_states(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Compute :data:`GROUP_STATES`: the states that overlap the span."""
    return shaped(timeline(tables, span).where(span.overlaps("since", "until")), GROUP_STATES)
