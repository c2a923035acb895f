"""The views of ``describe --summary`` and ``--all-views``, and the header of a group on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from kgroups.model.counts import count
from kgroups.model.views.member_rows import StateRow
from kgroups.model.views.summary_row import AllViewsRow, SummaryRow

from .cells import ABSENT, cell_text
from .views import Align, Sooner, Tier, View, columns_of, some_value

_L, _R = Align.LEFT, Align.RIGHT
_B, _V, _W = Tier.BASE, Tier.VERBOSE, Tier.WIDE

SUMMARY = View(
    "summary",
    "Summary of groups",
    columns_of(
        SummaryRow,
        ("GROUP", "group", _L, _B, None),
        ("STATE", "state", _L, _B, None),
        ("TYPE", "type", _L, _B, None),
        ("#MEMBERS", "members", _R, _B, None),
        ("ASSIGNMENT-STRATEGY", "assignment_strategy", _L, _B, None),
        ("COORDINATOR (ID)", "coordinator", _L, _B, None),
        ("TOTAL-LAG", "total_lag", _R, _B, None),
        ("KNOWN-LAG", "known_lag", _R, _W, None),
        ("#PARTITIONS", "partitions", _R, _W, None),
        ("GROUP-EPOCH", "group_epoch", _R, _V, None),
        ("TARGET-ASSIGNMENT-EPOCH", "target_assignment_epoch", _R, _V, None),
        ("PROTOCOL-TYPE", "protocol_type", _L, _W, None),
        ("TOPOLOGY-EPOCH", "topology_epoch", _R, Tier.RARE, Sooner(_V, some_value)),
        ("NOTE", "note", _L, _W, Sooner(_B, some_value)),
    ),
    drops=("coordinator", "assignment_strategy", "type", "group_epoch", "target_assignment_epoch"),
)

ALL_VIEWS = View(
    "all-views",
    "Groups with their members and offsets",
    columns_of(
        AllViewsRow,
        ("GROUP", "group", _L, _B, None),
        ("SUMMARY", "summary", _L, _B, None),
        ("MEMBERS", "members", _L, _B, None),
        ("OFFSETS", "offsets", _L, _B, None),
    ),
)


def header_parts(row: SummaryRow | StateRow) -> Iterator[str]:
    """Yield what the header of a group says after its name; a :class:`SummaryRow` also has the lag."""
    yield cell_text(row.state)
    yield f"type {cell_text(row.type)}"
    yield f"members {ABSENT}" if row.members is None else count(row.members, "member")
    yield f"assignor {cell_text(row.assignment_strategy)}"
    yield f"coordinator {cell_text(row.coordinator)}"
    if isinstance(row, SummaryRow):
        yield f"total lag {cell_text(row.total_lag)}"
