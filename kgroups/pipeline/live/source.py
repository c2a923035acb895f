"""``kgroups-live``: the cluster as it is now, as a Spark data source, without a jar.

The driver lists the groups once, and makes one input partition for each coordinator; each task asks its coordinator
about its groups, and the leaders about the logs, and hands over Arrow batches. The list is made when Spark plans: a
DataFrame that is collected again asks again, but about the same groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, Filter, InputPartition
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
from .wanted import Wanted, narrow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "kgroups-live"

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
"""Without it Spark refuses every source written in Python that takes filters, even where there are none."""


def register(spark: SparkSession, settings: ClientSettings | None = None) -> None:
    """After it, ``spark.read.format("kgroups-live")`` works; with these settings, for their own servers."""
    spark.dataSource.register(carrying(LiveSource, settings))
    spark.conf.set(PUSHDOWN, "true")


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
        return NarrowingReader(self._parsed) if self._parsed.pushdown else LiveReader(self._parsed)


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
    """One reading of one table."""

    def __init__(self, options: LiveOptions) -> None:
        self._options = options
        self._wanted = Wanted()

    def partitions(self) -> list[Slice]:
        """Lists the groups.

        :raises HistoryError: when a part could not be asked, and failures are neither wanted nor passed over.
        """
        outcome = list_groups(self._options)
        by_node: dict[Node, list[ListedGroup]] = {}
        for group in filter(self._wanted.keeps, outcome.items):
            by_node.setdefault(group.coordinator, []).append(group)
        # There is always one slice: for none Spark makes a partition of its own.
        slices = [Slice(node, by_node[node], ()) for node in sorted(by_node)] or [Slice(None, (), ())]
        slices[0].failures = outcome.failures
        return slices

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """Arrow batches of the table that was asked for. Raises as :meth:`partitions`."""
        rows = answer(
            self._options,
            partition.listed,
            topics=self._wanted.topics,
            failures=partition.failures,
        )
        yield from batches(self._options.table, rows)


class NarrowingReader(LiveReader):
    """The same, asking only about what filters leave over."""

    def pushFilters(self, filters: list[Filter]) -> list[Filter]:
        self._wanted, rest = narrow(self._options.table, filters)
        return rest
