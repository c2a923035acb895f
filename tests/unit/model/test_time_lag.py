from __future__ import annotations

import pytest

from kgroups.model.lag import AHEAD
from kgroups.model.offsets import LogOffsets
from kgroups.model.time_lag import (
    CLOCK_SKEW,
    NO_TIMESTAMP,
    NOTHING_UNREAD,
    FirstUnread,
    Position,
    TimeLag,
    position,
    time_lag,
)

NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    ("committed", "start", "end", "offset"),
    [
        (5, 0, 10, 5),
        (5, 7, 10, 7),
        (5, None, 10, 5),
        (10, 0, 10, None),
        (11, 0, 10, None),
        (None, 0, 10, None),
        (5, 0, None, None),
    ],
)
def test_position_is_the_first_unread_offset(
    committed: int | None, start: int | None, end: int | None, offset: int | None
) -> None:
    expected = None if offset is None else Position("t", 1, offset)
    assert position("t", 1, committed, LogOffsets(start, end)) == expected


@pytest.mark.parametrize(
    ("lag", "unread", "age", "remark"),
    [
        (5, FirstUnread(7, NOW - 3000), 3000, None),
        (5, FirstUnread(7, NOW + CLOCK_SKEW), 1, None),
        (5, FirstUnread(7, NOW + CLOCK_SKEW + 1), None, "offset 7: its time is in the future"),
        (5, FirstUnread(7, NOW * 1000), None, "offset 7: its time is in the future"),
        (5, FirstUnread(7, NOW // 1000), None, "offset 7: its time is in 1970 or earlier"),
        (5, FirstUnread(7, 0), None, "offset 7: its time is in 1970 or earlier"),
        (5, FirstUnread(7, NOW), 1, None),
        (5, FirstUnread(7), None, NO_TIMESTAMP),
        (5, FirstUnread(), 0, NOTHING_UNREAD),
        (5, FirstUnread(failed="its broker is gone"), None, "its broker is gone"),
        (5, None, None, None),
        (0, None, 0, None),
        (-5, None, None, AHEAD),
        (None, None, None, None),
    ],
)
def test_time_lag_is_zero_only_if_nothing_is_unread(
    lag: int | None, unread: FirstUnread | None, age: int | None, remark: str | None
) -> None:
    assert time_lag(lag, unread, NOW) == TimeLag(age, remark)  # type: ignore[arg-type]  # a number equals its like
