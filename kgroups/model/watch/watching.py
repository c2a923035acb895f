"""Groups looked at again and again: how fast they go, when they will have caught up, and what changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..duration import Milliseconds
from ..groups import GroupId
from ..views.lag_summary import By, count_unknown, is_attended, reads_on_at, shares, tally_of
from ..views.offset_row import GroupOffsets
from .rebalances import Rebalances

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

    ``total_lag`` is ``None`` while the lag of a partition is unknown: ``unknown_partitions`` counts them, and
    ``known_lag`` sums up the others. ``last_lag`` is the newest total that was known, ``lag_age_ms`` its age.
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
    unknown_partitions: int = 0
    known_lag: int | None = None
    last_lag: int | None = None
    lag_age_ms: Milliseconds | None = None


class _Look(NamedTuple):
    at: int
    state: str
    members: int | None
    total_lag: int | None
    known_lag: int | None
    unknown_partitions: int
    logs_unknown: bool
    committed: Mapping[Place, int]
    ends: Mapping[Place, int]


class Watch:
    """What was seen so far. No clock of its own: each look comes with its time, in milliseconds since 1970."""

    def __init__(self) -> None:
        self._looks: dict[GroupId, deque[_Look]] = {}
        self._known: dict[GroupId, tuple[int, int]] = {}
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
            if one.total_lag is not None:
                self._known[name] = one.total_lag, one.at
        kept = None if unanswered is None else {*unanswered, *seen}
        for name in [name for name in self._looks if kept is not None and name not in kept]:
            del self._looks[name]
            self._known.pop(name, None)
            self._rebalances.forget(name)
        return [self._row(name, at, stale=name not in seen) for name in sorted(self._looks)]

    def _row(self, name: GroupId, at: int, stale: bool) -> WatchRow:
        looks = self._looks[name]
        now, before = looks[-1], looks[-2] if len(looks) > 1 else None
        rated = list(looks)[-RATED:]
        written, consumed = _written(rated), _rate(rated[0].committed, now.committed, rated[0], now)
        lag, since = self._known.get(name, (None, None))
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
            frozenset() if before is None or stale else _changed(before, now, looks),
            stale,
            now.unknown_partitions,
            now.known_lag,
            lag,
            None if since is None else Milliseconds(at - since),
        )


def _look(at: int, offsets: GroupOffsets) -> _Look:
    group = offsets.group
    rows = [row for share in shares(offsets, By.GROUP) for row in share.rows]
    places = {(row.topic, row.partition): row for row in rows if row.topic is not None and row.partition is not None}
    committed = {place: where for place, row in places.items() if (where := reads_on_at(row)) is not None}
    tally = tally_of(rows, attended=is_attended(group))
    return _Look(
        at,
        group.state,
        None if group.members is None else len(group.members),
        tally.total_lag,
        tally.known_lag,
        count_unknown(rows, is_attended(group)),
        tally.unknown > 0,
        committed,
        # Only of what it consumes: else the rates of two different things would be compared.
        {
            place: row.log_end_offset
            for place, row in places.items()
            if place in committed and row.log_end_offset is not None
        },
    )


def _changed(before: _Look, now: _Look, looks: Iterable[_Look]) -> frozenset[str]:
    """The fields that differ; of the lag, from the total that was known last: not to know it is no change."""
    fields = {field for field in ("state", "members") if getattr(before, field) != getattr(now, field)}
    totals = [look.total_lag for look in looks if look.total_lag is not None and look is not now]
    if now.total_lag is not None and (not totals or totals[-1] != now.total_lag):
        fields.add("total_lag")
    return frozenset(fields)


def _written(rated: Sequence[_Look]) -> float | None:
    """What is written, since the first of these looks that saw the ends of all logs; unknown where the last did not."""
    now = rated[-1]
    first = next(look for look in rated if not look.logs_unknown or look is now)
    return None if now.logs_unknown else _rate(first.ends, now.ends, first, now)


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
