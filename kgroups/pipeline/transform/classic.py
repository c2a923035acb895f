"""Classic groups, from the states that their coordinator wrote down: each is a snapshot of the group with its members.

A coordinator writes when a rebalance is complete, when the last member has left, and, in the same generation, when a
static member came back under a new id without a rebalance.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from .columns import CLASSIC, DEAD, EMPTY, LISTS, PLACE, ROUND, STABLE, in_order
from .inputs import Span, Tables


def snapshots(tables: Tables, span: Span) -> DataFrame:
    """The records of type 2 up to the end of the span, tombstones too; besides their columns

    kind, state
        classic; Empty, Stable or Dead
    snapshot
        number in the group, from 1
    next_time
        log time of the next one; null for the last
    previous_generation
        null where none is known, and behind a tombstone
    begins
        whether nothing was before it: the group is new, its generation the first
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
    """Each member of each of ``snapshots``: columns of both. One without members is there once, with nulls."""
    members = tables.members.where(F.col("kind") == CLASSIC).select(
        *PLACE, "member_id", "instance_id", "client_id", "client_host", "topics"
    )
    return snapshots.join(members, list(PLACE), "left")


def rounds(tables: Tables, span: Span) -> DataFrame:
    """Every rebalance up to the end of the span: what :data:`ROUND` names, protocol, leader; and as arrays of member
    ids joined, left, restarted, resubscribed, against the round before.

    Strategy: a member's rows are put in a line, whoever it was called by: one that is not in the round before joined,
    one that is not in the next left with that, which there need not be.
    """
    window = Window.partitionBy("group", "who").orderBy("round")
    # A static member is known by its instance id, others by their member id.
    who = F.coalesce(F.concat(F.lit("i"), "instance_id"), F.concat(F.lit("m"), "member_id"))
    lines = snapshot_members(tables, _changes(snapshots(tables, span))).withColumns(
        {"who": who, "topics": F.sort_array("topics")}
    )
    there = F.coalesce(F.lag("round").over(window) == F.col("round") - 1, F.lit(False))
    stays = F.coalesce(F.lead("round").over(window) == F.col("round") + 1, F.lit(False))
    renamed = F.lag("member_id").over(window) != F.col("member_id")
    resubscribed = F.lag("topics").over(window) != F.col("topics")
    events = F.array(
        _event("round", 0),
        F.when(~there, _event("joined", 0)),
        F.when(there & renamed, _event("restarted", 0)),
        F.when(there & resubscribed, _event("resubscribed", 0)),
        F.when(~stays, _event("left", 1)),
    )
    said = ("rebalanced", *ROUND, "protocol", "leader")
    told = (
        lines.withColumn("events", F.array_compact(events))
        .withColumn("event", F.explode("events"))
        .select("group", "kind", "event.*", "member_id", F.struct(*said).alias("begun"))
    )
    found = told.groupBy("group", "kind", "round").agg(
        F.max(F.when(F.col("what") == "round", F.col("begun"))).alias("begun"),
        *(F.collect_list(F.when(F.col("what") == each, F.col("member_id"))).alias(each) for each in LISTS),
    )
    return found.where("begun.rebalanced").select("begun.*", *LISTS).drop("rebalanced")


def _changes(snapshots: DataFrame) -> DataFrame:
    """The snapshots at which the generation changed, and the tombstones; with ``round``, their number in the group, and
    ``rebalanced``, whether it is no tombstone."""
    changed = F.col("previous_generation").isNull() | (F.col("generation") != F.col("previous_generation"))
    # Generation 0 is a group that nobody has joined yet.
    rebalanced = ~F.col("tombstone") & (F.col("generation") > 0) & changed
    kept = snapshots.withColumn("rebalanced", rebalanced).where("rebalanced or tombstone")
    return kept.withColumnRenamed("member_count", "members").withColumn("round", F.row_number().over(in_order("group")))


def _event(what: str, rounds_on: int) -> Column:
    return F.struct((F.col("round") + rounds_on).alias("round"), F.lit(what).alias("what"))


def stays(tables: Tables, snapshots: DataFrame) -> DataFrame:
    """Members' stays: group, kind, member_id, what is known of the member, log_partition, since, until, begins."""
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
