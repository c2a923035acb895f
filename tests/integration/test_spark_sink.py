"""Writing records into a store on Spark: whatever fails, each record is stored once, and no file remains."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from bench.spark_cluster import LOCAL
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.history.extract.ranges import between
from kgroups.history.jobs.collect import Plan, collect
from kgroups.history.jobs.verify import verify
from kgroups.history.load.store import Identity, Store
from kgroups.history.session import root_cause
from kgroups.history.verify.result import OK
from kgroups.sandbox import Sandbox
from kgroups.sandbox.commits import Commits, make_commits
from tests.fakes.history import rows_of
from tests.integration.failing_writes import RECORDS, TASKS
from tests.integration.offsets_log import log_ends
from tests.integration.test_collect import Places, in_the_log
from tests.integration.test_spark_cluster import spark_home
from tests.integration.versions import MAIN

pytestmark = pytest.mark.spark

LOAD = Commits(groups=6, partitions=5, rounds=20)
SOURCE = "kgroups-history"


@pytest.fixture(scope="module")
def kafka(require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    require_kafka("4.3.1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        with Sandbox.up(MAIN, name="sink") as sandbox:
            make_commits(sandbox, LOAD)
            yield sandbox


@pytest.fixture
def settings(kafka: Sandbox) -> ClientSettings:
    return ClientSettings(parse_bootstrap(kafka.bootstrap), timeout=20)


def places(store: Store) -> Places:
    return sorted((row["log_partition"], row["log_offset"]) for row in rows_of(Store(store.location), "records"))


def read(spark: SparkSession, kafka: Sandbox) -> DataFrame:
    options = {"bootstrap.servers": kafka.bootstrap, "table": "records", "numPartitions": "3"}
    return spark.read.format("kgroups-offsets").options(**options).load()


def append(rows: DataFrame, store: Store, kafka: Sandbox | None = None) -> None:
    options = {"bootstrap.servers": kafka.bootstrap} if kafka else {}
    rows.write.format(SOURCE).options(**options).mode("append").save(store.location)


def problems(store: Store, settings: ClientSettings) -> list[str]:
    return [str(each) for each in verify(Store(store.location), settings) if each.status != OK]


def unnamed(store: Store) -> set[str]:
    """Return the files that no entry names."""
    named = {file.path for entry in Store(store.location).snapshot().entries.values() for file in entry.files}
    return {str(path.relative_to(store.location)) for path in Path(store.location).rglob("*.parquet")} - named


def test_records_and_ranges_are_appended_once_and_collect_continues(
    spark: SparkSession, kafka: Sandbox, settings: ClientSettings, tmp_path: Path
) -> None:
    store = Store(str(tmp_path / "history"))
    append(read(spark, kafka), store, kafka)
    assert places(store) == in_the_log(settings)
    append(read(spark, kafka), store, kafka)
    assert len(Store(store.location).snapshot().entries) == 1, "there was nothing new"

    make_commits(kafka, Commits(2, 3, 4, topic=f"more-{time.monotonic_ns()}"))
    ends = log_ends(settings)
    pieces = between({at: end.start for at, end in ends.items()}, {at: end.stable for at, end in ends.items()})
    append(spark.createDataFrame(pieces, "log_partition int, from_offset bigint, to_offset bigint"), store, kafka)
    assert places(store) == in_the_log(settings)
    assert not unnamed(store)

    make_commits(kafka, Commits(2, 3, 4, topic=f"more-{time.monotonic_ns()}"))
    assert collect(lambda: spark, Store(store.location), Plan(settings)).records == 24
    assert places(store) == in_the_log(settings)
    assert problems(store, settings) == []


@pytest.mark.parametrize(
    ("table", "mode", "message"),
    [("commits", "append", "these columns cannot be written"), ("records", "overwrite", "mode overwrite would delete")],
)
def test_other_columns_and_overwrite_are_one_line(
    spark: SparkSession, kafka: Sandbox, tmp_path: Path, table: str, mode: str, message: str
) -> None:
    rows = spark.read.format("kgroups-offsets").options(table=table, **{"bootstrap.servers": kafka.bootstrap}).load()
    with pytest.raises(PySparkException) as failure:
        rows.write.format(SOURCE).option("bootstrap.servers", kafka.bootstrap).mode(mode).save(
            str(tmp_path / "history")
        )
    assert root_cause(failure.value).startswith(f"{SOURCE}: {message}")
    assert not (tmp_path / "history").exists()


def test_stream_stores_each_record_once_also_if_a_micro_batch_is_repeated(
    spark: SparkSession, kafka: Sandbox, settings: ClientSettings, tmp_path: Path
) -> None:
    store, checkpoint = Store(str(tmp_path / "history")), tmp_path / "checkpoint"

    def run() -> int:
        options = {"bootstrap.servers": kafka.bootstrap, "table": "records", "maxRecordsPerTrigger": "300"}
        rows = spark.readStream.format("kgroups-offsets").options(**options).load()
        stream = rows.writeStream.format(SOURCE).option("bootstrap.servers", kafka.bootstrap)
        query = stream.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start(store.location)
        query.awaitTermination()
        return len(Store(store.location).snapshot().entries)

    assert run() > 1
    assert places(store) == in_the_log(settings)
    last = max((path for path in (checkpoint / "commits").iterdir() if path.name.isdigit()), key=lambda p: int(p.name))
    for path in (last, last.with_name(f".{last.name}.crc")):
        path.unlink(missing_ok=True)  # as if Spark was killed after the commit of the store
    before = len(Store(store.location).snapshot().entries)
    assert run() == before
    make_commits(kafka, Commits(2, 3, 4, topic=f"more-{time.monotonic_ns()}"))
    assert run() == before + 1
    assert places(store) == in_the_log(settings)
    assert problems(store, settings) == []
    assert not unnamed(store)


def write(how: str, store: Store, seed: int, home: Path) -> int:
    """Run a writer on a cluster, and return its exit code."""
    command = (sys.executable, "-m", "tests.integration.failing_writes", how, store.location, str(seed))
    environment = os.environ | LOCAL | {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    return subprocess.run(command, env=environment, check=False, timeout=900, capture_output=True).returncode


def test_lost_executors_speculation_and_killed_drivers_store_each_record_once(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Executors are killed, attempts fail or hang, a job fails as a whole, and a driver is killed before its commit."""
    store, home = Store(str(tmp_path / "history")), spark_home(tmp_path)
    store.create(Identity("cluster-1", "__consumer_offsets", "2026-01-01"))
    seed = request.config.getoption("--seed") or time.time_ns() % 100_000
    for how in ("fails", "killed"):
        assert write(how, store, seed, home) != 0
        assert places(store) == [], how
    assert unnamed(store), "the files of the killed one"
    assert write("faults", store, seed, home) == 0, f"seed {seed}"
    whole = [(task, offset) for task in range(TASKS) for offset in range(RECORDS)]
    assert places(store) == whole, f"seed {seed}"
    assert write("sound", store, seed, home) == 0
    assert places(store) == whole
    assert len(Store(store.location).snapshot().entries) == 1
    Store(store.location).delete_orphans(timedelta(0))
    assert not unnamed(store)
    assert places(store) == whole
