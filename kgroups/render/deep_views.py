"""The views of ``describe --deep``: those of ``describe``, and columns from ``__consumer_offsets``."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from kgroups.model.views.deep_rows import CommitLog, MemberLog, StateLog
from kgroups.model.views.member_rows import MemberRow, StateRow
from kgroups.model.views.offset_row import OffsetRow

from .member_views import MEMBERS, STATE
from .offset_view import OFFSETS
from .views import Align, Column, View

_L, _R = Align.LEFT, Align.RIGHT


def _deeper(view: View, row: type[Any], log: type[Any], *specs: tuple[str, str, Align]) -> View:
    """Return the view of rows that consist of the fields of ``row`` and ``log``, which are named tuples."""
    first = len(row._fields)
    added = [Column(header, key, itemgetter(first + log._fields.index(key)), align) for header, key, align in specs]
    return view._replace(columns=(*view.columns, *added))


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
