"""Rebalances and anomalies."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..data import Anomalies, Anomaly, AnomalyCount, Bounds, Kept, Lane, Offender, Rebalance, Rebalances
from .rows import Row, cached, fetch, only, truncate

_MEMBER_LISTS = ("joined", "left", "restarted", "resubscribed")


def rebalances(frame: DataFrame, bounds: Bounds) -> tuple[Rebalances, datetime | None]:
    """Return the rebalances, and the time of the first one."""
    slim = frame.select(
        "group", "kind", "log_time", "log_partition", "log_offset", "generation", "members", "pause_ms", "converge_ms",
        *(F.array_size(each).alias(each) for each in _MEMBER_LISTS),
        truncate(F.col("joined"), bounds.names).alias("joined_names"),
        truncate(F.col("left"), bounds.names).alias("left_names"),
    )  # fmt: skip
    with cached(slim) as rows:
        seen = only(
            rows.agg(
                F.count("*").alias("all"),
                F.count_distinct("group").alias("groups"),
                F.min("log_time").alias("since"),
            )
        )
        lanes = rows.groupBy("group").agg(F.count("*").alias("rebalances"), F.max("pause_ms").alias("longest"))
        top = fetch(lanes.orderBy(F.desc("rebalances"), "group").limit(bounds.groups))
        chosen = rows.where(F.col("group").isin(*(row["group"] for row in top)))
        latest = chosen.orderBy(*(F.desc(each) for each in ("log_time", "log_partition", "log_offset")))
        marks = fetch(latest.limit(bounds.rebalances)) if top else []
    kept = Kept(tuple(Lane(row["group"], row["rebalances"], row["longest"]) for row in top), seen["groups"])
    return Rebalances(kept, Kept(tuple(map(_mark, reversed(marks))), seen["all"])), seen["since"]


def _mark(row: Row) -> Rebalance:
    return Rebalance(
        group=row["group"],
        kind=row["kind"],
        time=row["log_time"],
        generation=row["generation"],
        members=row["members"],
        joined=row["joined"],
        left=row["left"],
        restarted=row["restarted"],
        resubscribed=row["resubscribed"],
        joined_names=tuple(row["joined_names"] or ()),
        left_names=tuple(row["left_names"] or ()),
        pause_ms=row["pause_ms"],
        converge_ms=row["converge_ms"],
    )


def anomalies(frame: DataFrame, bounds: Bounds) -> Anomalies:
    with cached(frame.select(*Anomaly._fields)) as rows:
        latest = rows.orderBy(F.desc_nulls_last("since"), "anomaly", "group", "topic", "partition", "member", "note")
        shown = tuple(Anomaly(**row) for row in fetch(latest.limit(bounds.rows)))
        counts = tuple(map(_count, fetch(_counts(rows, bounds))))
        offenders = (
            rows.where("group is not null")
            .groupBy("group")
            .agg(F.count("*").alias("anomalies"), F.sort_array(F.collect_set("anomaly")).alias("kinds"))
        )
        worst = fetch(offenders.orderBy(F.desc("anomalies"), "group").limit(bounds.groups))
        groups = only(rows.agg(F.count_distinct("group").alias("groups")))["groups"]
    first = tuple(Offender(row["group"], row["anomalies"], tuple(row["kinds"])) for row in worst)
    total = sum(each.found for each in counts)
    return Anomalies(Kept(shown, total), counts, Kept(first, groups))


def _counts(rows: DataFrame, bounds: Bounds) -> DataFrame:
    by_group = rows.groupBy("anomaly", "group").agg(F.count("*").alias("found"))
    # Highest count first: structs are compared by their first field.
    ranked = F.when(F.col("group").isNotNull(), F.struct((-F.col("found")).alias("rank"), "group"))
    return (
        by_group.groupBy("anomaly")
        .agg(
            F.sum("found").alias("found"),
            F.count("group").alias("groups"),
            truncate(F.array_sort(F.collect_list(ranked)), bounds.names).getField("group").alias("names"),
        )
        .orderBy("anomaly")
    )


def _count(row: Row) -> AnomalyCount:
    return AnomalyCount(row["anomaly"], row["found"], row["groups"], tuple(row["names"]))
