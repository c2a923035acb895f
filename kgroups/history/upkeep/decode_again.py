"""Decode the records of a store again, for what a later version decodes otherwise, and replace the tables.

The new files are complete before one entry makes them current; a killed run changes nothing. Rows without a record,
which an earlier version expired, remain as they are.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from ..decode import STORED_FROM_RECORDS, decode_batch, split
from ..load.manifest import COMPACTED, DataFile, Entry
from ..load.read import read_rows
from ..load.sql import rows_of_files
from ..load.storage import Storage
from ..load.store import Store
from ..load.write import TableWriter
from ..tables import RECORDS, UNDECODED
from .rewrite import TABLES, Rewriter, repeated

_DECODED = frozenset(STORED_FROM_RECORDS)

Folders = dict[str, list[DataFile]]
"""Table and day, as the directory of their files -> files."""


@repeated
def decode_again(store: Store) -> int:
    """Replace the tables that are filled from records; return the number of records.

    Collectors can run at the same time: what they add meanwhile is decoded by their own version.

    :raises HistoryError: if the store cannot be read or written, or another process merged it; it is then unchanged.
    """
    snapshot = store.snapshot()
    records = snapshot.files(RECORDS)
    found = [file for file in snapshot.all_files() if file.table not in _DECODED]
    last = max((file.entry or 0 for file in found), default=0)
    with Rewriter(store) as rewriter, tempfile.TemporaryDirectory(prefix="kgroups-") as scratch:
        new, undecoded = _decode(store, records, scratch)
        old = _by_folder(file for file in snapshot.all_files() if file.table in _DECODED)
        rewriter.view("sources", RECORDS, records)
        for folder in sorted(new.keys() | old.keys()):
            table = TABLES[folder.partition("/")[0]]
            rewriter.view("old", table, old[folder])
            paths = (str(Path(scratch, file.path)) for file in new[folder])
            rewriter.run(f"create or replace temp view new as {rows_of_files(table, paths)}")
            rows = sum(file.rows for file in (*new[folder], *old[folder]))
            kept = "select * from old anti join sources using (log_partition, log_offset)"
            written = rewriter.write(table, f"select * from new union all by name {kept}", rows)
            found += (file._replace(entry=last) for file in written)
            rewriter.release(old[folder])
        merged = tuple(sorted(snapshot.entries))
        entry = Entry(COMPACTED, tuple(found), snapshot.records, undecoded, snapshot.positions, merged)
        entry = entry._replace(expired=snapshot.expired, share_positions=snapshot.share_positions)
        rewriter.commit(entry, snapshot)
    return sum(file.rows for file in records)


def _decode(store: Store, records: list[DataFile], scratch: str) -> tuple[Folders, int]:
    """Write the rows to a directory, unsorted; return its files, and the number of records without a decoder."""
    undecoded = 0
    with TableWriter(Storage(scratch), store.cluster) as writer:
        for file in records:
            for batch in read_rows(store.storage, RECORDS, file.path):
                for name, rows in split(decode_batch(batch)).items():
                    if rows.num_rows:
                        writer.add(TABLES[name], rows)
                    if name == UNDECODED.name:
                        undecoded += len(rows["reason"].drop_null())
    return _by_folder(writer.files), undecoded


def _by_folder(files: Iterable[DataFile]) -> Folders:
    found: Folders = defaultdict(list)
    for file in files:
        found[file.path.rpartition("/")[0]].append(file)
    return found
