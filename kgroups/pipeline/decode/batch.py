"""Decode a batch of RECORDS into a batch of DECODED."""

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
    """Decode each record of a batch of RECORDS: a batch of DECODED, in the same order.

    Invalid bytes raise no error: the column ``error`` has the reason.

    :raises pyarrow.ArrowInvalid: if the columns are not those of RECORDS.
    """
    records = _as_records(records)
    decoded = _decoded(records["key"], records["value"]) if len(records) else decode_rows(())
    return pa.RecordBatch.from_arrays([*records.columns, *decoded.columns], schema=_DECODED)


def _as_records(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the columns in the order and of the types of RECORDS.

    Spark uses the time zone of its session, and may widen types.
    """
    if batch.schema.equals(_RECORDS):
        return batch
    return batch.select(RECORDS.names).cast(_RECORDS)


def _decoded(keys: pa.BinaryArray, values: pa.BinaryArray) -> pa.RecordBatch:
    commits, odd = decode_commits(keys, values)
    if not odd.any():
        return commits
    odd_rows = pa.array(np.flatnonzero(odd))
    others = decode_rows(zip(keys.take(odd_rows).to_pylist(), values.take(odd_rows).to_pylist(), strict=True))
    # Take each row from its decoder: the rows of ``others`` follow those of ``commits``.
    sources = np.arange(len(keys))
    sources[odd] = len(keys) + np.arange(len(odd_rows))
    indices = pa.array(sources)
    columns = [
        pa.concat_arrays([commit, other]).take(indices)
        for commit, other in zip(commits.columns, others.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=commits.schema)
