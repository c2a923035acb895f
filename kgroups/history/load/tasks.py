"""Run a function for each of some tasks: here, or on Spark, one Spark task for each.

The function and its tasks are pickled, and so are the settings in them: Spark never shows these.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from kgroups.errors import HistoryError

from ..extract.ranges import Range, divide
from .store import IDENTITY, Store

STARTS = 3
"""Maximum number of attempts."""

WORKER_LATE = "Python worker failed to connect back"
"""Spark's message, which has no error condition, if a Python worker takes more than 10 s to start (hard-coded in
``PythonWorkerFactory``), as on a busy machine."""

T = TypeVar("T")
Result = dict[str, Any]
"""The result of a task, as JSON: the files that it wrote. Never rows."""

Notify = Callable[[str], None]
"""Prints one line for the user."""


def run_on_spark(
    spark: SparkSession, notify: Notify, function: Callable[[T], Result], tasks: Sequence[T]
) -> list[Result]:
    """Run the tasks on Spark. A task that Spark repeats has written files that no result names.

    :raises PySparkException: if a task fails; its message contains the last line of the task's error.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch["id"].to_pylist():
                yield pa.RecordBatch.from_pydict({"id": [number], "result": [json.dumps(function(tasks[number]))]})

    for attempt in range(1, STARTS + 1):
        try:
            rows = spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(run, "id bigint, result string").collect()
            break
        except PySparkException as error:
            if attempt == STARTS or WORKER_LATE not in str(error):
                raise
            notify(f"Spark: a Python worker did not connect within 10 s; repeating (attempt {attempt + 1} of {STARTS})")
    return [json.loads(row["result"]) for row in sorted(rows, key=lambda row: row["id"])]


def check_visible(spark: SparkSession, store: Store, notify: Notify) -> None:
    """Check that executors see the directory of a store, if it is one of the driver's machine.

    :raises HistoryError: if an executor does not.
    """
    storage = store.storage
    if storage.folder is None or _is_local(spark):
        return
    looks = [str(Path(storage.folder, IDENTITY))] * min(cores(spark), 64)
    found = run_on_spark(spark, notify, _look_for(storage.read(IDENTITY)), looks)
    hidden = sorted({each["host"] for each in found if not each["is_same"]})
    if hidden:
        raise HistoryError(
            f"store {store.shown}: Spark's executors on {', '.join(hidden[:NAMED])} do not see this directory",
            hint="use a directory that the driver and all executors share, or an object store",
        )


NAMED = 5
"""Maximum number of hosts in a message."""


def _look_for(expected: bytes | None) -> Callable[[str], Result]:
    """Return a function that runs where kgroups is not installed: queries of stores in directories need it nowhere."""

    def look(path: str) -> Result:
        try:
            is_same = Path(path).read_bytes() == expected
        except OSError:  # there is no such directory
            is_same = False
        return {"host": socket.gethostname(), "is_same": is_same}

    return look


def _is_local(spark: SparkSession) -> bool:
    """Return whether tasks run in the process of the driver."""
    try:
        return re.match(r"local(\[|$)", spark.sparkContext.master or "") is not None
    except PySparkException:  # Spark Connect: the server may be on another machine
        return False


class TaskRunner:
    """Run the tasks of batches: in this process until a batch, or all that is expected, is large; then on Spark."""

    def __init__(self, open_session: Callable[[], SparkSession], store: Store, small: int, notify: Notify) -> None:
        """Start nothing yet.

        :param open_session: starts Spark; called once.
        :param store: to which the tasks write.
        :param small: maximum number of offsets that are read without Spark.
        """
        self._open_session, self._store, self._small, self._notify = open_session, store, small, notify
        self._spark: SparkSession | None = None
        self._starting: Future[SparkSession] | None = None

    def expect(self, offsets: int) -> None:
        """Start Spark in the background, for all further batches, if they have together more offsets than is small."""
        if offsets > self._small and self._spark is None and self._starting is None:
            self._starting = _start(self._open_session)

    def run(
        self,
        ranges: Sequence[Range],
        here: Callable[[Sequence[Range]], T],
        on_spark: Callable[[Sequence[Range]], Result],
        parse: Callable[[Result], T],
    ) -> list[T]:
        """Run a function for each split of ranges.

        :param here: what runs in this process.
        :param on_spark: what runs in a Spark task.
        :param parse: returns the result of a Spark task as ``here`` does.
        :raises PySparkException: if a task fails; its message contains the last line of the task's error.
        """
        if self._spark is None and self._starting is None and sum(piece.span for piece in ranges) <= self._small:
            return [here(ranges)]
        if self._spark is None:
            self._spark = self._starting.result() if self._starting else self._open_session()
            check_visible(self._spark, self._store, self._notify)
        splits = divide(ranges, cores(self._spark))
        return [parse(each) for each in run_on_spark(self._spark, self._notify, on_spark, splits)]


def _start(open_session: Callable[[], SparkSession]) -> Future[SparkSession]:
    """Start Spark in a thread, which does not delay the end of the process."""
    started: Future[SparkSession] = Future()

    def run() -> None:
        try:
            started.set_result(open_session())
        except BaseException as error:
            started.set_exception(error)

    threading.Thread(target=run, name="kgroups-spark", daemon=True).start()
    return started


def cores(spark: SparkSession) -> int:
    """Return the number of tasks that the cluster runs at once, as Spark now assumes (``spark.default.parallelism``).

    Executors may start and end at any time, so ask again before each job.
    """
    try:
        return int(spark.sparkContext.defaultParallelism)
    except PySparkException:  # Spark Connect has no such call
        parts = spark.range(1000).select(F.spark_partition_id().alias("part")).agg(F.count_distinct("part")).collect()
        return int(parts[0][0])
