"""The definition of time lag: the age of the first record that a group has not consumed."""

from __future__ import annotations

from typing import NamedTuple

from .duration import Milliseconds
from .lag import AHEAD
from .offsets import LogOffsets

NOTHING_UNREAD = "no record is unread: only transaction markers, aborted records or compacted offsets"
NO_TIMESTAMP = "the record has no timestamp"

CLOCK_SKEW = 60_000
"""Milliseconds by which the clocks of producers, brokers, and this machine may differ. An age below 0 within it is 0; a
time further in the future is wrong, and so is every age that is computed from it."""

IN_FUTURE = "its time is in the future"

OLDEST = 31_536_000_000
"""The end of 1970. Earlier times are wrong: 0, or seconds taken for milliseconds."""


def time_fault(at: int, now: int) -> str | None:
    """Return why a time cannot be true, or ``None``; both in milliseconds since 1970."""
    if at - now > CLOCK_SKEW:
        return IN_FUTURE
    return "its time is in 1970 or earlier" if at < OLDEST <= now else None


def ago(at: int, now: int) -> str:
    """Return ``5m ago``, or why the time cannot be true."""
    return time_fault(at, now) or f"{Milliseconds(max(0, now - at))} ago"


def age_of(at: int, now: int) -> Milliseconds | None:
    """Return the age of something with this time, at least 0; ``None`` if the time cannot be true."""
    return None if time_fault(at, now) else Milliseconds(max(0, now - at))


class Position(NamedTuple):
    """The next offset that a group reads in one partition."""

    topic: str
    partition: int
    offset: int


class FirstUnread(NamedTuple):
    """The first record at or after a position that a consumer would receive.

    ``offset`` is ``None`` if no such record exists. ``timestamp`` is in milliseconds since 1970, set by the producer,
    or by the broker if the topic uses LogAppendTime. ``failed``: why the record is unknown. ``crc``: the checksum of
    its batch, as the broker stores it, if requested.
    """

    offset: int | None = None
    timestamp: int | None = None
    failed: str | None = None
    crc: int | None = None


class TimeLag(NamedTuple):
    """The age (``None`` if unknown), and a remark to show with it."""

    age: Milliseconds | None
    remark: str | None = None


def position(topic: str, partition: int, committed: int | None, log: LogOffsets) -> Position | None:
    """Return where to read for the time lag; ``None`` if reading is not needed or would not help.

    A group whose commit is below the log start offset continues with the first existing record.
    """
    start, end = log
    if committed is None or end is None or committed >= end:
        return None
    return Position(topic, partition, committed if start is None else max(committed, start))


def time_lag(lag: int | None, unread: FirstUnread | None, now: int) -> TimeLag:
    """Return the age of the first unread record.

    It is 0 only if no record is unread: a record of the same millisecond, or of a clock that is ahead by at most
    :data:`CLOCK_SKEW`, is 1 old. It is unknown if the time of the record cannot be true.

    :param lag: the lag in records at the position of ``unread``.
    :param now: milliseconds since 1970.
    """
    if lag is None:
        return TimeLag(None)
    if lag <= 0:
        return TimeLag(None if lag else Milliseconds(0), AHEAD if lag else None)
    if unread is None:
        return TimeLag(None)
    if unread.failed is not None:
        return TimeLag(None, unread.failed)
    if unread.offset is None:
        return TimeLag(Milliseconds(0), NOTHING_UNREAD)
    if unread.timestamp is None:
        return TimeLag(None, NO_TIMESTAMP)
    if fault := time_fault(unread.timestamp, now):
        return TimeLag(None, f"offset {unread.offset:,}: {fault}")
    return TimeLag(Milliseconds(max(1, now - unread.timestamp)))
