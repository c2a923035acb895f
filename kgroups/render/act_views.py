"""The views of operations: columns of the plan, followed by columns of the result."""

from __future__ import annotations

from kgroups.model.views.operation_rows import DeleteOffsetRow, DeleteRow, RemoveMemberRow, ResetRow

from . import columns
from .views import Align, Column, Sooner, Tier, View, columns_of, some_value

_L, _R = Align.LEFT, Align.RIGHT
_B, _W = Tier.BASE, Tier.WIDE

RESULT_COLUMNS: tuple[Column, ...] = (
    Column(
        "RESULT",
        "result",
        "applied, failed, or unknown (sent, and no response arrived). Null: not executed.",
        _L,
        _W,
        Sooner(_B, some_value),
    ),
    Column("ERROR", "error", "Why the result is not applied, in words.", _L, _W),
)
"""Columns of the result of every operation; empty in a dry run."""

RESET_OFFSETS = View(
    "reset-offsets",
    "Offsets to be reset",
    columns_of(
        ResetRow,
        columns.GROUP,
        columns.TOPIC,
        columns.PARTITION,
        Column("OLD-OFFSET", "old_offset", "Committed offset before the change. Null: none.", _R),
        Column("NEW-OFFSET", "new_offset", "Offset to commit. Null: the committed offset is deleted.", _R),
        Column("DISTANCE", "distance", "New offset minus old offset.", _R),
        columns.NOTE,
        *RESULT_COLUMNS,
        Column("SKIPPED", "skipped", "Offsets of the skipped records, comma-separated.", _L, Tier.RARE),
    ),
)

DELETE_OFFSETS = View(
    "delete-offsets",
    "Committed offsets to be deleted",
    columns_of(
        DeleteOffsetRow,
        columns.GROUP,
        columns.TOPIC,
        columns.PARTITION,
        columns.CURRENT_OFFSET,
        *RESULT_COLUMNS,
    ),
)

DELETE = View(
    "delete",
    "Groups to be deleted",
    columns_of(
        DeleteRow,
        columns.GROUP,
        columns.STATE,
        columns.TYPE,
        columns.PROTOCOL_TYPE,
        Column("#COMMITS", "commits", "Partitions whose offsets are deleted with the group.", _R),
        Column(
            "INTERNAL-TOPIC",
            "internal_topic",
            "Internal topic of a streams group that is deleted with it.",
            _L,
            Tier.RARE,
            Sooner(_B, some_value),
        ),
        *RESULT_COLUMNS,
    ),
    drops=("protocol_type", "type"),
)

REMOVE_MEMBERS = View(
    "remove-members",
    "Members to be removed",
    columns_of(
        RemoveMemberRow,
        columns.GROUP,
        columns.CONSUMER_ID,
        columns.GROUP_INSTANCE_ID,
        columns.HOST,
        columns.CLIENT_ID,
        columns.PARTITIONS,
        *RESULT_COLUMNS,
    ),
    drops=("host", "client_id"),
)

OPERATION_VIEWS = (RESET_OFFSETS, DELETE_OFFSETS, DELETE, REMOVE_MEMBERS)
