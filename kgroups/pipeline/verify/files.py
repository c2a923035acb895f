"""Compare the files of a store with its manifest: by size, and by what the end of each file says about its rows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgroups.errors import HistoryError

from ..load.manifest import DataFile, Snapshot
from ..load.store import Store
from ..load.write import CLUSTER_ID, time_column
from ..tables import MATERIALIZED, STORED, Table
from .result import Check, judged

FILES = "files-match-manifest"

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


def check_files(store: Store, snapshot: Snapshot) -> dict[str, Check]:
    """Check the files of each table that has some; table name -> result."""
    tables = (*STORED, *MATERIALIZED)
    return {table.name: _check_table(store, table, files) for table in tables if (files := snapshot.files(table))}


def _check_table(store: Store, table: Table, files: list[DataFile]) -> Check:
    wrong = [fault for file in files if (fault := _fault(store, table, file))]
    return judged(FILES, table.name, len(files), len(wrong), wrong[0] if wrong else None)


def _fault(store: Store, table: Table, file: DataFile) -> str | None:
    """Return how a file differs from the manifest; ``None`` if it does not."""
    try:
        size = store.storage.size(file.path)
        if size != file.size:
            return f"{file.path} has {size:,} bytes, not {file.size:,}"
        footer = pq.ParquetFile(store.storage.opened(file.path))
    except HistoryError as error:
        return str(error)
    except (pa.ArrowInvalid, OSError) as error:
        return f"{file.path}: {str(error).splitlines()[0]}"
    missing = {CLUSTER_ID.name, *(column.name for column in table.columns if column.required)}.difference(
        footer.schema_arrow.names
    )
    if missing:
        return f"{file.path} has no column {', '.join(sorted(missing))}"
    expected: Mapping[str, Any] = {
        "rows": file.rows,
        "first": file.first,
        "last": file.last,
        "clusters": {store.cluster} if file.rows else set(),
    }
    found = _contents(footer, time_column(table))
    wrong = [name for name, value in expected.items() if found[name] != value]
    return f"{file.path}: {wrong[0]} {found[wrong[0]]}, not {expected[wrong[0]]}" if wrong else None


def _contents(file: pq.ParquetFile, time: str) -> dict[str, Any]:
    """Return the number of rows, the times of the first and last, and the clusters, without reading the rows."""
    names = file.schema_arrow.names
    groups = [file.metadata.row_group(at) for at in range(file.metadata.num_row_groups)]
    times = [_statistics(group, names.index(time)) for group in groups]
    clusters = [_statistics(group, names.index(CLUSTER_ID.name)) for group in groups]
    return {
        "rows": file.metadata.num_rows,
        "first": min((_micros(each.min) for each in times if each), default=None),
        "last": max((_micros(each.max) for each in times if each), default=None),
        "clusters": {value for each in clusters if each for value in (each.min, each.max)},
    }


def _statistics(group: pq.RowGroupMetaData, column: int) -> pq.Statistics | None:
    """Return the statistics of a column; ``None`` if all its values are null."""
    found = group.column(column).statistics
    return found if found is not None and found.has_min_max else None


def _micros(moment: datetime) -> int:
    return (moment - _BEGINNING) // timedelta(microseconds=1)
