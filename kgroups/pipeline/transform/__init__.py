"""The derived tables: one job each, a pure function of the stored tables and a time span.

Rules: records are ordered by log offset, never by time, because times tie and go back; every window defines its order,
so results do not depend on the order of rows; nothing is collected, and no Python runs per row, so a job is the same on
one core and on a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from kgroups.pipeline import derived
from kgroups.pipeline.tables import Table

from .anomalies import anomalies
from .commit_rate import commit_rate
from .completeness import completeness
from .expiring import expiring
from .group_states import group_states
from .inputs import Job, Rules, Span, Tables
from .lag import lag
from .latest_offsets import latest_offsets
from .memberships import memberships
from .rebalances import rebalances
from .stale import stale
from .verdicts import verdicts

__all__ = ["DERIVED", "Derived", "Job", "Rules", "Span", "Tables"]


class Derived(NamedTuple):
    """A derived table, and the job that computes it."""

    table: Table
    job: Job


_ALL = (
    Derived(derived.LATEST_OFFSETS, latest_offsets),
    Derived(derived.COMMIT_RATE, commit_rate),
    Derived(derived.REBALANCES, rebalances),
    Derived(derived.GROUP_STATES, group_states),
    Derived(derived.MEMBERSHIPS, memberships),
    Derived(derived.LAG, lag),
    Derived(derived.VERDICTS, verdicts),
    Derived(derived.STALE, stale),
    Derived(derived.EXPIRING, expiring),
    Derived(derived.ANOMALIES, anomalies),
    Derived(derived.COMPLETENESS, completeness),
)

DERIVED: Final[Mapping[str, Derived]] = MappingProxyType({each.table.name: each for each in _ALL})
"""Derived tables by name."""
