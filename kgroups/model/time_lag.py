"""What lag in time is: the age of the first record that a group has not consumed."""

from __future__ import annotations

from typing import NamedTuple

from .duration import Milliseconds
from .offsets import LogOffsets

NOTHING_UNREAD = "no record is unread: only transaction markers, aborted records or compacted offsets"
NO_TIMESTAMP = "the record has no timestamp"


class Position(NamedTuple):
    """Where a group reads on in one partition."""

    topic: str
    partition: int
    offset: int


class FirstUnread(NamedTuple):
    """The first record at or behind a position that a consumer would be given.

    ``offset`` is ``None`` where there is none up to the end of the log. ``timestamp`` is in milliseconds since 1970, as
    the producer gave it, or the broker where the topic says LogAppendTime. ``failed``: why nobody could say.
    """

    offset: int | None = None
    timestamp: int | None = None
    failed: str | None = None


class TimeLag(NamedTuple):
    """An age, which is ``None`` where it is unknown, and what is to be said of it."""

    age: Milliseconds | None
    remark: str | None = None


def position(topic: str, partition: int, committed: int | None, log: LogOffsets) -> Position | None:
    """The place to look at for lag in time; ``None`` where no look is needed, or none would help.

    A commit below the start of the log is read on from the first record that is left.
    """
    start, end = log
    if committed is None or end is None or committed >= end:
        return None
    return Position(topic, partition, committed if start is None else max(committed, start))


def time_lag(lag: int | None, unread: FirstUnread | None, now: int) -> TimeLag:
    """The age at ``now`` (milliseconds since 1970) of what was found at the position of a commit, ``lag`` behind.

    0 exactly when nothing is unread: a record of this very millisecond is 1 old. Not clamped: one that is dated in the
    future has a negative age.
    """
    if lag is None:
        return TimeLag(None)
    if lag <= 0:
        return TimeLag(None if lag else Milliseconds(0))  # ahead of the log: the offsets' own remark tells it
    if unread is None:
        return TimeLag(None)
    if unread.failed is not None:
        return TimeLag(None, unread.failed)
    if unread.offset is None:
        return TimeLag(Milliseconds(0), NOTHING_UNREAD)
    if unread.timestamp is None:
        return TimeLag(None, NO_TIMESTAMP)
    return TimeLag(Milliseconds(now - unread.timestamp or 1))
