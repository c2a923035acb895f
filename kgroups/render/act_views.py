"""The views of operations: columns of the plan, followed by columns of the result."""

from __future__ import annotations

from kgroups.model.views.operation_rows import DeleteOffsetRow, DeleteRow, RemoveMemberRow, ResetRow

from .views import Align, Sooner, Spec, Tier, View, columns_of, some_value

_L, _R = Align.LEFT, Align.RIGHT
_B, _W = Tier.BASE, Tier.WIDE

RESULT_COLUMNS: tuple[Spec, ...] = (
    ("RESULT", "result", _L, _W, Sooner(_B, some_value)),
    ("ERROR", "error", _L, _W, None),
)
"""Columns of the result of every operation; empty in a dry run."""

RESET_OFFSETS = View(
    "reset-offsets",
    "Offsets to be reset",
    columns_of(
        ResetRow,
        ("GROUP", "group", _L, _B, None),
        ("TOPIC", "topic", _L, _B, None),
        ("PARTITION", "partition", _R, _B, None),
        ("OLD-OFFSET", "old_offset", _R, _B, None),
        ("NEW-OFFSET", "new_offset", _R, _B, None),
        ("DISTANCE", "distance", _R, _B, None),
        ("NOTE", "note", _L, _W, Sooner(_B, some_value)),
        *RESULT_COLUMNS,
        ("SKIPPED", "skipped", _L, Tier.RARE, None),
    ),
)

DELETE_OFFSETS = View(
    "delete-offsets",
    "Committed offsets to be deleted",
    columns_of(
        DeleteOffsetRow,
        ("GROUP", "group", _L, _B, None),
        ("TOPIC", "topic", _L, _B, None),
        ("PARTITION", "partition", _R, _B, None),
        ("CURRENT-OFFSET", "current_offset", _R, _B, None),
        *RESULT_COLUMNS,
    ),
)

DELETE = View(
    "delete",
    "Groups to be deleted",
    columns_of(
        DeleteRow,
        ("GROUP", "group", _L, _B, None),
        ("STATE", "state", _L, _B, None),
        ("TYPE", "type", _L, _W, None),
        ("PROTOCOL-TYPE", "protocol_type", _L, _W, None),
        ("#COMMITS", "commits", _R, _B, None),
        ("INTERNAL-TOPIC", "internal_topic", _L, Tier.RARE, Sooner(_B, some_value)),
        *RESULT_COLUMNS,
    ),
)

REMOVE_MEMBERS = View(
    "remove-members",
    "Members to be removed",
    columns_of(
        RemoveMemberRow,
        ("GROUP", "group", _L, _B, None),
        ("CONSUMER-ID", "consumer_id", _L, _B, None),
        ("GROUP-INSTANCE-ID", "group_instance_id", _L, _W, Sooner(_B, some_value)),
        ("HOST", "host", _L, _B, None),
        ("CLIENT-ID", "client_id", _L, _B, None),
        ("#PARTITIONS", "partitions", _R, _B, None),
        *RESULT_COLUMNS,
    ),
)

OPERATION_VIEWS = (RESET_OFFSETS, DELETE_OFFSETS, DELETE, REMOVE_MEMBERS)
