"""Report the lineage of a collection while it runs. A server that does not respond never stops the collection."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any
from uuid import uuid4

from kgroups.config.settings import ClientSettings
from kgroups.errors import HistoryError, KgroupsError

from ..engine.duck import DuckDB
from ..lineage.events import ABORT, COLLECTION, COMPLETE, FAIL, START, Run, Source, collection_event, group_event
from ..lineage.sink import Sink
from ..load.manifest import Entry
from ..load.store import Store
from ..tables import COMMITS


class Lineage:
    """A context of one collection: one run for it, and one for each group when it commits on a new topic."""

    def __init__(
        self, sink: Sink, settings: ClientSettings, topic: str, store: Store, notify: Callable[[str], None]
    ) -> None:
        host, port = settings.bootstrap[0]
        self._source = Source(f"{host}:{port}", topic, store.shown)
        self._sink, self._store, self._notify = sink, store, notify
        self._run = Run(str(uuid4()), COLLECTION)
        self._topics: defaultdict[str, set[str]] = defaultdict(set)
        self.lost = 0
        """Number of events that could not be written."""

    def __enter__(self) -> Lineage:
        self._write(collection_event(self._source, self._run, START, _now()))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        event = COMPLETE if error is None else ABORT if isinstance(error, KeyboardInterrupt) else FAIL
        reason = None if event == COMPLETE else str(error) or type(error).__name__
        self._write(collection_event(self._source, self._run, event, _now(), reason))

    def add(self, entry: Entry) -> None:
        """Report the groups that commit on a topic for the first time in this collection."""
        try:
            found = self._new_topics(entry)
        except KgroupsError as error:
            self.lost += 1
            self._notify(f"lineage of a batch is unknown: {error}")
            return
        for group, topics in sorted(found.items()):
            self._topics[group] |= topics
            run = Run(str(uuid4()), group)
            for kind in (START, COMPLETE):
                self._write(group_event(self._source, run, self._run, self._topics[group], kind, _now()))

    def _new_topics(self, entry: Entry) -> Mapping[str, set[str]]:
        files = [file for file in entry.files if file.table == COMMITS.name]
        found: defaultdict[str, set[str]] = defaultdict(set)
        if not files:
            return found
        with DuckDB() as tables:
            tables.load(self._store, COMMITS, files)
            query = f"select distinct `group`, topic from {COMMITS.name} where not tombstone and topic is not null"
            for row in tables.fetch(query).to_pylist():
                if row["topic"] not in self._topics.get(row["group"], ()):
                    found[row["group"]].add(row["topic"])
        return found

    def _write(self, event: dict[str, Any]) -> None:
        try:
            self._sink.write(event)
        except HistoryError as error:
            self.lost += 1
            if self.lost == 1:
                self._notify(str(error))


def _now() -> datetime:
    return datetime.now(UTC)
