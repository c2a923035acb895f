"""The last committed offsets of groups: the last commits in the log, corrected by sweeps of the cluster.

Rule: the log takes precedence if it has the key. Only a complete sweep, to which every broker responded, shows
deletions: a key that the last complete sweep and all later ones did not find, and that is older than the sweep in the
log, was deleted, and compaction removed the tombstone. Legacy commits (record type 0) have the same keys as others.
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
    """Return the last record of each key in the log, with tombstones: KEY, PLACE, log_time, and its values."""
    # Aggregate only numbers first, which does not sort all commits; then read the last ones.
    last = commits.groupBy(*KEY, "log_partition").agg(F.max("log_offset").alias("log_offset"))
    rows = commits.join(last.select(*PLACE), list(PLACE), "left_semi")
    # One row for each key, because a group is in one partition; otherwise the highest partition.
    newest = F.max_by(F.struct(*PLACE, "log_time", *_COMMIT), place())
    return rows.groupBy(*KEY).agg(newest.alias("newest")).select(*KEY, "newest.*")


def last_offsets(tables: Tables, span: Span) -> DataFrame:
    """Return the last known offset of each key up to the end of the span: :func:`last_commits`, and these columns.

    source
        log; or baseline, if the log does not have the key: log_time is then the time of the sweep, PLACE is null
    gone_at
        time of the complete sweep that did not find a key of the log; otherwise null
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
    """Return one row: ``last_sweep``, the time of the last complete sweep; null if there was none."""
    columns = ("swept_at", "complete")
    both = tables.baseline.select(*columns).union(tables.sweeps.select(*columns))
    complete = both.where(span.reached("swept_at") & F.col("complete"))
    return F.broadcast(complete.agg(F.max("swept_at").alias("last_sweep")))


def swept(tables: Tables, span: Span) -> DataFrame:
    """Return the rows of the last complete sweep, and of later incomplete ones: the columns of baseline."""
    rows = tables.baseline.where(span.reached("swept_at")).crossJoin(last_sweep(tables, span))
    return rows.where("last_sweep is null or swept_at >= last_sweep").drop("last_sweep")


def gone_groups(tables: Tables, span: Span) -> DataFrame:
    """Return group and gone_at of the groups that the last complete sweep did not find, without later records."""
    sources = (tables.commits, tables.group_metadata, tables.members, tables.epochs)
    parts = [
        table.where(span.reached("log_time")).groupBy("group").agg(F.max("log_time").alias("log_time"))
        for table in sources
    ]
    last = reduce(DataFrame.union, parts).groupBy("group").agg(F.max("log_time").alias("log_time"))
    missed = last.join(swept(tables, span).select("group"), "group", "left_anti").crossJoin(last_sweep(tables, span))
    return missed.where("log_time < last_sweep").select("group", F.col("last_sweep").alias("gone_at"))
