"""Committed offsets, and the log offsets that they refer to. A missing value is ``None``, never -1."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from enum import IntEnum, StrEnum
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, cast

from .groups import GroupId
from .outcome import Failure


def place_name(topic: str, partition: int) -> str:
    """Return ``orders-3``; ``orders partition -1`` for a number that no partition has, but that clients may commit."""
    return f"{topic}-{partition}" if partition >= 0 else f"{topic} partition {partition}"


class Isolation(IntEnum):
    """Which end of the log to use; the values come from the protocol (KIP-98).

    READ_UNCOMMITTED: the high watermark. READ_COMMITTED: the last stable offset, after which transactions are open.
    """

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class Commit(NamedTuple):
    """One committed offset: the offset of the next record to read. ``leader_epoch`` exists since Kafka 2.1 (KIP-320).

    ``metadata`` is ``None`` if unknown: librdkafka does not report its length.
    """

    partition: int
    offset: int
    leader_epoch: int | None = None
    metadata: str | None = ""


new_commit = cast(Callable[[tuple[int, int, int | None, str | None]], Commit], partial(tuple.__new__, Commit))
"""Make a commit of all its fields. Half the time of the class: a million commits pass here."""


PlanKey = tuple[GroupId, str, int]
"""Group, topic, and partition."""

Move = Commit | None
"""The new state of a partition: a commit, or none."""


class InFlight(NamedTuple):
    """A batch of a group outside Kafka that is being processed, and where it ends, by topic and partition."""

    batch: int
    ends: Mapping[tuple[str, int], int]


class GroupCommits(NamedTuple):
    """All commits of one group, by topic, without partitions that have no commit.

    ``unset`` are the partitions whose committed offset is -1. ``pending`` are those with an offset in an open
    transaction, which replaces the commit when the transaction commits (KIP-447, Kafka 2.5); ``None`` if unknown. They
    include only partitions with a commit, unless partitions were named.

    A share group (KIP-932) has no commits; here they are the start offsets that brokers keep for it. Then ``unset`` are
    the partitions without a start offset, ``lags`` the lags that brokers report, and ``failures`` why a start offset is
    unknown.
    """

    group: GroupId
    topics: Mapping[str, tuple[Commit, ...]]
    unset: Mapping[str, tuple[int, ...]] = MappingProxyType({})
    lags: Mapping[tuple[str, int], int] = MappingProxyType({})
    failures: Mapping[tuple[str, int], Failure] = MappingProxyType({})
    pending: Set[tuple[str, int]] | None = None
    in_flight: InFlight | None = None
    """Of a group outside Kafka; its positions are those before this batch."""


class LogOffsets(NamedTuple):
    """Log start offset and log end offset of a partition; ``None`` if not requested or not available."""

    start: int | None = None
    end: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the log is known to have no offsets."""
        return self.start is not None and self.start == self.end


class LogProblem(StrEnum):
    """Why the log of a partition cannot be read by any consumer."""

    MISSING = "missing"
    LEADERLESS = "leaderless"
    UNRESPONSIVE = "unresponsive"


class Logs(NamedTuple):
    """Log offsets of many partitions, and in ``holes`` the partitions whose log could not be read, with the reason.

    ``epochs`` are the current leader epochs, by topic and partition (Kafka 2.1). ``topic_ids`` are the topic IDs (Kafka
    2.8). Both contain only what brokers report. ``stable``: whether the ends are last stable offsets (KIP-98), beyond
    which consumers that do not skip open transactions commit. Then ``high`` are the high watermarks, by topic and
    partition. ``problems``: of the partitions in ``holes`` that no consumer can read, too. ``epoch_ends``: the offsets
    after the last records of earlier leader epochs, by topic, partition, and epoch, if they were requested. ``sizes``:
    the numbers of partitions of topics, as far as they are known.
    """

    offsets: Mapping[str, Mapping[int, LogOffsets]] = MappingProxyType({})
    holes: Mapping[tuple[str, int], str] = MappingProxyType({})
    epochs: Mapping[str, Mapping[int, int]] = MappingProxyType({})
    topic_ids: Mapping[str, int] = MappingProxyType({})
    stable: bool = False
    problems: Mapping[tuple[str, int], LogProblem] = MappingProxyType({})
    high: Mapping[str, Mapping[int, int]] = MappingProxyType({})
    epoch_ends: Mapping[tuple[str, int, int], int] = MappingProxyType({})
    sizes: Mapping[str, int] = MappingProxyType({})

    def waiting(self, topic: str, partition: int, committed: int) -> int:
        """Return the number of offsets after a committed one that a transaction hides, which is open before them."""
        end = self.offsets.get(topic, {}).get(partition, LogOffsets()).end
        high = self.high.get(topic, {}).get(partition)
        return 0 if end is None or high is None else max(0, high - max(end, committed))

    def holes_of(self, topic: str, known: Collection[int]) -> list[int]:
        """Return the partitions of a topic whose log could not be read, unless another source knows their state."""
        if not self.holes:  # as for nearly all results
            return []
        number, found = 0, []
        last = max((*known, *self.offsets.get(topic, ())), default=-1)
        while number <= last or (topic, number) in self.holes:  # partitions have consecutive numbers
            if (topic, number) in self.holes and number not in known:
                found.append(number)
            number += 1
        return found
