"""Whether groups are in use."""

from __future__ import annotations

from functools import partial, reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kgroups.pipeline.derived import STALE

from .columns import DEAD, EMPTY, STABLE, UNKNOWN, micros, millis, place, shaped
from .group_states import timeline
from .inputs import Rules, Span, Tables
from .positions import last_offsets, swept
from .unread import unread_groups


def stale(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Compute :data:`STALE` at the end of the span; its start has no effect."""
    parts = (_commits(tables, span), _offsets(tables, span), _states(tables, span), _events(tables, span))
    both = reduce(partial(DataFrame.unionByName, allowMissingColumns=True), (*parts, last_swept(tables, span)))
    columns = [each for each in both.columns if each != "group"]
    groups = both.groupBy("group").agg(*(F.max(each).alias(each) for each in columns))
    # A sweep after the last record read shows deletions; the timeline of states contains that.
    missed = F.coalesce(F.col("gone_at") >= F.col("unread_since"), F.lit(False))
    hidden = F.col("unread_since").isNotNull() & F.coalesce(F.col("state") == UNKNOWN, ~missed)
    groups = groups.join(unread_groups(tables, span), "group", "left").withColumns(
        {
            "unread_since": F.when(hidden, F.col("unread_since")),
            "remark": F.when(hidden, F.col("unread_remark")),
            "kind": F.coalesce("kind", "swept_kind"),
            "state": F.coalesce("state", "swept_state"),
            "partitions": F.coalesce("partitions", F.lit(0)),
            "commit_age_ms": F.when(~hidden, millis(F.col("last_commit"), span.end)),
        }
    )
    judged = groups.withColumn("status", _status(span, rules))
    deleted_at = F.when(F.col("status") == "DELETED", F.coalesce("state_since", "gone_at", "last_tombstone"))
    return shaped(judged.withColumn("deleted_at", deleted_at), STALE)


def _status(span: Span, rules: Rules) -> Column:
    age = millis(F.coalesce("last_commit", "last_event"), span.end)
    fresh = F.coalesce(age * 1000 <= micros(rules.stale_after), F.lit(False))
    # Consumers that use assign() commit to a group that is empty, or of which only commits are known.
    since = F.col("state_since")
    committing = fresh & F.col("last_commit").isNotNull() & (since.isNull() | (F.col("last_commit") > since))
    # Share groups store their offsets elsewhere: only their members show that they are in use.
    sharing = (F.col("kind") == "share") & (F.col("state") == STABLE)
    unread = F.col("unread_since").isNotNull()
    known_live = fresh & F.col("last_commit").isNotNull() & (F.col("partitions") > 0)
    return (
        F.when(unread, F.when(known_live, "LIVE").otherwise("UNKNOWN"))
        .when((F.col("partitions") == 0) & (F.coalesce("state", F.lit(DEAD)) == DEAD), "DELETED")
        .when((F.col("state") == EMPTY) & ~committing, "EMPTY")
        .when(fresh | sharing, "LIVE")
        .otherwise("STALE")
    )


def _commits(tables: Tables, span: Span) -> DataFrame:
    time = F.col("log_time")
    return (
        tables.commits.where(span.reached("log_time"))
        .groupBy("group")
        .agg(
            F.max_by(time, F.when(~F.col("tombstone"), place())).alias("last_commit"),
            F.max(F.when(F.col("tombstone"), time)).alias("last_tombstone"),
        )
    )


def _offsets(tables: Tables, span: Span) -> DataFrame:
    alive = ~F.col("tombstone") & F.col("gone_at").isNull()
    return (
        last_offsets(tables, span)
        .groupBy("group")
        .agg(F.count(F.when(alive, 1)).alias("partitions"), F.max("gone_at").alias("gone_at"))
    )


def _states(tables: Tables, span: Span) -> DataFrame:
    last = timeline(tables, span).where("until is null")
    return last.select("group", "kind", "state", F.col("since").alias("state_since"))


def _events(tables: Tables, span: Span) -> DataFrame:
    sources = (tables.group_metadata, tables.members, tables.epochs)
    parts = [table.where(span.reached("log_time")).select("group", "log_time") for table in sources]
    return reduce(DataFrame.union, parts).groupBy("group").agg(F.max("log_time").alias("last_event"))


def last_swept(tables: Tables, span: Span) -> DataFrame:
    """Return the last sweep of each group: group, swept_kind, swept_state."""
    last = F.max_by(F.struct(F.col("kind").alias("swept_kind"), F.col("state").alias("swept_state")), "swept_at")
    return swept(tables, span).groupBy("group").agg(last.alias("last")).select("group", "last.*")
