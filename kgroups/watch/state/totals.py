"""The lag and the offsets of one group in one refresh.

A refresh may contain 10,000 groups, so the usual group is summed up without rows: see :meth:`Totalling.of`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from operator import gt
from typing import NamedTuple

from kgroups.model.groups import Group, GroupType
from kgroups.model.offsets import Logs
from kgroups.model.rates import Places
from kgroups.model.status import Known
from kgroups.model.subscriptions import left_topics
from kgroups.model.views.lag_summary import By, count_unknown, reads_on_at, shares
from kgroups.model.views.offset_row import GroupOffsets


class Totals(NamedTuple):
    """The lag of a group as in the lag view, and the offsets of the partitions that it consumes.

    ``committed``, ``ends``, ``starts``, and ``epochs`` have an element for each of the ``places``, ``topic_ids`` one
    for each topic. ``logs_unknown``: whether an end is unknown.
    """

    total_lag: int | None
    known_lag: int | None
    unknown_partitions: int
    logs_unknown: bool
    places: Places
    committed: tuple[int, ...]
    ends: tuple[int | None, ...]
    starts: tuple[int | None, ...]
    epochs: tuple[int | None, ...]
    topic_ids: tuple[int | None, ...]
    known: Known
    """What the status of the group in the lag view follows from."""
    ahead: int = 0
    """Partitions with a commit beyond the end of the log."""
    data_lost: int = 0
    """Partitions with a commit below the start of the log: records were deleted before they were read."""


class TopicEnds(NamedTuple):
    """All partitions of a topic, with known log end offsets and, as far as they are reported, epochs and topic ID."""

    places: Places
    partitions: frozenset[int]
    ends: tuple[int, ...]
    starts: tuple[int | None, ...]
    epochs: tuple[int | None, ...]
    topic_id: int | None


Topics = tuple[TopicEnds, ...]


class Totalling:
    """Sums up the groups of one refresh; groups that consume the same topics share their log end offsets."""

    def __init__(self) -> None:
        self._topics: dict[tuple[int, str, tuple[int, ...]], TopicEnds | None] = {}

        self._current: dict[tuple[int, int], bool] = {}
        self._logs: dict[int, Logs] = {}  # whose IDs must not be used again

    def of(self, offsets: GroupOffsets) -> tuple[Totals, Topics | None]:
        """Return the totals of a group and of its topics, if the shortcut for the usual group applies."""
        return self._usual(offsets) or (_from_rows(offsets), None)

    def are_current(self, logs: Logs, topics: Topics) -> bool:
        """Return whether topics of an earlier refresh have not changed."""
        for topic in topics:
            key = id(logs), id(topic)
            current = self._current.get(key)
            if current is None:
                ((name, partitions),) = topic.places
                current = self._current[key] = self._whole(logs, name, partitions) == topic
            if not current:
                return False
        return True

    def _usual(self, offsets: GroupOffsets) -> tuple[Totals, Topics] | None:
        """Return the totals of a group with commits on all partitions of its topics, and known log end offsets.

        ``None`` for other groups, those whose members own other partitions, and those with hidden commits.
        """
        group, commits, logs, _, hidden = offsets
        if hidden or group.type == GroupType.SHARE or commits.unset or not commits.topics:
            return None
        if logs.stable or commits.pending:  # an open transaction may hide unread records
            return None
        committed: tuple[int, ...] = ()
        topics: dict[str, TopicEnds] = {}
        for topic, entries in commits.topics.items():
            partitions, values, epochs, _ = zip(*entries, strict=True)
            whole = self._whole(logs, topic, partitions)
            if whole is None or _any_newer(epochs, whole.epochs):
                return None
            committed = committed + values if topics else values
            topics[topic] = whole
        if not _owns_only(group, topics, offsets.topics):
            return None
        every = tuple(topics.values())
        places, _, ends, starts, current, _ = every[0] if len(every) == 1 else _joined(every)
        if any(map(gt, committed, ends)) or _any_newer(starts, committed):  # ahead of a log, or records were lost
            return None
        lag = sum(ends) - sum(committed)
        if lag and group.members and _owned(group, topics) < len(committed):
            return None
        ids = tuple(topic.topic_id for topic in every)
        known = Known(group.state, None if group.members is None else len(group.members), lag, lag)
        return Totals(lag, lag, 0, False, places, committed, ends, starts, current, ids, known), every

    def _whole(self, logs: Logs, topic: str, partitions: tuple[int, ...]) -> TopicEnds | None:
        key = id(logs), topic, partitions
        if key not in self._topics:
            self._logs[id(logs)] = logs
            self._topics[key] = _whole_topic(logs, topic, partitions)
        return self._topics[key]


def _whole_topic(logs: Logs, topic: str, partitions: tuple[int, ...]) -> TopicEnds | None:
    log, epochs = logs.offsets.get(topic, {}), logs.epochs.get(topic, {})
    ends = [offsets.end for partition in partitions if (offsets := log.get(partition)) and offsets.end is not None]
    numbers = frozenset(partitions)
    if not len(ends) == len(numbers) == len(partitions) == len(log) or logs.holes_of(topic, numbers):
        return None
    starts = tuple(log[partition].start for partition in partitions)
    current = tuple(map(epochs.get, partitions))
    return TopicEnds(((topic, partitions),), numbers, tuple(ends), starts, current, logs.topic_ids.get(topic))


def _joined(topics: Topics) -> TopicEnds:
    """Return the partitions of several topics as if they were one."""
    fields = [tuple(chain.from_iterable(each)) for each in zip(*((t[0], *t[2:5]) for t in topics), strict=True)]
    places, ends, starts, epochs = fields
    return TopicEnds(places, frozenset(), ends, starts, epochs, None)


def _any_newer(epochs: tuple[int | None, ...], current: tuple[int | None, ...]) -> bool:
    """Return whether a commit is newer than the leader epoch, or a log start offset than a commit."""
    return epochs != current and any(
        mine and now is not None and mine > now for mine, now in zip(epochs, current, strict=True)
    )


def _owns_only(group: Group, whole: Mapping[str, TopicEnds], topics: frozenset[str]) -> bool:
    """Return whether these topics have exactly the partitions of the group.

    They include all that are assigned or subscribed to, and the group has left no topic.
    """
    if left_topics(group, whole):
        return False
    for member in group.members or ():
        if any(topic not in whole and (not topics or topic in topics) for topic in member.subscription.topics):
            return False
        assignment = member.assignment
        if assignment.raw:
            return False
        for topic, numbers in assignment.topics:
            if topics and topic not in topics:
                continue
            if topic not in whole or not whole[topic].partitions.issuperset(numbers):
                return False
    return True


def _owned(group: Group, whole: Mapping[str, TopicEnds]) -> int:
    """Count the partitions of these topics that members have."""
    return sum(
        len(numbers) for member in group.members or () for topic, numbers in member.assignment.topics if topic in whole
    )


def _from_rows(offsets: GroupOffsets) -> Totals:
    (share,) = shares(offsets, By.GROUP)
    rows, tally = share.counted, share.tally()
    read = {
        (row.topic, row.partition): (at, row.log_end_offset, row.log_start_offset)
        for row in rows
        if row.topic is not None and row.partition is not None and (at := reads_on_at(row)) is not None
    }
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(read):
        by_topic.setdefault(topic, []).append(partition)
    places = tuple((topic, tuple(partitions)) for topic, partitions in by_topic.items())
    flat = [(topic, partition) for topic, partitions in places for partition in partitions]
    values = [read[place] for place in flat]
    epochs, topic_ids = offsets.logs.epochs, offsets.logs.topic_ids
    return Totals(
        tally.total_lag,
        tally.known_lag,
        count_unknown(rows),
        tally.unknown > 0,
        places,
        tuple(at for at, _, _ in values),
        tuple(end for _, end, _ in values),
        tuple(start for _, _, start in values),
        tuple(epochs.get(topic, {}).get(partition) for topic, partition in flat),
        tuple(topic_ids.get(topic) for topic in by_topic),
        share.known(tally),
        tally.ahead,
        tally.data_lost,
    )
