"""Functions to fetch rows by Arrow, to limit and count them, and to cache DataFrames."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ..data import Kept

T = TypeVar("T")
Row = dict[str, Any]
Frames = Mapping[str, DataFrame]
"""The derived tables, by name."""


def fetch(frame: DataFrame) -> list[Row]:
    """Fetch all rows. By Arrow: collect() returns naive times in the time zone of this machine."""
    rows: list[Row] = frame.toArrow().to_pylist()
    return rows


def only(frame: DataFrame) -> Row:
    """Fetch the row of a DataFrame that has one row."""
    return fetch(frame)[0]


@contextmanager
def cached(frame: DataFrame) -> Iterator[DataFrame]:
    """Cache a DataFrame in this context, so it is computed once."""
    frame.persist()
    try:
        yield frame
    finally:
        frame.unpersist()


def first(frame: DataFrame, order: Sequence[Column], most: int, make: Callable[[Row], T]) -> Kept[T]:
    """Fetch the first rows in that order, and their total number."""
    with cached(frame) as rows:
        top = fetch(rows.orderBy(*order).limit(most))
        total = len(top) if len(top) < most else rows.count()
    return Kept(tuple(map(make, top)), total)


def bucket_start(time: str, length: timedelta) -> Column:
    """Return the start of the bucket of a time; buckets start at multiples of ``length`` since 1970."""
    micros = F.unix_micros(time)
    return F.timestamp_micros(micros - F.pmod(micros, F.lit(length // timedelta(microseconds=1))))


def bucket_of(time: datetime, length: timedelta) -> datetime:
    """Return the start of the bucket of a time, as :func:`bucket_start` does for a column."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return time - (time - epoch) % length


def truncate(names: Column, most: int) -> Column:
    """Return the first elements of a list."""
    return F.slice(names, 1, most)
