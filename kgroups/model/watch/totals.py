"""The lag and the offsets of one group in one refresh.

A refresh may contain 10,000 groups, so the usual group is summed up without rows: see :meth:`Totalling.of`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..groups import Group, GroupType
from ..offsets import Logs
from ..views.lag_summary import By, count_unknown, is_attended, reads_on_at, shares, tally_of
from ..views.offset_row import GroupOffsets

Place = tuple[str, int]
Places = tuple[tuple[str, tuple[int, ...]], ...]
"""Partitions: topics with the numbers of their partitions."""


class Totals(NamedTuple):
    """The lag of a group as in the lag view, and the offsets of the partitions that it consumes.

    ``committed`` and ``ends`` have an element for each of the ``places``. ``logs_unknown``: whether an end is unknown.
    """

    total_lag: int | None
    known_lag: int | None
    unknown_partitions: int
    logs_unknown: bool
    places: Places
    committed: tuple[int, ...]
    ends: tuple[int | None, ...]

    def committed_at(self) -> dict[Place, int]:
        """Return the committed offsets by partition."""
        return dict(zip(_flat(self.places), self.committed, strict=True))

    def ends_at(self) -> dict[Place, int]:
        """Return the known log end offsets by partition."""
        pairs = zip(_flat(self.places), self.ends, strict=True)
        return {place: end for place, end in pairs if end is not None}


class TopicEnds(NamedTuple):
    """All partitions of a topic, with known log end offsets and, as far as they are reported, leader epochs."""

    places: Places
    partitions: frozenset[int]
    ends: tuple[int, ...]
    epochs: tuple[int | None, ...]


Topics = tuple[TopicEnds, ...]


class Totalling:
    """Sums up the groups of one refresh; groups that consume the same topics share their log end offsets."""

    def __init__(self) -> None:
        self._topics: dict[tuple[int, str, tuple[int, ...]], TopicEnds | None] = {}

        self._current: dict[tuple[int, int], bool] = {}
        self._logs: dict[int, Logs] = {}  # whose IDs must not be used again

    def of(self, offsets: GroupOffsets) -> tuple[Totals, Topics | None]:
        """Return the totals of a group, and those of its topics, if the shortcut for the usual group applies."""
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

        ``None`` for other groups, and for those whose members own other partitions.
        """
        group, commits, logs, _ = offsets
        if group.type == GroupType.SHARE or commits.unset or not commits.topics:
            return None
        places: Places = ()
        committed: tuple[int, ...] = ()
        ends: tuple[int, ...] = ()
        topics: dict[str, TopicEnds] = {}
        for topic, entries in commits.topics.items():
            partitions, values, epochs, _ = zip(*entries, strict=True)
            whole = self._whole(logs, topic, partitions)
            if whole is None or _any_newer(epochs, whole.epochs):
                return None
            places, committed, ends = (
                (places + whole.places, committed + values, ends + whole.ends)
                if places
                else (whole.places, values, whole.ends)
            )
            topics[topic] = whole
        if not _owns_only(group, topics, offsets.topics):
            return None
        lag = sum(ends) - sum(committed)
        return Totals(lag, lag, 0, False, places, committed, ends), tuple(topics.values())

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
    if not len(ends) == len(numbers) == len(partitions) == len(log):
        return None
    return TopicEnds(((topic, partitions),), numbers, tuple(ends), tuple(map(epochs.get, partitions)))


def _any_newer(epochs: tuple[int | None, ...], current: tuple[int | None, ...]) -> bool:
    """Return whether a commit is newer than the leader epoch: see :func:`..lag.is_recreated`."""
    return epochs != current and any(
        mine and now is not None and mine > now for mine, now in zip(epochs, current, strict=True)
    )


def _owns_only(group: Group, whole: Mapping[str, TopicEnds], topics: frozenset[str]) -> bool:
    """Return whether all partitions that are assigned are among those of these topics."""
    for member in group.members or ():
        assignment = member.assignment
        if assignment.raw:
            return False
        for topic, numbers in assignment.topics:
            if topics and topic not in topics:
                continue
            if topic not in whole or not whole[topic].partitions.issuperset(numbers):
                return False
    return True


def _from_rows(offsets: GroupOffsets) -> Totals:
    attended = is_attended(offsets.group)
    rows = [row for share in shares(offsets, By.GROUP) for row in share.rows]
    tally = tally_of(rows, attended=attended)
    read = {
        (row.topic, row.partition): (at, row.log_end_offset)
        for row in rows
        if row.topic is not None and row.partition is not None and (at := reads_on_at(row)) is not None
    }
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(read):
        by_topic.setdefault(topic, []).append(partition)
    places = tuple((topic, tuple(partitions)) for topic, partitions in by_topic.items())
    values = [read[place] for place in _flat(places)]
    return Totals(
        tally.total_lag,
        tally.known_lag,
        count_unknown(rows, attended),
        tally.unknown > 0,
        places,
        tuple(at for at, _ in values),
        tuple(end for _, end in values),
    )


def _flat(places: Places) -> list[Place]:
    return [(topic, partition) for topic, partitions in places for partition in partitions]
