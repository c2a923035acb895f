"""Groups of the newer types, from their epochs (KIP-848, KIP-932, KIP-1071).

Each record has one member, or the epoch of the group or of its target assignment.

Strategy: the records of members and epochs of a group are merged in log order, with running counts of the members, and
of the members that are stable at the group's epoch. An operation of the coordinator is several records with the same
time: the counts are valid only after the last of them.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .columns import (
    CLASSIC,
    DEAD,
    EMPTY,
    PLACE,
    RECONCILING,
    ROUND,
    STABLE,
    before,
    count,
    in_order,
    millis,
    so_far,
)
from .inputs import Span, Tables

GROUP: Final = ("group", "kind")
_GONE: Final = -1
"""Stands for the epoch of a group after its tombstone."""
_FIRST: Final = 2
"""Maximum epoch at which a group's first member joins: 1, or 2 with newer brokers (observed with 4.3)."""


def member_records(tables: Tables, span: Span) -> DataFrame:
    """Return the records of members up to the end of the span: GROUP, PLACE, log_time, member_id, and these columns.

    member_change
        change of the number of members: 1, 0, or -1
    event_type
        joined, left, or resubscribed; null: none of these
    instance_id
        also for a member that left
    """
    records = tables.members.where(span.reached("log_time") & (F.col("kind") != CLASSIC))
    members = records.withColumn("current", F.when(~F.col("tombstone"), F.struct("instance_id", _subscription())))
    members = members.withColumn("previous", F.lag("current").over(in_order(*GROUP, "member_id")))
    is_member, was_member = F.col("current").isNotNull(), F.col("previous").isNotNull()
    event_type = (
        F.when(is_member & ~was_member, "joined")
        .when(~is_member & was_member, "left")
        .when(F.col("current.subscription") != F.col("previous.subscription"), "resubscribed")
    )
    return members.select(
        *GROUP,
        *PLACE,
        "log_time",
        "member_id",
        (count(is_member) - count(was_member)).alias("member_change"),
        event_type.alias("event_type"),
        F.coalesce("current.instance_id", "previous.instance_id").alias("instance_id"),
    )


def _subscription() -> Column:
    return F.struct(F.sort_array("topics").alias("topics"), "topic_regex").alias("subscription")


def merged_records(tables: Tables, span: Span) -> DataFrame:
    """Merge the records of members and epochs: GROUP, PLACE, log_time, and these columns at each record.

    subject, epoch
        subject of the record and its epoch: present, group, target, member; present has the columns of
        :func:`member_records`
    group_epoch
        epoch of the group, -1 after its tombstone; null: not known yet
    previous_epoch, bumped
        epoch of the group before this record; whether this record starts a new epoch
    round
        number of epochs of the group so far; 0 before the first
    members, converged
        number of members, and of the members that are stable at the group's epoch
    """
    presence = member_records(tables, span).withColumn("subject", F.lit("present"))
    epochs = tables.epochs.where(span.reached("log_time")).select(
        *GROUP, *PLACE, "log_time", "member_id", "subject", "epoch", "state", "tombstone"
    )
    both = presence.unionByName(epochs, allowMissingColumns=True)
    group = in_order(*GROUP)
    new_epoch = F.when(F.col("subject") == "group", F.when(F.col("tombstone"), _GONE).otherwise(F.col("epoch")))
    counted = both.withColumn("new_epoch", new_epoch).withColumns(
        {
            "group_epoch": F.last("new_epoch", ignorenulls=True).over(so_far(group)),
            "previous_epoch": F.last("new_epoch", ignorenulls=True).over(before(group)),
        }
    )
    differs = F.col("previous_epoch").isNull() | (F.col("new_epoch") != F.col("previous_epoch"))
    counted = counted.withColumn(
        "bumped", F.coalesce((F.col("new_epoch") != _GONE) & differs, F.lit(False))
    ).withColumns(
        {
            "round": F.sum(count(F.col("bumped"))).over(so_far(group)),
            "members": F.sum(F.coalesce("member_change", F.lit(0))).over(so_far(group)),
        }
    )
    # Count per epoch: no member has an epoch before the group has it.
    member = in_order(*GROUP, "round", "subject", "member_id")
    has_epoch = F.coalesce(
        (F.col("subject") == "member") & (F.col("epoch") == F.col("group_epoch")) & (F.col("state") == "stable"),
        F.lit(False),
    )
    had_epoch = F.coalesce(F.lag("has_epoch").over(member), F.lit(False))
    return (
        counted.withColumn("has_epoch", has_epoch)
        .withColumn("converged_change", count(F.col("has_epoch")) - count(had_epoch))
        .withColumn("converged", F.sum("converged_change").over(so_far(in_order(*GROUP, "round"))))
    )


def states(records: DataFrame) -> DataFrame:
    """Add ``state`` to merged records: the state of the group after each operation of the coordinator.

    Null if a record with the same time follows, or the state is unknown.
    """
    last = F.coalesce(F.lead("log_time").over(in_order(*GROUP)) != F.col("log_time"), F.lit(True))
    state = (
        F.when(F.col("group_epoch") == _GONE, DEAD)
        .when(F.col("members") <= 0, EMPTY)
        .when(F.col("members") == F.col("converged"), STABLE)
        .otherwise(RECONCILING)
    )
    return records.withColumn("state", F.when(last & F.col("group_epoch").isNotNull(), state))


def rounds(states: DataFrame) -> DataFrame:
    """Return every rebalance in the result of :func:`states`.

    Columns: :data:`ROUND`, target_ms, converge_ms; and arrays of member IDs (joined, left, restarted, resubscribed),
    compared with the previous round.
    """
    begun = F.struct(
        *(each for each in ROUND if each not in (*GROUP, "round", "generation", "previous_generation", "begins")),
        F.col("group_epoch").alias("generation"),
        F.nullif(F.col("previous_epoch"), F.lit(_GONE)).alias("previous_generation"),
        ((F.col("group_epoch") <= _FIRST) | F.coalesce(F.col("previous_epoch") == _GONE, F.lit(False))).alias("begins"),
    )
    is_target = (F.col("subject") == "target") & (F.col("epoch") >= F.col("group_epoch"))
    # A coordinator first writes the changed member, then the resulting epoch.
    events = states.withColumn("round", F.col("round") + count(F.col("event_type").isNotNull()))
    found = events.groupBy(*GROUP, "round").agg(
        F.max(F.when(F.col("bumped"), begun)).alias("begun"),
        _first(is_target).alias("targeted_at"),
        _first(F.col("state") == STABLE).alias("converged_at"),
        _members("joined").alias("came"),
        _members("left").alias("went"),
        _members("resubscribed").alias("changed"),
    )
    since = F.col("begun.log_time")
    # A group begins with one member; otherwise compaction deleted the previous epoch.
    begins = F.col("begun.begins") & (F.size("came") == 1)
    found = found.where("begun is not null").withColumn("begun", F.col("begun").withField("begins", begins))
    return found.select(
        *GROUP,
        "round",
        "begun.*",
        millis(since, F.col("targeted_at")).alias("target_ms"),
        millis(since, F.col("converged_at")).alias("converge_ms"),
        F.filter("came", lambda each: ~_replaced(each, "went")).member_id.alias("joined"),
        F.filter("went", lambda each: ~_replaced(each, "came")).member_id.alias("left"),
        F.filter("came", lambda each: _replaced(each, "went")).member_id.alias("restarted"),
        F.col("changed.member_id").alias("resubscribed"),
    )


def _members(event_type: str) -> Column:
    return F.collect_list(F.when(F.col("event_type") == event_type, F.struct("instance_id", "member_id")))


def _first(condition: Column) -> Column:
    return F.min(F.when(condition, F.col("log_time")))


def _replaced(member: Column, others: str) -> Column:
    """Return whether one of ``others`` is the same instance with another member ID; false without an instance ID."""

    def same(other: Column) -> Column:
        return (other.instance_id == member.instance_id) & (other.member_id != member.member_id)

    return F.coalesce(F.exists(others, same), F.lit(False))


def stays(tables: Tables, span: Span) -> DataFrame:
    """Return the intervals of membership.

    Columns: group, kind, member_id, instance_id, client_id, client_host, log_partition, since, until, begins.
    """
    window = in_order(*GROUP, "member_id")
    ended = F.coalesce(F.sum(count(F.col("tombstone"))).over(before(window)), F.lit(0))
    records = tables.members.where(span.reached("log_time") & (F.col("kind") != CLASSIC)).withColumn("stay", ended)
    known = F.when(~F.col("tombstone"), F.struct("instance_id", "client_id", "client_host"))
    found = records.groupBy(*GROUP, "member_id", "stay").agg(
        F.max_by(known, F.when(~F.col("tombstone"), F.struct(*PLACE))).alias("known"),
        F.max("log_partition").alias("log_partition"),
        F.min_by("log_time", F.when(~F.col("tombstone"), F.struct(*PLACE))).alias("since"),
        F.max(F.when(F.col("tombstone"), F.col("log_time"))).alias("until"),
    )
    # A tombstone without a previous record: nothing is known about the member.
    return found.where("known is not null").select(
        *GROUP, "member_id", "known.*", "log_partition", "since", "until", F.lit(True).alias("begins")
    )
