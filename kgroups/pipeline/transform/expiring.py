"""Offsets that will expire.

Rule (KIP-211, and the coordinators of the newer group types): the offsets of a group with members do not expire.
Without members, the offsets of a classic group expire together, counted from when it became empty; those of other
types, and of groups that never had members, expire one by one, counted from the commit. The expiry time in a commit,
if any, takes precedence.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kgroups.pipeline.derived import EXPIRING

from . import classic
from .columns import DEAD, EMPTY, later, millis, shaped
from .group_states import timeline
from .inputs import Rules, Span, Tables
from .positions import last_offsets
from .retention import retention
from .stale import last_swept
from .unread import unread_groups


def expiring(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Compute :data:`EXPIRING` at the end of the span; its start has no effect."""
    offsets = last_offsets(tables, span).where("not tombstone and gone_at is null and source = 'log'")
    joined = (
        offsets.join(_without_members(tables, span), "group", "left")
        .join(last_swept(tables, span), "group", "left")
        .join(unread_groups(tables, span), "group", "left_anti")
    )
    # Without a state in the log, only commits of the group are known: the last sweep may have its state.
    idle = F.coalesce("state", "swept_state", F.lit(EMPTY)).isin(EMPTY, DEAD)
    counted_from = (
        F.when(F.col("expire_time").isNotNull(), "expire_time")
        .when(F.col("counted").isNotNull(), "empty")
        .otherwise("commit")
    )
    counted_at = F.unix_micros(F.coalesce("counted", "commit_time"))
    expires_at = F.coalesce("expire_time", F.timestamp_micros(counted_at + F.col("retention_ms") * 1000))
    found = (
        joined.where(idle)
        .crossJoin(F.broadcast(retention(tables, span, rules)))
        .withColumns({"counted_from": counted_from, "expires_at": expires_at})
        .where(F.col("expires_at") < later(span.end, rules.expiring_within))
        .withColumn("left_ms", millis(span.end, F.col("expires_at")))
    )
    return shaped(found, EXPIRING)


def _without_members(tables: Tables, span: Span) -> DataFrame:
    """Return group, state, empty_since, and ``counted``: the start of the retention time of a classic group."""
    now = timeline(tables, span).where("until is null")
    # Brokers count from the time in the value of the record (Kafka 2.1), not from its timestamp.
    empty = classic.snapshots(tables, span).where("next_time is null and state = 'Empty'")
    empty = empty.select("group", "kind", "state", F.col("state_time").alias("counted"))
    return now.join(empty, ["group", "kind", "state"], "left").select(
        "group",
        "state",
        "counted",
        F.coalesce("counted", F.when(F.col("state") == EMPTY, F.col("since"))).alias("empty_since"),
    )
