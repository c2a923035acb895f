"""Compact samples of groups, for repeated polls that keep the last known values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import Group, GroupId
from kgroups.model.lag import is_epoch_ahead
from kgroups.model.offsets import Logs
from kgroups.model.status import Status, judge_status
from kgroups.model.unread_count import UNKNOWN, UnreadCount
from kgroups.model.views.lag_summary import (
    Ages,
    By,
    count_of,
    count_unknown,
    headroom_of,
    lag_is_unknown,
    reads_on_at,
    shares,
    time_of,
)
from kgroups.model.views.offset_row import GroupOffsets

from .log_ends import LogEnds

Seconds = float


class PolledGroup(NamedTuple):
    """What one poll returned about a group; times in milliseconds since 1970."""

    offsets: GroupOffsets
    now: int
    ages: Ages
    committed_at: Mapping[tuple[str, int], int] | None = None


class PartitionSample(NamedTuple):
    """One partition of a group; times in seconds since 1970.

    ``lag_at``: when ``lag`` was known. ``unread_since``: when the first unread record was appended.
    ``unchanged_since``: the first poll with this committed offset, or ``start``, the start offset of a share group,
    which is at least as old. ``headroom``: how long the first unread record is retained at least. ``unread``: the
    number of unread records.
    """

    topic: str
    partition: int
    offset: int | None
    lag: int | None
    lag_at: Seconds
    unread_since: Seconds | None
    unchanged_since: Seconds | None
    committed_at: Seconds | None
    headroom: Seconds | None = None
    unread: UnreadCount = UNKNOWN
    start: int | None = None


class Assigned(NamedTuple):
    """The number of members that have partitions of a topic, and of these partitions."""

    members: int
    partitions: int


class GroupSample(NamedTuple):
    """One group; ``partitions`` are those with a committed offset, or of share groups, with a start offset.

    ``total_lag``, ``known_lag``, ``lag_seconds``, ``headroom``: as in the lag view; last known values if ``stale``.
    ``method``: how the times of unread records were found: ``record`` or ``sampled``.
    ``described``: ``False`` if only the name is known, and ``unknown``, the number of partitions with unknown lag.
    """

    name: GroupId
    polled_at: Seconds
    unknown: int
    stale: bool = False
    described: bool = True
    state: str = ""
    type: str = ""
    protocol_type: str = ""
    protocol: str = ""
    coordinator: int = -1
    members: int | None = None
    total_lag: int | None = None
    known_lag: int | None = None
    lag_seconds: Seconds | None = None
    method: str = "sampled"
    partitions: tuple[PartitionSample, ...] = ()
    headroom: Seconds | None = None
    unread: UnreadCount = UNKNOWN
    ahead: int = 0
    """Partitions with a commit beyond the end of the log."""
    left: int = 0
    """Partitions of topics that no member subscribes to; they are not among the others."""
    pending: int | None = None
    """Partitions with an offset in an open transaction."""
    uncommitted: frozenset[str] = frozenset()
    """Topics with partitions of unknown lag because they have no commit."""
    assigned: Mapping[str, Assigned] | None = None
    """What members have, by topic; ``None`` if it is unknown."""
    idle: int | None = None
    """Members without a partition."""
    epoch_ahead: int | None = None
    """Partitions with a commit of a later leader epoch than theirs: Java consumers read nothing there."""
    status: Status = Status.UNKNOWN
    """As in the lag view; unknown if the last poll did not report the group."""
    left_lag: int | None = 0
    """The known number of unread records on topics that no member subscribes to; ``None`` if it is unknown."""

    def held(self, now: Seconds, keep: Seconds) -> GroupSample:
        """Return the sample for a poll that did not reach the group: its last values, or only its name."""
        unknown = max(1, len(self.partitions), self.unknown)
        if not self.described or now - self.polled_at > keep:
            return GroupSample(self.name, self.polled_at, unknown, stale=True, described=False)
        return self._replace(stale=True, unknown=unknown, status=Status.UNKNOWN)


class LogSample(NamedTuple):
    """The offsets of one log."""

    topic: str
    partition: int
    start: int | None
    end: int | None


def sample_logs(logs: Logs) -> tuple[LogSample, ...]:
    """Return the offsets of all logs, sorted."""
    return tuple(
        LogSample(topic, partition, offsets.start, offsets.end)
        for topic, partitions in sorted(logs.offsets.items())
        for partition, offsets in sorted(partitions.items())
    )


def sample(polled: PolledGroup, ends: LogEnds, last: GroupSample | None, keep: Seconds) -> GroupSample:
    """Return the sample of a group.

    :param last: the sample of the previous poll. Its lags are kept for partitions whose log end offset is now unknown.
    :param keep: for at most this many seconds.
    """
    group, now = polled.offsets.group, polled.now / 1000
    (share,) = shares(polled.offsets, By.GROUP)
    rows, tally = share.counted, share.tally(polled.ages)
    unknown = count_unknown(rows)
    before: Mapping[tuple[str, int], PartitionSample] = {
        (each.topic, each.partition): each
        for each in (last.partitions if last else ())
        if each.topic not in ends.recreated
    }
    partitions, held = [], 0
    for row in {(row.topic, row.partition): row for row in rows if reads_on_at(row) is not None}.values():
        place = row.topic or "", row.partition or 0
        past, lag, lag_at = before.get(place), row.lag, now
        if lag is None and past is not None and past.lag is not None and now - past.lag_at <= keep:
            lag, lag_at, held = past.lag, past.lag_at, held + 1
        is_same = past and (past.offset, past.start) == (row.current_offset, row.start_offset)
        unchanged = past.unchanged_since if past and is_same else now
        committed = polled.committed_at.get(place) if polled.committed_at is not None else None
        partitions.append(
            PartitionSample(
                *place,
                row.current_offset,
                lag,
                lag_at,
                _unread_since(polled, ends, place, reads_on_at(row), lag, time_of(row, polled.ages).age),
                unchanged,
                committed / 1000 if committed is not None else None,
                _seconds(headroom_of(row, polled.ages).least) if polled.ages.retention else None,
                count_of(row, polled.ages) if polled.ages.counts is not None else UNKNOWN,
                row.start_offset,
            )
        )
    undecoded = any(row.topic is None and row.note is not None for row in rows)
    known = [max(0, each.lag) for each in partitions if each.lag is not None]
    facts = share.known(tally)
    whole = tally.total_lag is not None or bool(held and held == unknown and not (undecoded or share.hidden))
    return GroupSample(
        group.group,
        now,
        unknown,
        bool(held),
        True,
        group.state,
        group.type or "",
        group.protocol_type,
        group.protocol,
        group.coordinator.id,
        None if group.members is None else len(group.members),
        (tally.total_lag if not held else sum(known)) if whole else None,
        sum(known) if held else tally.known_lag,
        _oldest(tally.time_lag_ms, polled, partitions, whole),
        "record" if polled.ages.now else "sampled",
        tuple(partitions),
        _seconds(tally.headroom_ms),
        UnreadCount(tally.unread_min, tally.unread_max),
        tally.ahead,
        len({(row.topic, row.partition) for row in share.rows if row.topic in share.left}),
        None if polled.offsets.commits.pending is None else len(polled.offsets.commits.pending),
        frozenset(row.topic for row in rows if row.topic and reads_on_at(row) is None and lag_is_unknown(row)),
        *_assigned(group),
        _epoch_ahead(polled.offsets),
        judge_status(facts).status,
        facts.left.unread or (None if facts.left.unknown else 0),
    )


def _epoch_ahead(offsets: GroupOffsets) -> int | None:
    """Return the number of partitions with a commit of another log; ``None`` if no leader epoch is known."""
    epochs = offsets.logs.epochs
    found = [
        is_epoch_ahead(commit.leader_epoch, epochs[topic].get(commit.partition))
        for topic, commits in offsets.commits.topics.items()
        if topic in epochs
        for commit in commits
    ]
    return sum(found) if found else None


def _assigned(group: Group) -> tuple[Mapping[str, Assigned] | None, int | None]:
    """Return what members have, by topic, and the number of members without a partition."""
    if group.members is None or any(member.assignment.raw for member in group.members):
        return None, None
    sizes: dict[str, list[int]] = {}
    for entry in (entry for member in group.members for entry in member.assignment.topics if entry.partitions):
        sizes.setdefault(entry.topic, []).append(len(entry.partitions))
    assigned = {topic: Assigned(len(each), sum(each)) for topic, each in sorted(sizes.items())}
    return assigned, sum(not member.assignment.size for member in group.members)


def _seconds(ms: int | None) -> Seconds | None:
    return None if ms is None else ms / 1000


def _unread_since(
    polled: PolledGroup, ends: LogEnds, place: tuple[str, int], offset: int | None, lag: int | None, age_ms: int | None
) -> Seconds | None:
    if polled.ages.now:
        return None if age_ms is None else (polled.now - age_ms) / 1000
    if lag is None or offset is None:
        return None
    return polled.now / 1000 if lag <= 0 else ends.appended(place, offset)


def _oldest(age_ms: int | None, polled: PolledGroup, partitions: list[PartitionSample], whole: bool) -> Seconds | None:
    if polled.ages.now:
        return None if age_ms is None else age_ms / 1000
    times = [each.unread_since for each in partitions]
    known = [time for time in times if time is not None]
    return polled.now / 1000 - min(known) if whole and known and len(known) == len(times) else None
