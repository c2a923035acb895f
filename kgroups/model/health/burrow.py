"""The verdict on a partition over a window, by Burrow's rules.

https://github.com/linkedin/Burrow/wiki/Consumer-Lag-Evaluation-Rules defines them for consecutive commits. Here, each
sample contains the committed offset and the log end offset at the same moment. Therefore, "no commit" must be known
from another source: the records of ``__consumer_offsets``, or otherwise whether the group has members.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from ..status import Status


class Verdict(StrEnum):
    """Burrow's verdicts, best first."""

    OK = "OK"
    UNKNOWN = "UNKNOWN"
    WARN = "WARN"
    """The group commits and moves, but its lag only grows."""
    STOP = "STOP"
    """The group lags, and there was no commit in the window."""
    STALL = "STALL"
    """The group lags, and commits the same offset repeatedly."""
    REWIND = "REWIND"
    """The group moved back, and has not yet reached its previous offset again."""

    @property
    def status(self) -> Status:
        """The status of a group with this verdict, which also has its severity."""
        return _STATUSES[self]


_STATUSES = {
    Verdict.OK: Status.OK,
    Verdict.UNKNOWN: Status.UNKNOWN,
    Verdict.WARN: Status.FALLING_BEHIND,
    Verdict.STOP: Status.STUCK,
    Verdict.STALL: Status.STUCK,
    Verdict.REWIND: Status.MOVED_BACK,
}

NEED_PROOF = frozenset({Verdict.WARN, Verdict.STOP, Verdict.STALL})
"""Verdicts that are wrong if only transaction markers are left to read."""


class OffsetSample(NamedTuple):
    """One partition at one moment; ``None``: unknown, or no commit."""

    committed: int | None
    end: int | None


def verdict(samples: Sequence[OffsetSample], *, committing: bool | None = None) -> Verdict:
    """Return the verdict on one partition.

    :param samples: samples, oldest first. A sample counts only if both offsets are known. If the log end offset of the
        last one is unknown, only REWIND can be determined.
    :param committing: whether there was a commit in the window; ``None``: unknown. It matters only if the offset has
        not changed.
    """
    known = [
        (sample.committed, sample.end) for sample in samples if sample.committed is not None and sample.end is not None
    ]
    offsets = [committed for committed, _ in known]
    lags = [end - committed for committed, end in known]
    if any(later < before for before, later in pairwise(offsets)) and offsets[-1] < max(offsets):
        return Verdict.REWIND
    if samples and samples[-1].end is None:
        return Verdict.UNKNOWN
    if any(lag <= 0 for lag in lags):
        return Verdict.OK
    if len(known) < 2:
        return Verdict.UNKNOWN
    if len({sample.committed for sample in samples} - {None}) == 1:
        return Verdict.STALL if committing else Verdict.STOP
    if all(later >= before for before, later in pairwise(lags)):
        return Verdict.WARN
    return Verdict.OK
