"""``kgroups-live``: the cluster as it is now, as a Spark data source, without a jar.

The driver lists the groups once, and makes one input partition for each coordinator; each task asks its coordinator
about its groups, and the leaders about the logs, and hands over Arrow batches. The list is made when Spark plans: a
DataFrame that is collected again asks again, but about the same groups.
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

from ..connection import carrying
from ..tables import ddl
from .answer import answer, list_groups
from .options import LiveOptions, parse_options
from .rows import batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "kgroups-live"


def register(spark: SparkSession, settings: ClientSettings | None = None) -> None:
    """After it, ``spark.read.format("kgroups-live")`` works; with these settings, for their own servers."""
    spark.dataSource.register(carrying(LiveSource, settings))


class LiveSource(DataSource):
    """See :mod:`kgroups.pipeline.live.options` for the options."""

    carried: ClientSettings | None = None
    """See :func:`kgroups.pipeline.connection.carrying`."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._parsed = parse_options(options, self.carried)

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return ddl(self._parsed.table)

    def reader(self, schema: StructType) -> LiveReader:
        return LiveReader(self._parsed)


class Slice(InputPartition):
    """What one task asks about: the groups of one coordinator. ``failures`` are the list's, told by one task."""

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
        """Lists the groups.

        :raises HistoryError: when a part could not be asked, and failures are neither wanted nor passed over.
        """
        outcome = list_groups(self._options)
        by_node: dict[Node, list[ListedGroup]] = {}
        for group in outcome.items:
            by_node.setdefault(group.coordinator, []).append(group)
        # There is always one slice: for none Spark makes a partition of its own.
        slices = [Slice(node, by_node[node], ()) for node in sorted(by_node)] or [Slice(None, (), ())]
        slices[0].failures = outcome.failures
        return slices

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """Arrow batches of the table that was asked for. Raises as :meth:`partitions`."""
        rows = answer(self._options, partition.listed, failures=partition.failures)
        yield from batches(self._options.table, rows)
