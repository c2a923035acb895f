"""The store of history: Parquet files that any engine can read, and a manifest for each cluster. Runs without Spark.

::

    STORE/
      _kgroups.json                               format of the store, schema version of its tables
      _manifest/CLUSTER/_cluster.json             cluster and topic; written when its first collector starts
      _manifest/CLUSTER/00000007.json             an entry: created last, when its files are complete
      _manifest/CLUSTER/checkpoint-00000060.json  all current entries up to there
      commits/date=2026-11-23/….parquet           rows of one table and one day (UTC)

Rules: files and entries are immutable. An entry is created on the condition that its number is free: of two writers,
one sees the other's entry, and decides again whether its own is still valid. Files without an entry are remains of a
killed process: they are never read, and deleted a day later.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote

import pyarrow as pa

from kgroups.errors import HistoryError
from kgroups.files.object_files import UNFINISHED

from ..hosts import KEEP
from ..suspended import elapsed
from ..tables import MATERIALIZED, SCHEMA_VERSION, STORED, Table
from .manifest import EMPTY, UPGRADED, DataFile, Entry, Snapshot, contradiction, from_json, ranges_of, to_json
from .storage import Storage

if TYPE_CHECKING:
    from .write import TableWriter

FORMAT = 2
"""Version of the layout. :data:`kgroups.history.tables.SCHEMA_VERSION` is the version of the tables."""

IDENTITY = "_kgroups.json"
MANIFEST = "_manifest"
CLUSTER = "_cluster.json"
CHECKPOINT = "checkpoint-"
CHECKPOINT_EVERY = 20
"""Number of entries between two checkpoints: what a reader opens at most."""
GRACE = timedelta(hours=1)
"""How long files of replaced entries remain, for readers that began before."""
ORPHAN_AGE = timedelta(days=1)
"""Age of a file that no entry names at which it is left over from a killed process."""
UNNAMED_FOR = ORPHAN_AGE / 2
"""Age of the first file of an entry at which the entry is not added anymore: other processes may delete its files."""
SWEPT = "orphans"
"""Notes when files that no entry names were last deleted."""
PUBLISHED = "published-"
PUBLISHED_FOR = timedelta(days=7)
"""How long the files that a publish registered remain, if nothing is published afterwards."""
_FIRST = "00000000"
"""The first entry."""
UNKNOWN_CLUSTER = "unknown"
"""Stands for the ID of a cluster whose brokers are too old to report it."""


class Identity(NamedTuple):
    """The origin of one cluster's history; fixed when its first collector starts."""

    cluster_id: str | None
    topic: str
    created: str
    topic_id: str | None = None
    """ID of the topic; a recreated topic has another. ``None`` for brokers that do not report it."""
    client_hosts: str = KEEP
    """The replacement of the hosts of clients."""
    salt_id: str | None = None
    """Identifies the salt with which they are hashed."""


class TooLate(HistoryError):
    """The files of an entry are so old that other processes may delete them: nothing was changed."""


def accept(snapshot: Snapshot) -> None:
    """Accept any snapshot: the entry is valid whatever others have written."""


class Store:
    """The history of one cluster in a store; the only one there is, unless ``cluster`` selects one."""

    def __init__(self, location: str, cluster: str | None = None) -> None:
        self.storage = Storage(location)
        self.location, self.shown = self.storage.location, self.storage.shown
        self._cluster = cluster
        self._snapshot = EMPTY

    def __repr__(self) -> str:
        return f"Store({self.shown})"

    # Identity.

    @classmethod
    def of_clusters(cls, location: str, cluster: str | None, all_clusters: bool) -> list[Store]:
        """Return the store of each selected cluster.

        :raises HistoryError: if there is no store, or it has several clusters and none was selected.
        """
        one = cls(location, cluster)
        if cluster is not None:
            return [one]
        found = one.clusters()
        if len(found) < 2:
            one._cluster = next(iter(found), None)
            return [one]
        if not all_clusters:
            raise one._several(found, ", or all with --all-clusters")
        return [cls(location, each) for each in found]

    def clusters(self) -> list[str]:
        """Return the IDs of the clusters that have history here."""
        self._check_format()
        folders = self.storage.folders(MANIFEST)  # without their entries, which can be thousands
        return sorted(unquote(each) for each in folders if self.storage.read(f"{MANIFEST}/{each}/{CLUSTER}"))

    def identity(self) -> Identity:
        """Read the identity of the cluster's history.

        :raises HistoryError: if there is no store, this version cannot read it, or it has several clusters and none was
            selected.
        """
        if self._cluster is None:
            found = self.clusters()
            if len(found) > 1:
                raise self._several(found)
            if not found:
                raise self._no_history()
            self._cluster = found[0]
        else:
            self._check_format()
        data = self._read_json(self._name(CLUSTER))
        if data is None:
            raise self._no_cluster(self._cluster)
        added: dict[str, Any] = Identity._field_defaults | data  # earlier versions did not write all members
        members: dict[str, Any] = {name: added.get(name) for name in Identity._fields}
        identity = Identity(**members)
        texts = (identity.topic, identity.created, identity.client_hosts)
        others = (identity.cluster_id, identity.topic_id, identity.salt_id)
        if not all(isinstance(each, str) for each in texts) or not all(isinstance(each, str | None) for each in others):
            raise self._damaged(self._name(CLUSTER), "it is not the identity of a cluster")
        if (identity.cluster_id or UNKNOWN_CLUSTER) != self._cluster:
            raise self._damaged(self._name(CLUSTER), f"it is that of cluster {identity.cluster_id}")
        return identity

    def create(self, identity: Identity) -> Identity:
        """Create the cluster's history, and the store if it is not there, or return the identity of the existing one.

        :raises HistoryError: if it has the history of another topic, or the directory is not a store.
        """
        self._cluster = identity.cluster_id or UNKNOWN_CLUSTER
        if self._read_json(IDENTITY) is None:
            # Read again: the first collectors of two clusters may create the store at the same time.
            if self.storage.names(MANIFEST) and self._read_json(IDENTITY) is None:
                raise HistoryError(
                    f"{self.shown} has a manifest, but no {IDENTITY}: the store is incomplete; use another location"
                )
            self.storage.make()
            self._create_json(IDENTITY, {"format": FORMAT, "schema": SCHEMA_VERSION, "created": identity.created})
        self._check_format()
        self._create_json(self._name(CLUSTER), identity._asdict())
        found = self.identity()
        if found.topic != identity.topic:
            raise HistoryError(f"store {self.shown} holds history of topic {found.topic}, not {identity.topic}")
        if found.topic_id and identity.topic_id and found.topic_id != identity.topic_id:
            raise HistoryError(
                f"store {self.shown} holds history of another {found.topic} (ID {found.topic_id}, now "
                f"{identity.topic_id}): the topic was recreated; collect into a new store"
            )
        return found

    @property
    def cluster(self) -> str:
        """The ID of the cluster, or :data:`UNKNOWN_CLUSTER`.

        :raises HistoryError: as :meth:`identity` does.
        """
        if self._cluster is None:
            self.identity()
        return self._cluster or UNKNOWN_CLUSTER

    # Contents.

    def snapshot(self) -> Snapshot:
        """Return the current entries.

        :raises HistoryError: if a file of the manifest cannot be read, or the store is gone.
        """
        cluster = self.cluster
        self._check_format()  # each time: another version may convert the store while this process runs
        files = self.names("")
        if _stem(CLUSTER) not in files:
            raise self._no_cluster(cluster)
        checkpoint = max((_number(name) for name in files if name.startswith(CHECKPOINT)), default=-1)
        found = self._snapshot
        if checkpoint >= found.next:
            content = self._entries(f"{CHECKPOINT}{checkpoint:08}")
            if not content:
                return self.snapshot()
            found = Snapshot({entry.number: entry for entry in content}, checkpoint + 1)
        numbers = [int(name) for name in files if name.isdigit() and int(name) >= found.next]
        entries = [entry for number in numbers for entry in self._entries(f"{number:08}")]
        if len(entries) < len(numbers):  # replaced, and deleted since the names were listed
            return self.snapshot()
        if reason := contradiction([*found.entries.values(), *entries]):
            raise self._damaged(self._name("").rstrip("/"), reason)
        self._snapshot = found.with_entries(entries)
        return self._snapshot

    def entries(self, numbers: Iterable[int]) -> dict[int, Entry]:
        """Return the entries with these numbers, in their order: also replaced ones, as long as they are not deleted.

        :raises HistoryError: as :meth:`snapshot` does.
        """
        current = self.snapshot().entries
        found = [[current[n]] if n in current else self._entries(f"{n:08}") for n in numbers]
        return {entry.number: entry for each in found for entry in each}

    def check_files(self, files: Iterable[DataFile]) -> None:
        """Check that files are there as they were written, as far as that is cheap: on this machine, by their ends.

        :raises HistoryError: naming the first file that is not.
        """
        from .files import fault

        for file in files if self.storage.folder else ():
            if reason := fault(self.storage, file, self.cluster):
                raise HistoryError(
                    f"store {self.shown}: {reason}", hint="restore it from a backup, or collect into a new store"
                )

    # Changes.

    def writer(self) -> TableWriter:
        """Return a writer of new files. Its files are read only once an entry names them."""
        from .write import TableWriter  # numpy takes as long as a query

        return TableWriter(self.storage, self.cluster)

    def add(self, kind: str, tables: Mapping[Table, pa.Table | pa.RecordBatch]) -> Entry:
        """Write rows of tables, and commit them as an entry."""
        while True:
            began = elapsed()
            with self.writer() as writer:
                for table, rows in tables.items():
                    for batch in rows.to_batches() if isinstance(rows, pa.Table) else [rows]:
                        writer.add(table, batch)
            with suppress(TooLate):  # the rows are still here: write them again
                return self.commit(Entry(kind, writer.files), began=began)

    def commit(self, entry: Entry, valid: Callable[[Snapshot], None] = accept, *, began: float | None = None) -> Entry:
        """Add the entry to the manifest: from now on it is read. Return it with its number.

        :param valid: called with what is current right before; raises if the entry must not be added to that.
        :param began: when the first of its files was begun, as :func:`elapsed` returns it.
        :raises TooLate: if that was longer than :data:`UNNAMED_FOR` ago.
        :raises HistoryError: if the store is gone.
        """
        while True:
            snapshot = self.snapshot()
            valid(snapshot)
            if began is not None and elapsed() - began > UNNAMED_FOR.total_seconds():
                raise TooLate(f"store {self.shown}: this took longer than {UNNAMED_FOR}; nothing was changed")
            committed_at = datetime.now(UTC).isoformat(timespec="milliseconds")
            beside = ranges_of(snapshot.entries.keys() - set(entry.replaces))
            numbered = entry._replace(number=snapshot.next, committed_at=committed_at, beside=beside)
            if self._create_json(self._name(f"{numbered.number:08}.json"), to_json(numbered)):
                break
        if (numbered.number + 1) % CHECKPOINT_EVERY == 0:
            with suppress(HistoryError):  # the entry is committed; the next checkpoint includes it
                self._write_checkpoint(numbered.number)
        return numbered

    def write_upgraded(self, identity: Identity, entry: Entry) -> None:
        """Write the manifest of a store of an older format, not current yet; replace the manifest of a killed upgrade.

        :raises HistoryError: if there is a manifest of something else.
        """
        self._cluster = identity.cluster_id or UNKNOWN_CLUSTER
        if set(self.names("")) - {_stem(CLUSTER), _FIRST} or any(e.kind != UPGRADED for e in self._entries(_FIRST)):
            raise self._damaged(IDENTITY, "the store has format 1 and a manifest of a later one; nothing was changed")
        self.replace_json(_stem(CLUSTER), identity._asdict())
        self.replace_json(_FIRST, to_json(entry._replace(number=0, committed_at=identity.created)))

    def delete_replaced(self, grace: timedelta = GRACE) -> int:
        """Delete files that were replaced before ``grace``, then their entries; return the number of entries.

        Files that a later entry has taken over remain as long as that entry; files that published tables name remain
        until the next publish.
        """
        snapshot, hidden = self._current_and_hidden()
        if not hidden:
            return 0
        limit = (datetime.now(UTC) - grace).isoformat(timespec="milliseconds")
        published = self._published()
        recent = {
            number
            for entry in (*hidden.values(), *snapshot.entries.values())
            for number in entry.replaces
            if entry.committed_at > limit or entry.number >= published
        }
        due = [entry for number, entry in sorted(hidden.items()) if number not in recent]
        readable = (*snapshot.entries.values(), *(hidden[number] for number in hidden.keys() & recent))
        kept = {file.path for entry in readable for file in entry.files}
        for entry in due:
            self.storage.delete([file.path for file in entry.files if file.path not in kept])
            self.storage.delete([self._name(f"{entry.number:08}.json")])
        return len(due)

    def note_published(self, target: str, snapshot: Snapshot) -> None:
        """Note that another reader needs the files of a snapshot, and of later ones: see :meth:`delete_replaced`.

        :param target: the reader: the tables of another format, or a stream.
        """
        stem = f"{PUBLISHED}{quote(target, safe='')}"
        self.replace_json(stem, {"next": snapshot.next, "published_at": datetime.now(UTC).isoformat()})

    def _published(self) -> float:
        """Return the number of the first entry that a published table does not show; infinity if there is none."""
        limit = (datetime.now(UTC) - PUBLISHED_FOR).isoformat()
        found = math.inf
        for stem in self.names(PUBLISHED):
            note = self.read_json(stem) or {"next": math.inf, "published_at": ""}
            number, time = note.get("next"), note.get("published_at")
            if not isinstance(number, int | float) or not isinstance(time, str):
                raise self._damaged(self._name(f"{stem}.json"), "kgroups history publish has not written it")
            found = min(found, number) if time > limit else found
        return found

    def delete_orphans(self, age: timedelta = ORPHAN_AGE) -> int:
        """Delete files that no entry of any cluster names, and old checkpoints; return the number of files.

        Rule: only files that were last modified before ``age``. A collector names a file in an entry minutes after it
        wrote it; files that are named since they were listed are found, because the manifest is read afterwards.
        Only folders of days are searched: next to them is the log of a Delta table.
        """
        limit = datetime.now(UTC) - age
        old = {
            name
            for table in (*STORED, *MATERIALIZED)
            for name in self.storage.names_before(table.name, limit)
            if name.startswith(f"{table.name}/date=")
        }
        named: set[str] = set()
        for cluster in self.clusters() if old else ():
            named |= Store(self.location, cluster)._named()
        orphans = sorted(old - named)
        checkpoints = self.storage.names_before(self._name("").rstrip("/"), limit)
        checkpoints = sorted(name for name in checkpoints if _stem(name).startswith(CHECKPOINT))
        unfinished = self.storage.names_before(UNFINISHED, limit)
        self.storage.delete([*orphans, *checkpoints[:-1], *unfinished])
        return len(orphans)

    def delete_unnamed(self, paths: Iterable[str]) -> int:
        """Delete those of some new files that no entry names; return their number."""
        unnamed = sorted(set(paths) - self._named())
        self.storage.delete(unnamed)
        return len(unnamed)

    def delete_orphans_daily(self) -> int:
        """Delete them if the last time, of any process, was a day ago: it lists all files. Return their number."""
        now = datetime.now(UTC)
        note = self.read_json(SWEPT) or {}
        if note.get("swept_at", "") > (now - ORPHAN_AGE).isoformat():
            return 0
        self.replace_json(SWEPT, {"swept_at": now.isoformat()})
        return self.delete_orphans()

    # Other files beside the manifest.

    def names(self, prefix: str) -> list[str]:
        """Return the names of JSON files with a prefix, sorted."""
        stems = map(_stem, self.storage.names(self._name("").rstrip("/")))
        return sorted(stem for stem in stems if stem.startswith(prefix))

    def read_json(self, stem: str) -> dict[str, Any] | None:
        """Return the content of a JSON file; ``None`` if it does not exist."""
        return self._read_json(self._name(f"{stem}.json"))

    def create_json(self, stem: str, data: Mapping[str, Any]) -> bool:
        """Create a JSON file; return ``False`` if it exists."""
        return self._create_json(self._name(f"{stem}.json"), data)

    def replace_json(self, stem: str, data: Mapping[str, Any]) -> None:
        """Write a JSON file whether or not it exists."""
        self.storage.replace(self._name(f"{stem}.json"), json.dumps(data).encode() + b"\n")

    def delete_json(self, stems: Iterable[str]) -> None:
        """Delete JSON files; a file that does not exist is not an error."""
        self.storage.delete([self._name(f"{stem}.json") for stem in stems])

    # Internal.

    def _named(self) -> set[str]:
        """Return the files that an entry of the cluster names, current or replaced but not deleted."""
        snapshot, hidden = self._current_and_hidden()
        return {file.path for entry in (*snapshot.entries.values(), *hidden.values()) for file in entry.files}

    def _current_and_hidden(self) -> tuple[Snapshot, dict[int, Entry]]:
        """Return the current entries, and the entries that are replaced but not deleted."""
        numbers = [int(name) for name in self.names("") if name.isdigit()]
        current = self.snapshot()  # after the names: an entry that is added between the two is not hidden
        hidden = [number for number in numbers if number not in current.entries]
        return current, {number: entry for number in hidden for entry in self._entries(f"{number:08}")}

    def _write_checkpoint(self, number: int) -> None:
        """Merge all entries up to a number into one file. Every writer would write the same."""
        entries = [to_json(entry) for each, entry in sorted(self.snapshot().entries.items()) if each <= number]
        if self._snapshot.next == number + 1:  # otherwise a later entry may have replaced earlier ones
            self._create_json(self._name(f"{CHECKPOINT}{number:08}.json"), {"entries": entries})

    def _entries(self, stem: str) -> list[Entry]:
        name = self._name(f"{stem}.json")
        data = self._read_json(name)
        if data is None:  # replaced, and deleted since its name was listed
            return []
        try:
            found = [from_json(each) for each in (data["entries"] if stem.startswith(CHECKPOINT) else [data])]
        except (KeyError, TypeError):
            raise self._damaged(name, "it has no entries") from None
        except ValueError as error:
            raise self._damaged(name, str(error)) from None
        numbers, number = [entry.number for entry in found], _number(stem)
        if not (len(set(numbers)) == len(numbers) and max(numbers, default=number) <= number) or (
            not stem.startswith(CHECKPOINT) and numbers != [number]
        ):
            raise self._damaged(name, "number is invalid")
        return found

    def _check_format(self) -> None:
        if self.is_first_format():
            raise HistoryError(
                f"store {self.shown} has format 1, of an older version; convert it in place: kgroups history upgrade "
                "--store …"
            )

    def is_first_format(self) -> bool:
        """Return whether the store has format 1, which :mod:`.upgrade` converts; otherwise, it has the current one.

        :raises HistoryError: if there is no store, or it has another format or schema.
        """
        data = self._read_json(IDENTITY)
        if data is None:
            raise self._no_history()
        found = (data.get("format"), data.get("schema"))
        if not all(type(each) is int for each in found):  # a bool is an int
            raise self._damaged(IDENTITY, "the store cannot be identified")
        if found not in ((1, SCHEMA_VERSION), (FORMAT, SCHEMA_VERSION)):
            raise HistoryError(
                f"store {self.shown} has format {found[0]} and schema {found[1]}, this version reads format {FORMAT} "
                f"and schema {SCHEMA_VERSION}: it is of another version of kgroups; use that version"
            )
        return found[0] == 1

    def _several(self, clusters: Sequence[str], also: str = "") -> HistoryError:
        return HistoryError(
            f"store {self.shown} holds the history of {len(clusters)} clusters: {', '.join(clusters)}; select one with "
            f"--cluster{also}"
        )

    def _no_cluster(self, cluster: str) -> HistoryError:
        found = ", ".join(self.clusters())
        return HistoryError(
            f"store {self.shown} holds no history of cluster {self._cluster}",
            hint=f"it has: {found}" if found else None,
        )

    def _no_history(self) -> HistoryError:
        return HistoryError(f"{self.shown} holds no history; begin one with: kgroups history collect --store …")

    def damaged(self, file: str, why: str) -> HistoryError:
        """Return the error of a file beside the manifest."""
        return self._damaged(self._name(file), why)

    def _damaged(self, name: str, why: str) -> HistoryError:
        return HistoryError(f"{self.shown}/{name} is damaged: {why}")

    def _name(self, file: str) -> str:
        return f"{MANIFEST}/{quote(self.cluster, safe='')}/{file}"

    def _read_json(self, name: str) -> dict[str, Any] | None:
        content = self.storage.read(name)
        if content is None:
            return None
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            raise self._damaged(name, "it is not JSON")
        return data

    def _create_json(self, name: str, data: Mapping[str, Any]) -> bool:
        return self.storage.create(name, json.dumps(data).encode() + b"\n")


def _stem(name: str) -> str:
    return name.rpartition("/")[2].removesuffix(".json")


def _number(name: str) -> int:
    digits = name.removeprefix(CHECKPOINT)
    return int(digits) if digits.isdigit() else -1
