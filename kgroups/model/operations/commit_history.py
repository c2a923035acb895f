"""The commits of one partition in the log of its group: when it made progress, and when its next commit is overdue."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ..stays import Stay
from .committing import OF_A_CLIENT, OVERDUE, CommitMade, Pair, Rhythm, rhythm_of

STUCK_AFTER = 30_000
"""Default milliseconds without progress after which a partition is stuck; consumers commit every 5 s by default."""
PAUSES = 3
"""Commits that are at most half of this multiple of the limit apart are a rhythm."""
RARE = 7_200
"""Seconds: if there are many commits, those that are at most half of this apart are a rhythm, too."""


class History(NamedTuple):
    """The commits of one partition and the membership changes of its group, oldest first, as far as the log was read.

    ``changes``: the times of membership records. ``since``: the time of the oldest record that was read, if older ones
    were left out. ``stays``: who was a member when.
    """

    commits: Sequence[CommitMade] = ()
    changes: Sequence[int] = ()
    since: int | None = None
    stays: Sequence[Stay] = ()

    @property
    def last(self) -> int | None:
        """The time of the last commit."""
        return self.commits[-1][0] if self.commits else None

    def same(self, committed: int) -> Sequence[CommitMade]:
        """Return the last commits, without another offset in between, if they are of this offset."""
        first = len(self.commits)
        while first and self.commits[first - 1][1] == committed:
            first -= 1
        return self.commits[first:]

    def gap(self, committed: int) -> int:
        """Return the longest time between two commits of the same members, up to the first one of this offset."""
        return self._longest_pause(self.commits[: len(self.commits) - max(0, len(self.same(committed)) - 1)])

    def longest_pause(self) -> int:
        """Return the longest time between two commits of the same members, of any offsets."""
        return self._longest_pause(self.commits)

    def _longest_pause(self, commits: Sequence[CommitMade]) -> int:
        pairs = pairwise(time for time, _ in commits)
        return max((after - before for before, after in pairs if not self._changed(before, after)), default=0)

    def _changed(self, before: int, after: int) -> bool:
        """Return whether members changed between two times; nobody may have read then."""
        return bisect_left(self.changes, before) < bisect_right(self.changes, after)

    def outsider(self, pair: Pair, now: int, stuck_after: int = STUCK_AFTER) -> Rhythm | None:
        """Return the commits of a client that is not a member, or resets, since members changed, if they may go on."""
        made = {pair: self.of_present_members()}
        rare = rhythm_of(made, now, RARE)
        return rhythm_of(made, now, PAUSES * stuck_after / 1000) or (
            rare if rare and rare.commits >= OF_A_CLIENT else None
        )

    def overdue_after(self, committed: int) -> float:
        """Return the milliseconds without progress after which the next commit is overdue."""
        return OVERDUE * self.gap(committed)

    def has_rhythm(self) -> bool:
        """Return whether the present members have committed twice, so that their pauses are known."""
        return len(self.of_present_members()) > 1

    def of_present_members(self) -> Sequence[CommitMade]:
        """Return the commits since members changed the last time."""
        changed = max(self.changes, default=0)
        return [each for each in self.commits if each[0] > changed]

    def progressed(self, committed: int) -> int | None:
        """Return when the group last made progress, or a time after it; ``None`` if no commit was read.

        If the last commit that was read has another offset, the group has committed in the meantime.
        """
        same = self.same(committed)
        if same:
            return same[0][0]
        return self.since if self.last is None else self.last
