"""The collector on a real log: every record once, whatever process is killed, and by every source."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.dataset as ds
import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, Producer, TopicPartition
from pyspark.sql import SparkSession

from kgroups.cli.main import cli, main
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import HistoryError
from kgroups.history.extract.ranges import between
from kgroups.history.extract.reader import read
from kgroups.history.jobs.collect import Collected, Plan
from kgroups.history.jobs.collect import collect as collect_history
from kgroups.history.jobs.land import land
from kgroups.history.jobs.verify import verify
from kgroups.history.load.owner import Owner
from kgroups.history.load.read import read_table
from kgroups.history.load.store import Store
from kgroups.history.load.write import TableWriter
from kgroups.history.tables import BASELINE, COMMITS, COVERAGE, HEADS, RECORDS, UNDECODED
from kgroups.history.upkeep.compact import compact
from kgroups.history.upkeep.expire import expire
from kgroups.sandbox import Sandbox
from kgroups.sandbox.commits import Commits, make_commits
from kgroups.sandbox.topics import fill
from tests.fakes.history import rows_of
from tests.integration.offsets_log import log_ends
from tests.integration.versions import MAIN

pytestmark = pytest.mark.spark

Places = list[tuple[int, int]]

LOAD = Commits(groups=12, partitions=8, rounds=20)
BATCH = 1000
"""Small, so that the log takes more than one batch; each takes a second."""


@pytest.fixture(scope="module")
def kafka(require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    require_kafka("4.3.1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        with Sandbox.up(MAIN, name="collect") as sandbox:
            make_commits(sandbox, LOAD)
            yield sandbox


@pytest.fixture(scope="module")
def settings(kafka: Sandbox) -> ClientSettings:
    return ClientSettings(parse_bootstrap(kafka.bootstrap), timeout=20)


class First(NamedTuple):
    """A store with everything collected once; copy it to change it."""

    store: Store
    done: Collected
    progress: list[str]


@pytest.fixture(scope="module")
def first_collection(spark: SparkSession, settings: ClientSettings, tmp_path_factory: pytest.TempPathFactory) -> First:
    store = Store(str(tmp_path_factory.mktemp("first") / "history"))
    progress: list[str] = []
    return First(store, collect(spark, store, plan(settings), progress.append), progress)


@pytest.fixture
def store(first_collection: First, tmp_path: Path) -> Store:
    """A copy of the first."""
    shutil.copytree(first_collection.store.location, tmp_path / "history")
    return Store(str(tmp_path / "history"))


@pytest.fixture
def empty_store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "empty"))


def collect(
    spark: SparkSession, store: Store, plan: Plan, notify: Callable[[str], None] = lambda line: None
) -> Collected:
    """Collect on Spark, however small the batches are."""
    return collect_history(lambda: spark, store, plan, notify, small=0)


def plan(settings: ClientSettings) -> Plan:
    return Plan(settings, sample_every=0.5, max_records=BATCH)


def in_the_log(settings: ClientSettings) -> Places:
    """Every record's place, read past all of Spark."""
    ends = log_ends(settings)
    starts, stops = ({each: end.start for each, end in ends.items()}, {each: end.stable for each, end in ends.items()})
    found: Places = []
    for batch in read(settings, between(starts, stops)):
        found += zip(batch["log_partition"].to_pylist(), batch["log_offset"].to_pylist(), strict=True)
    return sorted(found)


def in_the_store(spark: SparkSession, store: Store, table: Any = RECORDS) -> Places:
    rows = read_table(spark, store, table).select("log_partition", "log_offset").collect()
    return sorted((row[0], row[1]) for row in rows)


def test_collect_reads_everything_once_and_then_new_records(
    spark: SparkSession, settings: ClientSettings, first_collection: First, kafka: Sandbox, store: Store
) -> None:
    whole = in_the_log(settings)
    assert len(whole) >= LOAD.records
    assert (first_collection.done.records, first_collection.done.behind) == (len(whole), 0)
    assert first_collection.done.batches >= LOAD.records // BATCH
    assert in_the_store(spark, store) == whole
    assert len(in_the_store(spark, store, COMMITS)) == LOAD.records
    assert first_collection.progress[0].startswith("baseline: ")
    assert first_collection.progress[-1].startswith(f"batch {first_collection.done.batches}: ")

    make_commits(kafka, Commits(2, 3, 4, topic=f"more-{time.monotonic_ns()}"))
    assert collect(spark, store, plan(settings)).records == 24
    assert in_the_store(spark, store) == in_the_log(settings)
    assert collect(spark, store, plan(settings)).records == 0

    heads = read_table(spark, store, HEADS).where("topic = 'commits'").select("partition", "log_end").distinct()
    assert sorted(map(tuple, heads.collect())) == [(partition, 0) for partition in range(LOAD.partitions)]
    last = read_table(spark, store, BASELINE).where("topic = 'commits' and `group` = 'commits-00003'")
    found = {(row["partition"], row["committed_offset"]) for row in last.collect()}
    assert found == {(each, LOAD.offset(LOAD.rounds - 1, each)) for each in range(LOAD.partitions)}


def test_coverage_records_the_offsets_read(spark: SparkSession, first_collection: First) -> None:
    rows = read_table(spark, first_collection.store, COVERAGE).orderBy("log_partition", "to_offset").collect()
    assert sum(row["records"] for row in rows) == first_collection.done.records
    for partition in {row["log_partition"] for row in rows}:
        own = [row for row in rows if row["log_partition"] == partition]
        assert own[0]["from_offset"] == 0
        assert all(one["to_offset"] == two["from_offset"] for one, two in pairwise(own))
        assert sum(row["records"] for row in own) == own[-1]["to_offset"] == own[-1]["last_stable_offset"]
        assert all(row["first_time"] <= row["last_time"] for row in own)


class Crash(Exception):
    """As if the process had died here."""


POINTS = [(step, after) for step in range(1, 8) for after in (False, True)]
"""Fourteen points: before and after each of the first steps: rows written to files, and an entry committed."""


def test_collect_after_crash_at_any_step_loses_and_repeats_nothing(
    spark: SparkSession, settings: ClientSettings, empty_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashes = 0
    for point, after in POINTS:
        steps = count(1)

        def dying(real: Callable[..., Any], at: int, after: bool, steps: Iterator[int]) -> Callable[..., Any]:
            def step(*arguments: Any, **named: Any) -> Any:
                here = next(steps)
                if here == at and not after:
                    raise Crash
                result = real(*arguments, **named)
                if here == at:
                    raise Crash
                return result

            return step

        with monkeypatch.context() as patch:
            patch.setattr(TableWriter, "add", dying(TableWriter.add, point, after, steps))
            patch.setattr(Store, "commit", dying(Store.commit, point, after, steps))
            try:
                # Without Spark: its tasks are other processes, which cannot be patched.
                small = plan(settings)._replace(max_records=BATCH // 4)
                collect_history(lambda: spark, empty_store, small)
            except Crash:
                crashes += 1
        kept = in_the_store(spark, empty_store)
        assert len(kept) == len(set(kept))
    assert crashes == len(POINTS)
    collect(spark, empty_store, plan(settings))
    assert in_the_store(spark, empty_store) == in_the_log(settings)


@pytest.mark.parametrize("engine", [(), ("--master", "local[2]")], ids=["in one process", "on Spark"])
def test_collect_after_sigkill_continues(
    spark: SparkSession,
    settings: ClientSettings,
    empty_store: Store,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    engine: tuple[str, ...],
) -> None:
    """Each life of the collector ends by SIGKILL, somewhere in the batch after its first; the next goes on."""
    kills = request.config.getoption("--kills")
    whole = in_the_log(settings)
    share = len(whole) // (4 * kills + 4)
    kept: Places = []
    for life in range(kills):
        with collecting(settings, empty_store, tmp_path, *engine, max_records=share) as process:
            for line in process.stderr or ():
                if "batch 1:" in line:
                    break
            else:
                pytest.fail(f"life {life} ended by itself: {(tmp_path / 'spark.log').read_text()[-2000:]}")
            time.sleep(life * 0.05)  # somewhere in a batch: its reading, its writing, or its commit
        before, kept = kept, in_the_store(spark, empty_store)
        assert len(kept) == len(set(kept))
        assert set(before) < set(kept) < set(whole)
    collect(spark, empty_store, plan(settings))
    assert in_the_store(spark, empty_store) == whole


@contextmanager
def collecting(
    settings: ClientSettings, store: Store, folder: Path, *engine: str, max_records: int
) -> Iterator[subprocess.Popen[str]]:
    """Run a collector process with its stderr in a pipe, and kill it at the end."""
    command = [sys.executable, "-m", "kgroups", "history", "collect", "--store", store.location]
    command += ["--max-records", str(max_records), "--spark-log", str(folder / "spark.log")]
    command += ["-b", settings.bootstrap_servers, *engine]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def test_collect_ends_cleanly_on_sigterm(
    spark: SparkSession, settings: ClientSettings, store: Store, tmp_path: Path
) -> None:
    events = tmp_path / "events.jsonl"
    options = ("--interval", "1s", "--openlineage", str(events))
    with collecting(settings, store, tmp_path, *options, max_records=BATCH) as process:
        assert process.stderr
        assert any("baseline" in line for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, process.stderr.read()
    assert json.loads(events.read_text().splitlines()[-1])["eventType"] == "COMPLETE"
    with Owner(Store(store.location)):
        pass


def test_collect_from_killed_broker_fails_in_time_and_continues(
    spark: SparkSession, settings: ClientSettings, kafka: Sandbox, empty_store: Store
) -> None:
    """The collector fails within its timeout, keeps its data readable, and continues when the broker is back."""
    quick = settings._replace(timeout=10)
    died = time.monotonic()

    def kill(line: str) -> None:
        nonlocal died
        if line.startswith("batch 1:"):
            kafka.kill(1)
            died = time.monotonic()

    try:
        with pytest.raises(
            HistoryError, match=r"collecting stopped: .*(nothing came|no response|none of its partitions)"
        ):
            # Many batches: the first is reported a moment later, and then there must be more to read.
            collect(spark, empty_store, plan(quick)._replace(max_records=BATCH // 4), kill)
        assert time.monotonic() - died < 60
        kept = in_the_store(spark, empty_store)
        assert kept and len(kept) == len(set(kept))
    finally:
        kafka.restart(1, timeout=180)
    collect(spark, empty_store, plan(settings))
    assert in_the_store(spark, empty_store) == in_the_log(settings)


def test_collect_skips_uncommitted_transactions(spark: SparkSession, settings: ClientSettings, store: Store) -> None:
    consumer = Consumer({"bootstrap.servers": settings.bootstrap_servers, "group.id": "transactional"})
    longer_than_the_test = {"transaction.timeout.ms": 1_800_000}
    producer = Producer(
        {"bootstrap.servers": settings.bootstrap_servers, "transactional.id": "writer"} | longer_than_the_test
    )
    producer.init_transactions(60)

    def commit(offset: int, end: Callable[[float], None] | None) -> None:
        producer.begin_transaction()
        place = [TopicPartition("commits", 0, offset)]
        producer.send_offsets_to_transaction(place, consumer.consumer_group_metadata(), 60)
        if end:
            end(60)

    def await_marker(offset: int) -> None:
        """A transaction is committed before that is in the log of the group."""
        until = time.monotonic() + 60
        while (found := consumer.committed([TopicPartition("commits", 0)], 60)[0].offset) != offset:
            assert time.monotonic() < until, found
            time.sleep(0.1)

    def seen() -> list[int]:
        rows = read_table(spark, store, COMMITS).where("`group` = 'transactional'").orderBy("log_offset").collect()
        return [row["committed_offset"] for row in rows]

    try:
        commit(1, producer.commit_transaction)
        commit(2, producer.abort_transaction)
        commit(3, None)
        progress: list[str] = []
        collect(spark, store, plan(settings), progress.append)
        assert any(re.search("offsets? waits? behind an open transaction", line) for line in progress)
        assert seen() == [1]
        held = read_table(spark, store, COVERAGE).where("high_watermark > last_stable_offset").count()
        assert held >= 1
        producer.commit_transaction(60)
        await_marker(3)
        collect(spark, store, plan(settings))
        assert seen() == [1, 3]
    finally:
        consumer.close()


def test_offsets_source_reads_in_batches(spark: SparkSession, settings: ClientSettings) -> None:
    def rows(**options: str) -> int:
        source = spark.read.format("kgroups-offsets").option("bootstrap.servers", settings.bootstrap_servers)
        return source.options(**options).load().count()

    whole = in_the_log(settings)
    assert rows(table="records") == rows(table="decoded", numPartitions="5") == len(whole)
    partition = max(dict(whole))
    nowhere = {str(each): 10**9 for each in range(12)}
    some = {str(partition): 5}
    assert (
        rows(startingOffsets=json.dumps(nowhere | some), endingOffsets=json.dumps(nowhere | {str(partition): 9})) == 4
    )
    assert rows(startingTimestamp="2999-01-01") == 0
    assert rows(endingTimestamp="2001-01-01") == 0
    assert rows(startingTimestamp="2001-01-01", endingTimestamp="2999-01-01") == len(whole)


def test_quiet_collection_prints_failures_only(
    settings: ClientSettings, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = ("history", "collect", "-q", "--store", str(tmp_path / "store"))
    code = main((*command, "--bootstrap-server", settings.bootstrap_servers))
    assert (code, *capfd.readouterr()) == (0, "", "")
    config = tmp_path / "config.toml"
    config.write_text(
        f'[profiles.a]\nbootstrap = "{settings.bootstrap_servers}"\n[profiles.b]\nbootstrap = "127.0.0.1:1"\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGROUPS_CONFIG", str(config))
        code = main((*command, "--all-profiles"))
    lines = capfd.readouterr().err.splitlines()
    assert (code, len(lines)) == (1, 2), lines
    assert lines[0].startswith("kgroups: cluster b: no bootstrap server responded: 127.0.0.1:1: connection refused")
    assert lines[1].startswith("kgroups: 1 of 2 clusters collected, ") and lines[1].endswith("incomplete: b")


def test_dump_matches_the_log(settings: ClientSettings, tmp_path: Path) -> None:
    where = ["--bootstrap-server", settings.bootstrap_servers]
    runner = CliRunner()
    folder = tmp_path / "dump"
    done = runner.invoke(cli, ["history", "dump", "--parquet", str(folder), "--processes", "2", *where])
    assert (done.exit_code, done.stdout) == (0, "")
    table = ds.dataset(folder).to_table()
    places = sorted(zip(table["log_partition"].to_pylist(), table["log_offset"].to_pylist(), strict=True))
    assert places == in_the_log(settings)
    assert len(list(folder.iterdir())) == 2

    again = runner.invoke(cli, ["history", "dump", "--parquet", str(folder), *where])
    assert isinstance(again.exception, HistoryError)

    lines = runner.invoke(cli, ["history", "dump", "--table", "commits", *where]).stdout.splitlines()
    commits = [json.loads(line) for line in lines]
    assert (
        len([each for each in commits if each["topic"] == "commits" and each["group"] != "transactional"])
        == LOAD.records
    )
    assert set(commits[0]) == set(COMMITS.names)


def test_compact_changes_no_row(spark: SparkSession, settings: ClientSettings, store: Store) -> None:
    tables = (RECORDS, COMMITS, COVERAGE, HEADS, BASELINE)
    before = {table.name: sorted(map(str, read_table(spark, store, table).collect())) for table in tables}
    entries = len(store.snapshot().collected().entries)
    reading = read_table(spark, store, RECORDS)
    assert compact(store) == entries
    assert len(store.snapshot().collected().entries) == 1
    assert reading.count() == len(before[RECORDS.name])  # who began before the merge can finish
    assert {table.name: sorted(map(str, read_table(spark, store, table).collect())) for table in tables} == before
    assert compact(store) == 0
    collect(spark, store, plan(settings))
    assert in_the_store(spark, store) == in_the_log(settings)


def test_expire_keeps_current_values(spark: SparkSession, store: Store) -> None:
    def latest() -> set[tuple[Any, ...]]:
        rows = read_table(spark, store, COMMITS).where("topic = 'commits'").orderBy("log_offset").collect()
        last = {(row["group"], row["partition"]): row["committed_offset"] for row in rows}
        return {(*key, offset) for key, offset in last.items()}

    before = latest()
    commits = read_table(spark, store, COMMITS).where("topic = 'commits'").count()
    expire(store, datetime.now(UTC) + timedelta(days=1))
    assert (store.snapshot().expired or 0) > time.time() * 1_000_000
    assert latest() == before
    assert read_table(spark, store, COMMITS).where("topic = 'commits'").count() < commits


def test_collect_into_damaged_store_fails_with_one_line(
    spark: SparkSession, settings: ClientSettings, store: Store
) -> None:
    file = next(Path(store.location, "records").rglob("*.parquet"))
    content = file.read_bytes()
    file.write_bytes(bytes(len(content)))
    with pytest.raises(HistoryError, match=rf"{file.name}: Parquet magic bytes not found") as caught:
        rows_of(store, "records")
    assert "\n" not in str(caught.value)
    file.write_bytes(content[:-100])
    with pytest.raises(HistoryError, match=rf"{file.name} has .* bytes, not the"):
        rows_of(store, "records")
    file.unlink()
    with pytest.raises(HistoryError, match=rf"{file.name}: No such file"):
        read_table(spark, store, RECORDS)
    shutil.rmtree(store.location)
    with pytest.raises(HistoryError, match="holds no history"):
        read_table(spark, store, RECORDS)


def test_collect_from_recreated_topic_fails(spark: SparkSession, settings: ClientSettings, store: Store) -> None:
    (file,) = Path(store.location).glob("_manifest/*/_cluster.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"topic_id": "another"}))
    with pytest.raises(HistoryError, match="topic was recreated; collect into a new store"):
        collect(spark, store, plan(settings))


def test_second_collector_is_rejected(spark: SparkSession, settings: ClientSettings, store: Store) -> None:
    with Owner(Store(store.location)), pytest.raises(HistoryError, match="another collector has it: process"):
        collect(spark, store, plan(settings))


def test_small_batch_is_collected_without_spark(settings: ClientSettings, kafka: Sandbox, store: Store) -> None:
    make_commits(kafka, Commits(2, 3, 4, topic=f"small-{time.monotonic_ns()}"))
    before = store.snapshot().records
    done = collect_history(lambda: pytest.fail("Spark was started"), store, plan(settings))
    assert (done.batches, done.behind) == (1, 0)
    assert store.snapshot().records == before + done.records == len(in_the_log(settings))


def test_offsets_log_of_missing_topic_is_an_error(settings: ClientSettings) -> None:
    with pytest.raises(HistoryError, match="no topic nowhere"):
        log_ends(settings, "nowhere")


def test_land_reads_landed_records(
    spark: SparkSession, settings: ClientSettings, store: Store, empty_store: Store, tmp_path: Path
) -> None:
    source = spark.read.format("kgroups-offsets").option("bootstrap.servers", settings.bootstrap_servers)
    records = source.option("table", "records").load().toDF("partition", "offset", "timestamp", "key", "value")
    records.write.parquet(str(tmp_path / "landed"))
    with pytest.raises(HistoryError, match="no history"):
        land(spark, empty_store, str(tmp_path / "landed"))
    collect(spark, store, plan(settings))
    assert land(spark, store, str(tmp_path / "landed")) == 0

    other = empty_store
    other.create(store.identity())
    assert land(spark, other, str(tmp_path / "landed")) == len(in_the_log(settings))
    assert land(spark, other, str(tmp_path / "landed")) == 0
    for table in (RECORDS, COMMITS):
        assert in_the_store(spark, other, table) == in_the_store(spark, store, table)
    part = Store(str(tmp_path / "part"))
    part.create(store.identity())
    records.where("offset >= 5 and offset < 9").write.parquet(str(tmp_path / "middle"))
    assert land(spark, part, str(tmp_path / "middle")) > 0
    land(spark, part, str(tmp_path / "landed"))
    assert in_the_store(spark, part) == in_the_store(spark, store)
    assert {check.status for each in (other, part) for check in verify(each, None)} == {"ok"}
    spark.range(3).write.parquet(str(tmp_path / "wrong"))
    with pytest.raises(HistoryError, match="has no column partition, offset, timestamp, key, value"):
        land(spark, other, str(tmp_path / "wrong"))


def test_collect_of_unrelated_topic_records_undecoded_rows(
    spark: SparkSession, settings: ClientSettings, empty_store: Store, kafka: Sandbox
) -> None:
    fill(kafka.bootstrap, {"commits": {0: 7}})
    progress: list[str] = []
    done = collect(spark, empty_store, plan(settings)._replace(topic="commits"), progress.append)
    assert done.records == 7
    assert any("7 records could not be decoded" in line for line in progress)
    reasons = {row["reason"] for row in read_table(spark, empty_store, UNDECODED).collect()}
    assert len(reasons) == 1 and None not in reasons
