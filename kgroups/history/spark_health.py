"""Spark that does not answer: a master that cannot be reached, and jobs without executors."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from kgroups.errors import HistoryError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GATEWAY = "PYSPARK_GATEWAY_PORT"
"""Set by spark-submit, which configures master and settings itself."""

CONNECT = 5.0
"""Maximum seconds for a connection to a master, or to a Spark Connect server."""

LOOK_EVERY = 5.0
"""Seconds between two looks at the executors."""

REPORT_EVERY = 30.0
"""Seconds between two notes that a job waits."""

WITHOUT_EXECUTORS = 300.0
"""Seconds after which a job without executors is cancelled."""

_SCHEMES = {"spark": ("master", 7077), "sc": ("Spark Connect server", 15002)}
"""Scheme of a URL -> the server, and its default port. Other URLs name a resource manager, not a server."""


def check_server(url: str) -> None:
    """Check that a server accepts connections: Spark itself waits for more than a minute, without a message.

    :param url: of a standalone master, of which there may be several, or of a Spark Connect server.
    :raises HistoryError: if none of the servers does.
    """
    scheme, _, rest = url.partition("://")
    if scheme not in _SCHEMES:
        return
    name, port = _SCHEMES[scheme]
    failures = []
    for place in rest.partition("/")[0].split(","):
        host, _, given = place.rpartition(":") if ":" in place.rpartition("]")[2] else (place, "", "")
        try:
            with closing(socket.create_connection((host.strip("[]"), int(given or port)), CONNECT)):
                return
        except (OSError, ValueError) as error:
            why = "no response" if isinstance(error, TimeoutError) else getattr(error, "strerror", None) or error
            failures.append(f"{place}: {why}")
    raise HistoryError(
        f"the {name} {url} cannot be reached: {'; '.join(failures)}",
        hint="check the URL, and that the server runs",
    )


class StartNotes:
    """A context that reports at intervals that Spark is still starting."""

    def __init__(self, where: str, notify: Callable[[str], None]) -> None:
        self._where, self._notify = where, notify
        self._began = time.monotonic()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._report, name="kgroups-spark-start", daemon=True)

    def __enter__(self) -> StartNotes:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()

    def _report(self) -> None:
        while not self._done.wait(REPORT_EVERY / 2):
            self._notify(f"waiting for Spark on {self._where} ({time.monotonic() - self._began:.0f} s)")


def watch_executors(session: SparkSession, notify: Callable[[str], None]) -> None:
    """Report jobs that wait because there is no executor, and cancel them after :data:`WITHOUT_EXECUTORS`."""
    context = session.sparkContext
    scala = context._jsc.sc()
    tracker = context.statusTracker()

    def watch() -> None:
        since = reported = time.monotonic()
        while True:
            time.sleep(LOOK_EVERY)
            now = time.monotonic()
            try:
                jobs = tracker.getActiveJobsIds()
                if not jobs or scala.getExecutorMemoryStatus().size() > 1:  # the driver is one of them
                    since = reported = now
                    continue
                if now - since >= WITHOUT_EXECUTORS:
                    for job in jobs:
                        scala.cancelJob(job, f"{NO_EXECUTORS} for {WITHOUT_EXECUTORS:.0f} s")
                elif now - reported >= REPORT_EVERY:
                    reported = now
                    notify(f"Spark has no executor; a job has waited for one for {now - since:.0f} s")
            except Exception:  # of any type: the session ends, or Java does
                return

    threading.Thread(target=watch, name="kgroups-executors", daemon=True).start()


NO_EXECUTORS = "because Spark had no executor"
"""Part of the error of a job that was cancelled."""
