"""The latest committed offsets of each group."""

from __future__ import annotations

from pyspark.sql import DataFrame

from kgroups.pipeline.derived import LATEST_OFFSETS

from .columns import shaped
from .inputs import Rules, Span, Tables
from .positions import last_offsets
from .unread import unread_groups


def latest_offsets(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Compute :data:`LATEST_OFFSETS` at the end of the span; its start has no effect."""
    found = last_offsets(tables, span).where("not tombstone and gone_at is null")
    return shaped(found.join(unread_groups(tables, span), "group", "left"), LATEST_OFFSETS)
