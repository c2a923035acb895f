"""Where groups stood whenever heads were sampled.

Strategy: commits and samples of a group's partition are put in one line, and one window carries the last commit to each
sample; a join over ranges of time would compare all with all. A commit's time in that line never goes back: it is the
latest of those before it in the log, so that the log's order stays.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from .columns import KEY, PLACE, so_far
from .heads import LOG
from .inputs import Span, Tables
from .positions import last_commits, positions

_EVENT = (*KEY, *PLACE, "at", "committed_offset", "swept")


def _moves(tables: Tables, span: Span) -> DataFrame:
    """All that moves a position in the span, and the last that did before it: KEY, PLACE, at, committed_offset (null
    where it was deleted), and ``swept``: 1 for what a sweep tells, which is behind the last record."""
    commits = tables.commits.where(span.reached("log_time"))
    earlier = last_commits(commits.where(F.col("log_time") < span.start))
    during = commits.where(span.contains("log_time"))
    told = [part.withColumns({"at": F.col("log_time"), "swept": F.lit(0)}) for part in (earlier, during)]
    by_sweep = positions(tables, span).where("source = 'baseline' or (gone_at is not null and not tombstone)")
    offset = F.when(F.col("gone_at").isNull(), F.col("committed_offset"))
    at = F.coalesce("gone_at", "log_time")
    told.append(by_sweep.withColumns({"at": at, "committed_offset": offset, "swept": F.lit(1)}))
    return reduce(DataFrame.union, (part.select(*_EVENT) for part in told))


def _keys(tables: Tables, span: Span) -> DataFrame:
    """All that was ever committed, or found by a sweep: KEY. Not asked of the moves, which cost more."""
    swept = tables.baseline.where(span.reached("swept_at") & F.col("topic").isNotNull())
    return tables.commits.where(span.reached("log_time")).select(*KEY).union(swept.select(*KEY)).distinct()


def standing(tables: Tables, span: Span, heads: DataFrame) -> DataFrame:
    """Each group's partition at each of ``heads``: the columns of heads, group, committed_offset, committed_at, lag.

    Partitions that never had a commit at any of the samples are left out.
    """
    samples = heads.join(_keys(tables, span), list(LOG)).withColumn("is_sample", F.lit(1))
    line = samples.unionByName(_moves(tables, span).withColumn("is_sample", F.lit(0)), allowMissingColumns=True)
    # All windows are over the same partitions of rows, so that these are shuffled once.
    in_log = Window.partitionBy(*KEY).orderBy("is_sample", *PLACE, "swept")
    line = line.withColumn("time", F.coalesce("sampled_at", F.max("at").over(so_far(in_log))))
    order = Window.partitionBy(*KEY).orderBy("time", "is_sample", *PLACE, "swept")
    commit = F.when(F.col("is_sample") == 0, F.struct("committed_offset", "at"))
    rows = line.withColumn("commit", F.last(commit, ignorenulls=True).over(so_far(order))).where("is_sample = 1")
    there = F.max("commit.committed_offset").over(Window.partitionBy(*KEY))
    rows = rows.withColumn("there", there).where("there is not null")
    committed = F.col("commit.committed_offset")
    return rows.select(
        *heads.columns,
        "group",
        committed.alias("committed_offset"),
        F.when(committed.isNotNull(), F.col("commit.at")).alias("committed_at"),
        (F.col("log_end") - committed).alias("lag"),
    )
