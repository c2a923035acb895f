"""Collection on Spark as others run it: spark-submit, standalone workers, a local cluster, and Spark Connect.

The executors have no kgroups: they get it as an archive, by ``--py-files``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kgroups as package
from bench.spark_cluster import LOCAL, QUICK, SPARK, START, serve, standalone, wait_for
from kgroups.history.load.manifest import BATCH
from kgroups.history.load.read import read_rows
from kgroups.history.load.store import Store
from kgroups.history.tables import COVERAGE, RECORDS, Table
from kgroups.pipeline import submit
from kgroups.sandbox import Sandbox
from kgroups.sandbox.commits import Commits, make_commits
from tests.integration.versions import MAIN

pytestmark = pytest.mark.spark

LOAD = Commits(groups=5, partitions=5, rounds=20)
DRIVER_JAVA = f"{QUICK} -XX:ActiveProcessorCount=7"
"""The driver's Java sees other cores than any cluster here has."""

ON_CLUSTER = (
    *("--conf", "spark.scheduler.maxRegisteredResourcesWaitingTime=240s", "--conf", "spark.executor.memory=512m"),
    *("--conf", f"spark.executor.extraJavaOptions={QUICK}"),
    *("--conf", f"spark.driver.extraJavaOptions={DRIVER_JAVA}"),
)


class Executors(NamedTuple):
    """Python without kgroups, and kgroups as an archive."""

    python: str
    archive: str

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        return kept | LOCAL | {"PYSPARK_PYTHON": self.python, "PYSPARK_DRIVER_PYTHON": sys.executable}


@pytest.fixture(scope="module")
def kafka(require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    require_kafka("4.3.1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        with Sandbox.up(MAIN, name="cluster") as sandbox:
            make_commits(sandbox, LOAD)
            yield sandbox


@pytest.fixture(scope="module")
def executors(tmp_path_factory: pytest.TempPathFactory) -> Executors:
    """Packages of this Python are on the path of the other, but not what their .pth files add: kgroups in place."""
    folder = tmp_path_factory.mktemp("executors")
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    version = f"python{sysconfig.get_python_version()}"
    packages = folder / "venv" / "lib" / version / "site-packages"
    (packages / "tested.pth").write_text(sysconfig.get_path("purelib"))
    found = subprocess.run(
        [python, "-P", "-c", "import pyarrow, obstore, confluent_kafka, kgroups"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
    )
    assert found.returncode == 1 and "No module named 'kgroups'" in found.stderr, found.stderr
    source = Path(package.__file__).parent
    archive = shutil.make_archive(str(folder / "kgroups"), "zip", source.parent, source.name)
    return Executors(str(python), archive)


@pytest.fixture(scope="module")
def dumped(kafka: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    folder = tmp_path_factory.mktemp("dump")
    command = ("history", "dump", "--table", "records", "--parquet", str(folder), "-b", kafka.bootstrap)
    kgroups(*command, environment=os.environ)
    return ordered(pq.read_table(folder))


def ordered(rows: pa.Table) -> pa.Table:
    return rows.select(RECORDS.names).sort_by([("log_partition", "ascending"), ("log_offset", "ascending")])


def kgroups(*words: str, environment: Mapping[str, str], code: int = 0) -> str:
    """Return what the command prints."""
    return run((sys.executable, "-P", "-m", "kgroups", *words), environment, code)


def run(command: tuple[str, ...], environment: Mapping[str, str], code: int = 0) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=600)
    log = command[command.index("--spark-log") + 1] if "--spark-log" in command else None
    ends = done.stderr + (Path(log).read_text(errors="replace")[-3000:] if log and Path(log).exists() else "")
    assert done.returncode == code, ends
    return done.stdout if code == 0 else done.stderr


def stored(store: str, table: Table) -> pa.Table:
    files = Store(store).snapshot().files(table)
    batches = [batch for file in files for batch in read_rows(Store(store).storage, table, file.path)]
    return pa.Table.from_batches(batches)


def tasks(store: str) -> list[int]:
    """Return the number of tasks of each batch: each writes one file of records, as all are of one day."""
    entries = Store(store).snapshot().entries
    batches = [entries[number] for number in sorted(entries) if entries[number].kind == BATCH]
    return [sum(file.table == RECORDS.name for file in entry.files) for entry in batches]


def test_standalone_workers_without_kgroups_collect_on_all_their_cores(
    kafka: Sandbox, executors: Executors, dumped: pa.Table, tmp_path: Path
) -> None:
    """Two tasks, on two workers with one core each, although the driver has more; large partitions are divided."""
    store, log = str(tmp_path / "history"), str(tmp_path / "spark.log")
    with standalone(tmp_path, executors.environment, workers=2) as master:
        engine = ("--store", store, "--master", master, "--spark-log", log, "--py-files", executors.archive)
        passed = (*ON_CLUSTER, "--conf", "spark.cores.max=2")
        command = ("history", "collect", *engine, *passed, "-b", kafka.bootstrap)
        kgroups(*command, environment=executors.environment)
        assert (tmp_path / "master.log").read_text().count("Launching executor") == 2
    assert ordered(stored(store, RECORDS)).equals(dumped)
    assert tasks(store) == [2]
    ranges = [row["log_partition"] for row in stored(store, COVERAGE).to_pylist() if row["records"]]
    assert len(ranges) > len(set(ranges))


def maven_package(home: Path) -> str:
    """Return the coordinates of a package in the local Maven repository of a user with this home."""
    folder = home / ".m2" / "repository" / "org" / "example" / "thing" / "1.0"
    folder.mkdir(parents=True)
    coordinates = "<groupId>org.example</groupId><artifactId>thing</artifactId><version>1.0</version>"
    (folder / "thing-1.0.pom").write_text(f"<project><modelVersion>4.0.0</modelVersion>{coordinates}</project>")
    with ZipFile(folder / "thing-1.0.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
    return "org.example:thing:1.0"


def spark_home(folder: Path) -> Path:
    """Return a SPARK_HOME of its own for a local cluster, whose workers write there."""
    home = folder / "spark"
    home.mkdir()
    for part in SPARK.iterdir():
        (home / part.name).symlink_to(part)
    return home


def test_local_cluster_collects_several_batches_in_one_application(
    kafka: Sandbox, executors: Executors, dumped: pa.Table, tmp_path: Path
) -> None:
    """With a package of Maven on the class path of its executors."""
    store, events = str(tmp_path / "history"), tmp_path / "events"
    events.mkdir()
    settings = {
        "spark.cores.max": "4",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
        "spark.jars.ivy": str(tmp_path / "ivy"),
        "spark.driver.extraJavaOptions": f"{DRIVER_JAVA} -Duser.home={tmp_path}",
    }
    engine = ("--master", "local-cluster[2,2,1024]", "--spark-log", str(tmp_path / "spark.log"), *ON_CLUSTER)
    passed = ("--packages", maven_package(tmp_path), "--py-files", executors.archive)
    conf = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    batches = ("--max-records", str(LOAD.records // 2 + 1))
    command = ("history", "collect", "--store", store, *engine, *passed, *conf, *batches, "-b", kafka.bootstrap)
    kgroups(*command, environment=executors.environment | {"SPARK_HOME": str(spark_home(tmp_path))})
    assert ordered(stored(store, RECORDS)).equals(dumped)
    assert tasks(store) == [4, 4]
    (application,) = events.iterdir()
    assert any("org.example_thing-1.0.jar" in file.read_text() for file in application.glob("events_*"))


def test_spark_submit_collects(kafka: Sandbox, executors: Executors, dumped: pa.Table, tmp_path: Path) -> None:
    store = str(tmp_path / "history")
    command = (
        *(str(SPARK / "bin" / "spark-submit"), "--master", "local[3]", "--py-files", executors.archive),
        *("--driver-java-options", QUICK, "--conf", "spark.ui.enabled=false", submit.__file__),
        *("history", "collect", "--store", store, "-b", kafka.bootstrap),
    )
    run(command, executors.environment)
    assert ordered(stored(store, RECORDS)).equals(dumped)
    assert tasks(store) == [3]


READ = """
import sys
from pyspark.sql import SparkSession
from kgroups.history import register

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.addArtifacts(sys.argv[2], pyfile=True)
register(spark)
rate = spark.read.format("kgroups-history").option("table", "commit_rate").load(sys.argv[3])
spark.sql(f"create table stored using `kgroups-history` options (store '{sys.argv[3]}')")
print(spark.table("stored").count(), rate.agg({"commits": "sum"}).collect()[0][0])
"""
"""Reads a store by its data source, and by a table of the catalog."""


def test_spark_connect_collects_and_queries(
    kafka: Sandbox, executors: Executors, dumped: pa.Table, tmp_path: Path
) -> None:
    """The server collects, decodes and answers; this side has no JVM, and sends kgroups."""
    store = str(tmp_path / "history")
    server = (
        *(START, "org.apache.spark.deploy.SparkSubmit", "--master", "local[3]"),
        *("--conf", "spark.connect.grpc.binding.port=0", "--conf", "spark.ui.enabled=false"),
        *("--conf", "spark.connect.grpc.binding.address=127.0.0.1"),
        *("--driver-java-options", QUICK),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
    )
    with serve(tmp_path, "connect", executors.environment, *server) as log:
        port = wait_for(log, r"Spark Connect server started at: \S+:(\d+)\s")
        engine = ("--store", store, "--remote", f"sc://127.0.0.1:{port}", "--spark-log", str(tmp_path / "spark.log"))
        collect = ("history", "collect", *engine, "--py-files", executors.archive, "-b", kafka.bootstrap)
        rejected = kgroups(*collect, "--conf", "spark.sql.warehouse.dir=x", environment=executors.environment, code=1)
        assert "--conf spark.sql.warehouse.dir: rejected by the Spark Connect server" in rejected
        kgroups(*collect, "--conf", "spark.sql.shuffle.partitions=3", environment=executors.environment)
        query = ("history", "sql", "SELECT count(*) AS n FROM commits", *engine, "-o", "jsonl")
        assert kgroups(*query, environment=executors.environment) == f'{{"n": {LOAD.records}}}\n'
        read = (sys.executable, "-P", "-c", READ, f"sc://127.0.0.1:{port}", executors.archive, store)
        assert run(read, executors.environment) == f"{LOAD.records} {LOAD.records}\n"
    assert ordered(stored(store, RECORDS)).equals(dumped)
    assert tasks(store) == [3]
