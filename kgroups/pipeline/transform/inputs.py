"""The inputs of every job: the stored tables, the time span, and the thresholds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ..rules import Rules

__all__ = ["Job", "Rules", "Span", "Tables"]


class Tables(NamedTuple):
    """The stored tables (``kgroups.pipeline.tables.STORED``), with the columns that are declared there.

    A position in the log (log_partition, log_offset) identifies one record: the caller removes duplicates. The order of
    rows and their partitioning have no effect.
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
    sweeps: DataFrame


class Span(NamedTuple):
    """From ``since`` (inclusive) to ``until`` (exclusive), both with a time zone.

    A job ignores everything after ``until``: a later run returns the same.
    """

    since: datetime
    until: datetime

    @property
    def start(self) -> Column:
        return _literal(self.since)

    @property
    def end(self) -> Column:
        return _literal(self.until)

    def reached(self, time: str) -> Column:
        """Return whether the column ``time`` is before the end."""
        return F.col(time) < self.end

    def contains(self, time: str) -> Column:
        return (F.col(time) >= self.start) & self.reached(time)

    def overlaps(self, since: str, until: str) -> Column:
        """Return whether an interval, without end if ``until`` is null, overlaps the span."""
        return self.reached(since) & (F.col(until).isNull() | (F.col(until) > self.start))


def _literal(moment: datetime) -> Column:
    if moment.tzinfo is None:
        raise ValueError(f"a span's time without a zone: {moment}")
    return F.lit(moment)


Job = Callable[[Tables, Span, Rules], DataFrame]
"""Computes one derived table. Pure: does not read, collect, or write, and does not use a clock."""
