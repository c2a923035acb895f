"""The lag of a group: in total, by topic, by member, or by partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from ..counts import count, some
from ..duration import Milliseconds
from ..groups import CONSUMER_PROTOCOL_TYPE, STREAMS_PROTOCOL_TYPE, Group, GroupState, GroupType
from ..headroom import NOTHING_UNREAD, Headroom, Retention, smallest
from ..lag import is_epoch_ahead, waiting_remark
from ..offsets import InFlight, LogOffsets, LogProblem, Logs, place_name
from ..status import NO_DAMAGE, NOTHING_LEFT, Damage, Known, Left, judge_status
from ..subscriptions import doubtful_topics, left_topics
from ..time_lag import FirstUnread, Position, TimeLag, position, time_lag
from ..unread_count import FINISHED, NONE, UNKNOWN, UnreadCount
from ..unread_count import total as total_count
from .lag_rows import GroupLagRow, LagRow, MemberLagRow, PartitionLagRow, Tally, TopicLagRow
from .offset_row import GroupOffsets, OffsetRow
from .offsets import offset_rows


class By(StrEnum):
    """The subject of each row, within a group."""

    GROUP = "group"
    TOPIC = "topic"
    PARTITION = "partition"
    MEMBER = "member"


LAG_ROWS = {
    By.GROUP: GroupLagRow,
    By.TOPIC: TopicLagRow,
    By.PARTITION: PartitionLagRow,
    By.MEMBER: MemberLagRow,
}
"""The class of the rows."""


class Ages(NamedTuple):
    """The first unread record at each position that was read, and when (milliseconds since 1970) they were read.

    ``retention``: that of the logs, if requested; ``unread`` then has the first records of logs whose size counts.
    ``counts``: the number of unread records at each position, if requested.
    """

    unread: Mapping[Position, FirstUnread]
    now: int
    retention: Retention | None = None
    counts: Mapping[Position, UnreadCount] | None = None


NO_AGES = Ages(MappingProxyType({}), 0)


class Share(NamedTuple):
    """The offsets that one row summarizes: of a group, or of one of its topics, members, or partitions.

    ``left`` are the topics that the group has left: no member subscribes to them. Summaries do not include them, unless
    there is nothing else in the row. ``pending`` are the partitions with an offset in an open transaction. ``hidden``:
    why partitions of the row may be missing. ``logs``: not in the shares of partitions. ``in_flight``: not in those of
    partitions, whose rows have a note.
    """

    by: By
    group: Group
    rows: tuple[OffsetRow, ...]
    left: frozenset[str] = frozenset()
    pending: Set[tuple[str, int]] = frozenset()
    hidden: str | None = None
    logs: Logs = Logs()
    in_flight: InFlight | None = None

    @property
    def counted(self) -> tuple[OffsetRow, ...]:
        """The rows, without topics that the group has left."""
        return tuple([row for row in self.rows if row.topic not in self.left]) if self.left else self.rows

    def positions(self) -> Iterator[Position]:
        """Yield the positions at which to search for the first unread record."""
        return filter(None, map(_position, self.rows))

    def ends(self) -> Iterator[tuple[tuple[str, int], int]]:
        """Yield the log end offset of each partition that has a position."""
        for row, at in zip(self.rows, map(_position, self.rows), strict=True):
            if at and row.log_end_offset is not None:
                yield (at.topic, at.partition), row.log_end_offset

    def starts(self, retention: Retention) -> Iterator[Position]:
        """Yield the starts of the logs whose first record is needed for the headroom."""
        for row, at in zip(self.rows, map(_position, self.rows), strict=True):
            if at and row.log_start_offset is not None and retention.needs_size(at.topic):
                yield at._replace(offset=row.log_start_offset)

    def row(self, ages: Ages = NO_AGES) -> LagRow:
        first = self.rows[0] if self.rows else None
        if self.by is By.PARTITION and first:
            return _partition_row(first, ages)
        tally = self.tally(ages)
        if self.by is By.TOPIC and first:
            return TopicLagRow(self.group.group, first.topic or "", *tally)
        if self.by is By.MEMBER and first:
            return MemberLagRow(
                self.group.group, first.consumer_id, first.group_instance_id, first.host, first.client_id, *tally
            )
        known = self.known(tally)
        status = judge_status(known).status.value
        return GroupLagRow(self.group.group, self.group.state, known.members, *tally, status, known.left.unread)

    def tally(self, ages: Ages = NO_AGES) -> Tally:
        """Return the sums over the counted rows, with a remark about the others."""
        counted, remarks = self.counted, []
        if not (counted or self.by is By.GROUP):
            counted = self.rows
        tally = tally_of(counted, ages, hidden=self.hidden)
        if self.pending:  # as for few groups
            remarks += pending_remark(self.pending & {(row.topic, row.partition) for row in counted})
        if self.in_flight:
            remarks.append(_in_flight_remark(self.in_flight, counted))
        if self.logs.stable and (held := held_back(counted, frozenset(), self.logs)):
            remarks.append(held_back_text(held))
        if len(counted) < len(self.rows):
            remarks.append(left_remark(self.rows, self.left, left_of(self.rows, self.left, self.logs)))
        return tally._replace(note="; ".join(filter(None, (tally.note, *remarks)))) if remarks else tally

    def known(self, tally: Tally) -> Known:
        """Return what the share of a whole group shows about its status.

        :param tally: that of the share.
        """
        members = None if self.group.members is None else len(self.group.members)
        rows = self.counted
        unknown = count_unknown(rows) if tally.total_lag is None else 0
        damage = _damage(self, rows, tally)
        held = held_back_text(held_back(rows, self.pending, self.logs))
        left = left_of(self.rows, self.left, self.logs) if self.left else NOTHING_LEFT
        return Known(
            self.group.state, members, tally.total_lag, tally.known_lag, unknown, damage, left=left, held_back=held
        )


def shares(offsets: GroupOffsets, by: By) -> list[Share]:
    """Return the shares of one group, sorted: one for the whole group, or one per topic, partition, or member.

    A member without partitions has a share. The partitions without an owner have one, the last. Partitions are those
    with a commit or an owner, and those of the same topics, and of topics that members subscribe to, whose log offsets
    are in ``offsets``.

    Offsets on one topic are hidden all together, and members have their partitions even then: only the share of the
    whole group and that of the partitions without an owner may lack hidden ones.
    """
    group, flight = offsets.group, offsets.commits.in_flight
    left, pending = left_topics(group, offsets.commits.topics), offsets.commits.pending or frozenset()
    rows = [*offset_rows(offsets), *_without_commit_or_owner(offsets)]
    if by is By.GROUP:
        return [Share(by, group, tuple(rows), left, pending, offsets.hidden, offsets.logs, flight)]
    if by is By.MEMBER:
        rows.sort(key=lambda row: (row.consumer_id is None, row.consumer_id or "", row.topic or "", row.partition or 0))
        parts = _split(rows, lambda row: row.consumer_id)
        return [
            Share(by, group, part, left, pending, None if part[0].consumer_id else offsets.hidden, offsets.logs, flight)
            for part in parts
        ]
    rows = sorted((row for row in rows if row.topic is not None), key=lambda row: (row.topic or "", row.partition or 0))
    if by is By.TOPIC:
        return [
            Share(by, group, part, left, pending, logs=offsets.logs, in_flight=flight)
            for part in _split(rows, lambda row: row.topic)
        ]
    return [Share(by, group, (row,), left) for row in rows]


def _split(rows: Iterable[OffsetRow], key: Callable[[OffsetRow], object]) -> Iterator[tuple[OffsetRow, ...]]:
    return (tuple(some) for _, some in groupby(rows, key))


def _without_commit_or_owner(offsets: GroupOffsets) -> Iterator[OffsetRow]:
    """Yield the partitions of the group's topics that have neither a commit nor an owner."""
    for topic, known in group_topics(offsets).items():
        logs = offsets.logs.offsets.get(topic, {})
        for partition in sorted({*logs, *offsets.logs.holes_of(topic, known)} - known):
            log = logs.get(partition, LogOffsets())
            yield OffsetRow(
                offsets.group.group,
                topic=topic,
                partition=partition,
                log_start_offset=log.start,
                log_end_offset=log.end,
                note=offsets.logs.holes.get((topic, partition)),
            )


def group_topics(offsets: GroupOffsets) -> dict[str, set[int]]:
    """Return the topics of the group, with the partitions that have a commit or an owner."""
    found: dict[str, set[int]] = {}
    for topic, commits in offsets.commits.topics.items():
        found.setdefault(topic, set()).update(map(_partition, commits))
    for topic, partitions in offsets.commits.unset.items():
        found.setdefault(topic, set()).update(partitions)
    if offsets.group.type == GroupType.SHARE:  # its members do not own the partitions assigned to them
        return found
    for member in offsets.group.members or ():
        for entry in member.assignment.topics:
            if not offsets.topics or entry.topic in offsets.topics:
                found.setdefault(entry.topic, set()).update(entry.partitions)
    for topic in offsets.group.subscribed_topics():
        if topic not in found and (not offsets.topics or topic in offsets.topics):
            found[topic] = set()
    return found


def lag_is_unknown(row: OffsetRow, *, allow_uncommitted: bool = False) -> bool:
    """Return whether the number of unread records of a partition is unknown.

    Without a committed offset, it is: members may read the partition from any offset, and so may those that are not
    running now. An empty log has no unread records.

    :param allow_uncommitted: nothing is unread on partitions without a committed offset.
    """
    if row.lag is not None:
        return False
    if reads_on_at(row) is not None:
        return True
    return not allow_uncommitted and (row.log_start_offset is None or row.log_start_offset != row.log_end_offset)


def count_unknown(rows: Iterable[OffsetRow]) -> int:
    """Count the partitions whose lag is unknown."""
    partitions = {(row.topic, row.partition): row for row in rows if row.topic is not None}
    return sum(lag_is_unknown(row) for row in partitions.values())


def pending_remark(pending: Set[tuple[str, int]]) -> list[str]:
    """Return which offsets are in an open transaction; an empty list if none is."""
    if not pending:
        return []
    names = [place_name(*place) for place in sorted(pending)]
    return [f"an open transaction has offsets of {count(len(names), 'partition')}: {some(names)}"]


def _in_flight_remark(flight: InFlight, rows: Iterable[OffsetRow]) -> str:
    """Return which batch is being processed, and up to where."""
    ends = {(row.topic or "", row.partition or 0) for row in rows if row.topic is not None} & flight.ends.keys()
    shown = some([f"{place_name(*place)} at {flight.ends[place]:,}" for place in sorted(ends)])
    return f"batch {flight.batch} is in flight" + (f" up to {shown}" if shown else "")


def held_back(rows: Iterable[OffsetRow], pending: Set[tuple[str, int]], logs: Logs) -> Mapping[tuple[str, int], str]:
    """Return the partitions with a lag that does not show whether records are unread, and why.

    Records may follow the last stable offset. An offset in an open transaction may replace one behind which nothing is
    unread.
    """
    found: dict[tuple[str, int], str] = {}
    if not (pending or logs.stable):  # as for nearly all groups
        return found
    for row in rows:
        at = reads_on_at(row)
        if row.lag is None or at is None or row.topic is None or row.partition is None:
            continue
        place = row.topic, row.partition
        if waiting := logs.waiting(*place, at):
            found[place] = waiting_remark(waiting)
        elif row.lag <= 0 and place in pending:
            found[place] = "an open transaction has an offset that may replace the commit"
    return found


def held_back_text(held: Mapping[tuple[str, int], str]) -> str:
    """Return the reasons with their partitions; ``""`` if there are none."""
    return some([f"{place_name(*place)}: {why}" for place, why in sorted(held.items())]) if held else ""


def left_remark(rows: Sequence[OffsetRow], left: frozenset[str], unread: Left) -> str:
    """Return how many partitions a summary leaves out, why, and whether records are unread there.

    :param unread: what :func:`left_of` returns about these topics.
    """
    pairs = {(row.topic, row.partition) for row in rows if row.topic in left}
    topics = sorted({topic for topic, _ in pairs if topic is not None})
    text = f"not included: {count(len(pairs), 'partition')} of topics that no member subscribes to: {some(topics)}"
    return "; ".join(filter(None, (text, unread.text("there"))))


def left_of(rows: Iterable[OffsetRow], left: frozenset[str], logs: Logs, *, allow_uncommitted: bool = False) -> Left:
    """Return what is unread on the topics that a group has left; nothing on partitions that do not exist.

    :param allow_uncommitted: see :func:`lag_is_unknown`.
    """
    lags: dict[tuple[str, int], int | None] = {}
    for row in rows:
        if row.topic in left and row.topic is not None and row.partition is not None:
            place = row.topic, row.partition
            if row.lag is not None:
                lags[place] = row.lag if row.lag >= 0 else None  # a commit of an earlier topic
            elif logs.problems.get(place) is not LogProblem.MISSING:
                lags[place] = None if lag_is_unknown(row, allow_uncommitted=allow_uncommitted) else 0
    topics = sorted({topic for (topic, _), lag in lags.items() if lag != 0})
    if not topics:
        return NOTHING_LEFT
    return Left(tuple(topics), sum(filter(None, lags.values())), list(lags.values()).count(None))


def tally_of(
    rows: Iterable[OffsetRow], ages: Ages = NO_AGES, *, allow_uncommitted: bool = False, hidden: str | None = None
) -> Tally:
    """Sum up partitions, each once, even if several members claim it.

    Only unread records count: a lag below 0 is counted as ``ahead``, and does not make up for other partitions. The
    total is ``None`` if the lag of any partition is unknown, or if no lag is known: the sum of the others would be too
    low. Then the time lag is ``None``, too, and so is the maximum unless a known lag is above 0.

    :param allow_uncommitted: see :func:`lag_is_unknown`.
    :param hidden: why partitions may be missing, whose lag is unknown, too.
    """
    rows = list(rows)
    undecoded = len([row for row in rows if row.topic is None and row.note is not None])
    partitions = {(row.topic, row.partition): row for row in rows if row.topic is not None}.values()
    placed = [(at, row) for row in partitions if (at := reads_on_at(row)) is not None]
    known = [(lag, row) for row in partitions if (lag := row.lag) is not None]
    lags = [lag for lag, _ in known]
    unread_lags = [lag for lag in lags if lag > 0]
    total = sum(unread_lags) if lags else None
    missing: list[OffsetRow] = []
    if len(known) < len(partitions):
        missing = [row for row in partitions if lag_is_unknown(row, allow_uncommitted=allow_uncommitted)]
    whole = not (undecoded or missing or hidden)
    most = max(lags, default=None)
    worst = None if most is None or most < 0 or (most == 0 and not whole) else known[lags.index(most)]
    age, remarks = _oldest([time_of(row, ages) for _, row in placed] if ages.now else [], whole)
    room, more = _headroom([row for _, row in placed], ages, whole)
    unread, uncounted = _unread([row for _, row in placed], ages, whole)
    remarks += [*more, *uncounted]
    least = [f"lag at least {total:,}"] if total and total > 0 and not whole else []
    if hidden:
        remarks.append(hidden)
    if undecoded:
        remarks.append(f"assignments not decoded: {undecoded:,}")
    holes = [row.note for _, row in placed if row.lag is None and row.note]
    reasons = _counted(holes, "lag unknown")
    if without := len([row for row in missing if reads_on_at(row) is None]):
        reasons.append(f"{count(without, 'partition')} without a committed offset")
    starts = [(at, row.log_start_offset) for at, row in placed if row.lag is not None]
    return Tally(
        total_lag=total if whole else None,
        max_lag=worst[0] if worst else None,
        max_topic=worst[1].topic if worst else None,
        max_partition=worst[1].partition if worst else None,
        partitions=len(partitions),
        behind=len(unread_lags),
        uncommitted=len(partitions) - len(placed),
        unknown=len(placed) - len(known),
        ahead=len([row for lag, row in known if lag < 0 and is_ahead(row)]),
        data_lost=len([at for at, start in starts if start is not None and at < start]),
        time_lag_ms=age,
        note="; ".join((*least, *reasons, *remarks)) or None,
        known_lag=total,
        headroom_ms=room.least,
        headroom_max_ms=room.most,
        headroom_by=room.by,
        unread_min=unread.least,
        unread_max=unread.most,
    )


def _damage(share: Share, rows: Sequence[OffsetRow], tally: Tally) -> Damage:
    """Return the partitions that are wrong; nearly all groups have none, and need no pass over each row."""
    found: dict[str, set[tuple[str, int]]] = {}
    if tally.ahead or tally.data_lost or tally.total_lag is None or share.logs.epoch_ends:
        for row in rows:
            if row.topic is not None and row.partition is not None and (word := _wrong(row, share.logs)):
                found.setdefault(word, set()).add((row.topic, row.partition))
    if tally.total_lag != 0 and (unassigned := _unassigned(share.group, rows, share.logs)):
        found["unassigned"] = unassigned
    return Damage(**{word: tuple(sorted(places)) for word, places in found.items()}) if found else NO_DAMAGE


def _wrong(row: OffsetRow, logs: Logs) -> str | None:
    """Return the field of :class:`Damage` that a partition belongs to."""
    place, at = (row.topic or "", row.partition or 0), reads_on_at(row)
    if problem := logs.problems.get(place):
        was_there = at is not None or row.consumer_id is not None
        missing = "missing" if was_there else "never_seen"
        return {LogProblem.MISSING: missing, LogProblem.LEADERLESS: "leaderless"}.get(problem)
    if is_epoch_ahead(row.leader_epoch, logs.epochs.get(place[0], {}).get(place[1])):
        return "recreated"
    if row.lag is None or at is None:
        return None
    if is_ahead(row):
        return "ahead"
    if row.diverged_at is not None:
        return "truncated"
    return "lost" if row.log_start_offset is not None and at < row.log_start_offset else None


def _unassigned(group: Group, rows: Sequence[OffsetRow], logs: Logs) -> set[tuple[str, int]]:
    """Return the partitions that no member of a stable group has, although records are, or may be, unread."""
    if group.state != GroupState.STABLE or not group.members or group.protocol_type not in _WITH_OWNERS:
        return set()
    owned = {(row.topic, row.partition) for row in rows if row.consumer_id}
    free = {
        (row.topic, row.partition)
        for row in rows
        if row.topic is not None and row.partition is not None and (row.lag is None or row.lag > 0)
        if (row.topic, row.partition) not in owned and (row.lag is not None or lag_is_unknown(row))
    }
    free -= {place for place, problem in logs.problems.items() if problem is LogProblem.MISSING}
    if not free or any(member.assignment.raw for member in group.members):
        return set()
    doubtful = doubtful_topics(group, {topic for topic, _ in free})
    return {place for place in free if place[0] not in doubtful}


_WITH_OWNERS = frozenset({CONSUMER_PROTOCOL_TYPE, STREAMS_PROTOCOL_TYPE})
"""Protocol types whose members own partitions alone."""


def time_of(row: OffsetRow, ages: Ages) -> TimeLag:
    """Return the age of the first unread record of one partition."""
    if ages.now and row.lag is not None and row.lag < 0 and not is_ahead(row):
        return TimeLag(Milliseconds(0))
    place = _position(row)
    return time_lag(row.lag, ages.unread.get(place) if place else None, ages.now) if ages.now else TimeLag(None)


def headroom_of(row: OffsetRow, ages: Ages) -> Headroom:
    """Return the time until the first unread record of one partition is deleted."""
    place = _position(row)
    if place is None or ages.retention is None:
        return Headroom(by=NOTHING_UNREAD if row.lag == 0 else None)
    return ages.retention.headroom(place, _log(row), ages.unread, ages.now)


def _headroom(rows: list[OffsetRow], ages: Ages, whole: bool) -> tuple[Headroom, list[str]]:
    """Return the smallest headroom, and what to note about it."""
    if ages.retention is None:
        return Headroom(), []
    each = [headroom_of(row, ages) for row in rows]
    least, known = smallest(each, whole)
    labels = Counter(one.remark for one in each if one.by and one.remark)
    unknown = [
        one.remark
        for one, row in zip(each, rows, strict=True)
        if one.by is None and one.remark and one.remark != time_of(row, ages).remark  # shown once
    ]
    notes = [f"{label} ({count(number, 'partition')})" for label, number in labels.items()]
    return least, [*filter(None, [known]), *_counted(unknown, "headroom unknown"), *notes]


def count_of(row: OffsetRow, ages: Ages) -> UnreadCount:
    """Return the number of unread records of one partition."""
    place = _position(row)
    if place is None or ages.counts is None:
        return NONE if row.lag == 0 else UNKNOWN
    found = ages.counts.get(place, UNKNOWN)
    if found.most and row.current_offset is None:  # a share group, whose members finish records in any order
        return UnreadCount(0, found.most, FINISHED)
    return found


def _unread(rows: list[OffsetRow], ages: Ages, whole: bool) -> tuple[UnreadCount, list[str]]:
    """Return the number of unread records of several partitions, and why it is not exact."""
    if ages.counts is None:
        return UNKNOWN, []
    each = [count_of(row, ages) for row in rows]
    unknown = [
        one.reason
        for one, row in zip(each, rows, strict=True)
        if one.reason and one.least is None and one.reason != time_of(row, ages).remark  # shown once
    ]
    stopped = Counter(one.reason for one in each if one.reason and one.least is not None)
    notes = [f"{reason} ({count(number, 'partition')})" for reason, number in stopped.items()]
    return total_count(each, whole), [*_counted(unknown, "unread records unknown"), *notes]


def _oldest(times: list[TimeLag], whole: bool) -> tuple[Milliseconds | None, list[str]]:
    """Return the largest age, or ``None`` and the reasons if one is unknown, after the largest known age."""
    ages = [time.age for time in times if time.age is not None]
    reasons = [time.remark for time in times if time.age is None and time.remark]
    oldest = max(filter(None, ages), default=Milliseconds(0)) if ages else None
    if whole and len(ages) == len(times):
        return oldest, []
    least = [f"time lag at least {oldest}"] if oldest is not None and oldest > 0 else []
    return None, least + _counted(reasons, "time lag unknown")


def _counted(reasons: Sequence[str], what: str) -> list[str]:
    """Return each reason, with the number of partitions that it holds for."""
    if not reasons:  # as for nearly all groups: an empty Counter takes longer than the rest of the summary
        return []
    return [f"{what} of {count(number, 'partition')}: {reason}" for reason, number in Counter(reasons).items()]


def is_ahead(row: OffsetRow) -> bool:
    """Return whether a commit is beyond the end of the log; beyond the last stable offset, records can follow."""
    if row.lag is None or row.lag >= 0:
        return False
    return row.high_watermark is None or row.current_offset is None or row.current_offset > row.high_watermark


def reads_on_at(row: OffsetRow) -> int | None:
    """Return the next offset that the group reads: its committed offset, or the start offset of a share group."""
    return row.start_offset if row.current_offset is None else row.current_offset


_partition = attrgetter("partition")


def _position(row: OffsetRow) -> Position | None:
    if row.topic is None or row.partition is None:
        return None
    return position(row.topic, row.partition, reads_on_at(row), _log(row))


def _log(row: OffsetRow) -> LogOffsets:
    return LogOffsets(row.log_start_offset, row.log_end_offset)


def _partition_row(row: OffsetRow, ages: Ages) -> PartitionLagRow:
    age, remark = time_of(row, ages)
    room = headroom_of(row, ages) if ages.retention else Headroom()
    unread = count_of(row, ages) if ages.counts is not None else UNKNOWN
    note = "; ".join(dict.fromkeys(filter(None, (row.note, remark, room.remark, unread.reason))))
    return PartitionLagRow(
        group=row.group,
        topic=row.topic or "",
        partition=row.partition or 0,
        current_offset=row.current_offset,
        log_start_offset=row.log_start_offset,
        log_end_offset=row.log_end_offset,
        lag=row.lag,
        time_lag_ms=age,
        consumer_id=row.consumer_id,
        host=row.host,
        client_id=row.client_id,
        group_instance_id=row.group_instance_id,
        note=note or None,
        start_offset=row.start_offset,
        headroom_ms=room.least,
        headroom_max_ms=room.most,
        headroom_by=room.by,
        unread_min=unread.least,
        unread_max=unread.most,
    )
