"""One batch of records into one batch of what they say."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from kgroups.pipeline.tables import DECODED, RECORDS, arrow_schema

from .commits import decode_commits
from .rows import decode_rows

_RECORDS: Final = arrow_schema(RECORDS)
_DECODED: Final = arrow_schema(DECODED)


def decode_batch(records: pa.RecordBatch) -> pa.RecordBatch:
    """What each record says: a batch of DECODED, row by row in the order of ``records``, a batch of RECORDS.

    Nothing raises for what is in the bytes: a row that cannot be decoded says so in ``error``.

    :raises pyarrow.ArrowInvalid: when the columns are not those of RECORDS.
    """
    records = _as_records(records)
    decoded = _decoded(records["key"], records["value"]) if len(records) else decode_rows(())
    return pa.RecordBatch.from_arrays([*records.columns, *decoded.columns], schema=_DECODED)


def _as_records(batch: pa.RecordBatch) -> pa.RecordBatch:
    """With the columns in their order and of their types: Spark names the zone of its session, and may widen."""
    if batch.schema.equals(_RECORDS):
        return batch
    return batch.select(RECORDS.names).cast(_RECORDS)


def _decoded(keys: pa.BinaryArray, values: pa.BinaryArray) -> pa.RecordBatch:
    commits, odd = decode_commits(keys, values)
    if not odd.any():
        return commits
    which = pa.array(np.flatnonzero(odd))
    others = decode_rows(zip(keys.take(which).to_pylist(), values.take(which).to_pylist(), strict=True))
    # Each row is taken from where it was decoded: the others stand behind the commits.
    places = np.arange(len(keys))
    places[odd] = len(keys) + np.arange(len(which))
    where = pa.array(places)
    columns = [
        pa.concat_arrays([commit, other]).take(where)
        for commit, other in zip(commits.columns, others.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=commits.schema)
