"""The rows of ``describe --summary`` and ``--all-views``: one for each group, from its members and offsets."""

from __future__ import annotations

from typing import NamedTuple

from ..cluster import Node
from ..listed import Records
from .lag_rows import GroupLagRow
from .lag_summary import By, shares
from .member_rows import member_rows, state_row
from .offset_row import GroupOffsets
from .offsets import offset_rows


class SummaryRow(NamedTuple):
    """One group: the fields of ``--state``, and its lag. A group that cannot be described has only a ``note``."""

    group: str
    state: str | None = None
    type: str | None = None
    members: int | None = None
    assignment_strategy: str | None = None
    coordinator: Node | None = None
    total_lag: int | None = None
    known_lag: int | None = None
    partitions: int | None = None
    group_epoch: int | None = None
    target_assignment_epoch: int | None = None
    protocol_type: str | None = None
    topology_epoch: int | None = None
    note: str | None = None
    status: str | None = None
    """As in a :class:`.lag_rows.GroupLagRow`."""


class AllViewsRow(NamedTuple):
    """One group with its members and offsets, for JSON."""

    group: str
    summary: Records
    members: Records
    offsets: Records


def summary_row(offsets: GroupOffsets) -> SummaryRow:
    """Return the summary of one group; its lag is unknown if the lag of a partition is unknown."""
    state = state_row(offsets.group)
    (share,) = shares(offsets, By.GROUP)
    lag = share.row()
    assert isinstance(lag, GroupLagRow)
    return SummaryRow(
        group=state.group,
        state=state.state,
        type=state.type,
        members=state.members,
        assignment_strategy=state.assignment_strategy,
        coordinator=state.coordinator,
        total_lag=lag.total_lag,
        known_lag=lag.known_lag,
        partitions=lag.partitions,
        group_epoch=state.group_epoch,
        target_assignment_epoch=state.target_assignment_epoch,
        protocol_type=state.protocol_type,
        topology_epoch=state.topology_epoch,
        note=lag.note,
        status=lag.status,
    )


def all_views_row(offsets: GroupOffsets) -> AllViewsRow:
    members = Records(member_rows(offsets.group))
    return AllViewsRow(offsets.group.group, Records((summary_row(offsets),)), members, Records(offset_rows(offsets)))
