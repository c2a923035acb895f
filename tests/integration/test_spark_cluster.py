"""The same jobs on Spark as others run it: a standalone master with two workers, and Spark Connect."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from kgroups.pipeline.load.read import read_table
from kgroups.pipeline.load.store import Store
from kgroups.pipeline.tables import COMMITS
from kgroups.sandbox import Sandbox
from kgroups.sandbox.commits import Commits, make_commits

pytestmark = pytest.mark.spark

HOUSE = Path(__file__).parents[2]
SPARK = Path(pyspark.__file__).parent
LOAD = Commits(groups=6, partitions=5, rounds=20)

SMALL = "-XX:TieredStopAtLevel=1"
JVMS = ("driver", "executor")


@pytest.fixture(scope="module")
def kafka(require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    require_kafka("4.3.1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        with Sandbox.up(name="cluster") as sandbox:
            make_commits(sandbox, LOAD)
            yield sandbox


def environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(HOUSE), os.environ.get("PYTHONPATH"))))
    own = {
        "PYTHONPATH": path,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    return os.environ | own | {"SPARK_DAEMON_JAVA_OPTS": SMALL}


@contextmanager
def running(folder: Path, name: str, *command: str) -> Iterator[Path]:
    """A server of Spark's until the end; gives its log."""
    log = folder / f"{name}.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=file, env=environment(), cwd=folder, start_new_session=True
        )
    try:
        yield log
    finally:
        os.killpg(process.pid, 9)
        process.wait()


def until_said(log: Path, words: str, times: int = 1) -> str:
    """Wait until a log contains a pattern N times; return the group of the last match."""
    end = time.monotonic() + 240
    while len(found := re.findall(words, log.read_text(errors="replace"))) < times:
        assert time.monotonic() < end, log.read_text(errors="replace")[-3000:]
        time.sleep(0.2)
    return str(found[-1])


def kgroups(*words: str, folder: Path) -> str:
    """Return the command's standard output."""
    done = subprocess.run(
        [sys.executable, "-m", "kgroups", *words, "--spark-log", str(folder / "spark.log")],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr + (folder / "spark.log").read_text(errors="replace")[-3000:]
    return done.stdout


def test_standalone_master_with_two_workers_collects(spark: SparkSession, kafka: Sandbox, tmp_path: Path) -> None:
    start = str(SPARK / "bin" / "spark-class")
    where = ("--host", "127.0.0.1", "--webui-port", "0")
    worker = (start, "org.apache.spark.deploy.worker.Worker", *where, "-c", "1", "-m", "600m")
    with ExitStack() as servers:
        starts_master = (start, "org.apache.spark.deploy.master.Master", *where, "--port", "0")
        log = servers.enter_context(running(tmp_path, "master", *starts_master))
        master = until_said(log, r"Starting Spark master at (spark://127\.0\.0\.1:\d+)\s")
        for name in ("one", "two"):
            servers.enter_context(running(tmp_path, name, *worker, master))
        until_said(log, "Registering worker", times=2)
        store = str(tmp_path / "history")
        engine = ("--store", store, "--master", master)
        settings = tmp_path / "conf"
        settings.mkdir()
        lines = (
            "spark.executor.memory 512m",
            "spark.cores.max 2",
            *(f"spark.{jvm}.extraJavaOptions {SMALL}" for jvm in JVMS),
        )
        (settings / "spark-defaults.conf").write_text("\n".join(lines))
        os.environ["SPARK_CONF_DIR"] = str(settings)
        try:
            kgroups("history", "collect", *engine, "-b", kafka.bootstrap, folder=tmp_path)
        finally:
            del os.environ["SPARK_CONF_DIR"]
        assert log.read_text().count("Launching executor") >= 2
    assert read_table(spark, Store(store), COMMITS).count() == LOAD.records


def test_spark_connect_collects_and_queries(kafka: Sandbox, tmp_path: Path) -> None:
    """The server collects, decodes and answers; this side has no JVM."""
    server = (
        *(str(SPARK / "bin" / "spark-class"), "org.apache.spark.deploy.SparkSubmit", "--master", "local[2]"),
        *("--conf", "spark.connect.grpc.binding.port=0", "--conf", "spark.ui.enabled=false"),
        *("--conf", "spark.connect.grpc.binding.address=127.0.0.1"),
        *("--driver-java-options", SMALL),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
    )
    with running(tmp_path, "connect", *server) as log:
        port = until_said(log, r"Spark Connect server started at: \S+:(\d+)\s")
        engine = ("--store", str(tmp_path / "history"), "--remote", f"sc://127.0.0.1:{port}")
        kgroups("history", "collect", *engine, "-b", kafka.bootstrap, folder=tmp_path)
        query = "SELECT count(*) AS n FROM commits"
        told = kgroups("history", "sql", query, *engine, "-o", "jsonl", folder=tmp_path)
        assert told == f'{{"n": {LOAD.records}}}\n'
