"""The base of the data sources: schema, options, and the columns that Spark requests.

Spark does not pass the options of ``CREATE TABLE … USING`` to a Python data source when a query reads the table
(pyspark 4.3.0): only those of ``SELECT … WITH``. It passes the schema, which keeps the options; see :mod:`.schema`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import pyarrow as pa
from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from kgroups.config.settings import ClientSettings

from .options import Options
from .schema import select_columns, stored_options, struct_type, unknown_column
from .tables import Table


class _Parsed(Protocol):
    @property
    def table(self) -> Table: ...


P = TypeVar("P", bound=_Parsed)


class TableSource(DataSource, Generic[P]):
    """A data source of one table, which its options select. Options are parsed when the schema is known."""

    known: Sequence[str]
    """The names of the options."""
    embedded: ClientSettings | None = None
    """Settings in the class, see :func:`kgroups.history.connection.with_settings`."""
    cores: int | None = None
    """The cores of the Spark cluster when the source was registered."""

    @abstractmethod
    def parse(self, options: Options) -> P:
        """Parse the options.

        :raises UsageError: if an option is invalid.
        """

    def schema(self) -> StructType:
        options = Options(self.name(), self.options, self.known)
        table = self.parse(options).table
        names = options.names("columns")
        for name in names or ():
            if name not in table.names:
                raise unknown_column(options.source, table, name)
        return struct_type(table, names, options.as_dict() if options.from_catalog else None)

    def parsed(self, schema: StructType, excluded: Sequence[str] = ()) -> tuple[P, pa.Schema]:
        """Return the options and the Arrow schema of the rows for a schema that Spark requests.

        :param excluded: options that have no effect on this kind of reading.
        :raises UsageError: if one of them is set, an option is invalid, or the table does not have the schema.
        """
        options = Options(self.name(), {**stored_options(schema), **self.options}, self.known)
        for name in excluded:
            if options.get(name) is not None:
                reads = "batches" if name.startswith("ending") else "streams"
                raise options.error(name, f"applies to {reads} only; remove the option")
        found = self.parse(options)
        return found, select_columns(options.source, found.table, schema)
