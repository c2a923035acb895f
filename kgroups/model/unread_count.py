"""The number of unread records: those between a position and the end of the log that a consumer would receive."""

from __future__ import annotations

from typing import NamedTuple


class UnreadCount(NamedTuple):
    """At least ``least`` and at most ``most`` records; both are ``None`` if unknown, and ``reason`` is why.

    They differ if reading stopped before the end of the log; ``reason`` is then where.
    """

    least: int | None = None
    most: int | None = None
    reason: str | None = None


FINISHED = "a share group can have finished any of the records after its start offset"
NONE = UnreadCount(0, 0)
UNKNOWN = UnreadCount()


def total(counts: list[UnreadCount], whole: bool) -> UnreadCount:
    """Return the sum of several partitions; it is unknown if one of them is.

    :param whole: whether these are all partitions.
    """
    least = [each.least for each in counts if each.least is not None]
    most = [each.most for each in counts if each.most is not None]
    if not whole or not counts or len(least) < len(counts) or len(most) < len(counts):
        return UNKNOWN
    return UnreadCount(sum(least), sum(most))
