"""Groups of the newer kinds, from their epochs (KIP-848, KIP-932, KIP-1071): each record tells of one member, or of the
epoch of the group or of its target assignment.

Strategy: members and epochs are put in one line for each group, in the order of the log, and counted: how many members
there are, and how many of them have the group's epoch and are stable. One act of the coordinator is several records
with one time: what the counts say between them never was, only what the last one of a time leaves behind.
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
"""Epoch of a group after its tombstone."""
_FIRST: Final = 2
"""Epoch with which a group's first member joins: 1, and of newer brokers (seen with 4.3) 2."""


def member_records(tables: Tables, span: Span) -> DataFrame:
    """The records of members up to the end of the span: GROUP, PLACE, log_time, member_id; and

    more
        by how many the members became more with it
    what
        joined, left or resubscribed; null: nothing of these
    instance_id
        also of one that left
    """
    records = tables.members.where(span.reached("log_time") & (F.col("kind") != CLASSIC))
    said = records.withColumn("says", F.when(~F.col("tombstone"), F.struct("instance_id", _subscription())))
    before = F.lag("says").over(in_order(*GROUP, "member_id"))
    said = said.withColumn("said", before)
    is_there, was = F.col("says").isNotNull(), F.col("said").isNotNull()
    what = (
        F.when(is_there & ~was, "joined")
        .when(~is_there & was, "left")
        .when(F.col("says.subscription") != F.col("said.subscription"), "resubscribed")
    )
    return said.select(
        *GROUP,
        *PLACE,
        "log_time",
        "member_id",
        (count(is_there) - count(was)).alias("more"),
        what.alias("what"),
        F.coalesce("says.instance_id", "said.instance_id").alias("instance_id"),
    )


def _subscription() -> Column:
    return F.struct(F.sort_array("topics").alias("topics"), "topic_regex").alias("subscription")


def line(tables: Tables, span: Span) -> DataFrame:
    """Members and epochs in one line for each group: GROUP, PLACE, log_time; and as of each record

    subject, epoch
        of what it tells: present, group, target, member; of present the columns of :func:`member_records`
    group_epoch
        of the group, -1 after its end; null: not known yet
    previous_epoch, bumped
        of the group before this record; whether this record makes a new one
    round
        how many epochs of the group have begun; 0 before the first
    members, converged
        how many members there are, and how many of them have the group's epoch and are stable
    """
    presence = member_records(tables, span).withColumn("subject", F.lit("present"))
    epochs = tables.epochs.where(span.reached("log_time")).select(
        *GROUP, *PLACE, "log_time", "member_id", "subject", "epoch", "state", "tombstone"
    )
    both = presence.unionByName(epochs, allowMissingColumns=True)
    group = in_order(*GROUP)
    its_epoch = F.when(F.col("subject") == "group", F.when(F.col("tombstone"), _GONE).otherwise(F.col("epoch")))
    counted = both.withColumn("its_epoch", its_epoch).withColumns(
        {
            "group_epoch": F.last("its_epoch", ignorenulls=True).over(so_far(group)),
            "previous_epoch": F.last("its_epoch", ignorenulls=True).over(before(group)),
        }
    )
    new = F.col("previous_epoch").isNull() | (F.col("its_epoch") != F.col("previous_epoch"))
    counted = counted.withColumn("bumped", F.coalesce((F.col("its_epoch") != _GONE) & new, F.lit(False))).withColumns(
        {
            "round": F.sum(count(F.col("bumped"))).over(so_far(group)),
            "members": F.sum(F.coalesce("more", F.lit(0))).over(so_far(group)),
        }
    )
    # An epoch's convergence is its own: nobody has it before it is there.
    member = in_order(*GROUP, "round", "subject", "member_id")
    has = F.coalesce(
        (F.col("subject") == "member") & (F.col("epoch") == F.col("group_epoch")) & (F.col("state") == "stable"),
        F.lit(False),
    )
    had = F.coalesce(F.lag("has").over(member), F.lit(False))
    return (
        counted.withColumn("has", has)
        .withColumn("more_converged", count(F.col("has")) - count(had))
        .withColumn("converged", F.sum("more_converged").over(so_far(in_order(*GROUP, "round"))))
    )


def states(line: DataFrame) -> DataFrame:
    """``line`` with ``state``: what each act left behind; null where others with its time follow, or none is known."""
    last = F.coalesce(F.lead("log_time").over(in_order(*GROUP)) != F.col("log_time"), F.lit(True))
    state = (
        F.when(F.col("group_epoch") == _GONE, DEAD)
        .when(F.col("members") <= 0, EMPTY)
        .when(F.col("members") == F.col("converged"), STABLE)
        .otherwise(RECONCILING)
    )
    return line.withColumn("state", F.when(last & F.col("group_epoch").isNotNull(), state))


def rounds(states: DataFrame) -> DataFrame:
    """Every rebalance in ``states`` (of :func:`states`): what :data:`ROUND` names, target_ms, converge_ms; and as
    arrays of member ids joined, left, restarted, resubscribed, against the round before."""
    begun = F.struct(
        *(each for each in ROUND if each not in (*GROUP, "round", "generation", "previous_generation", "begins")),
        F.col("group_epoch").alias("generation"),
        F.nullif(F.col("previous_epoch"), F.lit(_GONE)).alias("previous_generation"),
        ((F.col("group_epoch") <= _FIRST) | F.coalesce(F.col("previous_epoch") == _GONE, F.lit(False))).alias("begins"),
    )
    is_target = (F.col("subject") == "target") & (F.col("epoch") >= F.col("group_epoch"))
    # A coordinator first writes who came or went, then the epoch that follows from it.
    events = states.withColumn("round", F.col("round") + count(F.col("what").isNotNull()))
    found = events.groupBy(*GROUP, "round").agg(
        F.max(F.when(F.col("bumped"), begun)).alias("begun"),
        _first(is_target).alias("targeted_at"),
        _first(F.col("state") == STABLE).alias("converged_at"),
        _members("joined").alias("came"),
        _members("left").alias("went"),
        _members("resubscribed").alias("changed"),
    )
    since = F.col("begun.log_time")
    return found.where("begun is not null").select(
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


def _members(what: str) -> Column:
    return F.collect_list(F.when(F.col("what") == what, F.struct("instance_id", "member_id")))


def _first(condition: Column) -> Column:
    return F.min(F.when(condition, F.col("log_time")))


def _replaced(member: Column, others: str) -> Column:
    """Whether one of ``others`` is the same instance under another id; without instance id nobody is."""

    def same(other: Column) -> Column:
        return (other.instance_id == member.instance_id) & (other.member_id != member.member_id)

    return F.coalesce(F.exists(others, same), F.lit(False))


def stays(tables: Tables, span: Span) -> DataFrame:
    """Members' stays: group, kind, member_id, what is known of the member, log_partition, since, until, begins."""
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
    # A tombstone alone: of a member that is not known otherwise.
    return found.where("known is not null").select(
        *GROUP, "member_id", "known.*", "log_partition", "since", "until", F.lit(True).alias("begins")
    )
