"""``history test`` against real brokers: groups that commit meanwhile are no failure, and a wrong store is."""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from kgroups.history.load.manifest import COMPACTED, DataFile, Entry
from kgroups.history.load.store import Store
from kgroups.history.tables import COMMITS, STORED
from kgroups.model.placement import partition_of
from kgroups.sandbox import Sandbox
from kgroups.sandbox.commits import Commits, make_commits
from tests.integration.asking import Answer, run_here
from tests.integration.known_cluster import KnownCluster
from tests.integration.versions import MAIN

LOAD = Commits(groups=6, partitions=4, rounds=5)
Result = dict[tuple[str, str | None], dict[str, Any]]


@pytest.fixture(scope="module")
def kafka(require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    require_kafka("4.3.1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        with Sandbox.up(MAIN, name="verify") as sandbox:
            make_commits(sandbox, LOAD)
            yield sandbox


def collect(bootstrap: str, store: Path, *options: str) -> None:
    done = run_here("history", "collect", "--store", str(store), "-b", bootstrap, *options)
    assert done.code == 0, done.err


def run_test(bootstrap: str, store: Path) -> tuple[int, Result]:
    done: Answer = run_here("history", "test", "--store", str(store), "-o", "json", "-b", bootstrap)
    assert done.err == ""
    return done.code, {(row["check"], row["table"]): row for row in done.items}


def assert_correct(bootstrap: str, store: Path) -> Result:
    code, found = run_test(bootstrap, store)
    assert (code, [row for row in found.values() if row["status"] != "ok"]) == (0, [])
    return found


@pytest.fixture(scope="module")
def collected(kafka: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collected") / "history"
    collect(kafka.bootstrap, folder)
    return folder


@pytest.fixture
def store(collected: Path, tmp_path: Path) -> Path:
    """A copy of the first collection."""
    return Path(shutil.copytree(collected, tmp_path / "history"))


def commit(bootstrap: str, group: str, offset: int, partition: int = 0) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    try:
        consumer.commit(offsets=[TopicPartition(LOAD.topic, partition, offset)], asynchronous=False)
    finally:
        consumer.close()


def test_store_of_every_group_type_is_correct(known_cluster: KnownCluster, tmp_path: Path) -> None:
    folder = tmp_path / "history"
    collect(known_cluster.sandbox.bootstrap, folder)
    found = assert_correct(known_cluster.sandbox.bootstrap, folder)
    assert found["latest-offsets", "latest_offsets"]["checked"] > 10
    assert found["rows-have-records", "members"]["checked"] > 0


def test_store_with_hashed_hosts_is_correct_and_has_none(known_cluster: KnownCluster, tmp_path: Path) -> None:
    """Every broker and client of this cluster has the same host."""
    folder, salt = tmp_path / "history", tmp_path / "salt"
    salt.write_text("a salt that is long enough")
    collect(known_cluster.sandbox.bootstrap, folder, "--client-hosts", "hash", "--salt-file", str(salt))
    collect(known_cluster.sandbox.bootstrap, folder, "--salt-file", str(salt))
    found = assert_correct(known_cluster.sandbox.bootstrap, folder)
    assert found["rows-have-records", "members"]["checked"] > 0
    hosts: set[str] = set()
    for file in folder.rglob("*.parquet"):
        rows = pq.read_table(file, partitioning=None).to_pylist()
        hosts |= {row["client_host"] for row in rows if row.get("client_host")}
        assert not [row for row in rows if "127.0.0.1" in str(row)]
    assert len(hosts) == 1 and re.fullmatch("[0-9a-f]{32}", hosts.pop())
    done = run_here(
        "history", "collect", "--store", str(folder), "-b", known_cluster.sandbox.bootstrap, "--client-hosts", "keep"
    )
    assert done.code == 1 and "was made with --client-hosts hash, not keep" in done.err


def test_new_commits_and_deletions_are_no_failure(kafka: Sandbox, store: Path) -> None:
    assert assert_correct(kafka.bootstrap, store)["latest-offsets", "latest_offsets"]["checked"] >= 24
    commit(kafka.bootstrap, "commits-00000", 99_000)
    commit(kafka.bootstrap, "new-group", 7)
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.delete_consumer_groups(["new-group"])["new-group"].result()
    admin.delete_consumer_groups(["commits-00001"])["commits-00001"].result()
    assert_correct(kafka.bootstrap, store)
    collect(kafka.bootstrap, store)
    assert_correct(kafka.bootstrap, store)


def test_groups_that_commit_during_the_test_are_no_failure(kafka: Sandbox, store: Path) -> None:
    stop = threading.Event()

    def keep_committing() -> None:
        consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "busy"})
        offset = 0
        while not stop.wait(0.01):  # a slow machine must not turn a small log into one for Spark
            offset += 1
            consumer.commit(offsets=[TopicPartition(LOAD.topic, offset % 4, offset)], asynchronous=False)
        consumer.close()

    thread = threading.Thread(target=keep_committing)
    thread.start()
    try:
        for _ in range(5):
            assert_correct(kafka.bootstrap, store)
        collect(kafka.bootstrap, store)
        for _ in range(5):
            assert_correct(kafka.bootstrap, store)
    finally:
        stop.set()
        thread.join()


def test_lineage_has_every_group_with_its_topics(kafka: Sandbox, tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    collect(kafka.bootstrap, tmp_path / "history", "--openlineage", str(events))
    found = [json.loads(line) for line in events.read_text().splitlines()]
    assert [event["eventType"] for event in (found[0], found[-1])] == ["START", "COMPLETE"]
    topics = {event["job"]["name"]: [each["name"] for each in event["inputs"]] for event in found}
    assert topics["kgroups.history.collect"] == ["__consumer_offsets"]
    assert all(topics[name] == [LOAD.topic] for name in LOAD.names()[2:])


def test_wrong_offset_is_found(kafka: Sandbox, store: Path) -> None:
    history = Store(str(store))
    snapshot = history.snapshot()
    files: list[DataFile] = [file for each in STORED if each != COMMITS for file in snapshot.files(each)]
    rows = pa.concat_tables(pq.read_table(history.storage.opened(file.path)) for file in snapshot.files(COMMITS))
    changed = pc.if_else(
        pc.equal(rows["log_offset"], pc.max(rows["log_offset"])),
        pc.add(rows["committed_offset"], 1),
        rows["committed_offset"],
    )
    wrong = rows.set_column(rows.schema.get_field_index("committed_offset"), "committed_offset", changed)
    with history.writer() as writer:
        for batch in wrong.drop_columns(["cluster_id"]).to_batches():
            writer.add(COMMITS, batch)
    history.commit(
        Entry(COMPACTED, (*files, *writer.files), snapshot.records, 0, snapshot.positions, tuple(snapshot.entries))
    )
    code, found = run_test(kafka.bootstrap, store)
    bad = {key: row for key, row in found.items() if row["status"] != "ok"}
    assert (code, list(bad)) == (1, [("rows-match-records", "commits"), ("latest-offsets", "latest_offsets")])
    assert bad["latest-offsets", "latest_offsets"]["failed"] >= 1
    assert "in the store" in bad["latest-offsets", "latest_offsets"]["note"]


def test_open_transaction_makes_changed_groups_unknown(kafka: Sandbox, store: Path) -> None:
    """A group that commits after an open transaction in its partition of the log cannot be compared."""
    partitions = assert_correct(kafka.bootstrap, store)["positions-in-log", None]["checked"]
    blocked = next(
        name
        for name in (f"blocked-{number}" for number in range(10_000))
        if partition_of(name, partitions) == partition_of("transactional", partitions)
    )
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "transactional"})
    longer_than_the_test = {"transaction.timeout.ms": 600_000}
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": "v"} | longer_than_the_test)
    producer.init_transactions(60)
    producer.begin_transaction()
    try:
        producer.send_offsets_to_transaction([TopicPartition(LOAD.topic, 0, 3)], consumer.consumer_group_metadata(), 60)
        commit(kafka.bootstrap, blocked, 5)
        code, found = run_test(kafka.bootstrap, store)
        bad = {key: row for key, row in found.items() if row["status"] != "ok"}
        assert (code, list(bad)) == (3, [("latest-offsets", "latest_offsets")])
        note = bad["latest-offsets", "latest_offsets"]["note"]
        assert blocked in note and "an open transaction hides records" in note
    finally:
        producer.commit_transaction(60)
        consumer.close()
    collect(kafka.bootstrap, store)
    until = time.monotonic() + 60
    while run_test(kafka.bootstrap, store)[0]:  # the marker of the transaction is written a moment later
        assert time.monotonic() < until
        collect(kafka.bootstrap, store)


def test_recreated_topic_and_other_cluster_are_found(kafka: Sandbox, store: Path) -> None:
    (file,) = store.glob("_manifest/*/_cluster.json")
    identity = json.loads(file.read_text())
    file.write_text(json.dumps(identity | {"topic_id": "another"}))
    code, found = run_test(kafka.bootstrap, store)
    assert (code, found["positions-in-log", None]["status"]) == (1, "FAILED")
    file.write_text(json.dumps(identity | {"cluster_id": "another"}))
    answer = run_here("history", "test", "--store", str(store), "-b", kafka.bootstrap)
    assert answer.code == 1 and "_cluster.json is damaged: it is that of cluster another" in answer.err


def test_cluster_that_does_not_respond_is_unknown(collected: Path) -> None:
    code, found = run_test("127.0.0.1:1", collected)
    assert code == 3
    unknown = {check for (check, _), row in found.items() if row["status"] == "unknown"}
    assert unknown == {"same-cluster", "positions-in-log", "latest-offsets"}
