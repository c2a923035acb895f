"""History on Spark: read ``__consumer_offsets``, decode it, store it as tables, and query them.

:func:`register` registers three data sources, written with PySpark's Data Source API:

- ``kgroups-offsets``: the log of ``__consumer_offsets``, batch and stream; options in :mod:`.extract.options`
- ``kgroups-live``: the current state of a cluster, queried as by the commands; options in :mod:`.live.options`
- ``kgroups-history``: the tables of a store, batch and stream, to read and to write; options in :mod:`.stored.options`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kgroups.config.settings import ClientSettings


def register(spark: SparkSession, settings: ClientSettings | None = None) -> None:
    """Register the data sources of kgroups with a session, and change no setting of it.

    :param settings: TLS and SASL settings, as returned by :func:`kgroups.config.load.load_settings`; used only for
        their own bootstrap servers.
    """
    from .connection import with_settings
    from .extract.source import OffsetsSource, cores_of
    from .live.source import LiveSource
    from .stored.source import StoredSource

    cores = cores_of(spark)
    spark.dataSource.register(with_settings(OffsetsSource, settings, cores))
    spark.dataSource.register(with_settings(LiveSource, settings))
    spark.dataSource.register(with_settings(StoredSource, settings, cores))
