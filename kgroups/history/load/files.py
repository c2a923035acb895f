"""Compare a file with its entry in the manifest: by size, by what its end says about its rows, and by all bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgroups.errors import HistoryError

from ..tables import MATERIALIZED, STORED
from .manifest import DataFile
from .storage import Storage
from .write import CLUSTER_ID, time_column

_TABLES = {table.name: table for table in (*STORED, *MATERIALIZED)}

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


def fault(storage: Storage, file: DataFile, cluster: str) -> str | None:
    """Return how a file differs from the manifest; ``None`` if it does not, or if its table is of a later version."""
    try:
        size = storage.size(file.path)
        if size != file.size:
            return f"{file.path} has {size:,} bytes, not the {file.size:,} that were written"
        if file.table not in _TABLES:
            return None
        with storage.errors(file.path):
            footer = pq.ParquetFile(storage.opened(file.path))
    except HistoryError as error:
        return error.fault or error.text
    table = _TABLES[file.table]
    missing = {CLUSTER_ID.name, *(column.name for column in table.columns if column.required)}.difference(
        footer.schema_arrow.names
    )
    if missing:
        return f"{file.path} has no column {', '.join(sorted(missing))}"
    expected: Mapping[str, Any] = {
        "rows": file.rows,
        "first": file.first,
        "last": file.last,
        "clusters": {cluster} if file.rows else set(),
    }
    found = _contents(footer, time_column(table))
    wrong = [name for name, value in expected.items() if found[name] != value]
    return f"{file.path}: {wrong[0]} {found[wrong[0]]}, not {expected[wrong[0]]}" if wrong else None


def changed_bytes(storage: Storage, file: DataFile) -> str | None:
    """Read a file completely; return whether its bytes are others than were written, or ``None``."""
    try:
        if file.sha256 in (None, storage.sha256(file.path)):
            return None
    except HistoryError as error:
        return error.fault or error.text
    return f"{file.path} has other bytes than were written: its SHA-256 differs"


def damaged_file(paths: Iterable[str]) -> str | None:
    """Read files on this machine completely; return which one cannot be read, and why, or ``None``."""
    for path in paths:
        try:
            for _ in pq.ParquetFile(path).iter_batches():
                pass
        except FileNotFoundError:
            continue  # a copy that is not needed anymore
        except (pa.ArrowException, OSError) as error:
            return f"{path} is damaged: {str(error).splitlines()[0]}"
    return None


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
