"""Where groups stand: the log's last commits, set right by what sweeps of the cluster found.

Rule: the log says it, where it has the key. Only a sweep that every broker answered tells by absence; what the last
such sweep did not find, and no later one, and what is older than that in the log, was deleted, and compaction has taken
the tombstone away. Legacy commits (record type 0) are the same keys as others.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .columns import KEY, PLACE, place
from .inputs import Span, Tables

_COMMIT = ("committed_offset", "leader_epoch", "metadata", "commit_time", "expire_time", "topic_id", "tombstone")
_SWEPT = ("committed_offset", "leader_epoch", "metadata")


def last_commits(commits: DataFrame) -> DataFrame:
    """The last record of each key by its place in the log, tombstones too: KEY, PLACE, log_time, and what it says."""
    # Numbers alone are aggregated without sorting all commits; then only the last ones are looked at.
    last = commits.groupBy(*KEY, "log_partition").agg(F.max("log_offset").alias("log_offset"))
    rows = commits.join(last.select(*PLACE), list(PLACE), "left_semi")
    # One for each key, for its group lives in one partition; were that ever to change, the higher one has it.
    newest = F.max_by(F.struct(*PLACE, "log_time", *_COMMIT), place())
    return rows.groupBy(*KEY).agg(newest.alias("newest")).select(*KEY, "newest.*")


def positions(tables: Tables, span: Span) -> DataFrame:
    """The last that is known of each key up to the end of the span: the columns of :func:`last_commits`, and

    source
        log; or baseline, of a key that the log does not have: its log_time is when it was swept, its place is null
    gone_at
        when a complete sweep did not find what the log has; else null
    """
    found = swept(tables, span).where("topic is not null and committed_offset is not null")
    newest = F.max_by(F.struct("swept_at", *_SWEPT), "swept_at")
    found = found.groupBy(*KEY).agg(newest.alias("swept"))
    last = last_commits(tables.commits.where(span.reached("log_time")))
    both = last.join(found, list(KEY), "full_outer").crossJoin(last_sweep(tables, span))
    in_log = F.col("log_offset").isNotNull()
    gone = (F.col("log_time") < F.col("last_sweep")) & F.col("swept").isNull()
    return both.select(
        *KEY,
        *PLACE,
        F.coalesce("log_time", "swept.swept_at").alias("log_time"),
        *(F.when(in_log, F.col(each)).otherwise(F.col(f"swept.{each}")).alias(each) for each in _SWEPT),
        "commit_time",
        "expire_time",
        "topic_id",
        F.coalesce("tombstone", F.lit(False)).alias("tombstone"),
        F.when(in_log, "log").otherwise("baseline").alias("source"),
        F.when(gone, F.col("last_sweep")).alias("gone_at"),
    )


def last_sweep(tables: Tables, span: Span) -> DataFrame:
    """One row: ``last_sweep``, time of the last complete sweep; null without one."""
    complete = tables.baseline.where(span.reached("swept_at") & F.col("complete"))
    return F.broadcast(complete.agg(F.max("swept_at").alias("last_sweep")))


def swept(tables: Tables, span: Span) -> DataFrame:
    """What the last complete sweep found, and later ones that were not: the columns of baseline."""
    rows = tables.baseline.where(span.reached("swept_at")).crossJoin(last_sweep(tables, span))
    return rows.where("last_sweep is null or swept_at >= last_sweep").drop("last_sweep")


def gone_groups(tables: Tables, span: Span) -> DataFrame:
    """group and gone_at, of the groups that the last complete sweep did not find, and of which nothing came since."""
    told = (tables.commits, tables.group_metadata, tables.members, tables.epochs)
    parts = [
        table.where(span.reached("log_time")).groupBy("group").agg(F.max("log_time").alias("log_time"))
        for table in told
    ]
    last = reduce(DataFrame.union, parts).groupBy("group").agg(F.max("log_time").alias("log_time"))
    missed = last.join(swept(tables, span).select("group"), "group", "left_anti").crossJoin(last_sweep(tables, span))
    return missed.where("log_time < last_sweep").select("group", F.col("last_sweep").alias("gone_at"))
