"""Events that are too frequent: rebalances of a group, joins of a member."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ..columns import MILLISECOND, before, count, so_far
from ..inputs import Rules, Span, Tables
from ..memberships import stays
from ..rebalances import rounds

_NEVER: Final = "timestamp '9999-12-31 00:00:00Z'"


def storms(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Return the storms: too many rebalances of a group in a short time."""
    found = _bursts(rounds(tables, span), ("group",), "log_time", rules.storm, rules.storm_window, span)
    return found.withColumns({"anomaly": F.lit("rebalance_storm"), "note": _note("rebalances", rules.storm_window)})


def flapping(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Return the members that join repeatedly.

    A static member is identified by its instance ID, others by client ID and host. If several members have the same
    name, a join counts only if no other one is a member.
    """
    name = F.coalesce("instance_id", F.concat("client_id", F.lit("@"), "client_host"))
    window = Window.partitionBy("group", "member").orderBy("since", F.asc_nulls_last("until"), "member_id")
    reach = F.max(F.coalesce("until", F.expr(_NEVER))).over(before(window))
    joins = (
        stays(tables, span, rules)
        .withColumn("member", name)
        .withColumn("joined", F.coalesce(F.col("since") >= reach, F.lit(True)))
        .where("joined")
        .withColumnRenamed("since", "joined_at")
    )
    found = _bursts(joins, ("group", "member"), "joined_at", rules.flaps, rules.flap_window, span)
    return found.withColumns({"anomaly": F.lit("flapping_member"), "note": _note("joins", rules.flap_window)})


def _bursts(rows: DataFrame, by: tuple[str, ...], time: str, bound: int, within: timedelta, span: Span) -> DataFrame:
    """Return the bursts of at least ``bound`` rows ``within`` a time; one row for as long as it lasts.

    Columns: ``by``, since, until, expected (the bound), and found (the maximum in any such time).
    """
    window = Window.partitionBy(*by).orderBy(F.unix_millis(time))
    recent = window.rangeBetween(-(within // MILLISECOND), Window.currentRow)
    crowded = rows.select(*by, time).withColumns(
        {"near": F.count("*").over(recent), "from_time": F.min(time).over(recent)}
    )
    calm = F.sum(count(F.col("near") < bound)).over(so_far(Window.partitionBy(*by).orderBy(time)))
    return (
        crowded.withColumn("burst", calm)
        .where((F.col("near") >= bound) & span.contains(time))
        .groupBy(*by, "burst")
        .agg(
            F.min("from_time").alias("since"),
            F.max(time).alias("until"),
            F.lit(bound).alias("expected"),
            F.max("near").alias("found"),
        )
        .drop("burst")
    )


def _note(events: str, within: timedelta) -> Column:
    return F.concat("found", F.lit(f" {events} within {within.total_seconds():g} s"))
