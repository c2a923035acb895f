"""Write records into a store on a Spark that fails: ``python -m tests.integration.failing_writes HOW STORE SEED``.

The records are at offsets 0 to :data:`RECORDS` of a log partition for each task. ``HOW`` is what happens:

- ``faults``: attempts of tasks raise, hang until a second attempt is faster, or kill their executor;
- ``fails``: one task fails in all attempts;
- ``killed``: the driver is killed when all tasks have succeeded, before the commit;
- ``sound``: nothing.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage
from pyspark.sql.types import StructType

from bench.spark_cluster import QUICK
from kgroups.history.arrow import to_batch
from kgroups.history.load.sink import HistoryWriter
from kgroups.history.schema import struct_type
from kgroups.history.session import open_session
from kgroups.history.stored.source import StoredSource
from kgroups.history.tables import RECORDS as TABLE

TASKS = 6
RECORDS = 2_000
"""Of each task."""
BATCHES = 4
"""Of each task."""

SETTINGS = {
    "spark.task.maxFailures": "8",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.2",
    "spark.speculation.minTaskRuntime": "1s",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": QUICK,
    "spark.driver.extraJavaOptions": QUICK,
    "spark.ui.enabled": "false",
}


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def kill_java() -> None:
    """Kill the Java process above this worker: the executor in a task, the driver in a commit."""
    pid = os.getpid()
    while Path(f"/proc/{pid}/comm").read_text().strip() != "java":
        pid = parent(pid)
    os.kill(pid, signal.SIGKILL)
    time.sleep(60)


class DyingWriter(HistoryWriter):
    """Kills the driver instead of the commit."""

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        kill_java()


class DyingSource(StoredSource):
    """Writes with :class:`DyingWriter`."""

    def writer(self, schema: StructType, overwrite: bool) -> HistoryWriter:
        return DyingWriter(super().writer(schema, overwrite)._job)


def main(how: str, store: str, seed: str) -> None:
    def records(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        task, attempt = context.partitionId(), context.attemptNumber()
        chance = random.Random(f"{seed}-{task}-{attempt}")
        fault = chance.choice(("raise", "hang", "kill", "none")) if how == "faults" and attempt < 2 else "none"
        if how == "fails" and task == TASKS - 1:
            fault = "raise"
        at = chance.randrange(BATCHES + 1)
        for _ in batches:
            pass
        size = RECORDS // BATCHES
        for number in range(BATCHES + 1):
            if number == at and fault == "raise":
                raise RuntimeError("this attempt fails")
            if number == at and fault == "hang":
                time.sleep(8)
            if number == at and fault == "kill":
                kill_java()
            if number < BATCHES:
                offsets = range(number * size, (number + 1) * size)
                yield to_batch(
                    TABLE, [{"log_partition": task, "log_offset": each, "log_time": each} for each in offsets]
                )

    spark = open_session(
        master="local-cluster[2,1,1024]", settings=SETTINGS, log=str(Path(store).parent / f"spark-{how}.log")
    )
    if how == "killed":
        spark.dataSource.register(DyingSource)
    found = spark.range(0, TASKS, 1, TASKS).mapInArrow(records, struct_type(TABLE))
    found.write.format("kgroups-history").mode("append").save(store)


if __name__ == "__main__":
    main(*sys.argv[1:])
