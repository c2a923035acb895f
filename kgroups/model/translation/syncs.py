"""Translate an offset by what MirrorMaker 2 recorded: offset syncs, and the checkpoints of a group.

An offset sync says that the record at ``upstream`` of a source partition was written at ``downstream`` of its copy.
Records are copied in order, so each later record of the source is after the copy of an earlier one. A group that
continues at a sync loses nothing and reads nothing again; after it, the group may continue one record further.

- A sync that goes back, on either side, says that MirrorMaker 2 began again at an earlier record, or that a topic was
  recreated or truncated: earlier syncs prove nothing then.
- Where MirrorMaker 2 began again, records that it had copied before have copies on both sides of the new syncs only
  when it has copied them again. Until then, the new syncs prove nothing: it may have stopped. Between two syncs, it
  can have copied as many records as the copy has offsets.

A checkpoint is an offset of a group that MirrorMaker 2 translated itself, by a sync at or below it. The topic of syncs
is compacted, so that sync may be gone. A checkpoint is therefore used only where no sync is left at or below the
offset, and only if the next sync proves it: as many records of the source were skipped by then as before the
checkpoint. Otherwise, it may be left from a copy that was deleted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple


class OffsetSync(NamedTuple):
    """The record at ``upstream`` of a source partition is at ``downstream`` of its copy."""

    topic: str
    partition: int
    upstream: int
    downstream: int


class Checkpoint(NamedTuple):
    """The committed offset ``upstream`` of a group, translated by MirrorMaker 2; ``topic`` is the copy's name."""

    group: str
    topic: str
    partition: int
    upstream: int
    downstream: int
    metadata: str


class OffsetPair(NamedTuple):
    """An offset of the source, and that of the copy."""

    upstream: int
    downstream: int

    @property
    def skipped(self) -> int:
        """How many offsets of the source are missing in the copy before this one."""
        return self.upstream - self.downstream

    def __str__(self) -> str:
        return f"{self.upstream:,} -> {self.downstream:,}"


class SyncTranslation(NamedTuple):
    """An offset of the copy, at or before the first record of the copy that the group did not read.

    ``at_most``: how many records before that one the group reads again, 0 if the offset is exact. What MirrorMaker 2
    wrote twice counts once. ``evidence``: the syncs or the checkpoint, as text for people.
    """

    offset: int
    at_most: int
    evidence: str


_upstream = attrgetter("upstream")


class SyncLog:
    """The syncs of one partition since the last one that went back, sorted by both offsets."""

    __slots__ = ("_before", "_offsets", "_syncs", "_thinned", "_times", "_waits")

    def __init__(self, offsets: Iterable[int] | None = None) -> None:
        """:param offsets: keep only the syncs next to these offsets of the source, and the newest ones."""
        self._offsets = None if offsets is None else sorted(set(offsets))
        self._syncs: list[OffsetPair] = []
        self._times: list[int] = []
        self._waits: list[int] = []
        """Of each sync: up to which offset of the source records may have been copied before it. It never falls."""
        self._thinned = 0
        """The number of syncs of which only the needed ones are kept."""
        self._before = -1
        """The last offset of the source in a sync before one that went back."""

    @classmethod
    def of(cls, syncs: Iterable[tuple[int, int]]) -> SyncLog:
        """Return a log with all of these syncs, as pairs of upstream and downstream offsets, oldest first."""
        log = cls()
        for upstream, downstream in syncs:
            log.add(upstream, downstream)
        return log

    @property
    def newest(self) -> OffsetPair | None:
        return self._syncs[-1] if self._syncs else None

    def add(self, upstream: int, downstream: int, ms: int = -1) -> None:
        """Add the next sync of the topic, written at ``ms`` (milliseconds since 1970); negative: unknown."""
        kept, waits = self._syncs, self._waits
        until = -1
        if kept:
            last = kept[-1]
            until = max(waits[-1], last.upstream + max(0, downstream - last.downstream - 1))
            again = upstream == last.upstream
            if upstream < last.upstream or downstream <= last.downstream or (again and upstream < until):
                self._before = max(self._before, last.upstream)
                kept.clear()
                waits.clear()
                self._times.clear()
                self._thinned = 0
            elif again:
                kept.pop()
                waits.pop()
                self._times.pop()
        kept.append(OffsetPair(upstream, downstream))
        waits.append(until)
        self._times.append(ms)
        self._thin(self.proved())

    def _thin(self, proved: int) -> None:
        while self._thinned + 1 < proved:
            at = self._thinned
            if at and not self._separates(self._syncs[at - 1].upstream, self._syncs[at + 1].upstream):
                del self._syncs[at], self._waits[at], self._times[at]
                proved -= 1
            else:
                self._thinned += 1

    def proved(self, ends: OffsetPair | None = None) -> int:
        """Return how many syncs, from the first one, do not wait for records to be copied again.

        :param ends: with these log ends, all may have been copied again, or the source may be another one.
        """
        newest = self.newest
        if newest is None:
            return 0
        if ends and (newest.upstream >= ends.upstream - 1 or ends.upstream <= self._before):
            return len(self._syncs)
        return bisect_right(self._waits, newest.upstream)

    @property
    def waits_for(self) -> int:
        """The offset of the source up to which records must be copied again before all syncs are proved."""
        return self._waits[-1]

    def around(self, offset: int, proved: int) -> tuple[OffsetPair | None, OffsetPair | None]:
        """Return the last of the proved syncs at or below an offset of the source, and the first one at or above it."""
        after = bisect_right(self._syncs, offset, hi=proved, key=_upstream)
        below = self._syncs[after - 1] if after else None
        if below and below.upstream == offset:
            return below, below
        return below, self._syncs[after] if after < proved else None

    def first_used(self) -> tuple[OffsetPair, int] | None:
        """Return the earliest sync below one of the needed offsets, and its time; ``None`` if there is none.

        If it is about the copy as it is now, the later ones are, too.
        """
        proved = self.proved() or len(self._syncs)
        for offset in self._offsets or ():
            if at := bisect_right(self._syncs, offset, hi=proved, key=_upstream):
                return self._syncs[at - 1], self._times[at - 1]
        return None

    def _separates(self, low: int, high: int) -> bool:
        """Return whether an offset between two syncs is needed, so that a sync between them is."""
        if self._offsets is None:
            return True
        at = bisect_right(self._offsets, low)
        return at < bisect_left(self._offsets, high)


def translate_by_syncs(
    syncs: SyncLog, checkpoints: Iterable[OffsetPair], offset: int, ends: OffsetPair | None = None
) -> SyncTranslation | str:
    """Return the offset of the copy at which a group continues, or why the syncs do not prove one.

    :param checkpoints: those of the group and the partition.
    :param offset: the committed offset on the source.
    :param ends: the log end offsets of both sides, looked up after the syncs were read.
    """
    newest = syncs.newest
    if newest is None:
        return "MirrorMaker 2 recorded no offset sync of this partition"
    if ends:
        for side, end, synced in zip(("source", "copy"), ends, newest, strict=True):
            if synced >= end:
                return (
                    f"the newest offset sync is {newest}, but the {side} ends at offset {end:,}: it was truncated or "
                    "recreated since"
                )
    proved = syncs.proved(ends)
    if not proved:
        return (
            f"MirrorMaker 2 began again, and has not yet copied again what it had copied up to offset "
            f"{syncs.waits_for:,}; its newest offset sync is {newest}"
        )
    below, above = syncs.around(offset, proved)
    if below is None:
        return _by_checkpoint(checkpoints, offset, above or newest)
    if below.upstream == offset:
        return SyncTranslation(below.downstream, 0, f"sync {below}")
    found = below.downstream + 1
    limits = {"": offset - below.upstream - 1}
    if ends:
        limits[f", end of the copy {ends.downstream:,}"] = ends.downstream - found
    if above:
        limits[f", next {above}"] = above.downstream - found
    follows = min(limits, key=lambda each: limits[each])
    return SyncTranslation(found, limits[follows], f"sync {below}{follows}")


def _by_checkpoint(checkpoints: Iterable[OffsetPair], offset: int, above: OffsetPair) -> SyncTranslation | str:
    reason = f"the oldest offset sync is {above}, after the committed offset"
    usable = [each for each in checkpoints if each.upstream <= offset]
    proved = [each for each in usable if each.skipped >= above.skipped]
    if proved:
        best = max(proved, key=lambda each: each.downstream)
        return SyncTranslation(best.downstream, above.downstream - best.downstream, f"checkpoint {best}, next {above}")
    if usable:
        furthest = max(usable, key=lambda each: each.downstream)
        return f"{reason}, and does not prove the checkpoint {furthest}"
    return reason
