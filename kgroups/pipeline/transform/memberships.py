"""The members of each group, and from when to when."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kgroups.pipeline.derived import MEMBERSHIPS

from . import classic, modern
from .columns import shaped
from .completeness import known
from .inputs import Rules, Span, Tables
from .positions import gone_groups


def stays(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Return all memberships up to the end of the span: the columns of MEMBERSHIPS."""
    snapshots = classic.snapshots(tables, span)
    both = classic.stays(tables, snapshots).unionByName(modern.stays(tables, span))
    joined = both.join(gone_groups(tables, span), "group", "left").join(
        known(tables, span, rules), "log_partition", "left"
    )
    complete = F.coalesce(F.col("begins") & (F.col("since") >= F.col("known_since")), F.lit(False))
    until = F.coalesce("until", "gone_at")
    unread_since = F.when(until.isNull(), F.col("unread_since"))
    return joined.withColumns({"until": until, "complete": complete, "unread_since": unread_since})


def memberships(tables: Tables, span: Span, rules: Rules) -> DataFrame:
    """Compute :data:`MEMBERSHIPS`: the memberships that overlap the span."""
    return shaped(stays(tables, span, rules).where(span.overlaps("since", "until")), MEMBERSHIPS)
