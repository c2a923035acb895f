"""How the gatherers ask: by Arrow, the first rows of a table with their number, and tables that are kept meanwhile."""

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
    """All rows. By Arrow: rows that Spark collects itself have times of the machine's own zone."""
    rows: list[Row] = frame.toArrow().to_pylist()
    return rows


def only(frame: DataFrame) -> Row:
    """Of a frame that has one row."""
    return fetch(frame)[0]


@contextmanager
def held(frame: DataFrame) -> Iterator[DataFrame]:
    """Computed once, however often it is asked meanwhile."""
    frame.persist()
    try:
        yield frame
    finally:
        frame.unpersist()


def first(frame: DataFrame, order: Sequence[Column], most: int, make: Callable[[Row], T]) -> Kept[T]:
    """The first rows in that order, and how many there are."""
    with held(frame) as rows:
        top = fetch(rows.orderBy(*order).limit(most))
        total = len(top) if len(top) < most else rows.count()
    return Kept(tuple(map(make, top)), total)


def begin(time: str, length: timedelta) -> Column:
    """The begin of the bucket that a time is in; buckets begin at multiples of ``length`` since 1970."""
    micros = F.unix_micros(time)
    return F.timestamp_micros(micros - F.pmod(micros, F.lit(length // timedelta(microseconds=1))))


def bucket_of(time: datetime, length: timedelta) -> datetime:
    """As :func:`begin`."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return time - (time - epoch) % length


def some(names: Column, most: int) -> Column:
    """The first few of a list."""
    return F.slice(names, 1, most)
