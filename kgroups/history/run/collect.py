"""``kgroups history collect`` and ``land``: what writes records into the store."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from kgroups.cli.frame.exit_status import enable_gc, end_on_signals, is_quiet, print_to_stderr
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.errors import EXIT_FAILED
from kgroups.model.counts import count

from ..hosts import GivenHosts
from ..jobs.collect import SMALL, SMALL_OF_MANY, Plan
from ..jobs.collect import collect as run
from ..jobs.land import land as land_records
from ..jobs.lineage import Lineage
from ..lineage.sink import Sink
from ..load.clients import Clients
from ..load.store import Store
from .clusters import Clusters
from .engine import Engine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def collect(
    connection: ConnectionOptions,
    engine: Engine,
    hosts: GivenHosts,
    store: str,
    interval: float | None,
    duration: float | None,
    sample_every: float,
    max_records: int,
    openlineage: str | None,
    retention: float | None,
    topic: str,
) -> int:
    """Run ``kgroups history collect``; return the exit code."""
    end_on_signals(signal.SIGTERM, signal.SIGHUP)
    if interval is not None:
        enable_gc()

    kept = None if retention is None else timedelta(seconds=retention)
    plan = Plan(connection.settings, topic, interval, duration, sample_every, max_records, hosts, kept)
    small = 0 if engine.chosen else SMALL_OF_MANY if connection.fleet else SMALL

    def collect_one(
        clients: Clients,
        start: Callable[[], SparkSession],
        notify: Callable[[str], None],
        duration: float | None,
        stopped: threading.Event | None = None,
    ) -> tuple[str, str | None]:
        """Collect one cluster; return a summary, and what was lost or not collected."""
        history, lost = Store(store), 0
        settings = clients.settings
        of_cluster = plan._replace(settings=settings, duration=duration)
        progress = _ignore if is_quiet() else notify
        collect_into = partial(
            run, start, history, of_cluster, notify, small, stopped=stopped, progress=progress, clients=clients
        )
        if openlineage is None:
            total = collect_into()
        else:
            with Lineage(Sink(openlineage), settings, topic, history, notify) as lineage:
                total = collect_into(on_batch=lineage.add)
            lost = lineage.lost
        done = f"{count(total.records, 'record')} in {count(total.batches, 'batch', 'batches')}, {total.seconds:.1f} s"
        events = f"{count(lost, 'OpenLineage event')} could not be written; the store is complete"
        return f"{done}; {count(total.behind, 'offset')} behind", events if lost else total.incomplete

    start = partial(engine.open, short=interval is None)
    if connection.fleet:
        Store(store)  # both raise what would fail for each cluster
        hosts.for_new_store()
        loaders = {name: partial(connection.fleet.settings_of, name) for name in connection.fleet.names}
        return Clusters(loaders, collect_one, start, interval, duration).run()
    total, lost = collect_one(Clients(connection.settings), start, _print_line, duration)
    if not is_quiet():
        print_to_stderr(total)
    if lost:
        _print_line(lost)
    return EXIT_FAILED if lost else 0


def _ignore(line: str) -> None:
    pass


def _print_line(line: str) -> None:
    print_to_stderr(f"kgroups: {line}")


def land(path: str, engine: Engine, hosts: GivenHosts, store: str, cluster: str | None) -> int:
    """Run ``kgroups history land``; return the exit code."""
    records = land_records(engine.open(), Store(store, cluster), path, hosts)
    print_to_stderr(f"{records:,} new records")
    return 0
