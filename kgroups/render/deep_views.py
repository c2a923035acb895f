"""The views of ``describe --deep``: those of ``describe``, and columns from ``__consumer_offsets``."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from kgroups.model.views.deep_rows import CommitLog, MemberLog, StateLog
from kgroups.model.views.member_rows import MemberRow, StateRow
from kgroups.model.views.offset_row import OffsetRow
from kgroups.model.views.share_state_rows import ShareColumns

from .member_views import MEMBERS, STATE
from .offset_view import OFFSETS
from .views import Align, Column, Sooner, Tier, View, some_value

_L, _R = Align.LEFT, Align.RIGHT


def _deeper(view: View, row: type[Any], log: type[Any], *specs: tuple[str, str, Align]) -> View:
    """Return the view of rows that consist of the fields of ``row`` and ``log``, which are named tuples."""
    return view._replace(columns=(*view.columns, *_columns(len(row._fields), log, *specs)))


def _columns(first: int, row: type[Any], *specs: tuple[str, str, Align]) -> tuple[Column, ...]:
    """Return the columns of rows in which the fields of a named tuple follow ``first`` others."""
    return tuple(
        Column(header, key, itemgetter(first + row._fields.index(key)), align, row=row) for header, key, align in specs
    )


def share_columns(first: int) -> tuple[Column, ...]:
    """Return the columns of share groups, in rows in which they follow ``first`` others."""
    columns = _columns(
        first,
        ShareColumns,
        ("ACKNOWLEDGED", "acknowledged", _R),
        ("ARCHIVED", "archived", _R),
        ("RELEASED", "released", _R),
        ("DELIVERIES", "deliveries", _L),
        ("LAST-ATTEMPTS", "last_attempts", _R),
        ("ACQUIRED", "acquired", _R),
        ("OLDEST-UNFINISHED", "oldest_unfinished", _R),
        ("OLDEST-TIMESTAMP", "oldest_timestamp", _L),
        ("LAST-PROGRESS", "last_progress", _L),
    )
    return tuple(column._replace(tier=Tier.RARE, sooner=Sooner(Tier.BASE, some_value)) for column in columns)


DEEP_STATE = _deeper(
    STATE,
    StateRow,
    StateLog,
    ("GENERATION", "generation", _R),
    ("LEADER", "leader", _L),
    ("STATE-SINCE", "state_since", _L),
    ("LAST-REBALANCE", "last_rebalance", _L),
)

DEEP_MEMBERS = _deeper(
    MEMBERS,
    MemberRow,
    MemberLog,
    ("LEADER", "leader", _L),
    ("SESSION-TIMEOUT-MS", "session_timeout_ms", _R),
    ("REBALANCE-TIMEOUT-MS", "rebalance_timeout_ms", _R),
    ("LAST-REBALANCE", "last_rebalance", _L),
)

DEEP_OFFSETS = _deeper(
    OFFSETS,
    OffsetRow,
    CommitLog,
    ("COMMITTED-AT", "committed_at", _L),
    ("EXPIRES-AT", "expires_at", _L),
)
DEEP_OFFSETS = DEEP_OFFSETS._replace(
    columns=(*DEEP_OFFSETS.columns, *share_columns(len(OffsetRow._fields) + len(CommitLog._fields)))
)

DEEP_VIEWS = {"state": DEEP_STATE, "members": DEEP_MEMBERS, "offsets": DEEP_OFFSETS}
"""The views of ``describe --deep``, by the names of the views that they extend."""
