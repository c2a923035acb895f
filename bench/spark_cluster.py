"""Spark's servers as processes on this machine: a standalone master with workers, or any other."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

SPARK = Path(pyspark.__file__).parent
START = str(SPARK / "bin" / "spark-class")
QUICK = "-XX:TieredStopAtLevel=1"
"""Option of a Java that runs for seconds."""

LOCAL = {"SPARK_HOME": str(SPARK), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_JAVA_OPTS": QUICK}
"""Environment of a Spark on this machine only."""

_WAIT = 240.0
"""Maximum number of seconds for a start."""


@contextmanager
def serve(folder: Path, name: str, environment: Mapping[str, str], *command: str) -> Iterator[Path]:
    """Run a server, and return the path of its log."""
    log = folder / f"{name}.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=file, env=environment, cwd=folder, start_new_session=True
        )
    try:
        yield log
    finally:
        os.killpg(process.pid, 9)
        process.wait()


def wait_for(log: Path, pattern: str, times: int = 1) -> str:
    """Wait until a log contains a pattern ``times`` times; return the group of the last match."""
    end = time.monotonic() + _WAIT
    while len(found := re.findall(pattern, log.read_text(errors="replace"))) < times:
        if time.monotonic() > end:
            raise TimeoutError(f"{log} does not contain {pattern}: {log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.2)
    return str(found[-1])


@contextmanager
def standalone(
    folder: Path, environment: Mapping[str, str], *, workers: int, memory: str = "700m", pinned: bool = False
) -> Iterator[str]:
    """Run a standalone master with workers of one core each; return the URL of the master.

    :param pinned: whether each worker, with all its processes, runs on one core of this machine, and on another one
        than the worker before it.
    """
    where = ("--host", "127.0.0.1", "--webui-port", "0")
    worker = (START, "org.apache.spark.deploy.worker.Worker", *where, "-c", "1", "-m", memory)
    with ExitStack() as servers:
        master = (START, "org.apache.spark.deploy.master.Master", *where, "--port", "0")
        log = servers.enter_context(serve(folder, "master", environment, *master))
        url = wait_for(log, r"Starting Spark master at (spark://127\.0\.0\.1:\d+)\s")
        for number in range(workers):
            pin = ("taskset", "-c", str(number % (os.cpu_count() or 1))) if pinned else ()
            servers.enter_context(serve(folder, f"worker-{number}", environment, *pin, *worker, url))
        wait_for(log, "Registering worker", times=workers)
        yield url
