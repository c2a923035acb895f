"""Convert a store of format 1, which one Spark stream wrote, in place.

Format 1 had one cluster, a directory of files for each entry and table, times as INT96, and the position in the log in
Spark's checkpoint. The new files and the new manifest are complete before the identity file makes them current; only
then the old ones are deleted. A killed upgrade begins again. Any other format is an error: nothing is known about it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from kgroups.errors import HistoryError

from ..arrow import arrow_schema
from ..tables import SCHEMA_VERSION, STORED, Table
from .manifest import UPGRADED, Entry
from .storage import Storage
from .store import FORMAT, IDENTITY, MANIFEST, UNKNOWN_CLUSTER, Identity, Store
from .write import TableWriter

_OFFSETS = "_checkpoint/offsets"
_BATCH = "batch-"


def upgrade(store: Store) -> int:
    """Convert the store; return the number of its records of the log, or -1 if it has the current format.

    :raises HistoryError: if there is no store, or a file of it is missing or damaged; it is then unchanged.
    """
    storage = store.storage
    if not store.is_first_format():
        _delete_old(storage)  # of an upgrade that was killed
        return -1
    identity, created = _identity(storage)
    names = sorted(name for name in storage.names(MANIFEST) if name.count("/") == 1)
    old = [_OldEntry.of(storage, name) for name in names]
    hidden = {name for entry in old for name in entry.replaces}
    live = [entry for entry in old if entry.name not in hidden]
    batches = {name for name in (*hidden, *(entry.name for entry in live)) if name.startswith(_BATCH)}
    positions = _positions(storage, max(batches)) if batches else {}
    with TableWriter(storage, identity.cluster_id or UNKNOWN_CLUSTER) as writer:
        for table in STORED:
            for entry in live:
                if table.name in entry.tables:
                    for batch in _rows(storage, table, entry.name):
                        writer.add(table, batch)
    for file in writer.files:
        with storage.errors(file.path):
            rows = pq.ParquetFile(storage.opened(file.path)).metadata.num_rows
        if rows != file.rows:
            raise HistoryError(f"store {storage.shown}: {file.path} was not written completely; nothing was changed")
    records, undecoded = sum(entry.records for entry in live), sum(entry.undecoded for entry in live)
    store.write_upgraded(identity, Entry(UPGRADED, writer.files, records, undecoded, positions, expired=None))
    current = {"format": FORMAT, "schema": SCHEMA_VERSION, "created": created}
    storage.replace(IDENTITY, json.dumps(current).encode() + b"\n")
    store.check_files(store.snapshot().all_files())
    _delete_old(storage)
    return records


def _delete_old(storage: Storage) -> None:
    """Delete what only format 1 has."""
    storage.delete([name for name in storage.names(MANIFEST) if name.count("/") == 1])
    for table in STORED:
        storage.delete([name for name in storage.names(table.name) if "/batch=" in name])
    storage.delete(list(storage.names("_checkpoint")))


class _OldEntry(NamedTuple):
    """An entry of format 1."""

    name: str
    tables: tuple[str, ...]
    records: int
    undecoded: int
    replaces: tuple[str, ...]

    @classmethod
    def of(cls, storage: Storage, file: str) -> _OldEntry:
        data = _json(storage, file) or {}
        name, counts = data.get("name"), [data.get(key, 0) for key in ("records", "undecoded")]
        lists = [data.get(key) for key in ("tables", "replaces")]
        is_entry = isinstance(name, str) and all(type(each) is int and each >= 0 for each in counts)
        if not is_entry or not all(isinstance(each, list) and all(isinstance(e, str) for e in each) for each in lists):
            raise _damaged(storage, file)
        return cls(str(name), tuple(lists[0] or ()), counts[0], counts[1], tuple(lists[1] or ()))


def _identity(storage: Storage) -> tuple[Identity, str]:
    data = _json(storage, IDENTITY) or {}
    cluster_id, topic, created = (data.get(key) for key in ("cluster_id", "topic", "created"))
    known = isinstance(topic, str) and isinstance(created, str) and "cluster_id" in data
    if not known or not isinstance(cluster_id, str | None):
        raise _damaged(storage, IDENTITY)
    return Identity(cluster_id, str(topic), str(created)), str(created)


def _rows(storage: Storage, table: Table, entry: str) -> Iterator[pa.RecordBatch]:
    names = sorted(storage.names(f"{table.name}/batch={entry.removeprefix(_BATCH)}"))
    files = [name for name in names if name.endswith(".parquet")]
    if not files:
        raise HistoryError(f"store {storage.shown}: entry {entry} has no files of {table.name}; nothing was changed")
    schema = arrow_schema(table)
    for name in files:
        with storage.errors(name):
            for batch in pq.ParquetFile(storage.opened(name), coerce_int96_timestamp_unit="us").iter_batches():
                columns = [
                    batch[field.name].cast(field.type)
                    if field.name in batch.schema.names
                    else pa.nulls(len(batch), field.type)
                    for field in schema
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _positions(storage: Storage, batch: str) -> dict[int, int]:
    """Return the offsets after a batch, from Spark's checkpoint: the last line of a file is the position, as JSON."""
    name = f"{_OFFSETS}/{int(batch.removeprefix(_BATCH))}"
    content = storage.read(name)
    try:
        found = json.loads((content or b"").splitlines()[-1])
        return {int(partition): int(offset) for partition, offset in found.items()}
    except (ValueError, IndexError, AttributeError):
        raise HistoryError(
            f"store {storage.shown}: {name} is missing or damaged: the position in the log is unknown; nothing was "
            "changed"
        ) from None


def _json(storage: Storage, name: str) -> dict[str, Any] | None:
    content = storage.read(name)
    try:
        return None if content is None else dict(json.loads(content))
    except (ValueError, TypeError, RecursionError):
        raise _damaged(storage, name) from None


def _damaged(storage: Storage, name: str) -> HistoryError:
    return HistoryError(f"{storage.shown}/{name} is damaged; nothing was changed")
