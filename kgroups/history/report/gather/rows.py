"""Functions to fetch rows, to limit and count them, and to divide time into buckets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from ...engine import Engine
from ..data import Kept

T = TypeVar("T")
Row = dict[str, Any]


def fetch(engine: Engine, query: str) -> list[Row]:
    """Return all rows of a query."""
    rows: list[Row] = engine.fetch(query).to_pylist()
    return rows


def first(engine: Engine, query: str, order: str, most: int, make: Callable[[Row], T]) -> Kept[T]:
    """Return the first rows of a query in that order, and their total number."""
    rows = fetch(engine, f"select *, count(*) over () as total from ({query}) as found order by {order} limit {most}")
    total = rows[0]["total"] if rows else 0
    return Kept(tuple(make({name: value for name, value in row.items() if name != "total"}) for row in rows), total)


def texts(engine: Engine, values: Sequence[str]) -> str:
    """Return a list of texts for ``in``, which must not be empty."""
    return ", ".join(map(engine.literal, values)) or "null"


def bucket_start(time: str, length: timedelta) -> str:
    """Return the start of the bucket of a time, in SQL; buckets start at multiples of ``length`` since 1970."""
    return f"make_timestamptz(epoch_us({time}) - epoch_us({time}) % {length // timedelta(microseconds=1)})"


def bucket_of(time: datetime, length: timedelta) -> datetime:
    """Return the start of the bucket of a time, as :func:`bucket_start` does for a column."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return time - (time - epoch) % length


def columns(rows: type[Any]) -> str:
    """Return the columns that are the fields of a named tuple, in SQL."""
    return ", ".join(f"`{name}`" for name in rows._fields)
