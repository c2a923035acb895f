"""Sums of unread records."""

from __future__ import annotations

import pytest

from kgroups.model.unread_count import NONE, UNKNOWN, UnreadCount, total


@pytest.mark.parametrize(
    ("counts", "whole", "expected"),
    [
        ([UnreadCount(3, 3), UnreadCount(4, 9, "stopped"), NONE], True, UnreadCount(7, 12)),
        ([UnreadCount(3, 3), UnreadCount(reason="no leader")], True, UNKNOWN),
        ([UnreadCount(3, 3)], False, UNKNOWN),
        ([], True, UNKNOWN),
    ],
)
def test_total_is_unknown_if_a_partition_is(counts: list[UnreadCount], whole: bool, expected: UnreadCount) -> None:
    assert total(counts, whole) == expected
