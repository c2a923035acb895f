"""Compare the files of a store with its manifest: by size, and by what the end of each file says about its rows."""

from __future__ import annotations

from ..load.files import fault
from ..load.manifest import DataFile, Snapshot
from ..load.store import Store
from ..tables import MATERIALIZED, STORED, Table
from .result import Check, judged

FILES = "files-match-manifest"


def check_files(store: Store, snapshot: Snapshot) -> dict[str, Check]:
    """Check the files of each table that has some; table name -> result."""
    tables = (*STORED, *MATERIALIZED)
    return {table.name: _check_table(store, table, files) for table in tables if (files := snapshot.files(table))}


def _check_table(store: Store, table: Table, files: list[DataFile]) -> Check:
    wrong = [found for file in files if (found := fault(store.storage, file, store.cluster))]
    return judged(FILES, table.name, len(files), len(wrong), wrong[0] if wrong else None)
