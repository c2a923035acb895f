"""Checks of a store: each finds what it is for, and nothing else fails then."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from kgroups.cli.main import cli
from kgroups.history.arrow import to_batch
from kgroups.history.decode import decode_batch
from kgroups.history.extract.coverage import RangeCounter
from kgroups.history.extract.ranges import Range
from kgroups.history.hosts import HASH, OMIT, ClientHosts
from kgroups.history.jobs.verify import verify
from kgroups.history.load.manifest import BATCH, COMPACTED, HEADS_SAMPLED, LANDED, SWEEP, DataFile, Entry
from kgroups.history.load.records import entry_of, write_records
from kgroups.history.load.store import Identity, Store
from kgroups.history.tables import (
    BASELINE,
    COMMITS,
    COVERAGE,
    HEADS,
    RECORDS,
    SHARE_STATES,
    STORED,
    SWEEPS,
    UNDECODED,
    Table,
)
from kgroups.history.upkeep.decode_again import decode_again
from kgroups.history.upkeep.materialize import materialize
from kgroups.history.verify.decoding import DECODING
from kgroups.history.verify.result import Check
from tests.fakes.cluster_state import assignment_bytes, subscription_bytes
from tests.fakes.offset_records import Pair, commit_key, commit_value, key_bytes, record_batch, value_bytes
from tests.schemas import validate_output

MEMBER = {
    "memberId": "m1",
    "groupInstanceId": None,
    "clientId": "c",
    "clientHost": "/1.2.3.4",
    "rebalanceTimeout": 300_000,
    "sessionTimeout": 45_000,
    "subscription": subscription_bytes(["t1", "t2"]),
    "assignment": assignment_bytes({"t1": (2, 0), "t2": (1,)}),
}
GROUP = {
    "protocolType": "consumer",
    "generation": 3,
    "protocol": "range",
    "leader": "m1",
    "currentStateTimestamp": 1_760_000_000_000,
    "members": [MEMBER, MEMBER | {"memberId": "m2"}],
}
PAIRS: tuple[Pair, ...] = (
    (commit_key(), commit_value()),
    (commit_key(), commit_value(offset=43)),
    (key_bytes(2, "g"), value_bytes(2, 3, GROUP)),
    (key_bytes(3, "k"), value_bytes(3, 0, {"Epoch": 7, "MetadataHash": 1})),
    (b"\0\x63new", b"unknown"),
    (commit_key("other"), None),
)
"""Offsets 0 to 5 of log partition 3, at as many milliseconds after ``START``."""
START = datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)


def collected(store: Store, records: pa.RecordBatch, stop: int, start: int = 0, **columns: Any) -> Entry:
    """Commit records as the collector does."""
    counter = RangeCounter([Range(3, start, stop)])
    result = write_records(store.storage, store.cluster, counter.count(iter([records])))
    rows = [fact | {"sampled_at": START} | columns for fact in counter.facts(lambda holes: dict.fromkeys(holes))]
    with store.writer() as writer:
        writer.add(COVERAGE, to_batch(COVERAGE, rows))
    return store.commit(entry_of(BATCH, [result], writer.files, {3: stop}))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(str(tmp_path / "history"))
    made.create(Identity("cluster-1", "__consumer_offsets", "2026-01-01T00:00:00+00:00", "topic-1"))
    records = record_batch(PAIRS)
    collected(made, records.slice(0, 4), 4)
    collected(made, records.slice(4), 6, 4)
    return made


def bad(store: Store) -> dict[tuple[str, str | None], Check]:
    """All checks that are not ok."""
    found = list(verify(Store(store.location), None))
    assert len(found) > 15
    return {(each.check, each.table): each for each in found if each.status != "ok"}


def only(store: Store, check: str, table: str | None, status: str = "FAILED", failed: int | None = 1) -> str:
    """Return the note of the only check that is not ok, apart from the comparison of all rows with their records."""
    found = {key: each for key, each in bad(store).items() if check == DECODING or key[0] != DECODING}
    assert list(found) == [(check, table)]
    (one,) = found.values()
    assert (one.status, one.failed) == (status, failed)
    return one.note or ""


def rewritten(store: Store, table: Table, change: Callable[[pa.Table], pa.Table], expired: int | None = 0) -> None:
    """Replace all entries by one in which the rows of a table are others."""
    snapshot = store.snapshot()
    files: list[DataFile] = []
    for each in STORED:
        kept = snapshot.files(each)
        if each.name == table.name:
            rows = pa.concat_tables(pq.ParquetFile(store.storage.opened(file.path)).read() for file in kept)
            with store.writer() as writer:
                for batch in change(rows.drop_columns(["cluster_id"])).to_batches():
                    writer.add(table, batch)
            kept = list(writer.files)
        files += kept
    replaced = tuple(snapshot.entries)
    store.commit(Entry(COMPACTED, tuple(files), 6, 1, snapshot.positions, replaced, expired=expired))


def without(offset: int) -> Callable[[pa.Table], pa.Table]:
    import pyarrow.compute as pc

    return lambda rows: rows.filter(pc.not_equal(rows["log_offset"], offset))


def twice(rows: pa.Table) -> pa.Table:
    return pa.concat_tables([rows, rows.slice(0, 1)])


def test_correct_store_passes_every_check(store: Store) -> None:
    assert bad(store) == {}
    checked = {(each.check, each.table): each.checked for each in verify(store, None)}
    assert checked["files-match-manifest", "commits"] == 2
    assert checked["unique-positions", "records"] == checked["records-in-ranges", "records"] == 6
    assert checked["rows-have-records", "assignments"] == 4
    assert checked["ranges-complete", "coverage"] == checked["ranges-do-not-overlap", "coverage"] == 2
    assert checked["records-have-rows", "records"] == 6


@pytest.mark.parametrize("table", ["commits", "group_metadata", "members", "assignments", "epochs", "undecoded"])
def test_row_that_is_stored_twice_is_found(store: Store, table: str) -> None:
    rewritten(store, next(each for each in STORED if each.name == table), twice)
    note = only(store, "unique-positions", table)
    assert note.startswith("offset ") and note.endswith(" of log partition 3 more than once")


def test_record_that_is_stored_twice_is_found(store: Store) -> None:
    rewritten(store, RECORDS, twice)
    assert only(store, "unique-positions", "records") == "offset 0 of log partition 3 more than once"


def test_range_that_was_read_twice_is_found(store: Store) -> None:
    def earlier(rows: pa.Table) -> pa.Table:
        at = rows.schema.get_field_index("from_offset")
        return rows.set_column(at, "from_offset", pa.array([0, 3], pa.int64()))

    rewritten(store, COVERAGE, earlier)
    assert only(store, "ranges-do-not-overlap", "coverage") == "offset 3 of log partition 3 in two ranges"


def test_overlap_of_imported_range_is_unknown(store: Store) -> None:
    row = {"sampled_at": START, "log_partition": 3, "from_offset": 2, "to_offset": 5, "records": 0}
    with store.writer() as writer:
        writer.add(COVERAGE, to_batch(COVERAGE, [row]))
    store.commit(Entry(LANDED, writer.files))
    assert "imported files" in only(store, "ranges-do-not-overlap", "coverage", "unknown", None)


def test_record_outside_of_all_ranges_is_found(store: Store) -> None:
    rewritten(store, COVERAGE, lambda rows: rows.slice(0, 1))
    assert only(store, "records-in-ranges", "records", failed=2) == "offset 4 of log partition 3 in no range"
    rewritten(store, COVERAGE, lambda rows: rows.slice(0, 0))
    assert only(store, "records-in-ranges", "records", failed=6) == "offset 0 of log partition 3 in no range"


def test_expired_range_is_unknown(store: Store) -> None:
    rewritten(store, COVERAGE, lambda rows: rows.slice(1), micros(START))
    assert "expired" in only(store, "records-in-ranges", "records", "unknown", None)


def test_lost_record_is_found(store: Store) -> None:
    rewritten(store, RECORDS, without(1))
    found = bad(store)
    assert list(found) == [("ranges-complete", "coverage"), ("rows-have-records", "commits")]
    assert {each.failed for each in found.values()} == {1}
    assert found["ranges-complete", "coverage"].note == "offset 0 of log partition 3 misses records"
    assert found["rows-have-records", "commits"].note == "offset 1 of log partition 3 has no record"


@pytest.mark.parametrize(("table", "offset"), [("commits", 1), ("undecoded", 4), ("epochs", 3)])
def test_lost_row_is_found(store: Store, table: str, offset: int) -> None:
    rewritten(store, next(each for each in STORED if each.name == table), without(offset))
    note = only(store, "records-have-rows", "records")
    assert note == f"offset {offset} of log partition 3 is in no other table"


def micros(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def test_expired_records_are_not_missing(store: Store) -> None:
    """``expire`` keeps a group's last state, but no record before its time."""
    rewritten(store, RECORDS, lambda rows: rows.slice(3), micros(START + timedelta(milliseconds=3)))
    assert bad(store) == {}
    rewritten(store, RECORDS, without(3), micros(START + timedelta(milliseconds=3)))
    assert list(bad(store)) == [("rows-have-records", "epochs")]


def test_expiry_of_an_earlier_version_is_unknown(store: Store) -> None:
    rewritten(store, RECORDS, lambda rows: rows.slice(3), None)
    found = bad(store)
    assert {each.status for each in found.values()} == {"unknown"}
    assert list(found) == [
        ("ranges-complete", "coverage"),
        *(("rows-have-records", table) for table in ("commits", "group_metadata", "members", "assignments")),
    ]


@contextmanager
def changed(store: Store, **values: Any) -> Iterator[str]:
    """The store, with other facts of a file of commits in the manifest."""
    name = "_manifest/cluster-1/00000000.json"
    path = Path(store.location, name)
    data = json.loads(path.read_text())
    (file,) = (file for file in data["files"] if file["table"] == COMMITS.name)
    before = path.read_text()
    file |= values
    path.write_text(json.dumps(data))
    yield file["path"]
    path.write_text(before)


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"rows": 3}, "rows 2, not 3"),
        ({"first": 5}, "first 1760000000000000, not 5"),
        ({"last": 1770000000000000}, "last 1760000000001000, not 1770000000000000"),
        ({"size": 5}, "bytes, not the 5 that were written"),
    ],
)
def test_file_that_differs_from_the_manifest_is_found(store: Store, values: dict[str, int], what: str) -> None:
    with changed(store, **values) as path:
        found = bad(store)
    check = found.pop(("files-match-manifest", "commits"))
    assert (check.status, check.checked, check.failed) == ("FAILED", 2, 1)
    assert path in (check.note or "") and what in (check.note or "")
    assert {each.status for each in found.values()} == {"unknown"}
    assert {name for name, _ in found} == {"unique-positions", "rows-have-records", "records-have-rows", DECODING}


@pytest.mark.parametrize("fault", ["gone", "damaged"])
def test_missing_or_damaged_file_is_found(store: Store, fault: str) -> None:
    file = store.snapshot().files(COMMITS)[0]
    path = Path(store.location, file.path)
    if fault == "gone":
        path.unlink()
    else:
        path.write_bytes(bytes(file.size))
    found = bad(store)[("files-match-manifest", "commits")]
    assert (found.status, found.failed) == ("FAILED", 1)
    assert file.path in (found.note or "")


@pytest.mark.parametrize("table", ["heads", "baseline", "sweeps", "share_states", "open_commits"])
def test_changed_byte_of_a_file_is_found(store: Store, table: str) -> None:
    row = {"sampled_at": START, "topic": "t", "partition": 0, "log_start": 0, "log_end": 9}
    swept = {"swept_at": START, "complete": True, "group": "g", "groups": 1}
    state = {"log_partition": 0, "log_offset": 0, "log_time": START, "tombstone": False}
    store.add(HEADS_SAMPLED, {HEADS: to_batch(HEADS, [row])})
    store.add(SWEEP, {each: to_batch(each, [swept]) for each in (BASELINE, SWEEPS)})
    store.add(BATCH, {SHARE_STATES: to_batch(SHARE_STATES, [state]), HEADS: to_batch(HEADS, [row])})
    materialize(store)
    assert {key for key in bad(store) if key[0] == "files-match-manifest"} == set()
    files = [file for entry in store.snapshot().entries.values() for file in entry.files]
    path = next(file.path for file in files if file.table == table)
    content = bytearray(Path(store.location, path).read_bytes())
    content[8] ^= 1  # of the first page
    Path(store.location, path).write_bytes(content)
    found = bad(store)["files-match-manifest", table]
    assert (found.status, found.failed) == ("FAILED", 1)
    assert found.note == f"{path} has other bytes than were written: its SHA-256 differs"


def test_files_of_an_earlier_version_pass_and_a_note_counts_them(store: Store) -> None:
    assert {each.note for each in verify(store, None)} == {None}
    with changed(store, sha256=None):
        assert bad(store) == {}
        found = {each.table: each.note for each in verify(Store(store.location), None) if each.note}
    assert found == {"commits": "1 file of an earlier version: only size, rows, times, and cluster are compared"}


def test_file_of_another_cluster_is_found(store: Store) -> None:
    other = Store(store.location)
    other.create(Identity("cluster-2", "__consumer_offsets", "2026-01-01T00:00:00+00:00"))
    entry = collected(other, record_batch(PAIRS[:1]), 1)
    Store(store.location, "cluster-1").commit(Entry(LANDED, tuple(f for f in entry.files if f.table == "commits")))
    found = list(verify(Store(store.location, "cluster-1"), None))
    (wrong,) = [each for each in found if each.check == "files-match-manifest" and each.status == "FAILED"]
    assert "clusters {'cluster-2'}, not {'cluster-1'}" in (wrong.note or "")


def printed(store: Store, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(
        cli, ["history", "test", "--store", store.location, *arguments], catch_exceptions=False, standalone_mode=False
    )
    assert isinstance(done.return_value, int)
    validate_output(("history", "test", *arguments), done.stdout)
    return done.return_value, done.stdout


def test_command_prints_a_line_for_each_check_and_sets_the_exit_code(store: Store) -> None:
    code, text = printed(store, "--store-only")
    assert code == 0
    assert text.splitlines()[0].split() == ["CHECK", "TABLE", "STATUS", "CHECKED", "FAILED", "NOTE"]
    assert len(text.splitlines()) == 1 + len(list(verify(store, None)))
    rewritten(store, COVERAGE, lambda rows: rows.slice(1), micros(START))
    assert printed(store, "--store-only")[0] == 3
    rewritten(store, RECORDS, twice)
    code, text = printed(store, "--store-only", "-o", "json")
    assert code == 1
    data = json.loads(text)
    assert data["schema"] == "kgroups/history-test/v1" and data["cluster_id"] == "cluster-1"
    assert {
        "check": "unique-positions",
        "table": "records",
        "status": "FAILED",
        "checked": 6,
        "failed": 1,
        "note": "offset 0 of log partition 3 more than once",
    } in data["items"]


def test_store_in_object_store_passes_every_check(s3: str) -> None:
    made = Store(f"{s3}/verified")
    made.create(Identity("cluster-1", "__consumer_offsets", "2026-01-01T00:00:00+00:00", "topic-1"))
    collected(made, record_batch(PAIRS), 6)
    assert bad(made) == {}


@pytest.mark.parametrize("hosts", [ClientHosts(HASH, b"0123456789abcdef"), ClientHosts(OMIT)], ids=[HASH, OMIT])
def test_store_without_client_hosts_passes_every_check(tmp_path: Path, hosts: ClientHosts) -> None:
    made = Store(str(tmp_path / "private"))
    made.create(Identity("cluster-1", "__consumer_offsets", "2026-01-01", None, hosts.how, hosts.salt_id))
    collected(made, decode_batch(record_batch(PAIRS), hosts.redaction).select(RECORDS.names), 6)
    assert bad(made) == {}


def with_value(column: str, value: Any) -> Callable[[pa.Table], pa.Table]:
    """Set a column of the first row."""

    def change(rows: pa.Table) -> pa.Table:
        values = pa.array([value, *rows[column].to_pylist()[1:]], rows[column].type)
        return rows.set_column(rows.schema.names.index(column), column, values)

    return change


ALTERED = [
    ("commits", "committed_offset", 99),
    ("group_metadata", "protocol", "roundrobin"),
    ("members", "topics", ["t1"]),
    ("assignments", "partitions", [7]),
    ("epochs", "epoch", None),
    ("undecoded", "reason", "other"),
]


@pytest.mark.parametrize(("table", "column", "value"), ALTERED, ids=[name for name, *_ in ALTERED])
def test_row_that_differs_from_its_record_is_found_and_decoded_again(
    store: Store, table: str, column: str, value: Any
) -> None:
    right = everything(store)
    rewritten(store, next(each for each in STORED if each.name == table), with_value(column, value))
    note = only(store, DECODING, table)
    assert note.endswith("is decoded otherwise by this version; kgroups history upgrade decodes the records again")
    upgraded = CliRunner().invoke(cli, ["history", "upgrade", "--store", store.location])
    assert (upgraded.exit_code, "6 records decoded again" in upgraded.output) == (0, True), upgraded.output
    assert bad(store) == {} and everything(store) == right
    again = CliRunner().invoke(cli, ["history", "upgrade", "--store", store.location])
    assert "the tables are those of this version" in again.output


def test_upgrade_fills_columns_that_an_earlier_version_did_not_have(tmp_path: Path) -> None:
    made = Store(str(tmp_path / "history"))
    made.create(Identity("cluster-1", "__consumer_offsets", "2026-01-01T00:00:00+00:00", "topic-1"))
    pairs = (*PAIRS[:5], (commit_key(partition=2), b"\0\x63new"))
    collected(made, record_batch(pairs), 6)
    right = everything(made)
    columns = tuple(column for column in UNDECODED.columns if column.name not in ("topic", "partition"))
    earlier = UNDECODED._replace(columns=columns)
    rewritten(made, earlier, lambda rows: rows.select(earlier.names))
    (file,) = made.snapshot().files(UNDECODED)
    assert "topic" not in pq.ParquetFile(made.storage.opened(file.path)).schema_arrow.names
    upgraded = CliRunner().invoke(cli, ["history", "upgrade", "--store", made.location])
    assert (upgraded.exit_code, "6 records decoded again" in upgraded.output) == (0, True), upgraded.output
    assert everything(made) == right
    assert any("'topic': 't', 'partition': 2" in row for row in right["undecoded"])


def test_decoding_again_keeps_rows_without_a_record(store: Store) -> None:
    right = everything(store)
    rewritten(store, RECORDS, without(1), expired=None)
    assert decode_again(store) == 5
    assert everything(store) | {"records": []} == right | {"records": []}
    assert store.snapshot().positions == {3: 6}


def test_decoding_again_that_was_stopped_changes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    right, entries = everything(store), store.snapshot()
    for name in ("writer", "commit"):
        with monkeypatch.context() as patch:
            patch.setattr(Store, name, lambda *arguments, **rest: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                decode_again(Store(store.location))
        assert store.snapshot() == entries and everything(store) == right
    assert decode_again(store) == 6 and everything(store) == right


def test_decoding_again_of_hashed_hosts_shows_none(tmp_path: Path) -> None:
    made = Store(str(tmp_path / "hashed"))
    made.create(Identity("cluster-1", "__consumer_offsets", "2026-01-01T00:00:00+00:00", "topic-1"))
    hashed = write_records(made.storage, made.cluster, [record_batch(PAIRS)], ClientHosts(HASH, b"0" * 16))
    made.commit(entry_of(BATCH, [hashed], (), {3: 6}))
    right = everything(made)
    assert right["members"] and "1.2.3.4" not in str(right)
    decode_again(made)
    assert everything(made) == right


def everything(store: Store) -> dict[str, list[str]]:
    """Return the rows of each table of records, in any order."""
    snapshot = store.snapshot()
    return {
        table.name: sorted(
            str(row)
            for file in snapshot.files(table)
            for row in pq.read_table(store.storage.opened(file.path)).to_pylist()
        )
        for table in STORED
    }
