"""The committed offsets of groups at each sample of the log end offsets.

Strategy: the commits and samples of a group's partition are merged by time, and one window carries the last commit to
each sample; a join over ranges of time would compare all with all. The time of a commit in that order never goes back:
it is the latest time of the commits before it in the log, which keeps the order of the log.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from .columns import KEY, PLACE, so_far
from .heads import LOG
from .inputs import Span, Tables
from .positions import last_commits, last_offsets
from .unread import is_unread, unread_groups

_EVENT = (*KEY, *PLACE, "at", "committed_offset", "swept")


def _offset_changes(tables: Tables, span: Span) -> DataFrame:
    """Return all changes of committed offsets in the span, and the last one before it.

    Columns: KEY, PLACE, at, committed_offset (null if deleted), and ``swept``: 1 for a result of a sweep, which is
    after the last record.
    """
    commits = tables.commits.where(span.reached("log_time"))
    earlier = last_commits(commits.where(F.col("log_time") < span.start))
    during = commits.where(span.contains("log_time"))
    from_log = [part.withColumns({"at": F.col("log_time"), "swept": F.lit(0)}) for part in (earlier, during)]
    by_sweep = last_offsets(tables, span).where("source = 'baseline' or (gone_at is not null and not tombstone)")
    offset = F.when(F.col("gone_at").isNull(), F.col("committed_offset"))
    at = F.coalesce("gone_at", "log_time")
    from_log.append(by_sweep.withColumns({"at": at, "committed_offset": offset, "swept": F.lit(1)}))
    return reduce(DataFrame.union, (part.select(*_EVENT) for part in from_log))


def _keys(tables: Tables, span: Span) -> DataFrame:
    """Return KEY of everything that was ever committed, or found by a sweep: cheaper than from all changes."""
    swept = tables.baseline.where(span.reached("swept_at") & F.col("topic").isNotNull())
    return tables.commits.where(span.reached("log_time")).select(*KEY).union(swept.select(*KEY)).distinct()


def offsets_at_samples(tables: Tables, span: Span, heads: DataFrame) -> DataFrame:
    """Return each group's partitions at each sample in ``heads``.

    Columns: those of ``heads``, group, committed_offset, committed_at, lag, and ``unread_remark``: why the three are
    unknown; otherwise null. Partitions without a commit at any sample are omitted.
    """
    samples = heads.join(_keys(tables, span), list(LOG)).withColumn("is_sample", F.lit(1))
    merged = samples.unionByName(
        _offset_changes(tables, span).withColumn("is_sample", F.lit(0)), allowMissingColumns=True
    )
    # All windows have the same partitioning, so rows are shuffled once.
    in_log = Window.partitionBy(*KEY).orderBy("is_sample", *PLACE, "swept")
    merged = merged.withColumn("time", F.coalesce("sampled_at", F.max("at").over(so_far(in_log))))
    order = Window.partitionBy(*KEY).orderBy("time", "is_sample", *PLACE, "swept")
    commit = F.when(F.col("is_sample") == 0, F.struct("committed_offset", "at"))
    rows = merged.withColumn("commit", F.last(commit, ignorenulls=True).over(so_far(order))).where("is_sample = 1")
    highest = F.max("commit.committed_offset").over(Window.partitionBy(*KEY))
    rows = rows.withColumn("highest", highest).where("highest is not null")
    rows = rows.join(unread_groups(tables, span), "group", "left").withColumn("unread", is_unread("sampled_at"))
    committed = F.when(~F.col("unread"), F.col("commit.committed_offset"))
    return rows.select(
        *heads.columns,
        "group",
        committed.alias("committed_offset"),
        F.when(committed.isNotNull(), F.col("commit.at")).alias("committed_at"),
        (F.col("log_end") - committed).alias("lag"),
        F.when(F.col("unread"), F.col("unread_remark")).alias("unread_remark"),
    )
