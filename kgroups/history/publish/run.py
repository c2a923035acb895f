"""Make published tables equal to the manifests of a store, as often as needed.

Compare the files that a table registers with the files that current entries name, and commit the difference. So a
publish that was killed, or ran twice, needs no state of its own. The tables are opened before the manifests are read:
a process that publishes older manifests conflicts with the commit of the newer ones.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import NamedTuple

from kgroups.errors import HistoryError

from ..load.manifest import DataFile, Snapshot
from ..load.store import Store
from ..tables import STORED, Table
from .target import Conflict, Target

ATTEMPTS = 5
"""How often a publish starts again because another process has changed a table."""


class Published(NamedTuple):
    """The changes of a publish."""

    tables: int
    added: int
    """Number of files."""
    removed: int


def publish(location: str, target: Target) -> Published:
    """Publish the history of all clusters of a store, and close the target.

    :raises HistoryError: if the store or a table cannot be used, or other processes change a table again and again.
        Each table is then as before, or as the store is.
    """
    with closing(target):
        return _publish(location, target)


def _publish(location: str, target: Target) -> Published:
    changes: Counter[str] = Counter()
    for _ in range(ATTEMPTS):
        try:
            _publish_once(location, target, changes)
        except Conflict as conflict:
            last = conflict
        else:
            return Published(len(STORED), changes["added"], changes["removed"])
    raise HistoryError(f"table {last} is being changed by another process; wait until it has ended, and publish again")


def _publish_once(location: str, target: Target, changes: Counter[str]) -> None:
    snapshots = _snapshots(location)  # before a table is created for what is not a store
    tables = {table: target.open(table) for table in STORED}
    snapshots = _snapshots(location)
    for table, published in tables.items():
        current = {published.place(file): file for file in _files(snapshots, table)}
        added = [current[place] for place in sorted(current.keys() - published.files)]
        removed = sorted(published.files - current.keys())
        for cluster, snapshot in snapshots.items():
            Store(location, cluster).check_files(file for file in snapshot.files(table) if file in added)
        if added or removed:
            published.commit(added, removed)
            changes.update(added=len(added), removed=len(removed))
    for cluster, snapshot in snapshots.items():
        Store(location, cluster).note_published(target.name, snapshot)


def _snapshots(location: str) -> dict[str, Snapshot]:
    clusters = Store(location).clusters()
    if not clusters:
        Store(location).identity()  # raises the error of a store without history
    return {cluster: Store(location, cluster).snapshot() for cluster in clusters}


def _files(snapshots: dict[str, Snapshot], table: Table) -> list[DataFile]:
    return [file for snapshot in snapshots.values() for file in snapshot.files(table)]
