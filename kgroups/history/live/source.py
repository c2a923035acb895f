"""``kgroups-live``: the current state of one or several clusters as a Spark data source, without a jar.

The driver lists the groups once, and makes one input partition for each coordinator of each cluster; each task queries
its coordinator for its groups and the leaders for the logs, and returns Arrow batches. Groups are listed when Spark
plans: a DataFrame that is collected again sends new queries for the same groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from kgroups.model.cluster import Node
from kgroups.model.groups import ListedGroup
from kgroups.model.outcome import Failure, Outcome

from ..options import Options
from ..schema import conform
from ..source import TableSource
from .answer import read_rows
from .clusters import Origin, list_clusters
from .options import OPTIONS, LiveOptions, parse_options
from .rows import batches

NAME = "kgroups-live"


class LiveSource(TableSource[LiveOptions]):
    """The data source. Its options are described in :mod:`kgroups.history.live.options`."""

    known = OPTIONS

    @classmethod
    def name(cls) -> str:
        return NAME

    def parse(self, options: Options) -> LiveOptions:
        return parse_options(options, self.embedded)

    def reader(self, schema: StructType) -> LiveReader:
        return LiveReader(*self.parsed(schema))


class Slice(InputPartition):
    """The groups of one coordinator, for one task. ``failures`` of a cluster's list are in one slice only."""

    def __init__(
        self,
        coordinator: Node | None,
        listed: Iterable[ListedGroup],
        failures: Iterable[Failure],
        origin: Origin | None = None,
    ) -> None:
        super().__init__(None)
        self.coordinator, self.origin = coordinator, origin
        self.listed = tuple(listed)
        self.failures = tuple(failures)

    def __repr__(self) -> str:
        broker = self.coordinator.id if self.coordinator else None
        cluster = f"cluster={self.origin}, " if self.origin else ""
        return f"Slice({cluster}broker={broker}, groups={len(self.listed)}, failures={len(self.failures)})"


class LiveReader(DataSourceReader):
    """Read one table.

    Filters are not pushed down, that is, ``pushFilters`` is not overridden. Spark keeps the partitions and the reader
    of a filtered scan with the relation, and an unfiltered scan of the same DataFrame or view reuses them without
    pushing its own filters: its rows would be those of the other scan. Only a new ``load()`` makes a new relation. The
    options ``groups`` and ``columns`` belong to the relation, and are the sound way to read less.
    """

    def __init__(self, options: LiveOptions, schema: pa.Schema) -> None:
        self._options = options
        self._schema = schema

    def partitions(self) -> list[Slice]:
        """List the groups.

        :raises HistoryError: if a list is incomplete, unless the table is ``failures`` or ``failOnError`` is false.
        """
        return [each for origin, listed in list_clusters(self._options) for each in self._slices(origin, listed)]

    def _slices(self, origin: Origin | None, listed: Outcome[ListedGroup]) -> list[Slice]:
        by_node: dict[Node, list[ListedGroup]] = {}
        selected = self._options.groups
        for group in listed.items:
            if selected is None or group.group in selected:
                by_node.setdefault(group.coordinator, []).append(group)
        # At least one slice: for an empty list, Spark makes a partition of its own.
        nodes = sorted(by_node)
        slices = [Slice(node, by_node[node], (), origin) for node in nodes] or [Slice(None, (), (), origin)]
        slices[0].failures = listed.failures
        return slices

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """Yield Arrow batches of the table in the options.

        :raises HistoryError: if rows are missing, unless the table is ``failures`` or ``failOnError`` is false.
        """
        origin = partition.origin
        options = origin.alone(self._options) if origin else self._options
        rows = read_rows(options, partition.listed, failures=partition.failures)
        if origin:
            rows = [(origin.cluster, origin.cluster_id, *row) for row in rows]
        yield from conform(NAME, batches(self._options.table, rows), self._schema)
