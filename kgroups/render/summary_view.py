"""The views of ``describe --summary`` and ``--all-views``, and the header of a group on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from kgroups.model.counts import count
from kgroups.model.views.member_rows import StateRow
from kgroups.model.views.summary_row import AllViewsRow, SummaryRow

from . import columns
from .cells import ABSENT, cell_text
from .lag_views import STATUS
from .views import Column, Tier, View, columns_of

_B, _W = Tier.BASE, Tier.WIDE

SUMMARY = View(
    "summary",
    "Summary of groups",
    columns_of(
        SummaryRow,
        columns.GROUP,
        columns.STATE,
        STATUS,
        columns.TYPE.at(_B),
        columns.MEMBERS,
        columns.ASSIGNMENT_STRATEGY,
        columns.COORDINATOR,
        columns.TOTAL_LAG,
        columns.KNOWN_LAG,
        columns.PARTITIONS.at(_W),
        columns.GROUP_EPOCH,
        columns.TARGET_ASSIGNMENT_EPOCH,
        columns.PROTOCOL_TYPE,
        columns.TOPOLOGY_EPOCH,
        columns.NOTE,
    ),
    drops=("coordinator", "assignment_strategy", "type"),
)

ALL_VIEWS = View(
    "all-views",
    "Groups with their members and offsets",
    columns_of(
        AllViewsRow,
        columns.GROUP,
        Column("SUMMARY", "summary", "The row of describe --summary, in a list."),
        Column("MEMBERS", "members", "The rows of describe --members."),
        Column("OFFSETS", "offsets", "The rows of describe --offsets."),
    ),
)


def header_parts(row: SummaryRow | StateRow) -> Iterator[str]:
    """Yield what the header of a group says after its name.

    A :class:`SummaryRow` also has the status, which comes first, and the lag.
    """
    if isinstance(row, SummaryRow) and row.status is not None:
        yield row.status
    yield cell_text(row.state)
    yield f"type {cell_text(row.type)}"
    yield f"members {ABSENT}" if row.members is None else count(row.members, "member")
    yield f"assignor {cell_text(row.assignment_strategy)}"
    yield f"coordinator {cell_text(row.coordinator)}"
    if isinstance(row, SummaryRow):
        yield f"total lag {cell_text(row.total_lag)}"
