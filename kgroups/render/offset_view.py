"""The view of ``describe``: committed offsets, ends of logs, lag, and members."""

from __future__ import annotations

from kgroups.model.views.offset_row import OffsetRow

from .views import Align, Sooner, Tier, View, columns_of, some_value

_L, _R = Align.LEFT, Align.RIGHT
_B, _V, _W = Tier.BASE, Tier.VERBOSE, Tier.WIDE

OFFSETS = View(
    "offsets",
    "Committed offsets of groups",
    columns_of(
        OffsetRow,
        ("GROUP", "group", _L, _B, None),
        ("TOPIC", "topic", _L, _B, None),
        ("PARTITION", "partition", _R, _B, None),
        ("LEADER-EPOCH", "leader_epoch", _R, _V, None),
        ("CURRENT-OFFSET", "current_offset", _R, _B, None),
        ("START-OFFSET", "start_offset", _R, _W, Sooner(_B, some_value)),
        ("LOG-START-OFFSET", "log_start_offset", _R, _W, None),
        ("LOG-END-OFFSET", "log_end_offset", _R, _B, None),
        ("LAG", "lag", _R, _B, None),
        ("CONSUMER-ID", "consumer_id", _L, _B, None),
        ("HOST", "host", _L, _B, None),
        ("CLIENT-ID", "client_id", _L, _B, None),
        ("GROUP-INSTANCE-ID", "group_instance_id", _L, _W, None),
        ("NOTE", "note", _L, _W, Sooner(_B, some_value)),
        ("TOPIC-ROLE", "topic_role", _L, Tier.RARE, Sooner(_V, some_value)),
    ),
    drops=("host", "topic_role", "leader_epoch", "consumer_id", "client_id", "start_offset"),
)
