"""Convert a store of format 1, which one Spark stream wrote, in place.

Format 1 had one cluster, a directory of files for each entry and table, times as INT96, and the position in the log in
Spark's checkpoint. The new files and the new manifest are complete before the identity file makes them current; only
then the old ones are deleted. A killed upgrade begins again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgroups.errors import HistoryError

from ..tables import SCHEMA_VERSION, STORED, Table, arrow_schema
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
    data = _json(storage, IDENTITY)
    if data is None:
        raise HistoryError(f"{store.shown} holds no history")
    if data.get("format") == FORMAT:
        return -1
    names = storage.names(MANIFEST)
    storage.delete([name for name in names if name.count("/") > 1])  # of an upgrade that was killed
    old = [found for name in sorted(names) if name.count("/") == 1 and (found := _json(storage, name))]
    hidden = {name for entry in old for name in entry["replaces"]}
    live = [entry for entry in old if entry["name"] not in hidden]
    cluster_id = data["cluster_id"] or UNKNOWN_CLUSTER
    with TableWriter(storage, cluster_id) as writer:
        for table in STORED:
            for entry in live:
                if table.name in entry["tables"]:
                    for batch in _rows(storage, table, entry["name"]):
                        writer.add(table, batch)
    batches = {name for name in (*hidden, *(entry["name"] for entry in live)) if name.startswith(_BATCH)}
    positions = _positions(storage, max(batches)) if batches else {}
    records, undecoded = (sum(int(entry.get(key, 0)) for entry in live) for key in ("records", "undecoded"))
    store.write_upgraded(
        Identity(data["cluster_id"], data["topic"], data["created"]),
        Entry(UPGRADED, writer.files, records, undecoded, positions, expired=None),
    )
    storage.replace(
        IDENTITY, json.dumps({"format": FORMAT, "schema": SCHEMA_VERSION, "created": data["created"]}).encode() + b"\n"
    )
    storage.delete([name for name in names if name.count("/") == 1])
    for table in STORED:
        storage.delete([name for name in storage.names(table.name) if "/batch=" in name])
    storage.delete(list(storage.names("_checkpoint")))
    return records


def _rows(storage: Storage, table: Table, entry: str) -> Iterator[pa.RecordBatch]:
    names = sorted(storage.names(f"{table.name}/batch={entry.removeprefix(_BATCH)}"))
    files = [name for name in names if name.endswith(".parquet")]
    if not files:
        raise HistoryError(f"store {storage.shown}: entry {entry} has no files of {table.name}; nothing was changed")
    schema = arrow_schema(table)
    for name in files:
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
    except (ValueError, TypeError):
        raise HistoryError(f"{storage.shown}/{name} is damaged; nothing was changed") from None
