"""The manifest of one cluster's history, as data: which files belong to it, and how far the log was read. No I/O.

Strategy: entries are numbered, and only ever added: an entry becomes part of the history when the file with its number
is created, which succeeds for one writer only. An entry that replaces others hides them. What is current follows from
the entries alone: :class:`Snapshot`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ..tables import MATERIALIZED as TABLES_OF_MATERIALIZED
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
    sha256: str | None = None
    """SHA-256 of the file, in hexadecimal; ``None``: an earlier version wrote it."""


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
    beside: tuple[tuple[int, int], ...] | None = None
    """Numbers of the other entries that were current with this one, as inclusive ranges; ``None``: unknown."""


class Snapshot(NamedTuple):
    """The current entries by number, without hidden ones, and the number of the next entry."""

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

    def every_file(self) -> Iterator[DataFile]:
        """Yield all files, also those of materialized tables."""
        return (file for entry in self.entries.values() for file in entry.files)

    @property
    def materialized(self) -> Entry | None:
        """The entry with the materialized tables of the current rows, if there is one."""
        found = [entry for entry in self.entries.values() if entry.kind == MATERIALIZED]
        last = max(found, key=lambda entry: entry.number, default=None)
        return last if last and last.expired == self.expired else None

    def collected(self) -> Snapshot:
        """Return the snapshot without materialized tables."""
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
        "beside": None if entry.beside is None else [list(each) for each in entry.beside],
    }


def ranges_of(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return numbers as inclusive ranges, in ascending order."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return tuple(found)


def from_json(data: Any) -> Entry:
    """Return the entry; members that this version does not know are ignored.

    :raises ValueError: if it is not one that a collector writes; the text names the member.
    """
    if not isinstance(data, dict):
        raise ValueError("it is not an entry")
    # Entries of earlier versions do not have it, and only these two kinds may lack rows.
    expired = None if data.get("kind") in (COMPACTED, UPGRADED) else 0
    known: dict[str, Any] = {"expired": expired, "through": -1, "share_positions": {}} | data
    members: dict[str, Any] = {name: known.get(name) for name in Entry._fields}
    found = Entry(**members)
    replaces: Any = found.replaces
    number, kind = found.number, found.kind
    _check("kind", isinstance(kind, str) and kind.isidentifier())
    _check("number", _is_count(number))
    _check("records", _is_count(found.records))
    _check("undecoded", _is_count(found.undecoded))
    _check("committed_at", _is_time(found.committed_at))
    _check("expired", found.expired is None or _is_time_us(found.expired))
    _check("through", _is_count(found.through, -1, number - 1))
    _check("replaces", isinstance(replaces, list | tuple) and all(_is_count(each, 0, number - 1) for each in replaces))
    _check("replaces", not replaces or kind in (COMPACTED, UPGRADED, MATERIALIZED))
    _check("files", isinstance(found.files, list | tuple))
    files = tuple(_file_from_json(each, number) for each in found.files)
    _check("beside", found.beside is None or _are_ranges(found.beside, number - 1))
    _check("kind", all((file.table in _MATERIALIZED) == (kind == MATERIALIZED) for file in files))
    return found._replace(
        files=files,
        positions=_positions_from_json("positions", found.positions),
        share_positions=_positions_from_json("share_positions", found.share_positions),
        replaces=tuple(replaces),
        beside=None if found.beside is None else tuple((first, last) for first, last in found.beside),
    )


def _file_from_json(data: Any, number: int) -> DataFile:
    _check("files", isinstance(data, dict))
    members: dict[str, Any] = {name: data.get(name) for name in DataFile._fields}
    file = DataFile(**members)
    _check("path", isinstance(file.path, str) and _PATH.fullmatch(file.path) is not None)
    _check("table", file.table == file.path.partition("/")[0])
    _check("rows", _is_count(file.rows))
    _check("size", _is_count(file.size))
    times = [each for each in (file.first, file.last) if each is not None]
    _check("first", len(times) in (0, 2) and all(map(_is_time_us, times)) and times == sorted(times))
    _check("entry", file.entry is None or _is_count(file.entry, 0, number))
    digest = file.sha256
    _check("sha256", digest is None or (isinstance(digest, str) and _SHA256.fullmatch(digest) is not None))
    return file


def contradiction(entries: Iterable[Entry]) -> str | None:
    """Return how entries contradict one another; ``None`` if they do not.

    :param entries: all that were read, also hidden ones.
    """
    found = {entry.number: entry for entry in entries}
    for entry in found.values():
        for other in (found[number] for number in entry.replaces if number in found):
            known = entry.positions
            if entry.kind == MATERIALIZED != other.kind:
                return f"entry {entry.number} replaces entry {other.number}, which is of another kind"
            if entry.kind != MATERIALIZED and any(known.get(at, -1) < offset for at, offset in other.positions.items()):
                return f"entry {entry.number} replaces entry {other.number}, but ends before it"
    hidden = {number for entry in found.values() for number in entry.replaces}
    newest = found[max(found)] if found else None
    beside = newest.beside if newest else ()
    if newest and beside is None:
        # An earlier version wrote it. Replaced entries are deleted, and so are those that replaced others before.
        beside = ((max(hidden, default=0), newest.number),)
    expected = (number for first, last in beside or () for number in range(first, last + 1))
    missing = next((number for number in expected if number not in found and number not in hidden), None)
    if missing is not None:
        return f"entry {missing} is missing"
    paths = [file.path for number, entry in found.items() if number not in hidden for file in entry.files]
    if len(paths) > len(set(paths)):
        return f"two entries have the file {next(each for each in paths if paths.count(each) > 1)}"
    return None


_MATERIALIZED = frozenset(table.name for table in TABLES_OF_MATERIALIZED)
_PATH = re.compile(r"\w+(/(?!\.)[\w.=+-]+)+\.parquet", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MAX = 2**63 - 1


def _check(name: str, is_valid: bool) -> None:
    if not is_valid:
        raise ValueError(f"{name} is invalid")


def _is_count(value: Any, least: int = 0, most: int = _MAX) -> bool:
    return type(value) is int and least <= value <= most  # a bool is an int


def _are_ranges(value: Any, most: int) -> bool:
    """Return whether these are pairs of numbers, all in ascending order."""
    if not isinstance(value, list | tuple) or not all(
        isinstance(each, list | tuple) and len(each) == 2 for each in value
    ):
        return False
    numbers = [number for each in value for number in each]
    return all(_is_count(each, 0, most) for each in numbers) and numbers == sorted(numbers)


def _is_time_us(value: Any) -> bool:
    return _is_count(value, -_MAX)


def _is_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value) is not None
    except ValueError:
        return False


def _positions_to_json(positions: Mapping[int, int]) -> dict[str, int]:
    return {str(partition): offset for partition, offset in sorted(positions.items())}


def _positions_from_json(name: str, data: Any) -> dict[int, int]:
    _check(name, isinstance(data, dict))
    _check(name, all(key.isdecimal() and len(key) < 10 and _is_count(offset) for key, offset in data.items()))
    return {int(partition): offset for partition, offset in data.items()}
