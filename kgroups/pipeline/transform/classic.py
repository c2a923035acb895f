"""Classic groups, from the records of their coordinators: each is a snapshot of the group with its members.

A coordinator writes a record when a rebalance is complete, when the last member has left, and, in the same generation,
when a static member returns with a new member ID without a rebalance.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from .columns import CLASSIC, DEAD, EMPTY, LISTS, PLACE, ROUND, STABLE, in_order
from .inputs import Span, Tables


def snapshots(tables: Tables, span: Span) -> DataFrame:
    """Return the records of type 2 up to the end of the span, with tombstones, and these additional columns.

    kind, state
        classic; Empty, Stable, or Dead
    snapshot
        number in the group, from 1
    next_time
        log time of the next snapshot; null for the last
    previous_generation
        null if unknown, and after a tombstone
    begins
        whether it is the first of a new group
    """
    window = in_order("group")
    written = tables.group_metadata.where(span.reached("log_time"))
    return written.withColumns(
        {
            "kind": F.lit(CLASSIC),
            "state": F.when(F.col("tombstone"), DEAD).when(F.col("member_count") == 0, EMPTY).otherwise(STABLE),
            "snapshot": F.row_number().over(window),
            "next_time": F.lead("log_time").over(window),
            "previous_generation": F.lag("generation").over(window),
            "begins": (F.col("generation") <= 1) | F.coalesce(F.lag("tombstone").over(window), F.lit(False)),
        }
    )


def snapshot_members(tables: Tables, snapshots: DataFrame) -> DataFrame:
    """Join snapshots with their members: columns of both; one row with nulls for a snapshot without members."""
    members = tables.members.where(F.col("kind") == CLASSIC).select(
        *PLACE, "member_id", "instance_id", "client_id", "client_host", "topics"
    )
    return snapshots.join(members, list(PLACE), "left")


def rounds(tables: Tables, span: Span) -> DataFrame:
    """Return every rebalance up to the end of the span.

    Columns: :data:`ROUND`, protocol, leader; and arrays of member IDs (joined, left, restarted, resubscribed), compared
    with the previous round.

    Strategy: the rows of a member are ordered by round. A member that is not in the previous round joined in this one;
    a member that is not in the next round left in that one, which may not exist.
    """
    window = Window.partitionBy("group", "identity").orderBy("round")
    # Static members are identified by their instance ID, others by their member ID.
    identity = F.coalesce(F.concat(F.lit("i"), "instance_id"), F.concat(F.lit("m"), "member_id"))
    rows = snapshot_members(tables, _changes(snapshots(tables, span))).withColumns(
        {"identity": identity, "topics": F.sort_array("topics")}
    )
    was_member = F.coalesce(F.lag("round").over(window) == F.col("round") - 1, F.lit(False))
    remains = F.coalesce(F.lead("round").over(window) == F.col("round") + 1, F.lit(False))
    renamed = F.lag("member_id").over(window) != F.col("member_id")
    resubscribed = F.lag("topics").over(window) != F.col("topics")
    events = F.array(
        _event("round", 0),
        F.when(~was_member, _event("joined", 0)),
        F.when(was_member & renamed, _event("restarted", 0)),
        F.when(was_member & resubscribed, _event("resubscribed", 0)),
        F.when(~remains, _event("left", 1)),
    )
    round_columns = ("rebalanced", *ROUND, "protocol", "leader")
    exploded = (
        rows.withColumn("events", F.array_compact(events))
        .withColumn("event", F.explode("events"))
        .select("group", "kind", "event.*", "member_id", F.struct(*round_columns).alias("begun"))
    )
    found = exploded.groupBy("group", "kind", "round").agg(
        F.max(F.when(F.col("event_type") == "round", F.col("begun"))).alias("begun"),
        *(F.collect_list(F.when(F.col("event_type") == each, F.col("member_id"))).alias(each) for each in LISTS),
    )
    return found.where("begun.rebalanced").select("begun.*", *LISTS).drop("rebalanced")


def _changes(snapshots: DataFrame) -> DataFrame:
    """Return the snapshots at which the generation changed, and the tombstones.

    Additional columns: ``round``, the number in the group; ``rebalanced``, false for tombstones.
    """
    changed = F.col("previous_generation").isNull() | (F.col("generation") != F.col("previous_generation"))
    # Generation 0: no member has joined the group yet.
    rebalanced = ~F.col("tombstone") & (F.col("generation") > 0) & changed
    changes = snapshots.withColumn("rebalanced", rebalanced).where("rebalanced or tombstone")
    return changes.withColumnRenamed("member_count", "members").withColumn(
        "round", F.row_number().over(in_order("group"))
    )


def _event(event_type: str, round_offset: int) -> Column:
    return F.struct((F.col("round") + round_offset).alias("round"), F.lit(event_type).alias("event_type"))


def stays(tables: Tables, snapshots: DataFrame) -> DataFrame:
    """Return the intervals of membership, from one continuous run of snapshots each.

    Columns: group, kind, member_id, instance_id, client_id, client_host, log_partition, since, until, begins.
    """
    window = Window.partitionBy("group", "member_id").orderBy("snapshot")
    rows = snapshot_members(tables, snapshots).where("member_id is not null")
    rows = rows.withColumn("stay", F.col("snapshot") - F.row_number().over(window))
    first, last = (
        F.struct("log_time", "log_partition", "snapshot", "begins"),
        F.struct("next_time", "instance_id", "client_id", "client_host"),
    )
    found = rows.groupBy("group", "kind", "member_id", "stay").agg(
        F.min_by(first, "snapshot").alias("first"), F.max_by(last, "snapshot").alias("last")
    )
    return found.select(
        "group",
        "kind",
        "member_id",
        "last.instance_id",
        "last.client_id",
        "last.client_host",
        "first.log_partition",
        F.col("first.log_time").alias("since"),
        F.col("last.next_time").alias("until"),
        ((F.col("first.snapshot") > 1) | F.col("first.begins")).alias("begins"),
    )
