"""Search one partition of ``__consumer_offsets`` for the newest records of keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kgroups.errors import UndecodableRecord
from kgroups.model.group_log import Key
from kgroups.model.groups import GroupId
from kgroups.protocol.offsets_topic import decode
from kgroups.protocol.record_schemas import group_of

from ..log_search.backward_reader import Records, Search


class Found(NamedTuple):
    """The newest record of a key: its timestamp in milliseconds since 1970, and its value; ``None`` for a tombstone."""

    timestamp: int
    value: Mapping[str, Any] | None


class NewestRecords(Search):
    """The newest records of the requested keys."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: set[GroupId] = set()
        self.newest: dict[Key, Found] = {}
        self._sought: set[Key] = set()
        self._names: set[bytes] = set()
        self._known: set[bytes] = set()
        """The keys of ``newest``, as bytes."""

    def request(self, group: GroupId, keys: Iterable[Key]) -> None:
        """Search for the newest records with these keys, which belong to the group."""
        self.groups.add(group)
        self._sought.update(keys)
        name = group.encode("utf-8", "surrogatepass")
        self._names.add(len(name).to_bytes(2, "big") + name)

    def identity(self, key: bytes) -> bytes | None:
        # Every key begins with its type and the group's name; records of other groups are skipped.
        if len(key) < 4 or key[2 : 4 + int.from_bytes(key[2:4], "big")] not in self._names:
            return None
        return None if key in self._known else key

    def missing(self) -> int:
        return len(self._sought - self.newest.keys())

    def keep(self, records: Records) -> None:
        """Keep the newest record of each key that can be decoded."""
        for key, entries in records.items():
            for entry in reversed(entries):
                try:
                    record = decode(key, entry.value)
                except UndecodableRecord:
                    self.unreadable += 1
                    continue
                if group_of(record.key) in self.groups:
                    self._known.add(key)
                    self.newest[record.record_type, *record.key.values()] = Found(entry.timestamp, record.value)
                break
