"""How fast groups consume and producers write, and whether a lag grows: the only definition of rates and directions.

All follow from readings: offsets that were observed at the same moments. Consumption and production have the same span.
They are unknown if something other than consumption and production may have happened between two readings: an offset
that was set (brokers accept commits of clients that are not members only while a group has no members), a topic that
was recreated, or unread records that were deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from .duration import Milliseconds
from .groups import Group
from .offsets import GroupCommits, Logs
from .status import Trend

Place = tuple[str, int]
"""Topic and partition."""

Places = tuple[tuple[str, tuple[int, ...]], ...]
"""Partitions: topics with the numbers of their partitions."""


class Reading(NamedTuple):
    """Partitions of a group at one moment, in milliseconds; the offsets and epochs are in the order of ``places``.

    ``members``: the member IDs; ``None``: unknown. ``topic_ids``: in the order of the topics.
    """

    at: int
    places: Places
    committed: tuple[int, ...]
    ends: tuple[int | None, ...]
    starts: tuple[int | None, ...]
    epochs: tuple[int | None, ...]
    topic_ids: tuple[int | None, ...]
    members: frozenset[str] | None

    def is_same_log(self, before: Reading) -> bool:
        """Return whether no topic was recreated, no log was truncated, and no partition was added since a reading."""
        if self.at <= before.at or self.places != before.places or _any_change(before.topic_ids, self.topic_ids):
            return False
        return not _any_less(self.ends, before.ends) and not _any_less(self.epochs, before.epochs)

    def continues(self, before: Reading) -> bool:
        """Return whether only members and producers can have changed the offsets since a reading.

        A member that is in both was a member all the time, because a member that returns has another ID.
        """
        if not self.is_same_log(before):
            return False
        if self.committed == before.committed:
            return True
        if not self.members or not before.members or not self.members & before.members:
            return False
        if _any_less(self.committed, before.committed) or self.has_lost(before) or self._may_have_lost(before):
            return False
        return not _any_less(before.ends, before.committed)

    def has_lost(self, before: Reading) -> bool:
        """Return whether records were deleted that were unread at a reading."""
        return _any_less(before.committed, self.starts)

    def _may_have_lost(self, before: Reading) -> bool:
        """Return whether an offset changed on a partition whose log start offset is unknown, as without a leader."""
        moved = zip(before.committed, self.committed, self.starts, strict=True)
        return None in self.starts and any(start is None and old != now for old, now, start in moved)

    def of(self, at: int, place: Place) -> Reading:
        """Return the reading of the partition at an index."""
        names = [topic for topic, _ in self.places]
        one = slice(at, at + 1)
        ids = (self.topic_ids[names.index(place[0])],)
        places = ((place[0], (place[1],)),)
        return Reading(
            self.at,
            places,
            self.committed[one],
            self.ends[one],
            self.starts[one],
            self.epochs[one],
            ids,
            self.members,
        )


def reading_of(at: int, group: Group, commits: GroupCommits, logs: Logs, place: Place) -> Reading | None:
    """Return the reading of one partition; ``None`` without a committed offset."""
    topic, partition = place
    made = commits.topics.get(topic, ())
    committed = next((each.offset for each in made if each.partition == partition), None)
    if committed is None:
        return None
    log, epochs = logs.offsets.get(topic, {}).get(partition), logs.epochs.get(topic, {})
    return Reading(
        at,
        ((topic, (partition,)),),
        (committed,),
        (log.end if log else None,),
        (log.start if log else None,),
        (epochs.get(partition),),
        (logs.topic_ids.get(topic),),
        members_of(group),
    )


def members_of(group: Group) -> frozenset[str] | None:
    """Return the IDs of the members; ``None`` if they are unknown."""
    return None if group.members is None else frozenset(member.member_id for member in group.members)


def _any_less(values: Iterable[int | None], others: Iterable[int | None]) -> bool:
    return values != others and any(
        value is not None and other is not None and value < other for value, other in zip(values, others, strict=True)
    )


def _any_change(before: tuple[int | None, ...], now: tuple[int | None, ...]) -> bool:
    return before != now and any(old and new and old != new for old, new in zip(before, now, strict=True))


def unbroken(readings: Sequence[Reading]) -> Sequence[Reading]:
    """Return the newest readings that continue each other."""
    first = len(readings) - 1
    while first > 0 and readings[first].continues(readings[first - 1]):
        first -= 1
    return readings[max(0, first) :]


def rates_of(readings: Sequence[Reading]) -> tuple[float | None, float | None]:
    """Return the records written and consumed per second over readings that continue each other.

    Both have the same span, from the first reading with all log end offsets on. The first is unknown if the last
    reading lacks one.
    """
    last = readings[-1]
    known = None not in last.ends
    first = next(each for each in readings if not known or None not in each.ends)
    seconds = (last.at - first.at) / 1000
    if not seconds or not last.places:
        return None, None
    if first.committed is last.committed and first.ends is last.ends:
        return (0.0 if known else None), 0.0
    written = (sum(filter(None, last.ends)) - sum(filter(None, first.ends))) / seconds if known else None
    return written, (sum(last.committed) - sum(first.committed)) / seconds


SURE = 1.5
"""A time is known if the bounds of its inputs differ by less than this factor."""
USUAL = 10.0
"""A lag is usual if it is read in this number of seconds: consumers commit every 5 s by default."""
SAME = 0.1
"""A lag is the same if it cannot have changed by more than this share."""


class Direction(StrEnum):
    """The direction of a lag."""

    GREW = "grew"
    SHRANK = "shrank"
    STEADY = "steady"


class Pace(NamedTuple):
    """One partition between two commits, or, if nobody reads it, between two readings; times in milliseconds.

    ``lag_before`` and ``lag`` are its lags then, and ``least_before`` and ``least`` the least ones at the commits: some
    of the records may have been written between a commit and its reading.
    """

    since: int
    until: int
    lag_before: int
    lag: int
    least_before: int
    least: int
    consumed: int

    @property
    def direction(self) -> Direction:
        """The proven direction of the lag; a lag that may have been 0 at the last commit is steady."""
        if self.least > self.lag_before:
            return Direction.GREW
        return Direction.SHRANK if self.least > 0 and self.lag < self.least_before else Direction.STEADY

    @property
    def produced(self) -> int:
        return self.consumed + self.lag - self.lag_before

    @property
    def consumption(self) -> float:
        """Offsets per second."""
        return self.consumed * 1000 / (self.until - self.since)

    @property
    def production(self) -> float:
        """Offsets per second."""
        return self.produced * 1000 / (self.until - self.since)

    @property
    def falls_behind(self) -> bool:
        """Whether the lag grew, and exceeds the usual lag between two commits."""
        return self.direction is Direction.GREW and self.lag > self.consumption * USUAL

    def is_usual(self, lag: int) -> bool:
        """Return whether the lag was usual at both commits, and a later one still is."""
        return max(lag, self.lag, self.lag_before) <= self.consumption * USUAL

    def lasts(self, now: int) -> bool:
        """Return whether it is still that of now: commits did not stop for longer than it took to measure it."""
        return now - self.until <= max(USUAL * 1000, self.until - self.since)

    @property
    def is_same(self) -> bool:
        """Whether the lag neither grew nor shrank, as far as it matters."""
        doubt = self.lag - self.least + self.lag_before - self.least_before
        return self.direction is Direction.STEADY and doubt <= SAME * self.least

    def catch_up(self, lag: int) -> Milliseconds | None:
        """Return the time until a lag is 0 at this pace; ``None`` if it does not shrink, or by an unknown amount.

        :param lag: the lag now. One that is as large as at the first commit did not shrink.
        """
        certain, possible = self.least_before - self.lag, self.lag_before - self.least
        if self.direction is not Direction.SHRANK or possible > SURE * certain or lag >= self.least_before:
            return None
        return Milliseconds(lag * (self.until - self.since) / (self.lag_before - self.lag))

    def __str__(self) -> str:
        span = Milliseconds(self.until - self.since)
        return (
            f"in {span}, the lag went from {self.lag_before:,} to {self.lag:,}: the group consumed "
            f"{self.consumption:,.1f} and producers wrote {self.production:,.1f} offsets per second"
        )


def pace_of(readings: Sequence[Reading], at: int = 0) -> Pace | None:
    """Return the pace of the partition at an index, over readings that continue each other.

    A committed offset is behind its consumer until the next commit. Therefore, lags are compared at two commits; it is
    unknown with fewer, unless the group has no members. A commit was between two readings, and so was its lag.
    """
    known = [(reading.at, reading.committed[at], end) for reading in readings if (end := reading.ends[at]) is not None]
    if len(known) < 2 or readings[-1].ends[at] is None or any(end < committed for _, committed, end in known):
        return None
    commits = [now for now in range(1, len(known)) if known[now][1] != known[now - 1][1]]
    if len(commits) >= 2:
        first, last = commits[0], commits[-1]
    elif not commits and all(reading.members == frozenset() for reading in readings):
        first, last = 0, len(known) - 1
    else:
        return None
    (since, began, _), (until, ended, _) = known[first], known[last]
    least_before, before = _lags(known, first)
    least, lag = _lags(known, last)
    return Pace(since, until, before, lag, least_before, least, ended - began)


def may_have_paces(readings: Sequence[Reading]) -> bool:
    """Return whether :func:`pace_of` may be known for a partition; mostly it is not, and none must be looked at."""
    if all(reading.members == frozenset() for reading in readings):
        return len(readings) > 1
    return sum(now.committed != before.committed for before, now in pairwise(readings)) > 1


def _lags(known: Sequence[tuple[int, int, int]], at: int) -> tuple[int, int]:
    """Return the least and the largest lag when the offset of a reading was committed."""
    _, committed, end = known[at]
    if not at or known[at - 1][1] == committed:
        return end - committed, end - committed
    return max(0, known[at - 1][2] - committed), end - committed


def is_recent(readings: Sequence[Reading], at: int, began: Reading) -> bool:
    """Return whether all unread records of the partition at an index were written a usual time ago, at most.

    This does not show that anybody reads them. Therefore, records that were written since a reading must have been
    read, and at least as many as are unread.

    :param began: the first reading that these continue.
    """
    now, committed, first = readings[-1].at, readings[-1].committed[at], began.committed[at]
    last = readings[-1].ends[at]
    if last is None or last - committed > committed - first:
        return False
    return any(
        end is not None and first < end <= committed
        for reading in readings
        if now - reading.at <= USUAL * 1000
        for end in (reading.ends[at],)
    )


class Outlook(NamedTuple):
    """What becomes of a lag: the time until it is 0; or it is steady, falls behind, or, without any, is unknown.

    ``usual``: it is steady, and no more than what consumers leave unread between two commits.
    """

    left: Milliseconds | None = None
    steady: bool = False
    falls_behind: bool = False
    usual: bool = False

    @property
    def trend(self) -> Trend:
        """What it proves."""
        if self.falls_behind:
            return Trend.FALLING_BEHIND
        if self.steady:
            return Trend.KEEPING_UP if self.usual else Trend.STEADY
        return Trend.CATCHING_UP if self.left else Trend.UNKNOWN


def outlook(readings: Sequence[Reading], lags: Sequence[int | None], began: Reading | None = None) -> Outlook:
    """Return what becomes of the lags of a group, over readings that continue each other.

    It falls behind if one partition does, or if nobody reads. It has caught up when the slowest partition has; a usual
    lag does not count. It is steady if all lags are usual, or if one remains the same.

    :param began: the first reading that these continue, if it is not among them.
    """
    last = readings[-1]
    unread = last.members == frozenset() and any(lag and lag > 0 for lag in lags)
    with_paces = may_have_paces(readings)
    slowest, steady, known = Milliseconds(0), False, True
    for at, lag in enumerate(lags):
        if lag == 0:
            continue
        if lag is None or lag < 0:
            known = False
            continue
        pace = pace_of(readings, at) if with_paces else None
        if pace is not None and (unread or pace.falls_behind):
            return Outlook(falls_behind=True)
        if pace is not None and not pace.lasts(last.at):
            pace = None
        if pace is not None and (left := pace.catch_up(lag)) is not None:
            slowest = max(slowest, left)
        elif pace is not None and pace.is_same and not pace.is_usual(lag):
            steady = True
        elif not (pace is not None and pace.is_usual(lag)) and not is_recent(readings, at, began or readings[0]):
            known = False
    if not known or unread:
        return Outlook()
    return Outlook(steady=True, usual=not steady) if steady or not slowest else Outlook(slowest)
