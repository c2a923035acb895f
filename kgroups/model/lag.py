"""The definition of lag; no other module computes it.

A total adds only what is unread. Commits beyond the log end are counted apart: they make up for no other partition.
"""

from __future__ import annotations

from .counts import count
from .offsets import LogOffsets


def compute_lag(committed: int | None, end: int | None) -> int | None:
    """Return the number of records between the committed offset and the log end offset.

    It is not clamped: a negative lag shows that the commit is beyond the end of the log. Without a commit or a log end
    offset, the lag is ``None``: unknown, not zero.
    """
    return None if committed is None or end is None else end - committed


AHEAD = "committed beyond the end of the log"
AHEAD_OF_STABLE = "committed beyond the last stable offset"

RECREATED = "the topic was deleted and created again since the commit"
EPOCH_AHEAD = (
    "the leader epoch of the commit is later than that of the partition: the topic was deleted and created again, or "
    "the commit is of another topic; Java consumers read nothing"
)


def is_epoch_ahead(committed: int | None, current: int | None) -> bool:
    """Return whether a commit has a leader epoch that its partition has not reached, so that it belongs to another log.

    Within one topic, the leader epoch of a partition only increases; a new topic starts at 0. Nothing is proved if an
    epoch is unknown, or if that of the new topic has caught up.
    """
    return committed is not None and current is not None and committed > current


def diverged_remark(at: int, committed: int) -> str:
    """Return what the log has instead of records that a group read: the epoch of the commit ends before its offset."""
    where = f"offset {at}" if at + 1 == committed else f"offsets {at} to {committed - 1}"
    return f"log truncated: the records at {where} were replaced after the group read them"


def waiting_remark(number: int) -> str:
    """Return how many offsets a consumer with ``read_committed`` cannot read yet."""
    return f"{count(number, 'offset waits', 'offsets wait')} behind an open transaction"


def remark(committed: int | None, log: LogOffsets, high: int | None = None) -> str | None:
    """Return what is wrong with a committed offset relative to the log, or ``None``.

    :param high: the high watermark, if the log ends at the last stable offset.
    """
    start, end = log
    if committed is None:
        return None
    if start is not None and committed < start:
        return f"data lost: {start - committed} offsets deleted before they were read"
    if end is not None and committed > end:
        return AHEAD_OF_STABLE if high is not None and committed <= high else AHEAD
    return None
