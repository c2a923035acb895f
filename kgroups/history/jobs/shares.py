"""Collect the states of share groups: the log ``__share_group_state``, in the same entries as all other history.

Each batch is read in this process. The log is short: brokers delete the records that a snapshot replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial

from kgroups.errors import HistoryError, KgroupsError, Reason
from kgroups.model.counts import count
from kgroups.model.placement import SHARE_STATE_TOPIC

from ..decode.shares import decode_share_states
from ..extract.coverage import RangeCounter
from ..extract.ranges import Ends, Range
from ..live.ask import topic_names
from ..live.compaction import find_last
from ..live.offsets_log import OffsetsLog
from ..load.clients import Clients
from ..load.manifest import SHARES, DataFile, Entry
from ..load.records import Written
from ..load.store import Store
from ..tables import SHARE_COVERAGE, SHARE_STATES
from .follower import FollowedLog, LogFollower

MAX_OFFSETS = 50_000
"""Maximum number of offsets in a batch: some seconds."""


def _entry(results: Sequence[Written], coverage: Sequence[DataFile], positions: Mapping[int, int]) -> Entry:
    """Return an entry whose records do not count, because they are not in the log of offsets."""
    return Entry(SHARES, (*(file for each in results for file in each.files), *coverage), share_positions=positions)


_LOG = FollowedLog(
    SHARE_STATE_TOPIC,
    SHARE_STATE_TOPIC,
    SHARE_COVERAGE,
    lambda snapshot: snapshot.share_positions,
    _entry,
    skips_deleted=True,
)


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
        log = OffsetsLog(clients.session, SHARE_STATE_TOPIC)
        self._follower = LogFollower(_LOG, log, store, self._read, min(max_records, MAX_OFFSETS), notify)
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
            for batch in self._follower.batches(self._ends()):
                yield self._report(batch.results)
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
            return self._follower.ends()
        except HistoryError as error:
            if error.reason == Reason.TOPIC_NOT_FOUND:
                return {}
            raise

    def _read(self, ranges: Sequence[Range]) -> list[Written]:
        counter = RangeCounter(ranges)
        undecoded = 0
        with self._store.writer() as writer:
            for records in counter.count(self._clients.reader.read(ranges, topic=SHARE_STATE_TOPIC)):
                rows = decode_share_states(records, self._find_names)
                undecoded += len(rows["error"].drop_null())
                writer.add(SHARE_STATES, rows)
        coverage = counter.facts(partial(find_last, self._clients.session, SHARE_STATE_TOPIC))
        return [Written(writer.files, counter.records.total(), undecoded, coverage=coverage)]

    def _report(self, results: Sequence[Written]) -> int:
        """Report a batch, and return the number of its records."""
        found, undecoded = sum(each.records for each in results), sum(each.undecoded for each in results)
        self._progress(f"share groups: {count(found, 'record')} of {SHARE_STATE_TOPIC}")
        if undecoded:
            self._notify(
                f"share groups: {count(undecoded, 'record')} could not be decoded, see the column error of "
                f"{SHARE_STATES.name}"
            )
        return found

    def _find_names(self, ids: Collection[str]) -> Mapping[str, str]:
        if new := set(ids) - self._names.keys():
            self._names |= dict.fromkeys(new) | topic_names(self._clients.session)
        return {each: name for each in ids if (name := self._names.get(each))}
