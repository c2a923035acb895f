"""Detect clients that commit for a group without being members: consumers that use ``assign()``, and Flink.

"Empty" does not mean "stopped", because Kafka counts only members. The rules, applied to the group's commit records:

* Only commits after the group's last membership record count. A member that commits and leaves is ignored.
* One commit is no rhythm: a reset, and an undo of it, write each partition once. Offsets of consecutive commits must
  not decrease: a reset to an earlier offset starts a new sequence, and so does a long pause.
* Two or more commits are a rhythm. It is alive until the next commit is overdue. To find out, wait for that commit:
  several resets in a row look like a rhythm, too, and only the next commit proves that a client is active.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..counts import some
from ..groups import GroupId
from ..stays import Stay

Pair = tuple[str, int]
"""Topic and partition."""

CommitMade = tuple[int, int]
"""Time in milliseconds since 1970, and offset."""

OVERDUE = 1.5
"""A commit is overdue after this multiple of the longest gap."""
OF_A_CLIENT = 5
"""Number of consecutive commits of one partition that prove a client: resets are rarely repeated so often."""
GRACE = 500
"""Additional milliseconds for a commit to reach the log."""
SKEW = 10_000
"""Milliseconds by which this machine's clock may be ahead of the brokers' clocks."""


class RecentCommits(NamedTuple):
    """The commits in the log after the group's last membership record, in order, as far back as was read.

    ``unread``: group -> why its log could not be read; ``denied``: whether because READ is missing.
    ``since``: group -> the time from which its log was read, if later than requested.
    """

    made: Mapping[GroupId, Mapping[Pair, Sequence[CommitMade]]]
    unread: Mapping[GroupId, str] = {}
    since: Mapping[GroupId, int] = {}
    changed: Mapping[GroupId, Sequence[int]] = {}
    """The times of the group's membership records, if all commits were requested."""
    topic_ids: Mapping[GroupId, Mapping[Pair, int]] = {}
    """The IDs of topics in the last commits (Kafka 4.1), if all commits were requested."""
    stays: Mapping[GroupId, Sequence[Stay]] = {}
    """Who was a member when, in the records that were read."""
    denied: bool = False
    pending: Mapping[GroupId, Sequence[Pair]] = {}
    """The partitions with an offset in an open transaction, unless all commits were requested."""


class Rhythm(NamedTuple):
    """Consecutive commits of one partition: their number, the longest gap between two, and the last one."""

    topic: str
    partition: int
    commits: int
    gap: int
    last: int
    offset: int

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    def lives(self, now: int) -> bool:
        """Return whether the next commit is not overdue at a time."""
        return now - self.last <= max(self.gap * OVERDUE + GRACE, SKEW)

    def wait(self, now: int) -> float:
        """Return the seconds from a time until the next commit is overdue, with a margin for clock differences."""
        full = self.gap * OVERDUE + GRACE
        return (full if self.gap <= SKEW else max(self.last + full - now, 0) + 2 * GRACE) / 1000


def rhythm_of(made: Mapping[Pair, Sequence[CommitMade]], now: int, window: float) -> Rhythm | None:
    """Return the fastest living rhythm of a group's commits, or ``None``.

    :param window: in seconds; a gap of more than half of it starts a new sequence.
    """
    found = [rhythm for pair, commits in made.items() if (rhythm := _rhythm(pair, commits, window * 500))]
    living = [rhythm for rhythm in found if rhythm.lives(now)]
    return min(living, key=lambda each: (each.wait(now), -each.commits), default=None)


def _rhythm(pair: Pair, commits: Sequence[CommitMade], longest: float) -> Rhythm | None:
    first = len(commits) - 1
    while first > 0:
        (before, earlier), (time, offset) = commits[first - 1], commits[first]
        if earlier > offset or time - before > longest:
            break
        first -= 1
    row = commits[first:]
    if len(row) < 2:
        return None
    gap = max(after[0] - before[0] for before, after in pairwise(row))
    return Rhythm(*pair, len(row), gap, *row[-1])


def pending_words(pairs: Sequence[Pair]) -> str:
    """Return a message that a client has sent offsets to a transaction that is still open.

    When it commits, brokers discard those that are older than the last commit: a reset is one, too.
    """
    names = some([f"{topic}-{partition}" for topic, partition in pairs])
    return f"an open transaction holds offsets of {names}: a client is active, and a change would discard them"


WHO = "a client that is not a member still commits"


def moved_words(pair: Pair, before: int | None, after: int | None, seconds: float) -> str:
    """Return a message that an offset changed, or was committed again, while the group was observed."""
    name = f"{pair[0]}-{pair[1]}"
    within = f"within {max(seconds, 0.1):.1f} s"
    if before == after:
        return f"{WHO}: {name} was committed again at offset {after} {within}"
    old, new = ("-" if offset is None else str(offset) for offset in (before, after))
    return f"{WHO}: the offset of {name} changed from {old} to {new} {within}"


def rhythm_words(rhythm: Rhythm, now: int) -> str:
    """Return a message that describes a rhythm."""
    age = f"{max(now - rhythm.last, 0) / 1000:.1f} s ago"
    gap = f"at most {rhythm.gap / 1000:.1f} s apart"
    return f"{rhythm.commits} commits of {rhythm.name}, {gap}, the last {age} at offset {rhythm.offset}"
