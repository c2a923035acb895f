"""One partition that MirrorMaker 2 copies, its syncs, and its checkpoints of one group; the truth is known.

The copier decides about syncs as MirrorMaker 2 does (``OffsetSyncWriter``), and the checkpoints follow from what its
store of syncs keeps in memory (``OffsetSyncStore``, ``MirrorCheckpointTask``).
"""

from __future__ import annotations

from kgroups.model.translation.syncs import OffsetPair

BUCKETS = 64
NEVER = -1


class _State:
    """What one start of the copier remembers of the partition."""

    def __init__(self) -> None:
        self.upstream = self.downstream = self.synced = NEVER

    def needs_sync(self, upstream: int, downstream: int, lag: int) -> bool:
        needed = (
            self.synced == NEVER
            or downstream - (self.synced + 1) >= lag
            or upstream != self.upstream + 1
            or downstream < self.downstream
        )
        if needed:
            self.synced = downstream
        self.upstream, self.downstream = upstream, downstream
        return needed


class CopiedTopic:
    def __init__(self, lag: int) -> None:
        self.lag = lag
        self.life = 0
        self.end = 0
        self.source: list[int] = []
        """The offsets that have a record."""
        self.copy: list[tuple[int, int] | None] = []
        """Of each offset: how often the source was recreated, and the record's offset; ``None``: no record of it."""
        self.syncs: list[OffsetPair] = []
        self.checkpoints: list[OffsetPair] = []
        self.disturbed = False
        """Whether copies were deleted, or others write to the copy: MirrorMaker 2's checkpoints may be wrong."""
        self._lost: set[tuple[int, int]] = set()
        """Records of which a copy was deleted: nothing recorded shows that an earlier copy of one may be left."""
        self._at = self._saved = 0
        self._state = _State()
        self._delayed: OffsetPair | None = None
        self._store: list[OffsetPair] = []

    # The source.

    def produce(self, records: int) -> None:
        self.source += range(self.end, self.end + records)
        self.end += records

    def skip(self, offsets: int) -> None:
        """Leave offsets without a record, as markers and compaction do."""
        self.end += offsets

    def recreate_source(self, records: int) -> None:
        self.life += 1
        self.source, self.end, self._at = [], 0, 0
        self.produce(records)
        self._restart(0)

    # The copier.

    def copy_records(self, records: int) -> None:
        for upstream in [each for each in self.source if each >= self._at][:records]:
            downstream = len(self.copy)
            self.copy.append((self.life, upstream))
            self._at = upstream + 1
            pair = OffsetPair(upstream, downstream)
            if self._state.needs_sync(upstream, downstream, self.lag):
                self._delayed = None
                self._write(pair)
            else:
                self._delayed = pair

    def commit(self, *_: int) -> None:
        """Save the source's offset, and write the delayed sync."""
        self._saved = self._at
        if self._delayed:
            self._write(self._delayed)
            self._delayed = None

    def crash(self, back: int) -> None:
        """Begin again at the saved offset, or before it."""
        self._restart(max(0, self._saved - back))

    def _restart(self, at: int) -> None:
        self._at = self._saved = at
        self._state, self._delayed = _State(), None
        self._store = self.syncs[-1:] * BUCKETS

    def _write(self, pair: OffsetPair) -> None:
        self.syncs.append(pair)
        store = self._store
        if not store or store[0].upstream > pair.upstream:
            self._store = [pair] * BUCKETS
            return
        store[0] = pair
        for bucket in range(1, BUCKETS):
            if (store[bucket].upstream ^ pair.upstream) >> bucket == 0:
                break
            store[bucket] = pair

    def compact_syncs(self, kept: int) -> None:
        """Remove old syncs. Compaction is behind by more than the copier takes to copy again what it had copied."""
        if self.complete:
            self.syncs = self.syncs[-kept:]

    # The copy.

    def mark(self, offsets: int) -> None:
        """Write records to the copy that are not from the source, or that were retried."""
        self.copy += [None] * offsets
        self.disturbed = True

    def truncate(self, length: int) -> None:
        """Delete the last copies; MirrorMaker 2 does not notice the loss of the very last one only."""
        if length < len(self.copy) - 1:
            self._lost.update(each for each in self.copy[length:] if each)
            self.copy, self.disturbed = self.copy[:length], True

    # The group.

    def checkpoint(self, offset: int) -> None:
        """Write a checkpoint of a committed offset, if MirrorMaker 2 would."""
        below = next((each for each in self._store if each.upstream <= offset), None)
        if below is None:
            return
        found = OffsetPair(offset, below.downstream + (below.upstream != offset))
        last = self.checkpoints[-1] if self.checkpoints else None
        if last is None or found.upstream < last.upstream or found.downstream > last.downstream:
            self.checkpoints.append(found)

    # The truth.

    @property
    def complete(self) -> bool:
        """Whether the copier has copied again all that it had copied before it began again."""
        if self.life and (self.life, self.source[0]) not in self.copy:
            return False
        return all(each is None or each[0] < self.life or each[1] < self._at for each in self.copy)

    def unread(self, copied: tuple[int, int] | None, offset: int) -> bool:
        return copied is not None and copied[0] == self.life and copied[1] >= offset

    def skipped(self, offset: int, at: int) -> list[int]:
        """Return the records from an offset of the source on that a group at ``at`` of the copy never reads."""
        later = self._lost.union(each for each in self.copy[at:] if each)
        return [each[1] for each in self.copy[:at] if each and self.unread(each, offset) and each not in later]

    def read_again(self, offset: int, at: int) -> int:
        """Return how many records before the first unread one the group reads again, except those written again."""
        earlier = set(self.copy[:at])
        again = 0
        for each in self.copy[at:]:
            if self.unread(each, offset):
                break
            if each is not None and each[0] == self.life and each not in earlier:
                again += 1
                earlier.add(each)
        return again
