"""Restarts of the stream after Spark failed to start a Python worker in time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.errors import StreamingQueryException

from kgroups.pipeline.jobs.collect import STARTS, _run_stream

LATE = (
    "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Job aborted due to stage failure: "
    "org.apache.spark.SparkException: Python worker failed to connect back."
)


class Query:
    """A query that ends, with an error if there is one."""

    def __init__(self, error: str | None = None) -> None:
        self.error = error
        self.stopped = False

    def awaitTermination(self, seconds: float) -> bool:  # noqa: N802
        if self.error:
            raise StreamingQueryException(self.error)
        return True

    def stop(self) -> None:
        self.stopped = True


def starter(*queries: Query) -> Callable[[], Query]:
    return iter(queries).__next__


def test_stream_restarts_after_late_python_worker() -> None:
    notices: list[str] = []
    first, second = Query(LATE), Query()
    assert _run_stream(starter(first, second), None, None, notices.append) is second
    assert first.stopped and second.stopped
    assert notices == ["Spark: a Python worker did not connect within 10 s; restarting (attempt 2 of 3)"]


def test_stream_restarts_if_start_fails_with_late_python_worker() -> None:
    query, failures = Query(), iter([StreamingQueryException(LATE)])

    def start() -> Query:
        for failure in failures:
            raise failure
        return query

    notices: list[str] = []
    assert _run_stream(start, None, None, notices.append) is query
    assert len(notices) == 1


def test_stream_fails_after_last_restart() -> None:
    notices: list[str] = []
    queries = [Query(LATE) for _ in range(STARTS)]
    with pytest.raises(StreamingQueryException, match="failed to connect back"):
        _run_stream(starter(*queries), None, None, notices.append)
    assert all(query.stopped for query in queries)
    assert len(notices) == STARTS - 1


def test_stream_does_not_restart_after_another_failure() -> None:
    notices: list[str] = []
    with pytest.raises(StreamingQueryException, match="disk"):
        _run_stream(starter(Query("no space left on disk"), Query()), None, None, notices.append)
    assert notices == []
