"""Spark that does not answer: one line, in bounded time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pyspark.errors import PySparkException

from kgroups.errors import HistoryError
from kgroups.history import spark_health
from kgroups.history.load import tasks
from kgroups.history.load.store import Identity, Store
from kgroups.history.session import root_cause
from kgroups.history.spark_health import check_server, watch_executors


@pytest.mark.parametrize(
    "url", ["spark://127.0.0.1:{}", "sc://127.0.0.1:{}/;use_ssl=false", "spark://[::1]:1,127.0.0.1:{}"]
)
def test_server_that_listens_is_accepted(url: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        check_server(url.format(server.getsockname()[1]))


@pytest.mark.parametrize("url", ["local", "local[2]", "local-cluster[1,1,512]", "yarn", "k8s://https://h:1"])
def test_other_masters_are_not_asked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", pytest.fail)
    check_server(url)


@pytest.mark.parametrize(("url", "server"), [
    ("spark://127.0.0.1:{0},127.0.0.1:{0}", "the master"), ("sc://127.0.0.1:{0}", "the Spark Connect server"),
])  # fmt: skip
def test_server_that_does_not_listen_is_one_line(url: str, server: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(HistoryError) as found:
        check_server(url.format(port))
    text = str(found.value)
    assert text.startswith(f"{server} {url.format(port)} cannot be reached: 127.0.0.1:{port}: Connection refused")
    assert "\n" not in text


class Cluster:
    """A Spark context with one job, and executors as a script says."""

    def __init__(self, *executors: int) -> None:
        self.executors, self.cancelled = list(executors), threading.Event()
        self.reasons: list[str] = []
        scala = Mock()
        scala.getExecutorMemoryStatus.return_value.size = lambda: 1 + self._next()
        scala.cancelJob = self._cancel
        self.session = Mock()
        self.session.sparkContext._jsc.sc.return_value = scala
        self.session.sparkContext.statusTracker.return_value.getActiveJobsIds = lambda: [7]

    def _next(self) -> int:
        if not self.executors:
            raise RuntimeError("the session has ended")
        return self.executors.pop(0)

    def _cancel(self, job: int, reason: str) -> None:
        self.reasons.append(f"{job} {reason}")
        self.cancelled.set()


def watched(monkeypatch: pytest.MonkeyPatch, cluster: Cluster) -> list[str]:
    """Watch a cluster until its session ends; each look takes 20 s."""
    now, lines = [0.0], list[str]()

    def sleep(seconds: float) -> None:
        now[0] += 20

    monkeypatch.setattr(spark_health, "time", Mock(monotonic=lambda: now[0], sleep=sleep))
    before = set(threading.enumerate())
    watch_executors(cluster.session, lines.append)
    for thread in set(threading.enumerate()) - before:
        thread.join()
    return lines


def test_job_without_executors_is_reported_and_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(*[0] * 15)
    lines = watched(monkeypatch, cluster)
    assert lines[0] == "Spark has no executor; a job has waited for one for 40 s"
    assert len(lines) == 7
    assert cluster.reasons == ["7 because Spark had no executor for 300 s"]


def test_job_with_executors_is_never_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(*([0] * 10 + [1]) * 5)
    lines = watched(monkeypatch, cluster)
    assert not cluster.reasons and len(lines) == 25


def test_cancelled_job_is_one_line() -> None:
    text = (
        "An error occurred while calling o1.collectToPython.\n: org.apache.spark.SparkException: [SPARK_JOB_CANCELLED] "
        "Job 7 cancelled because Spark had no executor for 300 s SQLSTATE: XXKDA\n\tat org.apache.spark\nCaused by: x"
    )
    assert root_cause(PySparkException(text)) == (
        "a job was cancelled because Spark had no executor for 300 s; check that its workers run"
    )


def store_of(folder: Path) -> Store:
    store = Store(str(folder))
    store.create(Identity("cluster", "__consumer_offsets", str(folder)))
    return store


def test_relative_location_is_resolved_where_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = store_of(Path("history"))
    monkeypatch.chdir("/")
    assert store.location == store.shown == str(tmp_path / "history")
    assert Store(store.location).clusters() == ["cluster"]
    assert store.storage.__getstate__()["location"] == store.location


def test_executors_that_do_not_see_the_store_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = store_of(tmp_path / "here")
    elsewhere = store_of(tmp_path / "elsewhere")
    answers: list[Any] = []

    def on_executors(spark: object, notify: object, function: Any, given: Sequence[Any]) -> list[Any]:
        name = Path(given[0]).relative_to(here.location)
        assert given == [str(Path(here.location, name))] * 2
        stores = (here.location, elsewhere.location, tmp_path / "no")
        answers[:] = [function(str(Path(store, name))) for store in stores]
        return answers

    monkeypatch.setattr(tasks, "run_on_spark", on_executors)
    monkeypatch.setattr(tasks, "cores", lambda spark: 2)
    with pytest.raises(HistoryError, match=r"Spark's executors on .* do not see this directory"):
        tasks.check_visible(Mock(sparkContext=Mock(master="spark://m:1")), here, print)
    assert [each["is_same"] for each in answers] == [True, False, False]
    answers.clear()
    tasks.check_visible(Mock(sparkContext=Mock(master="local[2]")), here, print)
    tasks.check_visible(Mock(sparkContext=Mock(master="spark://m:1")), Store("s3://bucket/history"), print)
    assert not answers
