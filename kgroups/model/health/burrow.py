"""How a partition fares over a window, by Burrow's rules.

https://github.com/linkedin/Burrow/wiki/Consumer-Lag-Evaluation-Rules says them for commits in their order of time. Here
the samples are looks at the committed offset and the end of the log at the same moments, so that "no commit" has to be
known from elsewhere: from the records of ``__consumer_offsets``, or else from whether anybody is there to commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple


class Verdict(StrEnum):
    """In Burrow's words; worse ones behind."""

    OK = "OK"
    UNKNOWN = "UNKNOWN"
    WARN = "WARN"
    """It commits and moves, and its lag only grows."""
    STOP = "STOP"
    """It is behind, and nobody has committed for it in the window."""
    STALL = "STALL"
    """It is behind, and commits the same offset again and again."""
    REWIND = "REWIND"
    """It has gone back, and not yet got to where it was."""


NEED_PROOF = frozenset({Verdict.WARN, Verdict.STOP, Verdict.STALL})
"""Verdicts on a group that is behind: wrong where all that is left are transaction markers."""


class Look(NamedTuple):
    """One partition at one moment; ``None`` is unknown, or no commit."""

    committed: int | None
    end: int | None


def verdict(looks: Sequence[Look], *, committing: bool | None = None) -> Verdict:
    """The verdict on one partition.

    :param looks: in their order of time. Those of which the offset or the end is unknown do not count; the last one
        has to be known, or only a step back can be told.
    :param committing: whether anything was committed for it in the window; ``None`` where nobody knows.
        It matters only where the offset has not moved.
    """
    known = [(look.committed, look.end) for look in looks if look.committed is not None and look.end is not None]
    offsets = [committed for committed, _ in known]
    lags = [end - committed for committed, end in known]
    if any(later < before for before, later in pairwise(offsets)) and offsets[-1] < max(offsets):
        return Verdict.REWIND
    if looks and looks[-1].end is None:
        return Verdict.UNKNOWN
    if any(lag <= 0 for lag in lags):
        return Verdict.OK
    if len(known) < 2:
        return Verdict.UNKNOWN
    if len(set(offsets)) == 1:
        return Verdict.STALL if committing else Verdict.STOP
    if all(later >= before for before, later in pairwise(lags)):
        return Verdict.WARN
    return Verdict.OK
