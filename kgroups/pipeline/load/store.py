"""A store's layout, and the manifest that makes its entries appear and disappear atomically. Runs without Spark.

::

    STORE/
      _kgroups.json                format, schema version, cluster, topic
      _manifest/batch-00000007.json   an entry: written last, when its tables are complete
      _checkpoint/                 Spark's checkpoint: the offsets read so far
      commits/batch=00000007/…     Parquet files of one table and one entry

Rules: an entry's directories are immutable once its file is in the manifest; a batch that is repeated after a crash,
and is not in the manifest, overwrites its remains; an entry that replaces others hides them as soon as it is in the
manifest. Directories without an entry are remains of a crash, and are never read.
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
"""Version of the layout. :data:`kgroups.pipeline.tables.SCHEMA_VERSION` is the version of the tables."""

IDENTITY = "_kgroups.json"
MANIFEST = "_manifest"
CHECKPOINT = "_checkpoint"
COMPRESSION = "zstd"
"""Compression of the Parquet files: commits take a third of the space of snappy, Spark's default, in the same time."""
BATCH = "batch-"
"""Prefix of the names of entries that a stream wrote."""


class Entry(NamedTuple):
    """One complete part of history: the tables that it has rows of, and the entries that it replaces."""

    name: str
    tables: tuple[str, ...]
    records: int = 0
    """Number of records of the log."""
    replaces: tuple[str, ...] = ()
    undecoded: int = 0
    """Number of records that could not be decoded."""


class Identity(NamedTuple):
    """The origin of a store's history, and its format; fixed when the store is created."""

    cluster_id: str | None
    topic: str
    created: str
    format: int = FORMAT
    schema: int = SCHEMA_VERSION


class Store:
    """A directory, on this machine or on any file system of Arrow (``s3://``, ``hdfs://``, …)."""

    def __init__(self, location: str) -> None:
        self.location = location.rstrip("/") or "/"
        self.shown = redact_location(self.location)
        """The location for messages: a URI may hold the keys of an object store."""
        try:
            self._files, self._root = _filesystem(self.location)
        except (pa.ArrowInvalid, OSError) as error:
            # Arrow's message repeats parts of the URI, with other quoting.
            reason = type(error).__name__ if self.shown != self.location else error
            raise HistoryError(f"store {self.shown}: {reason}") from None

    def __repr__(self) -> str:
        return f"Store({self.shown})"

    # Identity.

    def identity(self) -> Identity:
        """Read the identity.

        :raises HistoryError: if there is no store, or this version cannot read it.
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
        """Create the store, or return the identity of the existing one.

        :raises HistoryError: if it has the history of another cluster, or the directory is not a store.
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
        """Create a local directory for its owner only: it will contain names of groups, clients, and hosts."""
        if isinstance(self._files, fs.LocalFileSystem):
            Path(self._root).mkdir(0o700, parents=True, exist_ok=True)

    # Contents.

    def entries(self) -> list[Entry]:
        """Return the current entries by name, without those that another entry replaces.

        :raises HistoryError: if a file of the manifest cannot be read.
        """
        found = {entry.name: entry for entry in self._entries()}
        hidden = {name for entry in found.values() for name in entry.replaces}
        return [found[name] for name in sorted(found) if name not in hidden]

    def names(self) -> frozenset[str]:
        """Return the names of all files of the manifest, without opening them."""
        found = self._files.get_file_info(fs.FileSelector(self._path(MANIFEST), allow_not_found=True))
        files = [info.base_name for info in found]
        return frozenset(name.removesuffix(".json") for name in files if name.endswith(".json"))

    def entry(self, name: str) -> Entry | None:
        """Return an entry; ``None`` if it was replaced and deleted meanwhile.

        :raises HistoryError: if its file cannot be read.
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
        """The number of records of the log."""
        return sum(entry.records for entry in self.entries())

    def holds(self, name: str) -> bool:
        """Return whether the store has that entry, or one that replaces it.

        It must not be written again: a second read may return fewer records, because the log is compacted.
        """
        return name in self.names() or any(name in entry.replaces for entry in self._entries())

    def folders(self, table: str) -> list[str]:
        """Return the directories with the rows of a table."""
        return [self.folder(table, entry.name) for entry in self.entries() if table in entry.tables]

    def folder(self, table: str, entry: str) -> str:
        """Return the directory with one entry's rows of a table. Some engines read ``batch`` in it as a column."""
        return f"{self.location}/{self._folder_name(table, entry)}"

    @property
    def checkpoint(self) -> str:
        return f"{self.location}/{CHECKPOINT}"

    def has_checkpoint(self) -> bool:
        """Return whether a stream was started for this store."""
        return bool(self._files.get_file_info(self._path(f"{CHECKPOINT}/metadata")).type == fs.FileType.File)

    # Changes.

    def put(self, table: str, entry: str, rows: pa.RecordBatch | pa.Table) -> int:
        """Write the rows of one table of an entry that is not in the manifest yet; return their number."""
        content = rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows])
        folder = self._path(self._folder_name(table, entry))
        self._files.create_dir(folder, recursive=True)
        path = f"{folder}/part-00000.parquet"
        pq.write_table(content, path, filesystem=self._files, coerce_timestamps="us", compression=COMPRESSION)
        return int(content.num_rows)

    def commit(self, entry: Entry) -> None:
        """Add the entry to the manifest: from now on it is read."""
        self._write_json(f"{MANIFEST}/{entry.name}.json", entry._asdict())

    def delete_replaced(self, entry: Entry) -> None:
        """Delete the entries that an entry replaces: first from the manifest, then their files."""
        for name in entry.replaces:
            self._delete_file(f"{MANIFEST}/{name}.json")
            for table in STORED:
                folder = self._path(self._folder_name(table.name, name))
                if self._files.get_file_info(folder).type == fs.FileType.Directory:
                    self._files.delete_dir(folder)

    # Internal.

    def _entries(self) -> Iterator[Entry]:
        return filter(None, map(self.entry, self.names()))

    @staticmethod
    def _folder_name(table: str, entry: str) -> str:
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
        """Write a file atomically: a reader never sees a part of it."""
        temporary = self._path(f"{name}.new")
        with self._files.open_output_stream(temporary) as stream:
            stream.write(json.dumps(data).encode() + b"\n")
        self._files.move(temporary, self._path(name))

    def _delete_file(self, name: str) -> None:
        if self._files.get_file_info(self._path(name)).type == fs.FileType.File:
            self._files.delete_file(self._path(name))


def redact_location(location: str) -> str:
    """Return a store's location without the user, password, and options that a URI may contain."""
    scheme, separator, rest = location.partition("://")
    if not separator:
        return location
    user, _, place = rest.partition("?")[0].rpartition("@")  # a key may contain slashes
    return f"{scheme}://{'****@' if user else ''}{place}"


def _filesystem(location: str) -> tuple[fs.FileSystem, str]:
    if "://" in location:
        found, root = fs.FileSystem.from_uri(location)
        return found, root.rstrip("/")
    return fs.LocalFileSystem(), location
