"""The views of snapshots and of comparisons."""

from __future__ import annotations

from kgroups.model.snapshot.rows import ConfigRow, DiffRow, SnapshotRow

from . import columns
from .views import Align, Column, Sooner, Tier, View, columns_of, some_value

_L, _R = Align.LEFT, Align.RIGHT
_B, _W = Tier.BASE, Tier.WIDE

SNAPSHOT = View(
    "snapshot-show",
    "Snapshot",
    columns_of(
        SnapshotRow,
        Column("CREATED", "created", "Time when the snapshot was saved, in ISO 8601, UTC."),
        columns.CLUSTER_ID,
        columns.GROUPS,
        columns.MEMBERS,
        Column("#TOPICS", "topics", "Number of topics.", _R),
        Column("#OFFSETS", "offsets", "Number of committed offsets.", _R),
        Column("#RECORDS", "records", "Records whose checksums are in the snapshot.", _R, _W),
        Column("#FAILURES", "failures", "Failures in the snapshot.", _R, _W),
        Column("COMPLETE", "complete", "Whether everything could be read when the snapshot was saved."),
        Column("VERSION", "version", "Version of kgroups.", _L, _W),
        columns.BOOTSTRAP.at(_W),
        Column("COMMAND", "command", "The command that saved the snapshot.", _L, _W),
    ),
    sort_key=lambda row: 0,
)

CONFIGS = View(
    "snapshot-configs",
    "Dynamic configuration of groups",
    columns_of(
        ConfigRow,
        columns.GROUP,
        Column("NAME", "name", "Name of the setting."),
        columns.VALUE,
    ),
)

DIFF = View(
    "diff",
    "Differences",
    columns_of(
        DiffRow,
        columns.GROUP,
        columns.TOPIC.at(_W, Sooner(_B, some_value)),
        columns.PARTITION.at(_W, Sooner(_B, some_value)),
        Column("WHAT", "what", "What is compared."),
        Column("A", "a", "Value in A."),
        Column("B", "b", "Value in B."),
        Column("RESULT", "result", "differs, only in A, only in B, or unknown."),
    ),
    sort_key=lambda row: 0,  # sorted already: topics first
)
