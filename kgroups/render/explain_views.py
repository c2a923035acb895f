"""The tables of ``kgroups explain``."""

from __future__ import annotations

from kgroups.model.explain.rows import ExplainedMember
from kgroups.model.explain.what_if import Shift
from kgroups.model.views.share_state_rows import ShareRow

from . import columns
from .deep_views import share_columns
from .views import Align, Column, Sooner, Tier, View, columns_of, some_value

_L, _R = Align.LEFT, Align.RIGHT
_B, _V, _W = Tier.BASE, Tier.VERBOSE, Tier.WIDE

MEMBERS = View(
    "explain-members",
    "Members",
    columns_of(
        ExplainedMember,
        columns.GROUP.at(_W),
        columns.CONSUMER_ID,
        columns.GROUP_INSTANCE_ID,
        columns.CLIENT_ID.at(_V),
        columns.HOST,
        columns.PARTITIONS,
        Column("COULD-HOLD", "could_hold", "Partitions of all topics that the member subscribes to.", _R),
        Column("ASSIGNMENT", "assignment", "Assigned partitions.", _L, _V),
        columns.SUBSCRIPTION,
        Column("SUBSCRIPTION-VERSION", "subscription_version", "Version of the metadata of the member.", _R, _V),
        columns.METADATA_BYTES.at(_V),
        columns.NOTE.at(_V, Sooner(_B, some_value)),
    ),
    drops=("metadata_bytes", "host"),
)

SHARE_PARTITIONS = View(
    "explain-share-partitions",
    "Partitions of a share group",
    (
        *columns_of(
            ShareRow,
            columns.TOPIC,
            columns.PARTITION,
            columns.START_OFFSET.at(_B),
            columns.LOG_END_OFFSET,
        ),
        *share_columns(len(ShareRow._fields)),
        *columns_of(ShareRow, columns.NOTE),
    ),
)

SHIFTS = View(
    "explain-what-if",
    "What if",
    columns_of(
        Shift,
        columns.CONSUMER_ID,
        Column("STATUS", "status", "new, leaves, or null for a member that stays.", _L, _V, Sooner(_B, some_value)),
        Column("NOW", "now", "Partitions of the member now.", _R),
        Column("THEN", "then", "Partitions of the member after the change.", _R),
        Column("GETS", "gets", "Partitions that the member gains."),
        Column("GIVES-UP", "gives_up", "Partitions that the member loses."),
    ),
)
