"""The retention time of committed offsets: ``offsets.retention.minutes`` of the brokers."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .columns import MILLISECOND
from .inputs import Rules, Span, Tables

ASSUMED: Final = timedelta(days=7)
"""The default of Kafka, from 2.0 on."""


def retention(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Return one row: retention_ms, and retention_source, which is rule, brokers, or assumed.

    A rule takes precedence; otherwise the last value that a sweep before the end of the span read from a broker.
    """
    known = tables.sweeps.where(span.reached("swept_at") & F.col("offsets_retention_ms").isNotNull())
    last = known.agg(F.max_by("offsets_retention_ms", "swept_at").alias("asked"))
    if rules.retention is not None:
        milliseconds, source = F.lit(rules.retention // MILLISECOND), F.lit("rule")
    else:
        milliseconds = F.coalesce("asked", F.lit(ASSUMED // MILLISECOND))
        source = F.when(F.col("asked").isNotNull(), "brokers").otherwise("assumed")
    return last.select(milliseconds.cast("bigint").alias("retention_ms"), source.alias("retention_source"))
