"""The manifest of one cluster's history, as data: which files belong to it, and how far the log was read. No I/O.

Strategy: entries are numbered, and only ever added: an entry becomes part of the history when the file with its number
is created, which succeeds for one writer only. An entry that replaces others hides them. What is current follows from
the entries alone: :class:`Snapshot`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ..tables import Table

BATCH, SWEEP, HEADS_SAMPLED, STALLED, SHARES = "batch", "sweep", "heads", "stalled", "shares"
LANDED, COMPACTED, UPGRADED, MATERIALIZED = "landed", "compacted", "upgraded", "materialized"
"""Kinds of entries."""

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


class DataFile(NamedTuple):
    """A Parquet file with rows of one table."""

    table: str
    path: str
    """Name, relative to the store."""
    rows: int
    size: int
    """Size in bytes."""
    first: int | None = None
    """Earliest time of a row, in microseconds since 1970; ``None`` if no row has one."""
    last: int | None = None
    entry: int | None = None
    """Number of the last entry that rows were added with; ``None``: the entry that names the file."""


class Entry(NamedTuple):
    """One complete part of history."""

    kind: str
    files: tuple[DataFile, ...]
    records: int = 0
    """Number of records of the log."""
    undecoded: int = 0
    """Number of records that could not be decoded."""
    positions: Mapping[int, int] = {}  # never changed
    """The next offset to read, by log partition, after this batch."""
    replaces: tuple[int, ...] = ()
    """Numbers of the entries that this one hides."""
    number: int = -1
    committed_at: str = ""
    """Time of the commit, in ISO 8601."""
    expired: int | None = 0
    """Rows before this time, in microseconds since 1970, may be deleted; 0: none are; ``None``: unknown."""
    through: int = -1
    """Number of the last entry whose commits are materialized in this one; -1: none are."""
    share_positions: Mapping[int, int] = {}  # never changed
    """As ``positions``, of ``__share_group_state``."""


class Snapshot(NamedTuple):
    """What is current: the entries by number, without hidden ones, and the number of the next entry."""

    entries: Mapping[int, Entry]
    next: int

    @property
    def positions(self) -> dict[int, int]:
        """The next offset to read, by log partition."""
        return _highest(entry.positions for entry in self.entries.values())

    @property
    def share_positions(self) -> dict[int, int]:
        """The next offset to read, by partition of ``__share_group_state``."""
        return _highest(entry.share_positions for entry in self.entries.values())

    @property
    def records(self) -> int:
        """The number of records of the log."""
        return sum(entry.records for entry in self.entries.values())

    @property
    def expired(self) -> int | None:
        """The time before which rows may be deleted, as in :class:`Entry`."""
        known = [entry.expired for entry in self.entries.values() if entry.expired is not None]
        return max(known, default=0) if len(known) == len(self.entries) else None

    def expired_with(self, older_than: datetime | None) -> int | None:
        """Return :attr:`expired` after rows before a time are deleted too."""
        if self.expired is None or older_than is None:
            return self.expired
        return max(self.expired, (older_than - _BEGINNING) // timedelta(microseconds=1))

    def files(self, table: Table) -> list[DataFile]:
        """Return the files with the rows of a collected table."""
        return [file for file in self.all_files() if file.table == table.name]

    def split_files(self, table: Table, through: int) -> tuple[list[DataFile], list[DataFile]]:
        """Return the files of a table with rows up to an entry, and those with rows of later ones."""
        parts: tuple[list[DataFile], list[DataFile]] = ([], [])
        for file in self.all_files():
            if file.table == table.name:
                parts[(file.entry or 0) > through].append(file)
        return parts

    def all_files(self) -> Iterator[DataFile]:
        """Yield all files of collected tables, with the number of their last entry."""
        for entry in self.entries.values():
            if entry.kind != MATERIALIZED:
                for file in entry.files:
                    yield file if file.entry is not None else file._replace(entry=entry.number)

    @property
    def materialized(self) -> Entry | None:
        """The entry with what is materialized of the current rows, if there is one."""
        found = [entry for entry in self.entries.values() if entry.kind == MATERIALIZED]
        last = max(found, key=lambda entry: entry.number, default=None)
        return last if last and last.expired == self.expired else None

    def collected(self) -> Snapshot:
        """Return the snapshot without what is materialized."""
        return self._replace(entries={n: entry for n, entry in self.entries.items() if entry.kind != MATERIALIZED})

    def with_entries(self, added: Iterable[Entry]) -> Snapshot:
        """Return the snapshot after these entries."""
        found = dict(self.entries)
        last = self.next
        for entry in sorted(added, key=lambda each: each.number):
            found[entry.number] = entry
            last = max(last, entry.number + 1)
        hidden = {number for entry in found.values() for number in entry.replaces}
        return Snapshot({number: entry for number, entry in found.items() if number not in hidden}, last)


EMPTY = Snapshot({}, 0)


def _highest(positions: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """Return the highest position of each partition."""
    found: dict[int, int] = {}
    for each in positions:
        for partition, offset in each.items():
            found[partition] = max(offset, found.get(partition, 0))
    return found


def to_json(entry: Entry) -> dict[str, Any]:
    """Return an entry as JSON."""
    return {
        **entry._asdict(),
        "files": [file._asdict() for file in entry.files],
        "positions": _positions_to_json(entry.positions),
        "share_positions": _positions_to_json(entry.share_positions),
    }


def from_json(data: Mapping[str, Any]) -> Entry:
    """Return the entry; members that this version does not know are ignored.

    :raises KeyError, TypeError, ValueError, AttributeError: if it is none.
    """
    # Entries of earlier versions do not have it, and only these two kinds may lack rows.
    expired = None if data["kind"] in (COMPACTED, UPGRADED) else 0
    later = {
        "expired": data.get("expired", expired),
        "through": data.get("through", -1),
        "share_positions": _positions_from_json(data.get("share_positions", {})),
    }
    known = {name: data[name] for name in Entry._fields if name not in later} | later
    files = tuple(
        DataFile(**{name: file[name] for name in DataFile._fields if name != "entry"}, entry=file.get("entry"))
        for file in known["files"]
    )
    positions = _positions_from_json(known["positions"])
    return Entry(**known | {"files": files, "positions": positions, "replaces": tuple(known["replaces"])})


def _positions_to_json(positions: Mapping[int, int]) -> dict[str, int]:
    return {str(partition): offset for partition, offset in sorted(positions.items())}


def _positions_from_json(data: Mapping[str, Any]) -> dict[int, int]:
    return {int(partition): int(offset) for partition, offset in data.items()}
