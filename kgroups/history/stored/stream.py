"""The entries of a manifest as a stream: which files have the rows that were collected between two entries.

A stream is at the number of the next entry of each cluster. Entries that only replace others, by a merge, an
expiration, or an upgrade, have no new rows: a stream reads the files of the entries that were collected, also while
they are replaced but not deleted. The first batch begins with nothing read, so that it can read merged files.
"""

from __future__ import annotations

from ..load.manifest import COMPACTED, MATERIALIZED, UPGRADED, DataFile, Entry
from ..load.store import Store
from ..tables import Table

_REPLACING = frozenset({COMPACTED, UPGRADED, MATERIALIZED})


def new_files(store: Store, table: Table, start: int, end: int) -> list[DataFile] | None:
    """Return the files of a table with the rows of the entries from ``start`` (inclusive) to ``end`` (exclusive).

    :returns: ``None`` if entries were deleted, so that their rows cannot be told from those of others.
    """
    entries = _as_of(store, end) if start == 0 else None
    if entries is None:
        found = store.entries(range(start, end))
        if len(found) < end - start or (start == 0 and any(entry.kind == UPGRADED for entry in found.values())):
            return None
        entries = [entry for entry in found.values() if entry.kind not in _REPLACING]
    return [file for entry in entries for file in entry.files if file.table == table.name]


def next_end(store: Store, table: Table, start: int, last: int, most: int | None) -> int:
    """Return the end of the next batch, at most ``last``: of ``most`` entries, or as many as were merged."""
    if most is None or start + most >= last:
        return last
    merged = max((number for number, entry in store.snapshot().entries.items() if entry.replaces), default=-1) + 1
    ends = [start + most, *([merged] if start + most < merged < last else [])]
    return next((end for end in ends if new_files(store, table, start, end) is not None), last)


def _as_of(store: Store, end: int) -> list[Entry] | None:
    """Return the entries that were current when ``end`` was the number of the next one; ``None``: unknown."""
    snapshot = store.snapshot()
    if snapshot.next == end:
        return list(snapshot.entries.values())
    last = store.entries([end - 1]).get(end - 1)
    if last is None or last.beside is None:
        return None
    beside = [number for first, final in last.beside for number in range(first, final + 1)]
    others = store.entries(beside)
    return [*others.values(), last] if len(others) == len(beside) else None
