"""Decode the records of a store again, and compare the rows with the rows of its tables.

Strategy: rows are compared by a sum of hashes for each :data:`SPAN` of offsets, in one pass over the records. Only the
spans that differ are compared row by row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ..decode import STORED_FROM_RECORDS, decode_batch, split
from ..engine.duck import DuckDB
from ..load.manifest import DataFile
from ..load.read import read_rows
from ..load.store import Store
from ..tables import RECORDS, STORED, Table
from .result import Check, judged, unknown
from .rows import place_note

DECODING: Final = "rows-match-records"
SPAN: Final = 65_536
"""Number of offsets of a log partition whose rows are compared by one sum."""

_TABLES: Final = {table.name: table for table in STORED if table.name in STORED_FROM_RECORDS}
_AGAIN: Final = "decoded_again"

Span = tuple[int, int]
"""A log partition, and the number of a span of its offsets."""
Sums = dict[Span, tuple[int, int]]
"""Span -> number of rows, and the sum of their hashes."""


def check_decoding(store: Store, tables: DuckDB, damaged: Set[str], files: list[DataFile]) -> Iterator[Check]:
    """Yield a check for each table that is filled from records: of the rows whose records are stored.

    :param tables: with all stored tables loaded, except damaged ones.
    :param files: the files of the records.
    """
    broken = {name: next((each for each in (RECORDS.name, name) if each in damaged), None) for name in _TABLES}
    usable = {name: table for name, table in _TABLES.items() if broken[name] is None}
    again = _sums_of_records(store, tables, files, usable)
    for name, table in _TABLES.items():
        if reason := broken[name]:
            yield unknown(DECODING, name, f"files of {reason} do not match the manifest")
        else:
            yield _compared(store, tables, files, table, again[name])


def _sums_of_records(
    store: Store, tables: DuckDB, files: list[DataFile], usable: Mapping[str, Table]
) -> dict[str, Sums]:
    found: dict[str, Sums] = {name: defaultdict(lambda: (0, 0)) for name in usable}
    for rows in _decoded(store, files) if usable else ():
        for name, table in usable.items():
            if rows[name].num_rows:
                _load(tables, table, [rows[name]])
                for span, (count, total) in _sums(tables, table, _AGAIN).items():
                    before = found[name][span]
                    found[name][span] = (before[0] + count, before[1] + total)
    return found


def _compared(store: Store, tables: DuckDB, files: list[DataFile], table: Table, again: Sums) -> Check:
    with_record = f"{table.name} semi join {RECORDS.name} using (log_partition, log_offset)"
    stored = _sums(tables, table, with_record)
    checked = sum(count for count, _ in stored.values())
    spans = {span for span in stored.keys() | again.keys() if stored.get(span) != again.get(span)}
    if not spans:
        return judged(DECODING, table.name, checked, 0)
    _load(tables, table, [_in_spans(rows[table.name], spans) for rows in _decoded(store, files)])
    listed = ", ".join(f"({partition}, {number})" for partition, number in sorted(spans))
    columns = ", ".join(f"`{name}`" for name in table.names)
    stored_rows, new_rows = (
        f"select {columns} from {relation} where (log_partition, log_offset // {SPAN}) in ({listed})"
        for relation in (with_record, _AGAIN)
    )
    (found,) = tables.fetch(
        f"""with differing as (
            (({stored_rows}) except all ({new_rows})) union all (({new_rows}) except all ({stored_rows})))
        select count(distinct (log_partition, log_offset)) as failed, min((log_partition, log_offset)) as place
        from differing"""
    ).to_pylist()
    what = "is decoded otherwise by this version; kgroups history upgrade decodes the records again"
    return judged(DECODING, table.name, checked, found["failed"], place_note(found["place"], what))


def _decoded(store: Store, files: list[DataFile]) -> Iterator[dict[str, pa.RecordBatch]]:
    """Yield the rows of each batch of records, by table. Hosts of clients are already replaced in stored records."""
    for file in files:
        for records in read_rows(store.storage, RECORDS, file.path):
            yield split(decode_batch(records))


def _load(tables: DuckDB, table: Table, rows: list[pa.RecordBatch]) -> None:
    tables.load_arrow(table._replace(name=_AGAIN), pa.Table.from_batches(rows, schema=rows[0].schema))


def _sums(tables: DuckDB, table: Table, relation: str) -> Sums:
    columns = ", ".join(f"`{name}`" for name in table.names)
    found = tables.fetch(
        f"""select log_partition, log_offset // {SPAN} as span, count(*) as n,
            cast(sum(hash({columns})) as text) as total
        from {relation} group by log_partition, span"""
    )
    return {(row["log_partition"], row["span"]): (row["n"], int(row["total"])) for row in found.to_pylist()}


def _in_spans(rows: pa.RecordBatch, spans: Set[Span]) -> pa.RecordBatch:
    pairs = zip(rows["log_partition"].to_pylist(), rows["log_offset"].to_pylist(), strict=True)
    selected: Any = pa.array([(partition, offset // SPAN) in spans for partition, offset in pairs], pa.bool_())
    return rows.filter(pc.fill_null(selected, False))
