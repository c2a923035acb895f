"""Groups looked at again and again: how fast they go, when they will have caught up, and what changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .duration import Milliseconds
from .groups import GroupId
from .lag_summary import By, reads_on_at, shares, tally_of
from .rebalances import Rebalances
from .rows import GroupOffsets

KEPT = 60
"""Looks that are remembered of each group."""
RATED = 6
"""Of these, the newest over which a rate is taken: a rate between two looks jumps."""

Place = tuple[str, int]


class WatchRow(NamedTuple):
    """One group as it is now, and as it was.

    Rates are records a second, written to and consumed from its partitions; ``None`` until there are two looks.
    ``catch_up_ms`` is how long its lag will take at this pace, ``None`` where it will never. ``lags`` are its totals,
    oldest first. ``changed`` names the fields that differ from the look before; ``stale`` is whether this is an older
    look, for the newest had no answer.
    """

    group: GroupId
    state: str
    members: int | None
    total_lag: int | None
    rate_in: float | None
    rate_out: float | None
    catch_up_ms: Milliseconds | None
    rebalances: int
    lags: tuple[int | None, ...]
    changed: frozenset[str]
    stale: bool


class _Look(NamedTuple):
    at: int
    state: str
    members: int | None
    total_lag: int | None
    committed: Mapping[Place, int]
    ends: Mapping[Place, int]


class Watch:
    """What was seen so far. No clock of its own: each look comes with its time, in milliseconds since 1970."""

    def __init__(self) -> None:
        self._looks: dict[GroupId, deque[_Look]] = {}
        self._rebalances = Rebalances()

    def look(
        self, at: int, groups: Iterable[GroupOffsets], unanswered: Iterable[GroupId] | None = ()
    ) -> list[WatchRow]:
        """Takes in a look; gives the row of each group, sorted by name.

        :param unanswered: groups that may be there and were not told of: they keep their last row, as stale. ``None``:
            that holds for all that are missing, for a broker was. Others that are missing are gone, and forgotten.
        """
        seen: dict[GroupId, _Look] = {}
        for offsets in groups:
            seen[offsets.group.group_id] = _look(at, offsets)
            self._rebalances.look(offsets.group)
        for name, one in seen.items():
            self._looks.setdefault(name, deque(maxlen=KEPT)).append(one)
        kept = None if unanswered is None else {*unanswered, *seen}
        for name in [name for name in self._looks if kept is not None and name not in kept]:
            del self._looks[name]
            self._rebalances.forget(name)
        return [self._row(name, stale=name not in seen) for name in sorted(self._looks)]

    def _row(self, name: GroupId, stale: bool) -> WatchRow:
        looks = self._looks[name]
        now, before = looks[-1], looks[-2] if len(looks) > 1 else None
        rated = list(looks)[-RATED:]
        written, consumed = (
            _rate(rated[0].ends, now.ends, rated[0], now),
            _rate(rated[0].committed, now.committed, rated[0], now),
        )
        changed = frozenset(
            field
            for field in ("state", "members", "total_lag")
            if before is not None and not stale and getattr(before, field) != getattr(now, field)
        )
        return WatchRow(
            name,
            now.state,
            now.members,
            now.total_lag,
            written,
            consumed,
            _catch_up(now.total_lag, written, consumed),
            self._rebalances.count(name),
            tuple(look.total_lag for look in looks),
            changed,
            stale,
        )


def _look(at: int, offsets: GroupOffsets) -> _Look:
    group = offsets.group
    rows = [row for share in shares(offsets, By.GROUP) for row in share.rows]
    places = {(row.topic, row.partition): row for row in rows if row.topic is not None and row.partition is not None}
    committed = {place: where for place, row in places.items() if (where := reads_on_at(row)) is not None}
    return _Look(
        at,
        group.state,
        None if group.members is None else len(group.members),
        tally_of(rows).total_lag,
        committed,
        # Only of what it consumes: else the rates of two different things would be compared.
        {
            place: row.log_end_offset
            for place, row in places.items()
            if place in committed and row.log_end_offset is not None
        },
    )


def _rate(before: Mapping[Place, int], now: Mapping[Place, int], first: _Look, last: _Look) -> float | None:
    """Records a second, of the partitions that both looks know."""
    seconds = (last.at - first.at) / 1000
    if seconds <= 0:
        return None
    return sum(now[place] - before[place] for place in now.keys() & before.keys()) / seconds


def _catch_up(lag: int | None, written: float | None, consumed: float | None) -> Milliseconds | None:
    if lag is None:
        return None
    if lag <= 0:
        return Milliseconds(0)
    if written is None or consumed is None or consumed <= written:
        return None
    return Milliseconds(lag / (consumed - written) * 1000)
