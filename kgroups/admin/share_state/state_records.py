"""Search one partition of ``__share_group_state`` for the records from the last snapshot of each state on."""

from __future__ import annotations

from typing import NamedTuple

from kgroups.errors import UndecodableRecord
from kgroups.model.groups import GroupId
from kgroups.model.share.batches import StateBatch
from kgroups.model.share.state import ShareState, StateRecord, state_of
from kgroups.protocol.record_entries import Entry
from kgroups.protocol.share_state import SNAPSHOT, decode

from ..log_search.backward_reader import Records, Search

UNDECODABLE = "a record of its state could not be decoded"

_TYPE = 2
"""Bytes of the record type in a key. The rest is the same in the keys of snapshots and updates."""


class StateKey(NamedTuple):
    """A partition of a share group; ``topic_id`` is a 128-bit number."""

    group: GroupId
    topic_id: int
    partition: int

    @property
    def encoded(self) -> bytes:
        """The key of its records, without their type."""
        name = self.group.encode("utf-8", "surrogatepass")
        return len(name).to_bytes(2) + name + self.topic_id.to_bytes(16) + self.partition.to_bytes(4)


class StateRecords(Search):
    """The records of the requested states, from the last snapshot or tombstone of each on."""

    def __init__(self) -> None:
        super().__init__()
        self._sought: dict[bytes, StateKey] = {}
        self._records: dict[bytes, list[StateRecord]] = {}
        """The newest records of each state, in order."""
        self.states: dict[StateKey, ShareState | str | None] = {}
        """The states that were found, or why they are unknown; ``None``: a state was deleted."""

    def request(self, key: StateKey) -> None:
        self._sought[key.encoded] = key

    @property
    def without_records(self) -> list[StateKey]:
        return [key for encoded, key in self._sought.items() if encoded not in self._records]

    @property
    def without_snapshot(self) -> list[StateKey]:
        return [self._sought[encoded] for encoded in self._sought if encoded in self._records]

    def identity(self, key: bytes) -> bytes | None:
        return key[_TYPE:] if key[_TYPE:] in self._sought else None

    def missing(self) -> int:
        return len(self._sought)

    def keep(self, records: Records) -> None:
        for identity, entries in records.items():
            try:
                state = self._state(identity, entries)
            except UndecodableRecord:
                self.unreadable += 1
                state = UNDECODABLE
            if state is not _INCOMPLETE:
                self.states[self._sought.pop(identity)] = state

    def _state(self, identity: bytes, entries: list[Entry]) -> ShareState | str | None:
        """Return the state, if these records and the newer ones contain all of it.

        :raises UndecodableRecord: if the state cannot be known.
        """
        newer = self._records.get(identity, [])
        older: list[StateRecord] = []
        for entry in reversed(entries):
            record = _decoded(entry)
            if record is None:
                return state_of([*reversed(older), *newer])
            older.append(record)
        kept = self._records[identity] = [*reversed(older), *newer]
        return state_of(kept) or _INCOMPLETE


_INCOMPLETE = "an older snapshot is needed"


def _decoded(entry: Entry) -> StateRecord | None:
    """Return a record; ``None`` for a tombstone.

    :raises UndecodableRecord: if it cannot be decoded.
    """
    record = decode(entry.key, entry.value)
    value = record.value
    if value is None:
        return None
    batches = tuple(StateBatch(*batch.values()) for batch in value["StateBatches"])
    fields = entry.timestamp, value["SnapshotEpoch"], value["LeaderEpoch"], value["StartOffset"], batches
    if record.record_type != SNAPSHOT:
        return StateRecord(*fields)
    created, written = value["CreateTimestamp"], value["WriteTimestamp"]
    return StateRecord(*fields, value["StateEpoch"], created, written if written != created else None)
