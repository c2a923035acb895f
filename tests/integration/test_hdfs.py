"""A store in a real HDFS: the same promises as on this machine and in S3."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from click.testing import CliRunner

from kgroups.cli.main import cli
from kgroups.errors import HistoryError
from kgroups.history.load.owner import Owner
from kgroups.history.load.storage import Storage
from kgroups.history.load.store import Store
from kgroups.sandbox import Sandbox
from kgroups.sandbox.commits import Commits, make_commits
from tests.integration.hdfs_cluster import hdfs_cluster
from tests.integration.versions import MAIN

pytestmark = pytest.mark.soak  # starts HDFS: its JARs take 107 MB


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with hdfs_cluster(tmp_path_factory.mktemp("hdfs")) as address:
        yield address


@pytest.fixture
def storage(hdfs: str) -> Storage:
    made = Storage(f"hdfs://{hdfs}/some folder/{uuid4()}")
    made.make()
    return made


def test_files_in_hdfs_are_written_read_listed_and_deleted(storage: Storage, tmp_path: Path) -> None:
    assert storage.names("") == {}
    assert storage.read("no/such") is None
    assert storage.create("_manifest/a+b%20c.json", b"1")
    storage.replace("_manifest/a+b%20c.json", b"")
    storage.replace("_manifest/new.json", b"22")
    with storage.writing("commits/date=2026-01-01/x.parquet") as file:
        file.write(b"3" * 3_000_000)
        file.write(b"4")
    assert storage.names("_manifest") == {"_manifest/a+b%20c.json": 0, "_manifest/new.json": 2}
    assert storage.names("commits") == {"commits/date=2026-01-01/x.parquet": 3_000_001}
    assert storage.size("commits/date=2026-01-01/x.parquet") == 3_000_001
    assert (storage.read("_manifest/a+b%20c.json"), storage.read("_manifest/new.json")) == (b"", b"22")
    storage.copy("commits/date=2026-01-01/x.parquet", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == b"3" * 3_000_000 + b"4"
    hour = timedelta(hours=1)
    assert storage.names_before("commits", datetime.now(UTC) - hour) == []
    assert storage.names_before("commits", datetime.now(UTC) + hour) == ["commits/date=2026-01-01/x.parquet"]
    storage.delete(["_manifest/new.json", "_manifest/none.json"])
    assert list(storage.names("_manifest")) == ["_manifest/a+b%20c.json"]
    with pytest.raises(HistoryError, match=r"none\.json: File does not exist"):
        storage.size("none.json")


def test_one_of_many_creators_of_a_file_in_hdfs_succeeds(storage: Storage) -> None:
    def creates(number: int) -> bool:
        return Storage(storage.location).create("one", b"%d" % number)

    with ThreadPoolExecutor(8) as threads:
        created = list(threads.map(creates, range(24)))
    assert created.count(True) == 1
    assert storage.read("one") == b"%d" % created.index(True)
    assert list(storage.names("")) == ["one"]


def test_failed_upload_to_hdfs_leaves_no_file(storage: Storage) -> None:
    with pytest.raises(ZeroDivisionError), storage.writing("commits/x.parquet") as file:
        file.write(b"1")
        raise ZeroDivisionError
    assert storage.names("commits") == {}


def test_other_users_cannot_read_a_store_in_hdfs(storage: Storage) -> None:
    storage.create("_kgroups.json", b"{}")
    with pytest.raises(HistoryError, match="Permission denied: user=somebody"):
        Storage(f"{storage.location}?user=somebody").read("_kgroups.json")


def test_collect_stores_history_in_hdfs_exactly_once(
    require_kafka: Callable[[str], None], hdfs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_kafka("4.3.1")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("KGROUPS_SANDBOX", raising=False)
    location = f"hdfs://{hdfs}/history"

    def kgroups(*arguments: str) -> str:
        done = CliRunner().invoke(cli, ["history", *arguments, "--store", location])
        assert done.exit_code == 0, done.output
        return done.stdout

    def sql(query: str) -> dict[str, int]:
        row: dict[str, int] = json.loads(kgroups("sql", query, "-o", "jsonl"))
        return row

    with Sandbox.up(MAIN, name="hdfs") as sandbox:
        server = f"--bootstrap-server={sandbox.bootstrap}"
        make_commits(sandbox, Commits(groups=3, partitions=4, rounds=5))
        kgroups("collect", server)
        first = sql("select count(*) as n, count(distinct (log_partition, log_offset)) as places from records")
        make_commits(sandbox, Commits(groups=3, partitions=4, rounds=5, topic="again"))
        kgroups("collect", server)
        second = sql("select count(*) as n, count(distinct (log_partition, log_offset)) as places from records")
        kgroups("test", server)
    assert first["n"] == first["places"] < second["n"] == second["places"]
    kgroups("compact")
    assert sql("select count(*) as n, count(distinct (log_partition, log_offset)) as places from records") == second
    with Owner(Store(location)), pytest.raises(HistoryError, match="another collector has it"), Owner(Store(location)):
        pass
