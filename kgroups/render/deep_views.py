"""The views of ``describe --deep``: those of describe, and columns of what only the log tells."""

from __future__ import annotations

from operator import itemgetter

from kgroups.model.views.member_rows import MemberRow, StateRow
from kgroups.model.views.offset_row import OffsetRow

from .member_views import MEMBERS, STATE
from .views import OFFSETS, Align, Column, View

_L, _R = Align.LEFT, Align.RIGHT


def _deeper(view: View, row: type[tuple[object, ...]], *more: tuple[str, str, Align]) -> View:
    """The view of rows that have more fields behind their own."""
    own: tuple[str, ...] = row._fields  # type: ignore[attr-defined]  # named tuples
    added = [Column(header, key, itemgetter(len(own) + at), align) for at, (header, key, align) in enumerate(more)]
    return view._replace(columns=(*view.columns, *added))


DEEP_STATE = _deeper(
    STATE,
    StateRow,
    ("GENERATION", "generation", _R),
    ("LEADER", "leader", _L),
    ("STATE-SINCE", "state_since", _L),
    ("LAST-REBALANCE", "last_rebalance", _L),
)

DEEP_MEMBERS = _deeper(
    MEMBERS,
    MemberRow,
    ("LEADER", "leader", _L),
    ("SESSION-TIMEOUT-MS", "session_timeout_ms", _R),
    ("REBALANCE-TIMEOUT-MS", "rebalance_timeout_ms", _R),
    ("LAST-REBALANCE", "last_rebalance", _L),
)

DEEP_OFFSETS = _deeper(
    OFFSETS,
    OffsetRow,
    ("COMMITTED-AT", "committed_at", _L),
    ("EXPIRES-AT", "expires_at", _L),
)
