"""Merge a store's entries and small files, while other processes read and collect.

The merged entry replaces the old ones when it is in the manifest. Their files are deleted by a later call, after a
grace period: readers that began before can finish.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from ..load.manifest import DataFile, Snapshot
from ..load.store import GRACE, Store
from ..tables import MATERIALIZED
from . import rewrite
from .rewrite import TABLES, Elsewhere, Part, Rewriter, repeated

_MATERIALIZED = {table.name for table in MATERIALIZED}

GROWTH = 16
"""A file of a day that is over is merged with smaller ones when these have 1/16 of its rows: rarely."""


@repeated
def compact(
    store: Store,
    *,
    grace: timedelta = GRACE,
    small: bool = False,
    stopped: Callable[[], bool] = lambda: False,
    elsewhere: Elsewhere | None = None,
) -> int:
    """Merge all entries into one, and the files of each table and day; return the number of entries that were merged.

    :param grace: how long files that were replaced remain.
    :param small: merge only files of similar size: each row is then written again at most log(n) times.
    :param elsewhere: rewrites the files; default: this process.
    :raises HistoryError: if the store cannot be read or written; it is then unchanged.
    """
    store.delete_replaced(grace)
    everything = store.snapshot()
    snapshot = everything.collected()
    choose = choose_similar if small else choose_all
    folders = by_folder(everything)
    chosen = {folder: choose(files, _is_over(folder)) for folder, files in folders.items()}
    if len(snapshot.entries) < 2 and not any(chosen.values()):
        return 0
    parts = [Part(folder[0], tuple(files)) for folder, files in chosen.items() if files]
    replaced = {file.path for part in parts for file in part.files}
    found = [file for files in folders.values() for file in files if file.path not in replaced]
    with Rewriter(store, stopped) as rewriter:
        for merged in rewriter.rewrite_all(parts, elsewhere):
            last = max(file.entry or 0 for file in merged.part.files)
            found += (file._replace(entry=last) for file in merged.files)
        return rewriter.replace(snapshot, found, snapshot.expired)


def by_folder(snapshot: Snapshot) -> dict[tuple[str, str, bool], list[DataFile]]:
    """Return the files by table, folder (one day), and whether their rows are materialized: these two are not mixed."""
    found: dict[tuple[str, str, bool], list[DataFile]] = defaultdict(list)
    through = snapshot.materialized.through if snapshot.materialized else -1
    for file in snapshot.all_files():
        if file.table not in _MATERIALIZED:  # an earlier version has merged them into another entry
            found[file.table, file.path.rpartition("/")[0], (file.entry or 0) <= through].append(file)
    return found


def choose_all(files: Sequence[DataFile], is_over: bool = True) -> list[DataFile]:
    """Return all files of a folder if at least two are small, otherwise none."""
    small = sum(file.rows <= rewrite.FILE_ROWS // 2 for file in files)
    return list(files) if small > 1 and files[0].table in TABLES else []


def choose_similar(files: Sequence[DataFile], is_over: bool) -> list[DataFile]:
    """Return the small files of a folder, up to the last one that is not much larger than all smaller ones together."""
    small = sorted((file for file in files if file.rows <= rewrite.FILE_ROWS // 2), key=lambda file: file.rows)
    smaller = end = 0
    for index, file in enumerate(small):
        if file.rows <= smaller * (GROWTH if is_over else 1):
            end = index + 1
        smaller += file.rows
    return small[:end] if files[0].table in TABLES else []


def _is_over(folder: tuple[str, str, bool]) -> bool:
    """Return whether the day of a folder ended an hour ago or more."""
    return folder[1].rpartition("date=")[2] < f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%d}"
