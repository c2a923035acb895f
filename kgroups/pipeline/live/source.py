"""``kgroups-live``: the current state of a cluster as a Spark data source, without a jar.

The driver lists the groups once, and makes one input partition for each coordinator; each task queries its coordinator
for its groups and the leaders for the logs, and returns Arrow batches. Groups are listed when Spark plans: a DataFrame
that is collected again sends new queries for the same groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from kgroups.config.settings import ClientSettings
from kgroups.model.cluster import Node
from kgroups.model.groups import ListedGroup
from kgroups.model.outcome import Failure

from ..connection import with_settings
from ..tables import ddl
from .answer import list_groups, read_rows
from .options import LiveOptions, parse_options
from .rows import batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "kgroups-live"


def register(spark: SparkSession, settings: ClientSettings | None = None) -> None:
    """Register the data source ``kgroups-live``, with settings for their own bootstrap servers."""
    spark.dataSource.register(with_settings(LiveSource, settings))


class LiveSource(DataSource):
    """The data source. Its options are described in :mod:`kgroups.pipeline.live.options`."""

    embedded: ClientSettings | None = None
    """Settings in the class, see :func:`kgroups.pipeline.connection.with_settings`."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._parsed = parse_options(options, self.embedded)

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return ddl(self._parsed.table)

    def reader(self, schema: StructType) -> LiveReader:
        return LiveReader(self._parsed)


class Slice(InputPartition):
    """The groups of one coordinator, for one task. ``failures`` of the list are in one slice only."""

    def __init__(self, coordinator: Node | None, listed: Iterable[ListedGroup], failures: Iterable[Failure]) -> None:
        super().__init__(None)
        self.coordinator = coordinator
        self.listed = tuple(listed)
        self.failures = tuple(failures)

    def __repr__(self) -> str:
        broker = self.coordinator.id if self.coordinator else None
        return f"Slice(broker={broker}, groups={len(self.listed)}, failures={len(self.failures)})"


class LiveReader(DataSourceReader):
    """Read one table.

    Filters are not pushed down, that is, ``pushFilters`` is not overridden. Spark keeps the partitions and the reader
    of a filtered scan with the relation, and an unfiltered scan of the same DataFrame or view reuses them without
    pushing its own filters: its rows would be those of the other scan. Only a new ``load()`` makes a new relation.
    """

    def __init__(self, options: LiveOptions) -> None:
        self._options = options

    def partitions(self) -> list[Slice]:
        """List the groups.

        :raises HistoryError: if the list is incomplete, unless the table is ``failures`` or ``failOnError`` is false.
        """
        outcome = list_groups(self._options)
        by_node: dict[Node, list[ListedGroup]] = {}
        for group in outcome.items:
            by_node.setdefault(group.coordinator, []).append(group)
        # At least one slice: for an empty list, Spark makes a partition of its own.
        slices = [Slice(node, by_node[node], ()) for node in sorted(by_node)] or [Slice(None, (), ())]
        slices[0].failures = outcome.failures
        return slices

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """Yield Arrow batches of the table in the options.

        :raises HistoryError: if rows are missing, unless the table is ``failures`` or ``failOnError`` is false.
        """
        rows = read_rows(self._options, partition.listed, failures=partition.failures)
        yield from batches(self._options.table, rows)
