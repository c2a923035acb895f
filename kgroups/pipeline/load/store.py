"""A store's layout, and the manifest that makes its batches appear and disappear as wholes. No Spark here.

::

    STORE/
      _kgroups.json                what the store is: format, schema version, cluster, topic
      _manifest/batch-00000007.json   an entry: written last, so that what it names is whole
      _checkpoint/                 Spark's: how far the log was read
      commits/batch=00000007/…     Parquet of one table and one entry

Rules: an entry's folders are immutable once its file is in the manifest; a batch that comes again after a crash, and
is not in the manifest, overwrites what it had left of itself; an entry that replaces others hides them from the moment
it is there. Folders that no entry names are remains of a crash, and nobody reads them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from kgroups.errors import HistoryError

from ..tables import SCHEMA_VERSION, STORED

FORMAT = 1
"""Of the layout. :data:`kgroups.pipeline.tables.SCHEMA_VERSION` is that of the tables."""

IDENTITY = "_kgroups.json"
MANIFEST = "_manifest"
CHECKPOINT = "_checkpoint"
COMPRESSION = "zstd"
"""Of its Parquet: a third of what snappy, Spark's default, leaves of commits; and not slower."""
BATCH = "batch-"
"""How names of entries begin that a stream wrote."""


class Entry(NamedTuple):
    """One whole piece of history: the tables that it has rows of, and the entries that it stands for."""

    name: str
    tables: tuple[str, ...]
    records: int = 0
    """How many records of the log it holds."""
    replaces: tuple[str, ...] = ()
    undecoded: int = 0
    """How many of the records could not be decoded."""


class Identity(NamedTuple):
    """What a store holds; fixed when it is made."""

    cluster_id: str | None
    topic: str
    created: str
    format: int = FORMAT
    schema: int = SCHEMA_VERSION


class Store:
    """A folder, on this machine or wherever Arrow reaches (``s3://``, ``hdfs://``, …)."""

    def __init__(self, location: str) -> None:
        self.location = location.rstrip("/") or "/"
        self.shown = shown_location(self.location)
        """The location for messages: a URI may hold the keys of an object store."""
        try:
            self._files, self._root = _filesystem(self.location)
        except (pa.ArrowInvalid, OSError) as error:
            # Arrow's words repeat the URI, in parts and otherwise quoted.
            reason = type(error).__name__ if self.shown != self.location else error
            raise HistoryError(f"store {self.shown}: {reason}") from None

    def __repr__(self) -> str:
        return f"Store({self.shown})"

    # What it is.

    def identity(self) -> Identity:
        """
        :raises HistoryError: when there is no store, or one that this version cannot read.
        """
        data = self._read_json(IDENTITY)
        if data is None:
            raise HistoryError(f"{self.shown} holds no history; begin one with: kgroups history collect --store …")
        known = {key: value for key, value in data.items() if key in Identity._fields}
        try:
            found = Identity(**known)
        except TypeError:
            raise HistoryError(f"{self.shown}/{IDENTITY} is damaged; the store cannot be identified") from None
        if (found.format, found.schema) != (FORMAT, SCHEMA_VERSION):
            raise HistoryError(
                f"store {self.shown} has format {found.format} and schema {found.schema}, this version reads format "
                f"{FORMAT} and schema {SCHEMA_VERSION}; its records table can be decoded again into a new store"
            )
        return found

    def create(self, identity: Identity) -> Identity:
        """Makes the store, or finds it there already.

        :raises HistoryError: when it holds another cluster's history, or the folder something else.
        """
        if self._read_json(IDENTITY) is None:
            if self._files.get_file_info(self._path(MANIFEST)).type != fs.FileType.NotFound:
                raise HistoryError(f"{self.shown} has a manifest, but no {IDENTITY}: it is half a store; take another")
            self._make_root()
            self._files.create_dir(self._path(MANIFEST), recursive=True)
            self._write_json(IDENTITY, identity._asdict())
            return identity
        found = self.identity()
        if found.cluster_id and identity.cluster_id and found.cluster_id != identity.cluster_id:
            raise HistoryError(
                f"store {self.shown} holds history of cluster {found.cluster_id}, this is cluster "
                f"{identity.cluster_id}; give each cluster a store of its own"
            )
        if found.topic != identity.topic:
            raise HistoryError(f"store {self.shown} holds history of topic {found.topic}, not {identity.topic}")
        return found

    def _make_root(self) -> None:
        """A folder on this machine is for its owner: names of groups, clients and hosts are in it."""
        if isinstance(self._files, fs.LocalFileSystem):
            Path(self._root).mkdir(0o700, parents=True, exist_ok=True)

    # What is in it.

    def entries(self) -> list[Entry]:
        """Those that count, by name: without the ones that another one stands for.

        :raises HistoryError: when a file of the manifest cannot be read.
        """
        found = {entry.name: entry for entry in self._entries()}
        hidden = {name for entry in found.values() for name in entry.replaces}
        return [found[name] for name in sorted(found) if name not in hidden]

    def names(self) -> frozenset[str]:
        """Those of all files of the manifest, none of them opened."""
        found = self._files.get_file_info(fs.FileSelector(self._path(MANIFEST), allow_not_found=True))
        files = [info.base_name for info in found]
        return frozenset(name.removesuffix(".json") for name in files if name.endswith(".json"))

    def entry(self, name: str) -> Entry | None:
        """That one; None when it was replaced and forgotten meanwhile.

        :raises HistoryError: when its file cannot be read.
        """
        data = self._read_json(f"{MANIFEST}/{name}.json")
        if data is None:
            return None
        try:
            return Entry(
                data["name"],
                tuple(data["tables"]),
                int(data["records"]),
                tuple(data["replaces"]),
                int(data.get("undecoded", 0)),
            )
        except (KeyError, TypeError, ValueError):
            raise HistoryError(f"{self.shown}/{MANIFEST}/{name}.json is damaged") from None

    @property
    def records(self) -> int:
        """How many records of the log it holds."""
        return sum(entry.records for entry in self.entries())

    def holds(self, name: str) -> bool:
        """Whether that entry is there, or another one stands for it: it must not be written again. What is read a
        second time may be less, for the log is compacted."""
        return name in self.names() or any(name in entry.replaces for entry in self._entries())

    def folders(self, table: str) -> list[str]:
        """Where the rows of a table are; none when there are none."""
        return [self.folder(table, entry.name) for entry in self.entries() if table in entry.tables]

    def folder(self, table: str, entry: str) -> str:
        """Where one entry keeps its rows of a table. Its name makes ``batch`` a column for some engines."""
        return f"{self.location}/{self._place(table, entry)}"

    @property
    def checkpoint(self) -> str:
        return f"{self.location}/{CHECKPOINT}"

    def has_checkpoint(self) -> bool:
        """Whether a stream has begun to read into this store."""
        return bool(self._files.get_file_info(self._path(f"{CHECKPOINT}/metadata")).type == fs.FileType.File)

    # How it changes.

    def put(self, table: str, entry: str, rows: pa.RecordBatch | pa.Table) -> int:
        """Writes the rows of one table of an entry that is not in the manifest yet; gives their number."""
        whole = rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows])
        folder = self._path(self._place(table, entry))
        self._files.create_dir(folder, recursive=True)
        path = f"{folder}/part-00000.parquet"
        pq.write_table(whole, path, filesystem=self._files, coerce_timestamps="us", compression=COMPRESSION)
        return int(whole.num_rows)

    def commit(self, entry: Entry) -> None:
        """The entry counts from now on."""
        self._write_json(f"{MANIFEST}/{entry.name}.json", entry._asdict())

    def forget(self, entry: Entry) -> None:
        """Deletes what an entry stands for: first from the manifest, then from the disk."""
        for name in entry.replaces:
            self._delete_file(f"{MANIFEST}/{name}.json")
            for table in STORED:
                folder = self._path(self._place(table.name, name))
                if self._files.get_file_info(folder).type == fs.FileType.Directory:
                    self._files.delete_dir(folder)

    # Inside.

    def _entries(self) -> Iterator[Entry]:
        return filter(None, map(self.entry, self.names()))

    @staticmethod
    def _place(table: str, entry: str) -> str:
        return f"{table}/batch={entry.removeprefix(BATCH)}"

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _read_json(self, name: str) -> dict[str, Any] | None:
        try:
            with self._files.open_input_stream(self._path(name)) as stream:
                data = json.loads(stream.read())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise HistoryError(f"{self.shown}/{name}: {error}") from None
        except ValueError:
            data = None
        if not isinstance(data, dict):
            raise HistoryError(f"{self.shown}/{name} is damaged: it is not JSON")
        return data

    def _write_json(self, name: str, data: Mapping[str, Any]) -> None:
        """Whole or not at all: a reader never sees half a file."""
        fresh = self._path(f"{name}.new")
        with self._files.open_output_stream(fresh) as stream:
            stream.write(json.dumps(data).encode() + b"\n")
        self._files.move(fresh, self._path(name))

    def _delete_file(self, name: str) -> None:
        if self._files.get_file_info(self._path(name)).type == fs.FileType.File:
            self._files.delete_file(self._path(name))


def shown_location(location: str) -> str:
    """A store's location without the user, the password and the options that a URI may hold."""
    scheme, separator, rest = location.partition("://")
    if not separator:
        return location
    user, _, place = rest.partition("?")[0].rpartition("@")  # a key may have slashes in it
    return f"{scheme}://{'****@' if user else ''}{place}"


def _filesystem(location: str) -> tuple[fs.FileSystem, str]:
    if "://" in location:
        found, root = fs.FileSystem.from_uri(location)
        return found, root.rstrip("/")
    return fs.LocalFileSystem(), location
