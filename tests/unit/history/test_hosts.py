"""Stores without the hosts of clients: in no file, for as long as the store exists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from kgroups.cli.main import cli
from kgroups.errors import HistoryError, KgroupsError, UsageError
from kgroups.history.decode import as_table, decode_batch, split
from kgroups.history.hosts import CHOICES, HASH, KEEP, KEEP_HOSTS, OMIT, ClientHosts, GivenHosts
from kgroups.history.load.records import write_records
from kgroups.history.load.store import Identity, Store
from kgroups.history.tables import DECODED, RECORDS
from tests.fakes.offset_records import commit_key, commit_value, record_batch
from tests.unit.protocol.test_hosts import CASES, SECRET, fields

SALT = b"0123456789abcdef"
HASHED = ClientHosts(HASH, SALT)
PAIRS = [
    (commit_key(), commit_value(metadata="m")),
    *(fields(*case) for case in CASES if case[0] != 2),
    *(fields(*case) for case in CASES if case[:2] == (2, 4)),
    (b"\0\x63" + SECRET.encode(), SECRET.encode()),
    (commit_key("other"), None),
    (commit_key(), b"\0\x09" + SECRET.encode()),
]


def rows(table: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    return list(table.to_pylist())


def contains_secret(found: list[dict[str, Any]]) -> bool:
    texts = (
        str(value) + (value.decode("latin-1") if isinstance(value, bytes) else "")
        for row in found
        for value in row.values()
    )
    return any(SECRET in text for text in texts)


@pytest.fixture(params=[HASHED, ClientHosts(OMIT)], ids=[HASH, OMIT])
def hosts(request: pytest.FixtureRequest) -> ClientHosts:
    found: ClientHosts = request.param
    return found


def test_tables_have_no_hosts_and_are_otherwise_the_same(hosts: ClientHosts) -> None:
    batch = record_batch(PAIRS)
    before, after = decode_batch(batch), decode_batch(batch, hosts.redaction)
    assert contains_secret(rows(before)) and not contains_secret(rows(after))
    kept, changed = split(before), split(after)
    for name in kept:
        assert kept[name].num_rows == changed[name].num_rows
        assert not contains_secret(rows(changed[name]))
        for row, other in zip(rows(kept[name]), rows(changed[name]), strict=True):
            different = {key for key in row if row[key] != other[key]}
            assert different <= {"client_host", "reason", "body"}
    shown = {row["client_host"] for row in rows(changed["members"])}
    assert shown == ({hosts._stored(SECRET)} if hosts.how == HASH else {None})


def test_redacted_records_decode_to_the_same_rows(hosts: ClientHosts) -> None:
    """Re-decoding by a later version works, with the hashes."""
    after = decode_batch(record_batch(PAIRS), hosts.redaction)
    assert decode_batch(after.select(RECORDS.names)) == after


@pytest.mark.parametrize("table", [RECORDS, DECODED])
def test_dump_has_no_hosts(hosts: ClientHosts, table: Any) -> None:
    batch = record_batch(PAIRS)
    assert contains_secret([row for each in as_table(table, iter([batch])) for row in rows(each)])
    found = [row for each in as_table(table, iter([batch]), redact=hosts.redaction) for row in rows(each)]
    assert len(found) == len(PAIRS) and not contains_secret(found)


def store_of(path: Path, hosts: ClientHosts = KEEP_HOSTS) -> Store:
    made = Store(str(path))
    made.create(Identity("cluster-1", "__consumer_offsets", "2026-01-01", None, hosts.how, hosts.salt_id))
    return made


def test_no_file_of_the_store_contains_a_host(hosts: ClientHosts, tmp_path: Path) -> None:
    store = store_of(tmp_path / "history", hosts)
    write_records(store.storage, store.cluster, [record_batch(PAIRS)], hosts)
    files = list(Path(store.location).rglob("*.parquet"))
    assert {file.parent.parent.name for file in files} >= {"records", "members", "commits", "undecoded"}
    for file in files:
        assert not contains_secret(rows(pq.read_table(file, partitioning=None)))
    for file in Path(store.location).rglob("*.json"):
        assert SECRET not in file.read_text() and SALT.decode() not in file.read_text()


def test_hashes_depend_on_host_and_salt_only() -> None:
    one, same, other = (ClientHosts(HASH, salt) for salt in (SALT, SALT, SALT[::-1]))
    assert one._stored("/10.0.0.1") == same._stored("/10.0.0.1") != one._stored("/10.0.0.2")
    assert one._stored("/10.0.0.1") != other._stored("/10.0.0.1")
    assert len(one._stored("/10.0.0.1")) == 32
    assert one._stored("") == ""
    assert one.salt_id == same.salt_id != other.salt_id


def test_salt_is_never_shown() -> None:
    for value in (HASHED, GivenHosts(HASH, SALT)):
        assert "0123" not in repr(value) and "0123" not in f"{value}"


@pytest.mark.parametrize("how", CHOICES)
def test_store_keeps_its_choice(how: str, tmp_path: Path) -> None:
    hosts = ClientHosts(how, SALT if how == HASH else b"")
    store_of(tmp_path / "history", hosts)
    found = Store(str(tmp_path / "history")).identity()
    assert (found.client_hosts, found.salt_id) == (how, hosts.salt_id)
    for given in (None, how):
        assert GivenHosts(given, SALT).for_store("s", found.client_hosts, found.salt_id) == hosts
    for other in set(CHOICES) - {how}:
        with pytest.raises(HistoryError, match=f"--client-hosts {how}, not {other}"):
            GivenHosts(other, SALT).for_store("s", found.client_hosts, found.salt_id)


def test_another_salt_is_rejected() -> None:
    with pytest.raises(HistoryError, match="another salt"):
        GivenHosts(None, SALT[::-1]).for_store("s", HASH, HASHED.salt_id)


@pytest.mark.parametrize(("salt", "what"), [(b"", "KGROUPS_SALT"), (b"short", "has 5 bytes; use at least 16")])
def test_missing_or_short_salt_is_rejected(salt: bytes, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        GivenHosts(HASH, salt).for_new_store()
    with pytest.raises(UsageError, match=what):
        GivenHosts(None, salt).for_store("s", HASH, HASHED.salt_id)
    assert GivenHosts(None, salt).for_new_store() == KEEP_HOSTS


def test_store_of_an_earlier_version_keeps_hosts(tmp_path: Path) -> None:
    store = store_of(tmp_path / "history")
    (file,) = Path(store.location).glob("_manifest/*/_cluster.json")
    data = json.loads(file.read_text())
    file.write_text(
        json.dumps({name: value for name, value in data.items() if name not in ("client_hosts", "salt_id")})
    )
    assert Store(store.location).identity().client_hosts == KEEP


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--client-hosts", "hash"), "--salt-file FILE, or KGROUPS_SALT"),
        (("--client-hosts", "hash", "--salt-file", "missing"), "--salt-file missing: No such file"),
        (("--client-hosts", "hash", "--salt-file", "empty"), "--salt-file empty is empty"),
        (("--client-hosts", "hash", "--salt-file", "short"), "has 5 bytes"),
    ],
)
def test_invalid_salts_are_rejected_before_the_cluster_is_asked(
    options: tuple[str, ...], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KGROUPS_SALT", raising=False)
    Path("empty").write_bytes(b"\n")
    Path("short").write_bytes(b"12345\n")
    for command in (("dump",), ("collect", "--store", "history")):
        done = CliRunner().invoke(cli, ["history", *command, "-b", "127.0.0.1:1", *options])
        assert isinstance(done.exception, KgroupsError) and what in str(done.exception)
    assert not Path("history").exists()
