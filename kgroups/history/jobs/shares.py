"""Collect the states of share groups: the log ``__share_group_state``, in the same entries as all other history.

Each batch is read in this process, and becomes one entry with its rows, its ranges, and the position after it: nothing
is stored twice, whatever is killed. The log is short: brokers delete the records that a snapshot replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

from kgroups.errors import HistoryError, KgroupsError, Reason
from kgroups.model.counts import count
from kgroups.model.placement import SHARE_STATE_TOPIC

from ..decode.shares import decode_share_states
from ..extract.coverage import RangeCounter
from ..extract.ranges import Ends, Range, advance, between, check_position
from ..live.ask import topic_names
from ..live.compaction import find_last
from ..live.offsets_log import OffsetsLog
from ..load.clients import Clients
from ..load.manifest import SHARES, Entry, Snapshot
from ..load.store import Store
from ..suspended import elapsed
from ..tables import SHARE_COVERAGE, SHARE_STATES, to_batch

MAX_OFFSETS = 50_000
"""Maximum number of offsets in a batch: some seconds."""


class ShareStates:
    """Collects what is new in the log of a cluster, where it exists."""

    def __init__(
        self,
        store: Store,
        clients: Clients,
        max_records: int,
        notify: Callable[[str], None],
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self._store, self._clients, self._notify, self._progress = store, clients, notify, progress or notify
        self._max_offsets = min(max_records, MAX_OFFSETS)
        self._log = OffsetsLog(clients.session, SHARE_STATE_TOPIC)
        self._names: dict[str, str | None] = {}
        """Topic ID -> name; ``None``: it was unknown when it was requested."""
        self.expected = False
        """Whether the cluster has share groups, so that a missing ACL is worth a message."""
        self.failed = False
        """Whether the last attempt was incomplete; a missing ACL is no failure."""
        self._said: str | None = None

    def batches(self) -> Iterator[int]:
        """Collect up to the current end; yield the number of records after each batch.

        A failure ends it, with a message. The next attempt continues there.
        """
        self.failed = False
        try:
            ends = self._ends()
            while batch := self._next(ends):
                yield self._collect(*batch)
            self._said = None
        except KgroupsError as error:
            is_denied = error.reason == Reason.NOT_AUTHORIZED
            self.failed = not is_denied
            line = f"share groups are not collected: {error}"
            if line != self._said and (self.expected or not is_denied):
                self._said = line
                self._notify(line)

    def _ends(self) -> Mapping[int, Ends]:
        """Return the ends of the log; none without the topic: then no share group has ever had a state."""
        try:
            return self._log.ends()
        except HistoryError as error:
            if error.reason == Reason.TOPIC_NOT_FOUND:
                return {}
            raise

    def _next(self, ends: Mapping[int, Ends]) -> tuple[dict[int, int], dict[int, int], list[Range]] | None:
        """Return the positions before and after the next batch, and its ranges."""
        positions = self._store.snapshot().share_positions
        for partition, position in positions.items():
            stable = ends[partition].stable if partition in ends else None
            check_position(SHARE_STATE_TOPIC, partition, position, stable)
        # Brokers have deleted what is before the log start: the row of the next range shows the gap.
        starts = {partition: max(positions.get(partition, 0), each.start) for partition, each in ends.items()}
        stops = advance(starts, {partition: each.stable for partition, each in ends.items()}, self._max_offsets)
        ranges = between(starts, stops)
        return (positions, stops, ranges) if ranges else None

    def _collect(self, before: Mapping[int, int], stops: Mapping[int, int], ranges: Sequence[Range]) -> int:
        counter = RangeCounter(ranges)
        undecoded, began = 0, elapsed()
        with self._store.writer() as writer:
            for records in counter.count(self._clients.reader.read(ranges, topic=SHARE_STATE_TOPIC)):
                rows = decode_share_states(records, self._find_names)
                undecoded += len(rows["error"].drop_null())
                writer.add(SHARE_STATES, rows)
            sampled_at = datetime.now(UTC)
            facts = counter.facts(partial(find_last, self._clients.session, SHARE_STATE_TOPIC))
            writer.add(SHARE_COVERAGE, to_batch(SHARE_COVERAGE, [fact | {"sampled_at": sampled_at} for fact in facts]))
        entry = Entry(SHARES, writer.files, share_positions=stops)
        self._store.commit(entry, partial(self._check_unread, before), began=began)
        found = counter.records.total()
        self._progress(f"share groups: {count(found, 'record')} of {SHARE_STATE_TOPIC}")
        if undecoded:
            self._notify(
                f"share groups: {count(undecoded, 'record')} could not be decoded, see the column error of "
                f"{SHARE_STATES.name}"
            )
        return found

    def _check_unread(self, before: Mapping[int, int], snapshot: Snapshot) -> None:
        if snapshot.share_positions != before:
            raise HistoryError(
                f"store {self._store.shown}: another collector wrote the same part of {SHARE_STATE_TOPIC}; this batch "
                "is dropped, and nothing is lost"
            )

    def _find_names(self, ids: Collection[str]) -> Mapping[str, str]:
        if new := set(ids) - self._names.keys():
            self._names |= dict.fromkeys(new) | topic_names(self._clients.session)
        return {each: name for each in ids if (name := self._names.get(each))}
