"""The views of snapshots and of comparisons."""

from __future__ import annotations

from kgroups.model.snapshot.rows import ConfigRow, DiffRow, SnapshotRow

from .views import Align, Sooner, Tier, View, columns_of, some_value

_L, _R = Align.LEFT, Align.RIGHT
_B, _W = Tier.BASE, Tier.WIDE

SNAPSHOT = View(
    "snapshot-show",
    "Snapshot",
    columns_of(
        SnapshotRow,
        ("CREATED", "created", _L, _B, None),
        ("CLUSTER-ID", "cluster_id", _L, _B, None),
        ("#GROUPS", "groups", _R, _B, None),
        ("#MEMBERS", "members", _R, _B, None),
        ("#TOPICS", "topics", _R, _B, None),
        ("#OFFSETS", "offsets", _R, _B, None),
        ("#RECORDS", "records", _R, _W, None),
        ("#FAILURES", "failures", _R, _W, None),
        ("COMPLETE", "complete", _L, _B, None),
        ("VERSION", "version", _L, _W, None),
        ("BOOTSTRAP", "bootstrap", _L, _W, None),
        ("COMMAND", "command", _L, _W, None),
    ),
    sort_key=lambda row: 0,
)

CONFIGS = View(
    "snapshot-configs",
    "Dynamic configuration of groups",
    columns_of(
        ConfigRow,
        ("GROUP", "group", _L, _B, None),
        ("NAME", "name", _L, _B, None),
        ("VALUE", "value", _L, _B, None),
    ),
)

DIFF = View(
    "diff",
    "Differences",
    columns_of(
        DiffRow,
        ("GROUP", "group", _L, _B, None),
        ("TOPIC", "topic", _L, _W, Sooner(_B, some_value)),
        ("PARTITION", "partition", _R, _W, Sooner(_B, some_value)),
        ("WHAT", "what", _L, _B, None),
        ("A", "a", _L, _B, None),
        ("B", "b", _L, _B, None),
        ("RESULT", "result", _L, _B, None),
    ),
    sort_key=lambda row: 0,  # sorted already: topics first
)
