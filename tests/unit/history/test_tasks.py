"""Tasks on Spark, if it fails to start a Python worker in time."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from pyspark.errors import PySparkException

from kgroups.errors import HistoryError
from kgroups.history.extract.ranges import Range
from kgroups.history.load.store import Store
from kgroups.history.load.tasks import STARTS, TaskRunner, run_on_spark

LATE = "Job aborted due to stage failure: org.apache.spark.SparkException: Python worker failed to connect back."


class Spark:
    """A session whose first jobs fail with these messages."""

    def __init__(self, *failures: str) -> None:
        self.failures = list(failures)
        self.jobs = 0
        self.sparkContext, self.defaultParallelism = self, 2

    def range(self, start: int, end: int, step: int, partitions: int) -> Spark:
        self.tasks = end
        return self

    def mapInArrow(self, function: Any, schema: str) -> Spark:  # noqa: N802
        return self

    def collect(self) -> list[dict[str, Any]]:
        self.jobs += 1
        if self.failures:
            raise PySparkException(self.failures.pop(0))
        return [{"id": number, "result": json.dumps({"task": number})} for number in reversed(range(self.tasks))]


def double(task: int) -> dict[str, Any]:
    return {"task": task}


def run(spark: Spark, reported: list[str]) -> list[dict[str, Any]]:
    return run_on_spark(spark, reported.append, double, [0, 1])  # type: ignore[arg-type]


def test_job_is_repeated_after_late_python_worker() -> None:
    answer: list[str] = []
    assert run(Spark(LATE), answer) == [{"task": 0}, {"task": 1}]
    assert answer == ["Spark: a Python worker did not connect within 10 s; repeating (attempt 2 of 3)"]


def test_job_fails_after_last_attempt() -> None:
    answer: list[str] = []
    spark = Spark(*[LATE] * STARTS)
    with pytest.raises(PySparkException, match="failed to connect back"):
        run(spark, answer)
    assert (spark.jobs, len(answer)) == (STARTS, STARTS - 1)


def test_job_is_not_repeated_after_another_failure() -> None:
    answer: list[str] = []
    with pytest.raises(PySparkException, match="disk"):
        run(Spark("no space left on disk"), answer)
    assert answer == []


def spans(ranges: Sequence[Range]) -> dict[str, Any]:
    return {"spans": [piece.span for piece in ranges]}


def test_spark_starts_once_with_the_first_large_batch() -> None:
    spark, started = Spark(), []

    def start() -> Spark:
        started.append(spark)
        return spark

    runner = TaskRunner(start, Store("s3://bucket/history"), 10, print)  # type: ignore[arg-type]
    assert runner.run([Range(0, 0, 10)], spans, spans, dict) == [{"spans": [10]}]
    assert not started
    for size in (11, 1, 12):  # a small batch after a large one also runs on Spark
        runner.run([Range(0, 0, size)], spans, spans, dict)
    assert (len(started), spark.jobs) == (1, 3)


def test_tasks_follow_the_cores_of_the_cluster_in_each_batch() -> None:
    spark = Spark()
    runner = TaskRunner(lambda: spark, Store("s3://bucket/history"), 0, print)  # type: ignore[arg-type,return-value]
    for cores in (2, 6, 3):  # executors start and end
        spark.defaultParallelism = cores
        assert len(runner.run([Range(0, 0, 600)], spans, spans, dict)) == cores


def test_expected_large_batch_starts_spark_once_before_it_runs() -> None:
    spark, started = Spark(), threading.Event()

    def start() -> Spark:
        assert not started.is_set() and threading.current_thread() is not threading.main_thread()
        started.set()
        return spark

    runner = TaskRunner(start, Store("s3://bucket/history"), 10, print)  # type: ignore[arg-type]
    runner.expect(10)
    assert not started.is_set()
    runner.expect(11)
    assert started.wait(10)
    runner.expect(12)
    runner.run([Range(0, 0, 11)], spans, spans, dict)
    runner.run([Range(0, 0, 11)], spans, spans, dict)
    assert spark.jobs == 2


def test_error_of_expected_start_is_raised_by_the_batch_that_needs_spark() -> None:
    def start() -> Spark:
        raise HistoryError("Spark needs Java")

    runner = TaskRunner(start, Store("s3://bucket/history"), 10, print)  # type: ignore[arg-type]
    runner.expect(11)
    with pytest.raises(HistoryError, match="Spark needs Java"):
        runner.run([Range(0, 0, 11)], spans, spans, dict)
