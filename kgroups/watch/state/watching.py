"""Repeated samples of groups: their rates, the time until they have caught up, and what changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kgroups.model.counts import count
from kgroups.model.duration import Milliseconds
from kgroups.model.groups import Group, GroupId, GroupType, Member
from kgroups.model.offsets import GroupCommits
from kgroups.model.rates import Outlook, Reading, members_of, outlook, rates_of
from kgroups.model.severity import Severity
from kgroups.model.status import GroupStatus, Known, Status, Trend, judge_status
from kgroups.model.stays import RECENT, REPEATED, Presence, SharedInstance, StayRecorder, is_static, shared_instances
from kgroups.model.views.offset_row import GroupOffsets

from .rebalances import Rebalances
from .totals import Topics, Totalling, Totals

KEPT = 60
"""The number of total lags and of state changes kept for each group."""
SAMPLED = 12
"""The number of samples kept for each group, with the offsets of each partition."""
RATED = 6
"""The number of newest samples for a rate: the rate between two samples varies too much."""


def remark_of(ahead: int | None, data_lost: int | None) -> str:
    """Return what a lag does not show: partitions with a commit beyond the end of the log, and with lost records."""
    return ", ".join(f"{number:,} {word}" for number, word in ((ahead, "ahead"), (data_lost, "data lost")) if number)


class StaticMembers:
    """Record the static members of each group from sample to sample; some may have come and gone in between."""

    def __init__(self) -> None:
        self._recorders: dict[GroupId, StayRecorder] = {}
        self._last: dict[GroupId, tuple[Member, ...]] = {}

    def add(self, at: int, group: Group) -> None:
        name, members = group.group, group.members
        if members is None or self._last.get(name) is members or not (name in self._last or is_static(group)):
            return
        self._last[name] = members
        present = {
            each.member_id: Presence.of(each.instance_id, each.client_id, each.host)
            for each in members
            if each.instance_id
        }
        self._recorders.setdefault(name, StayRecorder()).snapshot(at, present)

    def shared(self, name: GroupId, now: int) -> tuple[SharedInstance, ...]:
        """Return the IDs that two clients used in turn recently."""
        recorder = self._recorders.get(name)
        if recorder is None or recorder.ended < REPEATED:
            return ()
        recorder.forget(now - RECENT)
        return tuple(shared_instances(recorder.stays))

    def drop(self, name: GroupId) -> None:
        """Drop a deleted group."""
        self._recorders.pop(name, None)
        self._last.pop(name, None)


_NOT_JUDGED = GroupStatus(Status.UNKNOWN, Severity.UNKNOWN, "")


class GroupKey(NamedTuple):
    """A group of one of the watched clusters; without several clusters, ``cluster`` is empty."""

    cluster: str
    group: GroupId


class WatchRow(NamedTuple):
    """One group as it is now, and its recent history.

    Rates are records per second, written to its partitions and consumed from them, over the same span; see
    :mod:`..rates` for when they are unknown. ``catch_up_ms`` is the time until the slowest of its partitions is caught
    up; ``None``: never, if ``falls_behind`` or ``steady``, otherwise unknown. ``lags`` are its total lags, oldest
    first. ``changed`` contains the fields that differ from the previous sample. ``stale``: the row shows an older
    sample, because the newest one failed.

    ``total_lag`` is ``None`` while the lag of any partition is unknown: ``unknown_partitions`` counts these, and
    ``known_lag`` is the sum of the others. ``last_lag`` is the last known total lag, ``lag_age_ms`` its age.
    ``ahead`` and ``data_lost`` count partitions as in the lag view. ``shared``: the instance IDs that two clients use.
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
    falls_behind: bool = False
    ahead: int = 0
    data_lost: int = 0
    shared: tuple[SharedInstance, ...] = ()
    steady: bool = False
    status: GroupStatus = _NOT_JUDGED

    @property
    def remark(self) -> str:
        return remark_of(self.ahead, self.data_lost)

    @property
    def members_text(self) -> str:
        """The number of members, and of the instance IDs that two clients, or perhaps one, use in turn."""
        number = "-" if self.members is None else f"{self.members:,}"
        certain = sum(each.is_certain for each in self.shared)
        shared = ((certain, "shared ID"), (len(self.shared) - certain, "replaced ID"))
        remark = ", ".join(count(*each) for each in shared if each[0])
        return f"{number} ({remark})" if remark else number

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
    reading: Reading


class StateChange(NamedTuple):
    """The state of a group differed from its state in the previous sample."""

    at: int
    before: str
    now: str


class _History:
    """What is known about one group."""

    __slots__ = (
        "began",
        "changed",
        "changes",
        "equal",
        "judged",
        "known",
        "lags",
        "samples",
        "seen",
        "topics",
        "unbroken",
    )

    def __init__(self) -> None:
        self.samples: deque[Sample] = deque(maxlen=SAMPLED)
        self.unbroken = 0
        """How many of the newest samples continue each other."""
        self.began: Reading | None = None
        """The first reading that these continue; its sample may have been dropped."""
        self.equal = 0
        """How many of the newest samples differ only in their times."""
        self.lags: tuple[int | None, ...] = ()
        self.known: tuple[int, int] | None = None
        """The last known total lag, and its time."""
        self.changes: deque[StateChange] | None = None
        self.changed = _UNCHANGED
        self.seen: tuple[Group, GroupCommits] | None = None
        self.topics: Topics | None = None
        self.judged: tuple[Known, Trend, GroupStatus] | None = None

    def judge(self, known: Known, trend: Trend) -> GroupStatus:
        """Return the status of the group; most groups have the same as before."""
        if self.judged is None or self.judged[:2] != (known, trend):
            self.judged = known, trend, judge_status(known, trend)
        return self.judged[2]

    def add(self, at: int, offsets: GroupOffsets, totalling: Totalling) -> bool:
        """Add a sample; return whether the group changed. Its members and offsets mostly did not."""
        seen = self.seen
        if (
            self.topics is not None
            and not offsets.hidden
            and seen == (offsets.group, offsets.commits)
            and totalling.are_current(offsets.logs, self.topics)
        ):
            last = self.samples[-1]
            self.equal += 1
            self._append(last._replace(at=at, reading=last.reading._replace(at=at)), _UNCHANGED)
            return False
        group = offsets.group
        totals, self.topics = totalling.of(offsets)
        self.seen = group, offsets.commits
        self.equal = 1
        members = members_of(group)
        reading = Reading(
            at, totals.places, totals.committed, totals.ends, totals.starts, totals.epochs, totals.topic_ids, members
        )
        now = Sample(at, group.state, None if members is None else len(members), group.type or "", totals, reading)
        self._append(now, self._compare(now) if self.samples else _UNCHANGED)
        return True

    def _append(self, sample: Sample, changed: frozenset[str]) -> None:
        total = sample.totals.total_lag
        continues = bool(self.samples) and sample.reading.continues(self.samples[-1].reading)
        self.unbroken = min(SAMPLED, self.unbroken + 1) if continues else 1
        if not continues:
            self.began = sample.reading
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
        self._static_members = StaticMembers()
        self.is_partial = True
        """Whether groups may exist that were never reported: no poll was complete so far."""

    def add(self, at: int, groups: Iterable[GroupOffsets], unanswered: Iterable[GroupId] | None = ()) -> list[WatchRow]:
        """Add a sample; return the row of each group, sorted by group ID.

        :param unanswered: groups that may exist, but were not reported: they keep their last row, as stale. ``None``: a
            broker was not available, so this applies to all missing groups. Other missing groups were deleted, and are
            dropped.
        """
        totalling, seen = Totalling(), set()
        for offsets in groups:
            name = offsets.group.group
            seen.add(name)
            history = self._groups.get(name)
            if history is None:
                history = self._groups[name] = _History()
            if history.add(at, offsets, totalling):
                self._rebalances.add(offsets.group)
                self._static_members.add(at, offsets.group)
        kept = None if unanswered is None else {*unanswered, *seen}
        if kept is not None and kept <= self._groups.keys():
            self.is_partial = False
        for name in [name for name in self._groups if kept is not None and name not in kept]:
            del self._groups[name]
            self._rebalances.drop(name)
            self._static_members.drop(name)
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
        now, totals = samples[-1], samples[-1].totals
        readings = [sample.reading for sample in samples][-history.unbroken :]
        written, consumed = rates_of(readings[-RATED:])
        idle = history.equal >= history.unbroken
        future = _outlook(totals, readings, history.began, shared=now.type == GroupType.SHARE, idle=idle)
        lag, since = history.known or (None, None)
        known = totals.known._replace(stale=True) if stale else totals.known
        return WatchRow(
            name,
            now.state,
            now.members,
            totals.total_lag,
            written,
            consumed,
            future.left,
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
            future.falls_behind,
            totals.ahead,
            totals.data_lost,
            self._static_members.shared(name, at),
            future.steady,
            history.judge(known, future.trend),
        )


_UNCHANGED: frozenset[str] = frozenset()
_NO_AGE = Milliseconds(0)


def _outlook(
    totals: Totals, readings: Sequence[Reading], began: Reading | None, *, shared: bool, idle: bool
) -> Outlook:
    """Return what becomes of the lag of a group.

    :param began: the first reading that these continue, if it is not among them.
    :param shared: whether it is a share group, whose members finish records in any order.
    :param idle: whether the readings differ only in their times.
    """
    at_end = Outlook(Milliseconds(0) if totals.total_lag == 0 else None)
    last = readings[-1]
    if shared or (totals.total_lag is None and not (totals.known_lag and last.members == frozenset())):
        return at_end
    if totals.known_lag and idle:
        return Outlook(falls_behind=len(readings) > 1 and last.members == frozenset())
    lags = [None if end is None else end - committed for end, committed in zip(last.ends, last.committed, strict=True)]
    if not any(lags):
        return at_end
    return outlook(readings, lags, began)
