"""Committed offsets, and the logs that they point into. Absent is ``None``, never -1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, cast

from .groups import GroupId
from .outcome import Failure


class Isolation(IntEnum):
    """Whose end of the log: the high watermark, or the last stable offset, behind which transactions are open
    (KIP-98). The values are the wire's."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


class Commit(NamedTuple):
    """One committed offset: the next record that the group would read. ``leader_epoch`` since Kafka 2.1 (KIP-320).

    ``metadata`` of ``None`` is unknown: librdkafka does not report where it ends.
    """

    partition: int
    offset: int
    leader_epoch: int | None = None
    metadata: str | None = ""


new_commit = cast(Callable[[tuple[int, int, int | None, str | None]], Commit], partial(tuple.__new__, Commit))
"""Make a commit of all its fields. Half the time of the class: a million commits pass here."""


PlanKey = tuple[GroupId, str, int]
"""Group, topic, partition."""

Move = Commit | None
"""What a partition is to have: a commit, or none."""


class GroupCommits(NamedTuple):
    """All that one group has committed, by topic; partitions without a commit are not in it.

    ``unset`` are partitions of which the committed offset is -1.

    A share group (KIP-932) commits nothing: its commits are the start offsets that the brokers keep for it. ``unset``
    are partitions that it has without one, ``lags`` what the brokers tell of each, ``failures`` why one is not known.
    """

    group_id: GroupId
    topics: Mapping[str, tuple[Commit, ...]]
    unset: Mapping[str, tuple[int, ...]] = MappingProxyType({})
    lags: Mapping[tuple[str, int], int] = MappingProxyType({})
    failures: Mapping[tuple[str, int], Failure] = MappingProxyType({})


class LogOffsets(NamedTuple):
    """Where one partition's log starts and ends; each ``None`` where it was not asked for or nobody could say."""

    start: int | None = None
    end: int | None = None


class Logs(NamedTuple):
    """Start and end of many partitions' logs, and the partitions that could not be read, with the reason.

    ``epochs`` are the current leader epochs, by topic and partition (Kafka 2.1), ``topic_ids`` the IDs of the topics
    (Kafka 2.8), as far as brokers report them.
    """

    offsets: Mapping[str, Mapping[int, LogOffsets]] = MappingProxyType({})
    holes: Mapping[tuple[str, int], str] = MappingProxyType({})
    epochs: Mapping[str, Mapping[int, int]] = MappingProxyType({})
    topic_ids: Mapping[str, int] = MappingProxyType({})
