"""Maintenance during collection, in small steps. A failure never ends the collection: it is reported, and retried."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from kgroups.errors import KgroupsError
from kgroups.model.counts import count

from ..load.manifest import Snapshot
from ..load.store import Store
from ..tables import COMMITS
from .compact import compact
from .expire import expire
from .materialize import materialize
from .rewrite import Elsewhere

MANY = 32
"""Number of entries before a merge: a reader opens at most their files, and the merged files."""

AT_ONCE = 1_000_000
"""Number of commits that are materialized at the end of a collection, in seconds; more would double its time."""

NEW = 8
"""Number of entries after which their commits are materialized while a collection continues."""

CHECK_EVERY = 5.0
"""Seconds between two checks while a collection continues."""

RETRY_AFTER = 600.0
"""Seconds after a failure."""

DAY = timedelta(days=1)


def merge_many(store: Store, stopped: Callable[[], bool] = lambda: False, elsewhere: Elsewhere | None = None) -> None:
    """Merge small files if there are many entries: queries open all files of what is not materialized.

    :param elsewhere: rewrites the files; default: this process.
    :raises HistoryError: if the store cannot be read or written; it is then unchanged.
    """
    if len(store.snapshot().collected().entries) >= MANY:
        compact(store, small=True, stopped=stopped, elsewhere=elsewhere)


class Upkeep:
    """A context that materializes, merges files, and deletes old rows: in a thread; with ``once``, at the end."""

    def __init__(
        self, store: Store, notify: Callable[[str], None], *, retention: timedelta | None = None, once: bool = False
    ) -> None:
        self._store = Store(store.location, store.cluster)  # a thread needs its own
        self._notify, self._retention, self._once = notify, retention, once
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kgroups-upkeep", daemon=True)

    def __enter__(self) -> Upkeep:
        if not self._once:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._once:
            if kind is None:
                self.step()
            return
        self._stopped.set()
        self._thread.join(CHECK_EVERY)  # a step that takes longer ends with the process, and changes nothing

    def step(self) -> bool:
        """Run due maintenance; return whether nothing failed."""
        try:
            snapshot = self._store.snapshot()
            if self._retention and self._is_due(snapshot):
                expire(self._store, datetime.now(UTC) - self._retention, stopped=self._stopped.is_set)
            else:
                merge_many(self._store, self._stopped.is_set)
            self._materialize()
            self._store.delete_orphans_daily()
        except (KgroupsError, OSError, MemoryError) as error:
            if not self._stopped.is_set():
                self._notify(f"maintenance of the store failed, and collection continues: {error}")
            return False
        return True

    def _materialize(self) -> None:
        snapshot = self._store.snapshot()
        through = snapshot.materialized.through if snapshot.materialized else -1
        if not self._once:
            if sum(number > through for number in snapshot.collected().entries) >= NEW:
                materialize(self._store, self._stopped.is_set)
            return
        rows = sum(file.rows for file in snapshot.split_files(COMMITS, through)[1])
        if rows <= AT_ONCE:
            materialize(self._store)
        else:
            self._notify(f"{count(rows, 'commit')} are not materialized: kgroups history materialize, for fast queries")

    def _is_due(self, snapshot: Snapshot) -> bool:
        """Return whether rows are a day older than the retention time, and the last expiry was for earlier ones."""
        if self._retention is None:
            return False
        limit = datetime.now(UTC) - self._retention - DAY
        micros = int(limit.timestamp() * 1_000_000)
        firsts = [file.first for entry in snapshot.entries.values() for file in entry.files if file.first is not None]
        return min(firsts, default=micros) < micros and (snapshot.expired or 0) < micros

    def _run(self) -> None:
        wait = CHECK_EVERY
        while not self._stopped.wait(wait):
            wait = CHECK_EVERY if self.step() else RETRY_AFTER
