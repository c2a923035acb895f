"""Decode a batch of RECORDS into a batch of DECODED."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from ..arrow import arrow_schema
from ..tables import DECODED, RECORDS
from .binary import Flags
from .commits import decode_commits
from .rows import decode_rows

Pair = tuple[bytes | None, bytes | None]
"""Key and value of a record."""

Redact = Callable[[bytes | None, bytes | None], Pair]

_RECORDS: Final = arrow_schema(RECORDS)
_DECODED: Final = arrow_schema(DECODED)


def decode_batch(records: pa.RecordBatch, redact: Redact | None = None) -> pa.RecordBatch:
    """Decode each record of a batch of RECORDS: a batch of DECODED, in the same order.

    Invalid bytes raise no error: the column ``error`` has the reason.

    :param redact: returns the key and value to use in place of a record's own, for all except valid commits, which
        contain nothing to redact.
    :raises pyarrow.ArrowInvalid: if the columns differ from RECORDS.
    """
    records = _as_records(records)
    if not len(records):
        return pa.RecordBatch.from_arrays([*records.columns, *decode_rows(()).columns], schema=_DECODED)
    keys, values = records["key"], records["value"]
    commits, odd = decode_commits(keys, values)
    raw = records.select(["key", "value"])
    if odd.any():
        odd_rows = pa.array(np.flatnonzero(odd))
        pairs = list(zip(keys.take(odd_rows).to_pylist(), values.take(odd_rows).to_pylist(), strict=True))
        if redact:
            pairs = [redact(key, value) for key, value in pairs]
            raw = _merged(raw, pa.RecordBatch.from_arrays(_columns(pairs), schema=raw.schema), odd)
        commits = _merged(commits, decode_rows(pairs), odd)
    places = records.drop_columns(["key", "value"])
    return pa.RecordBatch.from_arrays([*places.columns, *raw.columns, *commits.columns], schema=_DECODED)


def _as_records(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the columns in the order and of the types of RECORDS.

    Spark uses the time zone of its session, and may widen types.
    """
    if batch.schema.equals(_RECORDS):
        return batch
    return batch.select(RECORDS.names).cast(_RECORDS)


def _columns(pairs: Sequence[Pair]) -> list[pa.Array]:
    return [pa.array(column, pa.binary()) for column in zip(*pairs, strict=True)]


def _merged(rows: pa.RecordBatch, others: pa.RecordBatch, odd: Flags) -> pa.RecordBatch:
    """Return the rows, with the odd ones replaced by ``others``."""
    sources = np.arange(len(odd))
    sources[odd] = len(odd) + np.arange(others.num_rows)
    indices = pa.array(sources)
    columns = [
        pa.concat_arrays([one, other]).take(indices) for one, other in zip(rows.columns, others.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)
