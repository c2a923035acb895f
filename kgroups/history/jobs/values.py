"""Rows of an answer as values that any output format can show."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

import pyarrow as pa

from kgroups.errors import UsageError
from kgroups.model.listed import ValueList

from ..transform.definitions import BEGINNING


def rows_of(table: pa.Table) -> list[tuple[object, ...]]:
    """Return rows as values that any output format can show.

    :raises UsageError: if a value has no such form, such as a time after the year 9999.
    """
    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        try:
            columns.append(list(_values(column)))
        except (OverflowError, ValueError, NotImplementedError, ImportError):
            raise UsageError(
                f"column {field.name}: a value of the type {field.type} cannot be shown",
                hint="convert it to a text: CAST(... AS VARCHAR)",
            ) from None
    return list(zip(*columns, strict=True))


def _values(column: pa.ChunkedArray) -> Iterator[object]:
    """Yield the values of a column for output."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "us":
        # For datetimes, Arrow imports pandas, which takes as long as a query.
        micros = (value for chunk in column.chunks for value in chunk.view(pa.int64()).to_pylist())
        return (None if value is None else plain(BEGINNING + timedelta(microseconds=value)) for value in micros)
    return map(plain, column.to_pylist())


def plain(value: Any) -> object:
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, list | tuple):
        return ValueList(map(plain, value))
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, Decimal):
        return float(value) if value.as_tuple().exponent else int(value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)  # JSON has no such number
    return value if value is None or isinstance(value, str | int | float) else str(value)
