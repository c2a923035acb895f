"""History on Spark: reads ``__consumer_offsets``, decodes it, keeps it as tables, and answers from them.

:func:`register` makes two data sources known to a session, written with PySpark's own Data Source API:

- ``kgroups-offsets``: the log of ``__consumer_offsets``, batch and stream; options in :mod:`.extract.options`
- ``kgroups-live``: the cluster as it is now, asked as the commands ask it; options in :mod:`.live.source`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kgroups.config.settings import ClientSettings


def register(spark: SparkSession, settings: ClientSettings | None = None) -> None:
    """After it, ``spark.read.format("kgroups-offsets")`` and ``spark.read.format("kgroups-live")`` work.

    :param settings: for TLS and SASL, of :func:`kgroups.config.load.load_settings`; they go for their own
        ``bootstrap.servers`` only.
    """
    from .connection import carrying
    from .extract.source import OffsetsSource
    from .live import source as live

    spark.dataSource.register(carrying(OffsetsSource, settings))
    live.register(spark, settings)
