"""The states of share groups in a store: decoded rows, and what is kept of them when the store is merged or expires."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kgroups.config.settings import ClientSettings
from kgroups.errors import HistoryError, Reason
from kgroups.history.arrow import arrow_schema, to_batch
from kgroups.history.decode.shares import decode_share_states
from kgroups.history.engine.duck import DuckDB
from kgroups.history.extract.coverage import RangeCounter
from kgroups.history.extract.ranges import Ends, Range
from kgroups.history.jobs import shares
from kgroups.history.jobs.verify import verify
from kgroups.history.load.clients import Clients
from kgroups.history.load.manifest import SHARES, Entry
from kgroups.history.load.store import Identity, Store
from kgroups.history.tables import SHARE_COVERAGE, SHARE_STATES
from kgroups.history.upkeep.compact import compact
from kgroups.history.upkeep.decode_again import decode_again
from kgroups.history.upkeep.expire import expire
from kgroups.model.placement import SHARE_STATE_TOPIC
from kgroups.protocol.record_schemas.encode import encode_value
from kgroups.protocol.share_state import RECORD_TYPES, SNAPSHOT, UPDATE
from tests.fakes.offset_records import Pair, record_batch
from tests.fakes.share_records import TOPIC_ID_TEXT, state_key

START = datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)
"""The time of the record at offset 0; the next ones follow after one millisecond each."""
States = Sequence[tuple[int, int, int, int]]
FIELDS = "FirstOffset", "LastOffset", "DeliveryState", "DeliveryCount"


def snapshot(start: int, states: States = (), group: str = "s") -> Pair:
    value = {"SnapshotEpoch": 4, "StateEpoch": 2, "LeaderEpoch": 3, "StartOffset": start, "DeliveryCompleteCount": 1}
    return _pair(SNAPSHOT, value | {"CreateTimestamp": 1_760_000_000_000, "WriteTimestamp": 0}, states, group)


def update(start: int, states: States = (), group: str = "s") -> Pair:
    return _pair(UPDATE, {"SnapshotEpoch": 4, "LeaderEpoch": -1, "StartOffset": start}, states, group)


def deleted(group: str = "s") -> Pair:
    return state_key(SNAPSHOT, group), None


def _pair(record_type: int, value: dict[str, Any], states: States, group: str) -> Pair:
    batches = [dict(zip(FIELDS, each, strict=True)) for each in states]
    return state_key(record_type, group), encode_value(RECORD_TYPES[record_type], 0, value | {"StateBatches": batches})


def decoded(*pairs: Pair, names: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """The rows, without places, and without what is null."""
    batch = decode_share_states(record_batch(pairs), lambda ids: names or {})
    assert batch.schema == arrow_schema(SHARE_STATES)
    assert not any(batch[column.name].null_count for column in SHARE_STATES.columns if column.required)
    rows = batch.to_pylist()
    assert [(row["log_partition"], row["log_offset"]) for row in rows] == [(3, at) for at in range(len(rows))]
    return [
        {key: value for key, value in row.items() if value is not None and not key.startswith("log_")} for row in rows
    ]


KEY = {"group": "s", "topic_id": TOPIC_ID_TEXT, "partition": 0}


def test_snapshots_and_updates_are_rows_with_batches() -> None:
    found = decoded(
        snapshot(5, [(5, 7, 2, 1), (8, 8, 4, 5)]),
        update(-1, [(9, 9, 0, 2), (10, 10, 3, 1)]),
        names={TOPIC_ID_TEXT: "t"},
    )
    whole, change = found
    assert whole == KEY | {
        "topic": "t",
        "record_name": "snapshot",
        "tombstone": False,
        "snapshot_epoch": 4,
        "state_epoch": 2,
        "leader_epoch": 3,
        "start_offset": 5,
        "delivery_complete_count": 1,
        "first_offsets": [5, 8],
        "last_offsets": [7, 8],
        "delivery_states": ["acknowledged", "archived"],
        "delivery_counts": [1, 5],
        "created_at": START,
    }
    assert change == KEY | {
        "topic": "t",
        "record_name": "update",
        "tombstone": False,
        "snapshot_epoch": 4,
        "first_offsets": [9, 10],
        "last_offsets": [9, 10],
        "delivery_states": ["available", "3"],
        "delivery_counts": [2, 1],
    }


def test_tombstones_and_undecodable_records_are_rows() -> None:
    tombstone, newer, cut, marker = decoded(
        deleted(), (b"\0\x09new", b"x"), (state_key(UPDATE), b"\0"), (b"\0\0\0\1", None)
    )
    assert tombstone == KEY | {"record_name": "snapshot", "tombstone": True}
    assert newer == {"tombstone": False, "error": "record type 9 is unknown"}
    assert (cut["group"], cut["record_name"]) == ("s", "update") and cut["error"].startswith("value: ")
    assert marker == {"tombstone": False, "error": "transaction marker: commit"}


PAIRS = (
    *(snapshot(0), update(3), snapshot(5, [(6, 6, 0, 2)]), update(-1, [(7, 7, 4, 5)]), update(6)),
    *(snapshot(1, group="gone"), deleted("gone"), update(9)),
)


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    made = Store(str(tmp_path / "history"))
    made.create(Identity("cluster-1", "__consumer_offsets", "2026-01-01T00:00:00+00:00", "topic-1"))
    return made


@pytest.fixture
def store(empty: Store) -> Store:
    records = record_batch(PAIRS)
    for first, after in ((0, 2), (2, 7), (7, 8)):
        collected(empty, records.slice(first, after - first), first, after)
    return empty


def collected(store: Store, records: pa.RecordBatch, start: int, stop: int) -> None:
    """Commit records as the collector does, three milliseconds after the last one was written."""
    counter = RangeCounter([Range(3, start, stop)])
    with store.writer() as writer:
        for batch in counter.count(iter([records])):
            writer.add(SHARE_STATES, decode_share_states(batch, lambda ids: {}))
        facts = counter.facts(lambda holes: dict.fromkeys(holes))
        rows = [fact | {"sampled_at": START + timedelta(milliseconds=stop + 2)} for fact in facts]
        writer.add(SHARE_COVERAGE, to_batch(SHARE_COVERAGE, rows))
    store.commit(Entry(SHARES, writer.files, share_positions={3: stop}))


def offsets(store: Store) -> list[int]:
    return sorted(row["log_offset"] for row in rows_of(store, SHARE_STATES.name))


def rows_of(store: Store, table: str) -> list[dict[str, Any]]:
    with DuckDB() as engine:
        for each in (SHARE_STATES, SHARE_COVERAGE):
            engine.load(store, each, store.snapshot().files(each))
        return list(engine.fetch(f"select * from {table}").to_pylist())


def is_sound(store: Store) -> bool:
    checks = [each for each in verify(store, None) if each.table in (SHARE_STATES.name, SHARE_COVERAGE.name)]
    assert {each.check for each in checks} == {
        *("files-match-manifest", "unique-positions", "ranges-do-not-overlap", "records-in-ranges", "ranges-complete")
    }
    return all(each.status == "ok" for each in checks)


def test_store_is_sound_and_remains_so_when_it_is_rewritten(store: Store) -> None:
    assert is_sound(store)
    for rewrite in (compact, decode_again):
        rewrite(store)
        again = Store(store.location)
        assert (offsets(again), again.snapshot().share_positions) == (list(range(8)), {3: 8})
        assert is_sound(again)


def test_state_that_is_stored_twice_and_range_that_lacks_records_are_found(store: Store) -> None:
    records = record_batch(PAIRS)
    with store.writer() as writer:
        writer.add(SHARE_STATES, decode_share_states(records.slice(0, 1), lambda ids: {}))
        row = {"sampled_at": START, "log_partition": 3, "from_offset": 8, "to_offset": 12, "records": 4, "compacted": 0}
        writer.add(SHARE_COVERAGE, to_batch(SHARE_COVERAGE, [row | {"first_time": START, "last_time": START}]))
    store.commit(Entry(SHARES, writer.files))
    failed = {(each.check, each.table) for each in verify(store, None) if each.status == "FAILED"}
    assert failed == {("unique-positions", "share_states"), ("ranges-complete", "share_coverage")}


def test_expire_keeps_the_states_in_effect_and_their_ranges(store: Store) -> None:
    """Before offset 7, the last snapshot of the state is at offset 2; the other state is deleted."""
    expire(store, START + timedelta(milliseconds=7))
    assert offsets(store) == [2, 3, 4, 7]
    assert sorted(row["from_offset"] for row in rows_of(store, SHARE_COVERAGE.name)) == [2, 7]
    assert store.snapshot().share_positions == {3: 8}
    assert is_sound(store)


CLIENTS = Clients(ClientSettings((("h", 1),)))
"""They open no connection, because nothing is read with them."""


class FakeLog:
    """The log ``__share_group_state`` with one partition."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, ends: Ends) -> None:
        self.ends_now, self.requests = ends, 0
        monkeypatch.setattr(shares, "OffsetsLog", lambda session, topic: self)
        monkeypatch.setattr(shares, "topic_names", self._names)
        monkeypatch.setattr(shares, "find_last", lambda session, topic, holes: dict.fromkeys(holes))
        monkeypatch.setattr(CLIENTS.reader, "read", self._read)

    def ends(self) -> dict[int, Ends]:
        return {3: self.ends_now}

    def _names(self, session: object) -> dict[str, str]:
        self.requests += 1
        return {TOPIC_ID_TEXT: "orders"}

    def _read(self, ranges: Sequence[Range], *, topic: str) -> Any:
        assert topic == SHARE_STATE_TOPIC
        for piece in ranges:
            yield record_batch(PAIRS).slice(piece.start, piece.span)


def test_log_is_collected_once_and_gaps_are_rows(monkeypatch: pytest.MonkeyPatch, empty: Store) -> None:
    log, said = FakeLog(monkeypatch, Ends(0, 4, 4)), list[str]()
    collector = shares.ShareStates(empty, CLIENTS, 3, said.append)
    assert list(collector.batches()) == [3, 1]
    assert list(collector.batches()) == [] == list(shares.ShareStates(empty, CLIENTS, 3, said.append).batches())
    log.ends_now = Ends(6, 8, 8)
    assert list(collector.batches()) == [2]
    assert (offsets(empty), empty.snapshot().share_positions) == ([0, 1, 2, 3, 6, 7], {3: 8})
    assert sorted((row["from_offset"], row["to_offset"]) for row in rows_of(empty, SHARE_COVERAGE.name)) == [
        *((0, 3), (3, 4), (6, 8))
    ]
    assert {row["topic"] for row in rows_of(empty, SHARE_STATES.name)} == {"orders"}
    assert (log.requests, collector.failed) == (1, False), "names are requested for new IDs only"
    log.ends_now = Ends(0, 2, 2)
    assert list(collector.batches()) == [] and collector.failed
    assert said[-1].startswith(
        "share groups are not collected: __share_group_state-3 ends at 2 now, but was read up to"
    )


def test_batch_whose_entry_was_not_created_is_read_again(monkeypatch: pytest.MonkeyPatch, empty: Store) -> None:
    FakeLog(monkeypatch, Ends(0, 8, 8))
    with monkeypatch.context() as killed:

        def interrupt(*entry: object, began: object = None) -> None:
            raise KeyboardInterrupt

        killed.setattr(empty, "commit", interrupt)
        with pytest.raises(KeyboardInterrupt):
            list(shares.ShareStates(empty, CLIENTS, 100, print).batches())
    assert offsets(empty) == [] and list(Path(empty.location, "share_states").rglob("*.parquet"))
    assert list(shares.ShareStates(empty, CLIENTS, 100, print).batches()) == [8]
    assert offsets(empty) == list(range(8))


@pytest.mark.parametrize(("reason", "failed"), [(Reason.NOT_AUTHORIZED, False), (Reason.TIMEOUT, True)])
def test_log_that_cannot_be_read_is_named_once(
    monkeypatch: pytest.MonkeyPatch, empty: Store, reason: Reason, failed: bool
) -> None:
    log, lines = FakeLog(monkeypatch, Ends(0, 8, 8)), list[str]()
    collector = shares.ShareStates(empty, CLIENTS, 100, lines.append)
    collector.expected = True

    def fail() -> dict[int, Ends]:
        raise HistoryError("no", reason=reason)

    monkeypatch.setattr(log, "ends", fail)
    assert list(collector.batches()) == list(collector.batches()) == []
    assert (lines, collector.failed) == (["share groups are not collected: no"], failed)


def test_cluster_without_share_groups_needs_neither_topic_nor_acl(
    monkeypatch: pytest.MonkeyPatch, empty: Store
) -> None:
    log, lines = FakeLog(monkeypatch, Ends(0, 8, 8)), list[str]()
    collector = shares.ShareStates(empty, CLIENTS, 100, lines.append)
    for reason in (Reason.NOT_AUTHORIZED, Reason.TOPIC_NOT_FOUND):

        def fail(reason: Reason = reason) -> dict[int, Ends]:
            raise HistoryError("no", reason=reason)

        monkeypatch.setattr(log, "ends", fail)
        assert list(collector.batches()) == []
    assert (lines, collector.failed) == ([], False)


def test_batch_of_a_second_collector_is_dropped(monkeypatch: pytest.MonkeyPatch, empty: Store) -> None:
    log, said = FakeLog(monkeypatch, Ends(0, 4, 4)), list[str]()

    def interfere(session: object) -> dict[str, str]:
        empty.commit(Entry(SHARES, (), share_positions={3: 2}))
        return {}

    monkeypatch.setattr(shares, "topic_names", interfere)
    collector = shares.ShareStates(empty, CLIENTS, 100, said.append)
    assert list(collector.batches()) == []
    assert "another collector wrote the same part of __share_group_state" in said[-1]
    assert log.ends_now and offsets(empty) == []
