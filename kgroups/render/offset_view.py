"""The view of ``describe``: committed offsets, ends of logs, lag, and members."""

from __future__ import annotations

from kgroups.model.views.offset_row import OffsetRow

from . import columns
from .views import Align, Column, Sooner, Tier, View, columns_of, some_value

_L, _R = Align.LEFT, Align.RIGHT
_V, _W = Tier.VERBOSE, Tier.WIDE

OFFSETS = View(
    "offsets",
    "Committed offsets of groups",
    columns_of(
        OffsetRow,
        columns.GROUP,
        columns.TOPIC._replace(doc="Topic. Null: a member without partitions, or a group that cannot be described."),
        columns.PARTITION._replace(
            doc="Partition. Null: a member without partitions, or a group that cannot be described."
        ),
        Column("LEADER-EPOCH", "leader_epoch", "Leader epoch of the committed offset.", _R, _V),
        columns.CURRENT_OFFSET,
        columns.START_OFFSET,
        columns.LOG_START_OFFSET,
        columns.LOG_END_OFFSET,
        columns.LAG,
        columns.CONSUMER_ID,
        columns.HOST,
        columns.CLIENT_ID,
        columns.GROUP_INSTANCE_ID.at(_W),
        columns.NOTE,
        Column(
            "TOPIC-ROLE",
            "topic_role",
            "Role of the topic in a streams application.",
            _L,
            Tier.RARE,
            Sooner(_V, some_value),
        ),
    ),
    drops=("host", "consumer_id", "client_id", "start_offset"),
)
