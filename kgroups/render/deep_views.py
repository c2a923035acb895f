"""The views of ``describe --deep``: the views of ``describe`` with columns from ``__consumer_offsets``."""

from __future__ import annotations

from typing import Any

from kgroups.model.views.deep_rows import CommitLog, MemberLog, StateLog
from kgroups.model.views.member_rows import MemberRow, StateRow
from kgroups.model.views.offset_row import OffsetRow
from kgroups.model.views.share_state_rows import ShareColumns

from . import columns
from .member_views import MEMBERS, STATE
from .offset_view import OFFSETS
from .views import Align, Column, Sooner, Tier, View, columns_of, some_value

_R = Align.RIGHT

_LAST_REBALANCE = Column("LAST-REBALANCE", "last_rebalance", "Time of the last rebalance in ISO 8601, UTC.")
_LEADER = Column("LEADER", "leader", "Member ID of the leader; of a member, whether it is the leader.")


def _deeper(view: View, row: type[Any], log: type[Any], *more: Column) -> View:
    """Return the view of rows that consist of the fields of ``row`` and ``log``, which are named tuples."""
    return view._replace(columns=(*view.columns, *columns_of(log, *more, first=len(row._fields))))


def share_columns(first: int) -> tuple[Column, ...]:
    """Return the columns of share groups, in rows in which they follow ``first`` others."""
    found = columns_of(
        ShareColumns,
        Column(
            "ACKNOWLEDGED", "acknowledged", "Records of a share group after its start offset that are acknowledged.", _R
        ),
        Column(
            "ARCHIVED",
            "archived",
            "Records of a share group after its start offset that are archived: rejected, or given up.",
            _R,
        ),
        Column("RELEASED", "released", "Records that were delivered and are available again.", _R),
        Column(
            "DELIVERIES", "deliveries", "Delivery count, and number of released records that were delivered so often."
        ),
        Column("LAST-ATTEMPTS", "last_attempts", "Released records whose next delivery is the last.", _R),
        Column("ACQUIRED", "acquired", "Records that members have acquired now, which Kafka does not report.", _R),
        Column("OLDEST-UNFINISHED", "oldest_unfinished", "Offset of the oldest unfinished record.", _R),
        Column("OLDEST-TIMESTAMP", "oldest_timestamp", "Timestamp of the oldest unfinished record, in ISO 8601, UTC."),
        Column("LAST-PROGRESS", "last_progress", "Time when the share group last finished a record, in ISO 8601, UTC."),
        first=first,
    )
    return tuple(column._replace(tier=Tier.RARE, sooner=Sooner(Tier.BASE, some_value)) for column in found)


DEEP_STATE = _deeper(
    STATE,
    StateRow,
    StateLog,
    columns.GENERATION.at(Tier.BASE),
    _LEADER,
    Column(
        "STATE-SINCE",
        "state_since",
        "Time since which the group has its state, in ISO 8601, UTC; null while that is not the state in the log.",
    ),
    _LAST_REBALANCE,
)

DEEP_MEMBERS = _deeper(
    MEMBERS,
    MemberRow,
    MemberLog,
    _LEADER,
    Column("SESSION-TIMEOUT-MS", "session_timeout_ms", "Session timeout in ms.", _R),
    Column("REBALANCE-TIMEOUT-MS", "rebalance_timeout_ms", "Rebalance timeout in ms.", _R),
    _LAST_REBALANCE,
)

DEEP_OFFSETS = _deeper(
    OFFSETS,
    OffsetRow,
    CommitLog,
    Column("COMMITTED-AT", "committed_at", "Time of the commit in ISO 8601, UTC."),
    Column("EXPIRES-AT", "expires_at", "Time when the committed offset expires, in ISO 8601, UTC."),
)
DEEP_OFFSETS = DEEP_OFFSETS._replace(
    columns=(*DEEP_OFFSETS.columns, *share_columns(len(OffsetRow._fields) + len(CommitLog._fields)))
)

DEEP_VIEWS = {"state": DEEP_STATE, "members": DEEP_MEMBERS, "offsets": DEEP_OFFSETS}
"""The views of ``describe --deep``, by the names of the views that they extend."""
