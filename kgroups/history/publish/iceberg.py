"""Iceberg tables of any catalog that ``pyiceberg`` knows, which refer to the files of a store.

Strategy: files have no field IDs, so the tables have a name mapping. They are partitioned by the day of a row's time,
as the files are. Commits are not retried by ``pyiceberg``, which would add files that another publish has added.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError, ValidationException
from pyiceberg.io.pyarrow import parquet_file_to_data_file
from pyiceberg.manifest import DataFile as IcebergFile
from pyiceberg.table import Table as IcebergTable
from pyiceberg.transforms import DayTransform
from pyiceberg.utils.config import Config

from kgroups.errors import HistoryError
from kgroups.files.location import full_reason

from ..load.manifest import DataFile
from ..load.storage import Storage
from ..load.write import time_column
from ..tables import Table
from .target import Conflict, commented_schema, comments

STORE = "kgroups.store"
"""Property of a table: the location of the store that it was published from."""

_PROPERTIES = {
    "gc.enabled": "false",  # the files belong to the store: no engine may delete them
    "commit.retry.num-retries": "0",
    "commit.manifest-merge.enabled": "true",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
}

SNAPSHOTS_KEPT = timedelta(days=5)
"""Iceberg's default. Engines cannot remove older snapshots while ``gc.enabled`` is false."""

READERS = 8
"""Number of files whose footers are read at the same time."""

_SECRET = re.compile("credential|key|password|secret|token")
"""Properties of a catalog whose values messages must not contain."""


class IcebergTarget:
    """A namespace of an Iceberg catalog."""

    def __init__(self, location: str, catalog: str, namespace: str, properties: Mapping[str, str]) -> None:
        """Connect to the catalog.

        :param location: of the store.
        :param catalog: name of the catalog in ``pyiceberg``'s configuration, or any name if ``properties`` suffice.
        :param properties: take precedence over the configuration.
        :raises HistoryError: if the catalog is unknown or does not respond.
        """
        logging.getLogger("pyiceberg").setLevel(logging.ERROR)
        storage = Storage(location)
        storage.check_publishable()
        self.root = _root(storage)
        self._name = catalog
        self.name = f"iceberg-{catalog}-{namespace}"
        self._namespace = tuple(namespace.split("."))
        self._properties: Mapping[str, object] = properties
        with self.errors():
            configured = Config().get_catalog_config(catalog) or {}
            self._properties = {**configured, **properties}
            defaults = {key: value for key, value in _s3_properties(storage).items() if key not in configured}
            self._catalog: Catalog = load_catalog(catalog, **{**defaults, **properties})

    def open(self, table: Table) -> PublishedIceberg:
        """Open a table; see :meth:`Target.open`."""
        name = (*self._namespace, table.name)
        with self.errors(table):
            if not self._catalog.table_exists(name):
                self._create(name, table)
            found = self._catalog.load_table(name)
            published = found.properties.get(STORE)
            if published != self.root:
                raise HistoryError(
                    f"Iceberg catalog {self._name}: table {'.'.join(name)} was not published from store {self.root}, "
                    f"but {f'from {published}' if published else 'by another program'}; use another --namespace"
                )
            _update(found, table)
            return PublishedIceberg(self, table, found)

    def close(self) -> None:
        """Close the connections of the catalog, for example to a database."""
        self._catalog.close()

    def _create(self, name: tuple[str, ...], table: Table) -> None:
        if not self._catalog.namespace_exists(self._namespace):
            self._catalog.create_namespace_if_not_exists(self._namespace)
        properties = {**_PROPERTIES, STORE: self.root, "comment": table.doc}
        creation = self._catalog.create_table_transaction(name, commented_schema(table, "doc"), properties=properties)
        with creation.update_spec() as spec:
            spec.add_field(time_column(table), DayTransform(), "day")
        mapping = creation.table_metadata.schema().name_mapping.model_dump_json()
        creation.set_properties({"schema.name-mapping.default": mapping})
        creation.commit_transaction()

    @contextmanager
    def errors(self, table: Table | None = None) -> Iterator[None]:
        """Raise errors of the catalog, which are of many libraries, as one line."""
        try:
            yield
        except HistoryError:
            raise
        except (CommitFailedException, TableAlreadyExistsError, ValidationException):
            raise Conflict(table.name if table else self._name) from None
        except Exception as error:
            place = f"Iceberg catalog {self._name}: {f'{table.name}: ' if table else ''}"
            raise HistoryError(f"{place}{self._reason(error)}") from None

    def _reason(self, error: Exception) -> str:
        line = full_reason(error)
        for key, value in self._properties.items():
            if value and _SECRET.search(key):
                line = line.replace(str(value), "****")
        return re.sub(r"//[^/@\s]+@", "//****@", line)


class PublishedIceberg:
    """A table of the store in an Iceberg catalog."""

    def __init__(self, target: IcebergTarget, table: Table, found: IcebergTable) -> None:
        self._target, self._table, self._found = target, table, found
        self._registered = {task.file.file_path: task.file for task in found.scan().plan_files()}
        self.files = frozenset(self._registered)

    def place(self, file: DataFile) -> str:
        """Return the URI of a file."""
        return f"{self._target.root}/{file.path}"

    def commit(self, added: Sequence[DataFile], removed: Sequence[str]) -> None:
        """Register files and remove others; see :meth:`PublishedTable.commit`."""
        with self._target.errors(self._table):
            files = self._described([self.place(file) for file in added])
            with self._found.transaction() as transaction:
                update = transaction.update_snapshot()
                with update.overwrite() if removed else update.merge_append() as snapshot:
                    for place in removed:
                        snapshot.delete_data_file(self._registered[place])
                    for file in files:
                        snapshot.append_data_file(file)
            self._drop_snapshots()

    def _described(self, places: Sequence[str]) -> list[IcebergFile]:
        io, metadata = self._found.io, self._found.metadata
        with ThreadPoolExecutor(READERS) as pool:
            return list(pool.map(lambda place: parquet_file_to_data_file(io, metadata, place), places))

    def _drop_snapshots(self) -> None:
        """Drop old snapshots from the table's metadata: the files that they name are gone."""
        limit = datetime.now(UTC) - SNAPSHOTS_KEPT
        limit_ms = limit.timestamp() * 1000
        current = self._found.metadata.current_snapshot_id
        if any(each.timestamp_ms < limit_ms and each.snapshot_id != current for each in self._found.metadata.snapshots):
            with suppress(CommitFailedException):  # another publish has changed the table, and drops them
                self._found.maintenance.expire_snapshots().older_than(limit).commit()


def _update(found: IcebergTable, table: Table) -> None:
    """Add new columns, and comments and properties that have changed."""
    properties = {key: value for key, value in _PROPERTIES.items() if found.properties.get(key) != value}
    documented = {field.name: field.doc for field in found.schema().fields}
    with found.transaction() as transaction:
        if properties:
            transaction.set_properties(properties)
        if documented != comments(table):
            with transaction.update_schema() as schema:
                schema.union_by_name(commented_schema(table, "doc"))


def _root(storage: Storage) -> str:
    """Return the URI of a store in the one form that files are registered in, without secrets.

    Special characters are not quoted: ``pyiceberg`` and Hadoop use a path as it is.
    """
    if storage.folder:
        return f"file://{storage.folder.resolve()}"
    place = storage.location.partition("?")[0].partition("://")[2].rpartition("@")[2]
    return f"{storage.scheme}://{place.rstrip('/')}"


def _s3_properties(storage: Storage) -> dict[str, str]:
    """Return endpoint and region of a store in S3; ``pyiceberg`` does not take them from the environment."""
    if storage.scheme != "s3":
        return {}
    query = dict(parse_qsl(storage.location.partition("?")[2]))
    found = {
        "s3.endpoint": query.get("endpoint") or os.environ.get("AWS_ENDPOINT_URL"),
        "s3.region": query.get("region") or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"),
    }
    return {key: value for key, value in found.items() if value}
