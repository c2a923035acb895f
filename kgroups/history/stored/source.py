"""``kgroups-history``: the tables of a store as a Spark data source, without a jar.

The driver reads the manifest, and makes input partitions of the files that the options select; each task reads its
files with the credentials of the store, and returns Arrow batches. A DataFrame or a temporary view keeps the files of
its first query.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from kgroups.errors import HistoryError, UsageError
from kgroups.model.counts import count

from ..hosts import GivenHosts
from ..load.manifest import DataFile, Snapshot
from ..load.read import read_rows
from ..load.sink import HistoryStreamWriter, HistoryWriter, SinkJob, plan_write
from ..load.store import Store
from ..options import Options
from ..schema import conform
from ..source import TableSource
from ..tables import STORED
from ..transform.definitions import DERIVED
from .derived import AT_ONCE, Share, derived_rows, rows_to_read, slim
from .options import CLUSTER_ID, OPTIONS, STREAM_ONLY, WRITE_OPTIONS, StoredOptions, parse_options, parse_write_options
from .selection import GROUP, pack, split_globs
from .stream import new_files, next_end

NAME = "kgroups-history"

SALT_ENV = "KGROUPS_SALT"
"""Environment variable with the salt of a store that hashes client hosts; not an option, which Spark shows."""

CHECKPOINT = "checkpointlocation"
"""Option of Spark itself that it passes to the sink of a stream."""

BUNDLE = 32 << 20
"""Maximum size in bytes of the files of an input partition, if it has several; compressed, as they are stored."""


class StoredSource(TableSource[StoredOptions]):
    """The data source. Its options are described in :mod:`kgroups.history.stored.options`."""

    known = OPTIONS

    @classmethod
    def name(cls) -> str:
        return NAME

    def parse(self, options: Options) -> StoredOptions:
        return parse_options(options)

    def reader(self, schema: StructType) -> DataSourceReader:
        options, columns = self.parsed(schema, STREAM_ONLY)
        kind = DerivedReader if options.plain.name in DERIVED else StoredReader
        return kind(options, columns, self.cores)

    def streamReader(self, schema: StructType) -> StoredStreamReader:
        options, columns = self.parsed(schema)
        if options.plain.name in DERIVED:
            raise UsageError(
                f"{NAME}: option table: {options.plain.name} is a derived table, which has no stream; read it in "
                f"batches, or stream a collected table: {', '.join(table.name for table in STORED)}"
            )
        return StoredStreamReader(options, columns, self.cores)

    def writer(self, schema: StructType, overwrite: bool) -> HistoryWriter:
        return HistoryWriter(self._planned(schema, overwrite))

    def streamWriter(self, schema: StructType, overwrite: bool) -> HistoryStreamWriter:
        return HistoryStreamWriter(self._planned(schema, overwrite))

    def _planned(self, schema: StructType, overwrite: bool) -> SinkJob:
        given = {name: value for name, value in self.options.items() if name.lower() != CHECKPOINT}
        found = parse_write_options(Options(NAME, given, WRITE_OPTIONS), self.embedded)
        hosts = GivenHosts(salt=os.environ.get(SALT_ENV, "").encode())
        store = Store(found.location, found.cluster)
        return plan_write(NAME, store, schema, overwrite, found.settings, found.topic, hosts)


class Bundle(InputPartition):
    """Files of a cluster, which one task reads."""

    def __init__(self, cluster: str, files: tuple[DataFile, ...]) -> None:
        super().__init__(None)
        self.cluster, self.files = cluster, files

    def __repr__(self) -> str:
        return f"Bundle(cluster={self.cluster}, files={len(self.files)}, rows={sum(file.rows for file in self.files)})"


class _FilesReader:
    """Planning and reading of files, common to batch and stream.

    Filters are not pushed down: see :class:`kgroups.history.live.source.LiveReader`.
    """

    def __init__(self, options: StoredOptions, schema: pa.Schema, cores: int | None) -> None:
        self._options = options
        self._schema = schema
        self._cores = cores or 1

    def _bundles(self, found: Mapping[str, Sequence[DataFile]]) -> list[Bundle]:
        """Divide the files of clusters, so that each core has some."""
        total = sum(file.size for files in found.values() for file in files)
        size = min(BUNDLE, total // (self._options.partitions or self._cores))
        return [Bundle(cluster, part) for cluster, files in found.items() for part in pack(files, size)]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """Yield Arrow batches of the table in the options.

        :raises HistoryError: if a file is missing, or is not as it was written.
        """
        yield from conform(NAME, self._rows(Store(self._options.location, partition.cluster), partition), self._schema)

    def _rows(self, store: Store, partition: Bundle) -> Iterator[pa.RecordBatch]:
        options = self._options
        names = list(dict.fromkeys([*self._schema.names, *options.selection.columns]))
        names = [name for name in names if name != CLUSTER_ID.name] or options.plain.names[:1]
        for file in partition.files:
            try:
                store.check_files([file])
                batches = read_rows(
                    store.storage, options.plain, file.path, file.rows, names, options.selection.row_groups
                )
                for batch in batches:
                    chosen = options.selection.rows(batch)
                    yield with_cluster(store.cluster, chosen)
            except HistoryError as error:
                raise explained(store, partition.files, error) from None


class StoredReader(_FilesReader, DataSourceReader):
    """A batch of a collected table: the rows of the files that the manifest names when Spark plans."""

    def partitions(self) -> Sequence[InputPartition]:
        """Select files.

        :raises HistoryError: if there is no store, or it cannot be read.
        """
        table, selection = self._options.plain, self._options.selection
        found = {store.cluster: selection.files(store.snapshot().files(table)) for store in stores(self._options)}
        # For an empty list, Spark makes a partition of its own, which is not a Bundle.
        return self._bundles(found) or [Bundle("", ())]


class StoredStreamReader(_FilesReader, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A stream of a collected table: the rows of new entries of the manifest. See :mod:`.stream`."""

    def __init__(self, options: StoredOptions, schema: pa.Schema, cores: int | None) -> None:
        super().__init__(options, schema, cores)
        self._target: dict[str, int] | None = None

    def initialOffset(self) -> dict[str, int]:
        start, ends = self._options.start, self._ends()
        if isinstance(start, Mapping):
            if unknown := sorted(start.keys() - ends.keys()):
                raise UsageError(
                    f"{NAME}: option startingEntry: {unknown[0]!r} is not in the stream; it has: {', '.join(ends)}"
                )
            begin = {cluster: start.get(cluster, 0) for cluster in ends}
        else:
            begin = ends if start == "latest" else dict.fromkeys(ends, 0 if isinstance(start, str) else start)
        self.commit(begin)
        return begin

    def getDefaultReadLimit(self) -> ReadLimit:
        most = self._options.max_entries  # Spark has no limit of entries
        return ReadMaxFiles(most) if most else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        self._target = self._ends()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        target = self._ends() if self._target is None else self._target
        most = limit.max_files if isinstance(limit, ReadMaxFiles) else None
        ends = dict(start)  # clusters that are not selected anymore stay where they are
        for store in stores(self._options):
            begin = start.get(store.cluster, 0)
            if (last := target.get(store.cluster, begin)) < begin:
                raise HistoryError(
                    f"store {store.shown}: the stream is at entry {begin}, but the next one of cluster {store.cluster} "
                    f"is {last}: it is another store, or an older copy; use a new checkpoint"
                )
            ends[store.cluster] = next_end(store, self._options.plain, begin, last, most)
        return dict(sorted(ends.items()))  # Spark compares offsets as JSON text

    def reportLatestOffset(self) -> dict[str, int]:
        return self._ends()

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Select the files of new entries.

        :raises HistoryError: if entries were deleted before they were read.
        """
        found = {}
        for cluster, last in end.items():
            begin, store = start.get(cluster, 0), Store(self._options.location, cluster)
            files = new_files(store, self._options.plain, begin, last) if begin < last else []
            if files is None:
                raise HistoryError(
                    f"store {store.shown}: entries {begin} to {last - 1} of {cluster} were merged, and deleted "
                    "before the stream read them; use a new checkpoint, and set option streamName to keep them longer"
                )
            found[cluster] = self._options.selection.files(files)
        return self._bundles(found)

    def commit(self, end: dict[str, int]) -> None:
        """Note that files of later entries are needed, if the stream has a name."""
        if self._options.stream:
            for cluster, number in end.items():
                note = Snapshot({}, number)
                Store(self._options.location, cluster).note_published(f"stream-{self._options.stream}", note)

    def _ends(self) -> dict[str, int]:
        return {store.cluster: store.snapshot().next for store in stores(self._options)}


class Part(InputPartition):
    """Some groups of a cluster, for which one task computes the rows of a derived table."""

    def __init__(self, cluster: str, snapshot: Snapshot, share: Share) -> None:
        super().__init__(None)
        self.cluster, self.snapshot, self.share = cluster, snapshot, share

    def __repr__(self) -> str:
        return f"Part(cluster={self.cluster}, groups={self.share.number + 1}/{self.share.parts})"


class DerivedReader(DataSourceReader):
    """A batch of a derived table, computed by the tasks from what the manifest names when Spark plans."""

    def __init__(self, options: StoredOptions, schema: pa.Schema, cores: int | None) -> None:
        self._options = options
        self._schema = schema
        self._cores = cores or 1

    def partitions(self) -> Sequence[InputPartition]:
        """Divide the groups.

        :raises HistoryError: if there is no store, or it cannot be read.
        """
        table, groups = self._options.plain, self._options.selection.groups
        found: list[InputPartition] = []
        for store in stores(self._options):
            snapshot = slim(store.snapshot(), table.name)
            parts = self._options.partitions or self._parts(rows_to_read(snapshot))
            if GROUP not in table.names:
                parts = 1
            elif groups and not split_globs(groups)[1]:
                parts = min(parts, len(groups))
            found += (Part(store.cluster, snapshot, Share(groups, number, parts)) for number in range(parts))
        return found

    def _parts(self, rows: int) -> int:
        """Return the number of tasks: each reads the files of all, so few rows are read once."""
        return max(-(-rows // AT_ONCE), self._cores if rows > AT_ONCE // 4 else 1)

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """Yield Arrow batches of the table in the options.

        :raises HistoryError: if a file is missing, or is not as it was written.
        """
        options, store = self._options, Store(self._options.location, partition.cluster)
        rows = derived_rows(store, partition.snapshot, options.plain, options.span, options.rules, partition.share)
        try:
            yield from conform(NAME, (with_cluster(store.cluster, batch) for batch in rows), self._schema)
        except HistoryError as error:
            raise explained(store, partition.snapshot.every_file(), error) from None


def with_cluster(cluster: str, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the batch with the column of the cluster."""
    return batch.append_column(CLUSTER_ID.name, pa.repeat(pa.scalar(cluster), batch.num_rows))


def explained(store: Store, files: Iterable[DataFile], error: HistoryError) -> HistoryError:
    """Return the error of a task, or what explains it: one of its files was replaced, and deleted."""
    current = {file.path for file in store.snapshot().every_file()}
    for file in files:
        if file.path not in current:
            try:
                store.storage.size(file.path)
            except HistoryError:
                return HistoryError(
                    f"store {store.shown}: {file.path} was deleted after a merge or an expiration replaced it, an hour "
                    "ago or more; load the DataFrame again"
                )
    return error


def stores(options: StoredOptions) -> list[Store]:
    """Return the store of each cluster that the options select.

    :raises HistoryError: if there is no store, it has several clusters and none was selected, or it does not have one.
    """
    one = Store(options.location)
    found = one.clusters()
    if options.clusters is None:
        if len(found) > 1:
            raise HistoryError(
                f"store {one.shown} holds the history of {count(len(found), 'cluster')}: {', '.join(found)}; select "
                "some with option cluster, or all with cluster=*"
            )
        return [Store(options.location, one.cluster)]
    for word in options.clusters:
        if not any(word == each or fnmatchcase(each, word) for each in found):
            raise UsageError(
                f"{NAME}: option cluster: {word!r} is not in store {one.shown}; it has: {', '.join(found)}"
            )
    return [
        Store(options.location, each)
        for each in found
        if any(word == each or fnmatchcase(each, word) for word in options.clusters)
    ]
