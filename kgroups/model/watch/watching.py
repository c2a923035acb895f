"""Repeated samples of groups: their rates, the time until they have caught up, and what changed."""

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
"""The number of samples kept for each group."""
RATED = 6
"""The number of newest samples for a rate: the rate between two samples varies too much."""

Place = tuple[str, int]


class WatchRow(NamedTuple):
    """One group as it is now, and its recent history.

    Rates are records per second, written to its partitions and consumed from them; ``None`` with fewer than two
    samples. ``catch_up_ms`` is the time until its lag is 0 at these rates; ``None``: it never is. ``lags`` are its
    total lags, oldest first. ``changed`` contains the fields that differ from the previous sample. ``stale``: the row
    shows an older sample, because the newest one failed.

    ``total_lag`` is ``None`` while the lag of any partition is unknown: ``unknown_partitions`` counts these, and
    ``known_lag`` is the sum of the others. ``last_lag`` is the last known total lag, ``lag_age_ms`` its age.
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
    type: str = ""


class Sample(NamedTuple):
    """One sample of one group."""

    at: int
    state: str
    members: int | None
    total_lag: int | None
    known_lag: int | None
    unknown_partitions: int
    logs_unknown: bool
    committed: Mapping[Place, int]
    ends: Mapping[Place, int]
    type: str


class StateChange(NamedTuple):
    """The state of a group differed from the one in the previous sample."""

    at: int
    before: str
    now: str


class Watch:
    """All samples so far. Each comes with its time, in milliseconds since 1970; there is no clock here."""

    def __init__(self) -> None:
        self._samples: dict[GroupId, deque[Sample]] = {}
        self._known: dict[GroupId, tuple[int, int]] = {}
        self._rebalances = Rebalances()
        self._changes: dict[GroupId, deque[StateChange]] = {}

    def add(self, at: int, groups: Iterable[GroupOffsets], unanswered: Iterable[GroupId] | None = ()) -> list[WatchRow]:
        """Add a sample; return the row of each group, sorted by group ID.

        :param unanswered: groups that may exist, but were not reported: they keep their last row, as stale. ``None``: a
            broker was not available, so this applies to all missing groups. Other missing groups were deleted, and are
            dropped.
        """
        seen: dict[GroupId, Sample] = {}
        for offsets in groups:
            seen[offsets.group.group_id] = _sample(at, offsets)
            self._rebalances.add(offsets.group)
        for name, sample in seen.items():
            samples = self._samples.setdefault(name, deque(maxlen=KEPT))
            if samples and samples[-1].state != sample.state:
                change = StateChange(at, samples[-1].state, sample.state)
                self._changes.setdefault(name, deque(maxlen=KEPT)).append(change)
            samples.append(sample)
            if sample.total_lag is not None:
                self._known[name] = sample.total_lag, sample.at
        kept = None if unanswered is None else {*unanswered, *seen}
        for name in [name for name in self._samples if kept is not None and name not in kept]:
            del self._samples[name]
            self._known.pop(name, None)
            self._changes.pop(name, None)
            self._rebalances.drop(name)
        return [self._row(name, at, stale=name not in seen) for name in sorted(self._samples)]

    def samples_of(self, name: GroupId) -> list[Sample]:
        """Return the samples of a group, oldest first; another thread may add samples meanwhile."""
        return list(self._samples.get(name, ()))

    def changes_of(self, name: GroupId) -> list[StateChange]:
        """Return the changes of the state of a group since the start, oldest first."""
        return list(self._changes.get(name, ()))

    def _row(self, name: GroupId, at: int, stale: bool) -> WatchRow:
        samples = self._samples[name]
        now, before = samples[-1], samples[-2] if len(samples) > 1 else None
        rated = list(samples)[-RATED:]
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
            tuple(sample.total_lag for sample in samples),
            frozenset() if before is None or stale else _changed(before, now, samples),
            stale,
            now.unknown_partitions,
            now.known_lag,
            lag,
            None if since is None else Milliseconds(at - since),
            now.type,
        )


def _sample(at: int, offsets: GroupOffsets) -> Sample:
    group = offsets.group
    rows = [row for share in shares(offsets, By.GROUP) for row in share.rows]
    places = {(row.topic, row.partition): row for row in rows if row.topic is not None and row.partition is not None}
    committed = {place: offset for place, row in places.items() if (offset := reads_on_at(row)) is not None}
    tally = tally_of(rows, attended=is_attended(group))
    return Sample(
        at,
        group.state,
        None if group.members is None else len(group.members),
        tally.total_lag,
        tally.known_lag,
        count_unknown(rows, is_attended(group)),
        tally.unknown > 0,
        committed,
        # Only of partitions that it consumes, so that both rates are about the same partitions.
        {
            place: row.log_end_offset
            for place, row in places.items()
            if place in committed and row.log_end_offset is not None
        },
        group.type or "",
    )


def _changed(before: Sample, now: Sample, samples: Iterable[Sample]) -> frozenset[str]:
    """Return the changed fields; total lag is compared with the last known one, and is unchanged if unknown."""
    fields = {field for field in ("state", "members") if getattr(before, field) != getattr(now, field)}
    totals = [sample.total_lag for sample in samples if sample.total_lag is not None and sample is not now]
    if now.total_lag is not None and (not totals or totals[-1] != now.total_lag):
        fields.add("total_lag")
    return frozenset(fields)


def _written(rated: Sequence[Sample]) -> float | None:
    """Return the rate of writes.

    It starts at the first of these samples with all log end offsets; it is ``None`` if the last one lacks some.
    """
    now = rated[-1]
    first = next(sample for sample in rated if not sample.logs_unknown or sample is now)
    return None if now.logs_unknown else _rate(first.ends, now.ends, first, now)


def _rate(before: Mapping[Place, int], now: Mapping[Place, int], first: Sample, last: Sample) -> float | None:
    """Return records per second, over the partitions that are known in both samples."""
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
