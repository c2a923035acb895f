"""Where each group stands."""

from __future__ import annotations

from pyspark.sql import DataFrame

from kgroups.pipeline.derived import LATEST_OFFSETS

from .columns import shaped
from .inputs import Rules, Span, Tables
from .positions import positions


def latest_offsets(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Makes :data:`LATEST_OFFSETS`, as of the end of the span; its begin does not matter."""
    return shaped(positions(tables, span).where("not tombstone and gone_at is null"), LATEST_OFFSETS)
