"""Repeated samples of groups: their rates, the time until they have caught up, and what changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from ..duration import Milliseconds
from ..groups import Group, GroupId
from ..offsets import GroupCommits
from ..views.offset_row import GroupOffsets
from .rebalances import Rebalances
from .totals import Topics, Totalling, Totals

KEPT = 60
"""The number of total lags and of state changes kept for each group."""
SAMPLED = 12
"""The number of samples kept for each group, with the offsets of each partition."""
RATED = 6
"""The number of newest samples for a rate: the rate between two samples varies too much."""


class GroupKey(NamedTuple):
    """A group of one of the watched clusters; without several clusters, ``cluster`` is empty."""

    cluster: str
    group: GroupId


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
    cluster: str = ""

    @property
    def key(self) -> GroupKey:
        return GroupKey(self.cluster, self.group)


class Sample(NamedTuple):
    """One sample of one group."""

    at: int
    state: str
    members: int | None
    type: str
    totals: Totals


class StateChange(NamedTuple):
    """The state of a group differed from the one in the previous sample."""

    at: int
    before: str
    now: str


class _History:
    """What is known about one group."""

    __slots__ = ("changed", "changes", "known", "lags", "samples", "seen", "topics")

    def __init__(self) -> None:
        self.samples: deque[Sample] = deque(maxlen=SAMPLED)
        self.lags: tuple[int | None, ...] = ()
        self.known: tuple[int, int] | None = None
        """The last known total lag, and its time."""
        self.changes: deque[StateChange] | None = None
        self.changed = _UNCHANGED
        self.seen: tuple[Group, GroupCommits] | None = None
        self.topics: Topics | None = None

    def add(self, at: int, offsets: GroupOffsets, totalling: Totalling) -> bool:
        """Add a sample; return whether the group changed. Its members and offsets mostly did not."""
        seen = self.seen
        if (
            self.topics is not None
            and seen == (offsets.group, offsets.commits)
            and totalling.are_current(offsets.logs, self.topics)
        ):
            self._append(self.samples[-1]._replace(at=at), _UNCHANGED)
            return False
        group = offsets.group
        totals, self.topics = totalling.of(offsets)
        self.seen = group, offsets.commits
        now = Sample(at, group.state, None if group.members is None else len(group.members), group.type or "", totals)
        self._append(now, self._compare(now) if self.samples else _UNCHANGED)
        return True

    def _append(self, sample: Sample, changed: frozenset[str]) -> None:
        total = sample.totals.total_lag
        self.samples.append(sample)
        self.lags = (*self.lags[1 - KEPT :], total)
        self.changed = changed
        if total is not None:
            self.known = total, sample.at

    def _compare(self, now: Sample) -> frozenset[str]:
        """Return the changed fields; total lag is compared with the last known one, and is unchanged if unknown."""
        before, fields = self.samples[-1], set()
        if before.state != now.state:
            fields.add("state")
            self.changes = self.changes or deque(maxlen=KEPT)
            self.changes.append(StateChange(now.at, before.state, now.state))
        if before.members != now.members:
            fields.add("members")
        total = now.totals.total_lag
        if total is not None and (self.known is None or self.known[0] != total):
            fields.add("total_lag")
        return frozenset(fields) if fields else _UNCHANGED


class Watch:
    """All samples of one cluster. Each comes with its time, in milliseconds since 1970; there is no clock here."""

    def __init__(self, cluster: str = "") -> None:
        self._cluster = cluster
        self._groups: dict[GroupId, _History] = {}
        self._rebalances = Rebalances()

    def add(self, at: int, groups: Iterable[GroupOffsets], unanswered: Iterable[GroupId] | None = ()) -> list[WatchRow]:
        """Add a sample; return the row of each group, sorted by group ID.

        :param unanswered: groups that may exist, but were not reported: they keep their last row, as stale. ``None``: a
            broker was not available, so this applies to all missing groups. Other missing groups were deleted, and are
            dropped.
        """
        totalling, seen = Totalling(), set()
        for offsets in groups:
            name = offsets.group.group_id
            seen.add(name)
            history = self._groups.get(name)
            if history is None:
                history = self._groups[name] = _History()
            if history.add(at, offsets, totalling):
                self._rebalances.add(offsets.group)
        kept = None if unanswered is None else {*unanswered, *seen}
        for name in [name for name in self._groups if kept is not None and name not in kept]:
            del self._groups[name]
            self._rebalances.drop(name)
        return [self._row(name, at, stale=name not in seen) for name in sorted(self._groups)]

    def samples_of(self, name: GroupId) -> list[Sample]:
        """Return the newest samples of a group, oldest first; another thread may add samples meanwhile."""
        history = self._groups.get(name)
        return list(history.samples) if history else []

    def changes_of(self, name: GroupId) -> list[StateChange]:
        """Return the changes of the state of a group since the start, oldest first."""
        history = self._groups.get(name)
        return list(history.changes or ()) if history else []

    def _row(self, name: GroupId, at: int, *, stale: bool) -> WatchRow:
        history = self._groups[name]
        samples = history.samples
        now, first = samples[-1], samples[-min(RATED, len(samples))]
        totals = now.totals
        written, consumed = _written(samples, first), _rate(first, now, "committed")
        lag, since = history.known or (None, None)
        return WatchRow(
            name,
            now.state,
            now.members,
            totals.total_lag,
            written,
            consumed,
            _catch_up(totals.total_lag, written, consumed),
            self._rebalances.count(name),
            history.lags,
            _UNCHANGED if stale else history.changed,
            stale,
            totals.unknown_partitions,
            totals.known_lag,
            lag,
            None if since is None else _NO_AGE if since == at else Milliseconds(at - since),
            now.type,
            self._cluster,
        )


_UNCHANGED: frozenset[str] = frozenset()
_NO_AGE = Milliseconds(0)


def _written(samples: Sequence[Sample], first: Sample) -> float | None:
    """Return the rate of writes.

    It starts at the first sample from ``first`` on with all log end offsets; it is ``None`` if the last one lacks some.
    """
    now = samples[-1]
    if now.totals.logs_unknown:
        return None
    if first.totals.logs_unknown:
        first = next(each for each in samples if each.at >= first.at and not each.totals.logs_unknown)
    return _rate(first, now, "ends")


def _rate(first: Sample, last: Sample, which: Literal["committed", "ends"]) -> float | None:
    """Return records per second, over the partitions that are known in both samples."""
    seconds = (last.at - first.at) / 1000
    if seconds <= 0:
        return None
    before, now = first.totals, last.totals
    if before is now:
        return 0.0
    if which == "committed":
        if before.places == now.places:
            return (sum(now.committed) - sum(before.committed)) / seconds
        old, new = before.committed_at(), now.committed_at()
    else:
        if before.places == now.places and None not in (*before.ends, *now.ends):
            return (sum(filter(None, now.ends)) - sum(filter(None, before.ends))) / seconds
        old, new = before.ends_at(), now.ends_at()
    return sum(new[place] - old[place] for place in new.keys() & old.keys()) / seconds


def _catch_up(lag: int | None, written: float | None, consumed: float | None) -> Milliseconds | None:
    if lag is None:
        return None
    if lag <= 0:
        return _NO_AGE
    if written is None or consumed is None or consumed <= written:
        return None
    return Milliseconds(lag / (consumed - written) * 1000)
