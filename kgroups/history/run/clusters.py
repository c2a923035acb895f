"""Collect several clusters into one store, each on its own thread: one that fails does not affect the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from kgroups.admin.fleet import PARALLEL
from kgroups.cli.frame.exit_status import is_quiet, print_to_stderr, system_error
from kgroups.config.settings import ClientSettings
from kgroups.errors import EXIT_FAILED, EXIT_OK, KgroupsError
from kgroups.model.counts import count

from ..live.ask import cluster_id
from ..load.clients import Clients

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class CollectOne(Protocol):
    """Collects one cluster, until ``stopped`` is set; returns a summary, and what was lost."""

    def __call__(
        self,
        clients: Clients,
        start: Callable[[], SparkSession],
        notify: Callable[[str], None],
        duration: float | None,
        stopped: threading.Event,
    ) -> tuple[str, str | None]: ...


class Clusters:
    """The collectors of the clusters, by profile."""

    def __init__(
        self,
        loaders: Mapping[str, Callable[[], ClientSettings]],
        collect_one: CollectOne,
        start: Callable[[], SparkSession],
        interval: float | None,
        duration: float | None,
    ) -> None:
        """Start nothing yet.

        :param loaders: read the settings and credentials of a cluster, at each attempt.
        :param start: starts Spark; called once, for the first cluster that needs it.
        :param interval: seconds after which a cluster that failed is tried again; ``None``: never.
        :param duration: seconds after which the collectors end.
        """
        self._loaders, self._collect_one, self._start = loaders, collect_one, start
        self._interval = interval
        self._until = None if duration is None else time.monotonic() + duration
        # Collectors that run continuously cannot take turns.
        once: AbstractContextManager[Any] = threading.BoundedSemaphore(PARALLEL)
        self._turns = once if interval is None else nullcontext()
        self._stopped = threading.Event()
        self._ended: SimpleQueue[tuple[str, BaseException | None]] = SimpleQueue()
        self._running: set[str] = set()
        self._collecting: set[str] = set()
        """Those that have reached their cluster, and so must end by themselves."""
        self._claims = threading.Lock()
        self._profiles: dict[str, str] = {}
        """The profile that each cluster is collected as, by cluster ID."""
        self._same: set[str] = set()
        self._complete: set[str] = set()
        self._lost = False
        self._output = threading.RLock()
        """Held while a line is printed, and while Spark starts, which redirects stdout and stderr."""
        self._session: SparkSession | None = None
        self._said: dict[str, str] = {}
        """The last line of each cluster."""

    def run(self) -> int:
        """Collect all clusters, and return the exit code.

        Ctrl-C ends each collector after its current batch; a second one ends the process.
        """
        began = time.monotonic()
        for name in self._loaders:
            self._running.add(name)
            threading.Thread(target=self._run, args=(name,), name=f"collect {name}", daemon=True).start()
        try:
            self._wait(self._running)
        except BaseException as error:
            with self._claims:
                self._stopped.set()
            self._wait(self._collecting)
            # How users end a continuous collection; any other is then incomplete.
            if self._interval is None or not isinstance(error, KeyboardInterrupt):
                raise
        every = self._loaders.keys() - self._same
        incomplete = sorted(every - self._complete)
        collected = f"{len(every) - len(incomplete)} of {count(len(every), 'cluster')} collected"
        named = f"; incomplete: {', '.join(incomplete)}" if incomplete else ""
        if incomplete or not is_quiet():
            self._print(f"{collected}, {time.monotonic() - began:.1f} s{named}")
        return EXIT_FAILED if incomplete or self._lost else EXIT_OK

    def _wait(self, names: set[str]) -> None:
        """Wait until a set of collectors is empty.

        :raises BaseException: if one ends with an error that is not about its cluster.
        """
        while names:
            name, error = self._ended.get()
            self._running.discard(name)
            self._collecting.discard(name)
            if error:
                raise error

    def _run(self, name: str) -> None:
        error: BaseException | None = None
        try:
            with self._turns:
                self._collect(name)
        except KeyboardInterrupt:  # stopped
            pass
        except BaseException as found:
            error = found
        self._ended.put((name, error))

    def _collect(self, name: str) -> None:
        """Collect a cluster; if that fails, and there is an interval, again and again."""
        while not self._stopped.is_set():
            try:
                return self._attempt(name)
            except (KgroupsError, OSError) as error:
                if self._stopped.is_set() and name not in self._collecting:
                    return None  # the command has ended without it
                self._say(name, *_lines(error))
            self._collecting.discard(name)
            left = self._left()
            if self._interval is None or left == 0:
                return None
            self._stopped.wait(self._interval if left is None else min(self._interval, left))
        return None

    def _attempt(self, name: str) -> None:
        settings = self._loaders[name]()
        say = partial(self._say, name)
        with Clients(settings) as clients:
            if not self._claim(name, cluster_id(clients.session)):
                return
            done, lost = self._collect_one(
                clients, self._open_session, say, duration=self._left(), stopped=self._stopped
            )
        if not is_quiet():
            say(done)
        self._complete.add(name)
        if lost:
            self._lost = True
            say(lost)

    def _claim(self, name: str, found: str | None) -> bool:
        """Return whether to collect the cluster with this ID as this profile."""
        with self._claims:
            if self._stopped.is_set():
                return False
            first = self._profiles.setdefault(found, name) if found else name
            (self._collecting if first == name else self._same).add(name)
        if first != name and not is_quiet():
            self._print(f"note: {name} and {first} are the same cluster, collected once, as {first}")
        return first == name

    def _left(self) -> float | None:
        return None if self._until is None else max(0.0, self._until - time.monotonic())

    def _open_session(self) -> SparkSession:
        with self._output:
            if self._session is None and not self._stopped.is_set():
                self._session = self._start()
        if self._session is None or self._stopped.is_set():
            raise KeyboardInterrupt
        return self._session

    def _say(self, name: str, line: str, hint: str | None = None) -> None:
        """Print a line about a cluster, unless it repeats the one before, as at each attempt."""
        with self._output:
            if self._said.get(name) != line:
                self._said[name] = line
                self._print(f"cluster {name}: {line}")
                if hint:
                    self._print(f"hint: {hint}")

    def _print(self, line: str) -> None:
        with self._output:
            print_to_stderr(f"kgroups: {line}")


def _lines(error: KgroupsError | OSError) -> tuple[str, str | None]:
    """Return the message of an error, and its hint."""
    return (str(error), error.hint) if isinstance(error, KgroupsError) else (system_error(error), None)
