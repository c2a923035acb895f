"""All anomalies."""

from __future__ import annotations

from functools import partial, reduce
from typing import Final

from pyspark.sql import DataFrame

from kgroups.pipeline.derived import ANOMALIES

from .anomaly.bursts import flapping, storms
from .anomaly.gaps import gaps
from .anomaly.misplaced import misplaced
from .anomaly.rewinds import rewinds
from .columns import shaped
from .inputs import Job, Rules, Span, Tables

_PARTS: Final[tuple[Job, ...]] = (rewinds, misplaced, storms, flapping, gaps)


def anomalies(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Compute :data:`ANOMALIES` in the span."""
    parts = [part(tables, span, rules) for part in _PARTS]
    return shaped(reduce(partial(DataFrame.unionByName, allowMissingColumns=True), parts), ANOMALIES)
