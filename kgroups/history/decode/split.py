"""Distribute decoded records to the stored tables. No record is lost: each is in at least one table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from .. import tables
from ..arrow import arrow_schema, to_batch
from ..tables import Table
from . import classic, modern, streams
from .batch import Redact, decode_batch
from .facts import Body, Extractor
from .rows import COMMIT_TYPES

_EXTRACTORS: Final[Mapping[int, Extractor]] = {**classic.EXTRACTORS, **modern.EXTRACTORS, **streams.EXTRACTORS}
_AS_COLUMNS: Final = {table.name: table for table in (tables.COMMITS, tables.UNDECODED)}
_AS_FACTS: Final = {
    table.name: table for table in (tables.GROUP_METADATA, tables.MEMBERS, tables.ASSIGNMENTS, tables.EPOCHS)
}
_NO_FACTS: Final = {name: to_batch(table, []) for name, table in _AS_FACTS.items()}
STORED_FROM_RECORDS: Final = (*_AS_COLUMNS, *_AS_FACTS)
"""The names of the tables that :func:`split` fills."""

FILLED_FROM: Final[Mapping[str, frozenset[int]]] = {
    tables.COMMITS.name: frozenset(COMMIT_TYPES),
    tables.GROUP_METADATA.name: frozenset({2}),
    tables.MEMBERS.name: frozenset({2, 5, 10, 19}),
    tables.ASSIGNMENTS.name: frozenset({2, 7, 8, 13, 14, 21, 22}),
    tables.EPOCHS.name: frozenset({3, 6, 8, 11, 12, 14, 17, 20, 22}),
}
"""Table -> record types that may have rows in it; every other record is in UNDECODED."""

_COMMIT_TYPES: Final = pa.array(sorted(COMMIT_TYPES), pa.int16())
_EXTRACTED_TYPES: Final = pa.array(sorted(_EXTRACTORS), pa.int16())
_EXTRACTED_FROM: Final = ["log_partition", "log_offset", "log_time", "record_type", "group", "body"]


def split(decoded: pa.RecordBatch) -> dict[str, pa.RecordBatch]:
    """Split a batch of DECODED: table name -> batch of rows, as defined in :mod:`kgroups.history.tables`.

    Every name of :data:`STORED_FROM_RECORDS` is a key. Rows are in the order of their records.
    """
    return {**_columns(decoded, _AS_COLUMNS), **_facts(decoded, _AS_FACTS)}


def split_table(name: str) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Make a function for Spark's ``mapInArrow`` that returns the rows of one table, as :func:`split` does.

    :raises KeyError: if no table of that name is filled from records.
    """
    table = (_AS_COLUMNS | _AS_FACTS)[name]
    take = _columns if name in _AS_COLUMNS else _facts

    def batches(decoded: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in decoded:
            yield take(batch, {name: table})[name]

    return batches


def as_table(
    table: Table,
    records: Iterator[pa.RecordBatch],
    groups: Iterable[str] | None = None,
    redact: Redact | None = None,
) -> Iterator[pa.RecordBatch]:
    """Convert batches of RECORDS to batches of a table: RECORDS itself, DECODED, or one that :func:`split` fills.

    Tables are compared by value: in another process, a table is not the same object as the constant.

    :param groups: only records of these groups.
    :param redact: as in :func:`decode_batch`.
    """
    if table == tables.RECORDS and groups is None and redact is None:
        return records
    decoded: Iterator[pa.RecordBatch] = (decode_batch(batch, redact) for batch in records)
    if groups is not None:
        selected = pa.array(groups, pa.string())
        decoded = (batch.filter(pc.is_in(batch["group"], selected)) for batch in decoded)
    if table == tables.RECORDS:
        return (batch.select(table.names) for batch in decoded)
    return decoded if table == tables.DECODED else split_table(table.name)(decoded)


def _columns(decoded: pa.RecordBatch, selected: Mapping[str, Table]) -> dict[str, pa.RecordBatch]:
    readable = pc.is_null(decoded["error"])
    rows = {
        tables.COMMITS.name: pc.and_(readable, pc.is_in(decoded["record_type"], _COMMIT_TYPES)),
        tables.UNDECODED.name: pc.invert(pc.and_(readable, pc.is_in(decoded["record_type"], _TYPES_WITH_TABLES))),
    }
    renamed = decoded.rename_columns({"error": "reason"})
    return {
        name: pa.RecordBatch.from_arrays(
            _filtered(renamed.select(table.names), rows[name]).columns, schema=arrow_schema(table)
        )
        for name, table in selected.items()
    }


def _filtered(rows: pa.RecordBatch, chosen: pa.BooleanArray) -> pa.RecordBatch:
    """Return the chosen rows; without copying if these are all or none, as in most batches."""
    if chosen.true_count in (0, len(chosen)):
        return rows.slice(0, chosen.true_count)
    return rows.filter(chosen)


_TYPES_WITH_TABLES: Final = pa.concat_arrays([_COMMIT_TYPES, _EXTRACTED_TYPES])
"""Record types that have tables."""


def _facts(decoded: pa.RecordBatch, selected: Mapping[str, Table]) -> dict[str, pa.RecordBatch]:
    extracted = pc.and_(pc.is_null(decoded["error"]), pc.is_in(decoded["record_type"], _EXTRACTED_TYPES))
    if not extracted.true_count:
        return {name: _NO_FACTS[name] for name in selected}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in selected}
    records = decoded.select(_EXTRACTED_FROM).filter(extracted)
    # Times stay numbers: Python's datetime ends at the year 9999.
    times = records["log_time"].cast(pa.int64()).to_pylist()
    for record, time in zip(records.drop_columns("log_time").to_pylist(), times, strict=True):
        body = Body(**json.loads(record["body"]))
        base = {
            "log_partition": record["log_partition"],
            "log_offset": record["log_offset"],
            "log_time": time,
            "group": record["group"],
            "tombstone": body.value is None,
        }
        for name, fact in _EXTRACTORS[record["record_type"]](body):
            if name in found:
                found[name].append({**base, **fact})
    return {name: to_batch(table, found[name]) for name, table in selected.items()}
