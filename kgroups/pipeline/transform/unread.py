"""Records that are not delivered yet: nothing of a partition of the log is read after its last stable offset (KIP-98).

If a transaction hangs, all later records of the partition are unread, those of every group in it. What these groups
did since then is unknown: the last commit that was read is not their last commit.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .inputs import Span, Tables


def stalls(tables: Tables, span: Span) -> DataFrame:
    """Return the partitions of the log that an open transaction stalls in the span: log_partition, hung, unread_since.

    The last stable offset only grows, so the rows of coverage with the highest one are the newest, whatever the clock.
    If offsets below it are still to be read, the transaction before them has ended. ``unread_since`` is null in stores
    of earlier versions.
    """
    stable, end = F.col("last.last_stable_offset"), F.col("last.high_watermark")
    looks = (
        tables.coverage.where("last_stable_offset is not null")
        .groupBy("log_partition", "last_stable_offset")
        .agg(F.max("high_watermark").alias("high_watermark"), F.max("unread_since").alias("unread_since"))
    )
    last = looks.groupBy("log_partition").agg(
        F.max(F.struct("last_stable_offset", "high_watermark", "unread_since")).alias("last")
    )
    read = (
        tables.coverage.where("to_offset > from_offset").groupBy("log_partition").agg(F.max("to_offset").alias("reach"))
    )
    is_stalled = (end > stable) & F.coalesce(F.col("reach") >= stable, F.lit(True))
    found = last.join(read, "log_partition", "left").where(is_stalled)
    found = found.select(
        "log_partition", (end - stable).alias("hung"), F.col("last.unread_since").alias("unread_since")
    )
    return found.where(F.coalesce(span.reached("unread_since"), F.lit(True)))


def unread_groups(tables: Tables, span: Span) -> DataFrame:
    """Return the groups in these partitions: group, unread_since, unread_remark; for a broadcast join."""
    partitions = F.broadcast(stalls(tables, span).where("unread_since is not null"))
    sources = (tables.commits, tables.group_metadata, tables.members, tables.epochs, tables.baseline)
    # The partitions are few, and mostly none: join them before the groups are aggregated.
    parts = [table.select("group", "log_partition").join(partitions, "log_partition").distinct() for table in sources]
    found = (
        reduce(DataFrame.union, parts)
        .groupBy("group")
        .agg(F.max(F.struct("log_partition", "unread_since")).alias("at"))
    )
    remark = F.concat(
        F.lit("unknown: an open transaction hides the records after the last one read of __consumer_offsets-"),
        "at.log_partition",
    )
    return F.broadcast(found.select("group", "at.unread_since", remark.alias("unread_remark")))


def is_unread(time: str) -> Column:
    """Return whether records of that time are unread, in a row with ``unread_since``."""
    return F.coalesce(F.col(time) >= F.col("unread_since"), F.lit(False))
