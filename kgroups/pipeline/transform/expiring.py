"""Offsets that will be lost.

Rule (KIP-211, and the coordinators of the newer kinds): offsets of a group that has members stay. Without members,
those of a classic group expire together, counted from when it became empty; those of other kinds, and of groups that
never had members, one by one, counted from the commit. A commit that says itself when it expires is taken by its word.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kgroups.pipeline.derived import EXPIRING

from . import classic
from .columns import DEAD, EMPTY, later, millis, shaped
from .group_states import timeline
from .inputs import Rules, Span, Tables
from .positions import positions
from .stale import last_swept


def expiring(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Makes :data:`EXPIRING`, as of the end of the span; its begin does not matter."""
    offsets = positions(tables, span).where("not tombstone and gone_at is null and source = 'log'")
    told = offsets.join(_without_members(tables, span), "group", "left").join(last_swept(tables, span), "group", "left")
    # Of a group without any state in the log only commits are known: its last sweep may know of members.
    idle = F.coalesce("state", "swept_state", F.lit(EMPTY)).isin(EMPTY, DEAD)
    counted_from = (
        F.when(F.col("expire_time").isNotNull(), "expire_time")
        .when(F.col("counted").isNotNull(), "empty")
        .otherwise("commit")
    )
    expires_at = F.coalesce("expire_time", later(F.coalesce("counted", "commit_time"), rules.retention))
    found = (
        told.where(idle)
        .withColumns({"counted_from": counted_from, "expires_at": expires_at})
        .where(F.col("expires_at") < later(span.end, rules.expiring_within))
        .withColumn("left_ms", millis(span.end, F.col("expires_at")))
    )
    return shaped(found, EXPIRING)


def _without_members(tables: Tables, span: Span) -> DataFrame:
    """group, state, empty_since, and ``counted``: from when the retention of a classic group is counted."""
    now = timeline(tables, span).where("until is null")
    # Brokers count from the time that stands in the record (Kafka 2.1), not from the record's own.
    written = classic.snapshots(tables, span).where("next_time is null and state = 'Empty'")
    written = written.select("group", "kind", "state", F.col("state_time").alias("counted"))
    return now.join(written, ["group", "kind", "state"], "left").select(
        "group",
        "state",
        "counted",
        F.coalesce("counted", F.when(F.col("state") == EMPTY, F.col("since"))).alias("empty_since"),
    )
