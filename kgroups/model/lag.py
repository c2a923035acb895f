"""What lag is. Here and nowhere else."""

from __future__ import annotations

from .offsets import LogOffsets


def compute_lag(committed: int | None, end: int | None) -> int | None:
    """Records between the commit and the end of the log.

    Not clamped: negative means that the commit lies beyond the log, a fact worth showing. ``None`` where there is no
    commit or no end: unknown, not zero.
    """
    return None if committed is None or end is None else end - committed


RECREATED = "the topic was deleted and created again since the commit"


def is_recreated(committed: int | None, current: int | None) -> bool:
    """Tell by leader epochs whether a commit belongs to an earlier topic of the same name.

    Within one topic the epoch of a partition only grows. A new topic starts at 0 again: where its epoch has caught up,
    epochs cannot tell, and neither where one is unknown.
    """
    return committed is not None and current is not None and committed > current


def remark(committed: int | None, log: LogOffsets) -> str | None:
    """What is wrong with a commit's place in the log, in words; ``None`` when nothing is."""
    start, end = log
    if committed is None:
        return None
    if start is not None and committed < start:
        return f"data lost: {start - committed} offsets deleted before they were read"
    if end is not None and committed > end:
        return "committed beyond the end of the log"
    return None
