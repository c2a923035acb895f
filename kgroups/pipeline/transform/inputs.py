"""What every job is given: the stored tables, the span of time that is asked for, and the bounds that it judges by."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


class Tables(NamedTuple):
    """The stored tables (``kgroups.pipeline.tables.STORED``), each with the columns that are declared there.

    A place in the log (log_partition, log_offset) stands for one record: whoever reads a store sees to it that nothing
    which was read twice is here twice. Order of rows and partitioning do not matter.
    """

    records: DataFrame
    commits: DataFrame
    group_metadata: DataFrame
    members: DataFrame
    assignments: DataFrame
    epochs: DataFrame
    undecoded: DataFrame
    heads: DataFrame
    coverage: DataFrame
    baseline: DataFrame


class Span(NamedTuple):
    """From ``since`` (in it) to ``until`` (not in it), both with their zone. Until ``until`` is all that a job knows
    of: a second run gives the same, whatever has come since."""

    since: datetime
    until: datetime

    @property
    def start(self) -> Column:
        return _literal(self.since)

    @property
    def end(self) -> Column:
        return _literal(self.until)

    def reached(self, time: str) -> Column:
        """Whether the column ``time`` is before the end."""
        return F.col(time) < self.end

    def contains(self, time: str) -> Column:
        return (F.col(time) >= self.start) & self.reached(time)

    def overlaps(self, since: str, until: str) -> Column:
        """Whether an interval, open where ``until`` is null, has a part in the span."""
        return self.reached(since) & (F.col(until).isNull() | (F.col(until) > self.start))


def _literal(moment: datetime) -> Column:
    if moment.tzinfo is None:
        raise ValueError(f"a span's time without a zone: {moment}")
    return F.lit(moment)


class Rules(NamedTuple):
    """Bounds that are a matter of taste, or of how a cluster is set up."""

    bucket: timedelta = timedelta(minutes=1)
    """Of commit_rate; buckets begin at its multiples since 1970."""
    dense: float = 0.5
    """Records for each offset that a range must have to count as whole. One commit for each transaction gives 0.5, for
    the marker behind it is an offset too; what compaction leaves of a busy partition is a few per cent."""
    judged: int = 100
    """Offsets in a range that can be judged by its density: in smaller ones a few markers weigh too much."""
    samples: int = 10
    """Head samples in Burrow's window."""
    stale_after: timedelta = timedelta(hours=1)
    retention: timedelta = timedelta(days=7)
    """The brokers' offsets.retention.minutes."""
    expiring_within: timedelta = timedelta(days=1)
    storm: int = 5
    """Rebalances of one group within ``storm_window`` that are a storm."""
    storm_window: timedelta = timedelta(minutes=10)
    flaps: int = 3
    """Times that a member joins within ``flap_window``, and flaps."""
    flap_window: timedelta = timedelta(minutes=10)


Job = Callable[[Tables, Span, Rules], DataFrame]
"""Makes one derived table. Pure: nothing is read, collected or written, and no clock is asked."""
