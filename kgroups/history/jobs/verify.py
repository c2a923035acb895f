"""Make all checks of a store, and compare it with the cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from datetime import UTC, datetime

from kgroups.config.settings import ClientSettings
from kgroups.errors import KgroupsError
from kgroups.model.counts import count

from ..engine import derive
from ..engine.duck import DuckDB
from ..load.clients import Clients
from ..load.files import changed_bytes, fault
from ..load.manifest import DataFile, Snapshot
from ..load.store import Identity, Store
from ..rules import DEFAULTS
from ..tables import BASELINE, COMMITS, COVERAGE, MATERIALIZED, RECORDS, STORED, SWEEPS, UNDECODED
from ..transform.definitions import Span
from ..verify.cluster import (
    CLUSTER,
    LATEST,
    POSITIONS,
    Commit,
    Key,
    ask,
    check_cluster,
    check_latest,
    check_positions,
    stored_commits,
)
from ..verify.decoding import check_decoding
from ..verify.result import FAILED, OK, Check, judged, unknown
from ..verify.rows import check_rows

_BEGINNING, _END = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)


def verify(store: Store, settings: ClientSettings | None) -> Iterator[Check]:
    """Yield the result of each check.

    :param settings: of the cluster to compare with; ``None``: only the store is checked.
    :raises HistoryError: if there is no store.
    """
    snapshot = store.snapshot()
    files = check_files(store, snapshot)
    yield from files.values()
    damaged = {name: each.note or "" for name, each in files.items() if each.status == FAILED}
    with DuckDB() as tables:
        for table in STORED:
            if table.name not in damaged:
                tables.load(store, table, snapshot.files(table))
        yield from check_rows(tables, damaged, snapshot.expired)
        yield from check_decoding(store, tables, damaged.keys(), snapshot.files(RECORDS))
        if settings is not None:
            yield from compare(store.identity(), snapshot.positions, lambda: _latest(tables, damaged.keys()), settings)


def is_decoded_by_this_version(store: Store) -> bool:
    """Return whether the tables have the rows that this version decodes from the stored records.

    :raises HistoryError: if there is no store, or a file cannot be read.
    """
    snapshot = store.snapshot()
    with DuckDB() as tables:
        for table in STORED:
            tables.load(store, table, snapshot.files(table))
        checks = check_decoding(store, tables, frozenset(), snapshot.files(RECORDS))
        return all(check.status == OK for check in checks)


def compare(
    identity: Identity,
    positions: Mapping[int, int],
    latest: Callable[[], Mapping[Key, Commit] | str],
    settings: ClientSettings,
) -> Iterator[Check]:
    """Compare a store with its cluster.

    :param latest: returns the latest offsets of the store, or why they are unknown.
    """
    left = [(CLUSTER, None), (POSITIONS, None), (LATEST, "latest_offsets")]
    why = "it is another cluster"
    with Clients(settings) as clients:
        try:
            yield (same := check_cluster(identity, clients))
            del left[0]
            state = None if same.status == FAILED else ask(clients, identity, positions)
        except KgroupsError as error:
            state, why = None, str(error)
    if state is None:
        yield from (unknown(name, table, why) for name, table in left)
        return
    yield check_positions(identity, positions, state)
    stored = latest()
    yield unknown(LATEST, "latest_offsets", stored) if isinstance(stored, str) else check_latest(stored, state.now)


def _latest(tables: DuckDB, damaged: Set[str]) -> Mapping[Key, Commit] | str:
    for name in (COMMITS.name, UNDECODED.name, BASELINE.name, SWEEPS.name, COVERAGE.name):
        if name in damaged:
            return f"files of {name} do not match the manifest"
    derive(tables, ["latest_offsets"], Span(_BEGINNING, _END), DEFAULTS)
    return stored_commits(tables.fetch("select * from latest_offsets").to_pylist())


FILES = "files-match-manifest"


def check_files(store: Store, snapshot: Snapshot) -> dict[str, Check]:
    """Check the files of each table that has some; table name -> result."""
    found: dict[str, list[DataFile]] = {table.name: [] for table in (*STORED, *MATERIALIZED)}
    for entry in snapshot.entries.values():
        for file in entry.files:
            found.setdefault(file.table, []).append(file)
    return {name: _check_table(store, name, files) for name, files in found.items() if files}


def _check_table(store: Store, name: str, files: list[DataFile]) -> Check:
    faults = (fault(store.storage, file, store.cluster) or changed_bytes(store.storage, file) for file in files)
    wrong = [each for each in faults if each]
    unverified = sum(file.sha256 is None for file in files)
    note = f"{count(unverified, 'file')} of an earlier version: only size, rows, times, and cluster are compared"
    return judged(FILES, name, len(files), len(wrong), wrong[0] if wrong else note if unverified else None)
