"""``kgroups history collect``."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import click

from kgroups.cli.frame.exit_status import enable_gc, end_on_signals, is_quiet
from kgroups.cli.frame.lazy_command import Command
from kgroups.cli.frame.options import ConnectionOptions, Duration, fleet_options
from kgroups.cli.frame.systemd_option import systemd_option
from kgroups.errors import EXIT_FAILED
from kgroups.model.counts import count

from .hosts import hosts_options
from .options import Engine, engine_options, store_option, topic_option

if TYPE_CHECKING:
    from ..hosts import GivenHosts
    from ..load.clients import Clients
    from ..session import Session


@click.command("collect", cls=Command)
@store_option
@click.option(
    "--interval",
    type=Duration(),
    metavar="TIME",
    help="Run continuously, one batch every TIME, until Ctrl-C or SIGTERM.",
)
@click.option("--duration", type=Duration(), metavar="TIME", help="With --interval: stop after TIME.")
@click.option(
    "--sample-every",
    type=Duration(),
    default="10s",
    show_default=True,
    help="Time between two samples of the log end offsets.",
)
@click.option(
    "--max-records",
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    metavar="N",
    help="Maximum number of records in a batch.",
)
@click.option(
    "--openlineage",
    metavar="FILE|URL",
    help="Write OpenLineage events, from topics to groups, to a file or a server.  [env: OPENLINEAGE_API_KEY, its key]",
)
@click.option(
    "--retention",
    type=Duration(),
    metavar="TIME",
    help="Delete what is older than TIME, except what is still in effect, at most once a day.  [default: keep all]",
)
@systemd_option("--systemd-unit", "kgroups-history.service", "Print a unit for systemd, and exit.")
@topic_option
@hosts_options("as in the store; keep if it is new")
@engine_options
@fleet_options
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
    """Collect new records into the store, once or continuously.

    Each record is stored exactly once: after an interruption, or a kill, the next run continues where this one ended.
    Small files are merged automatically.

    With several profiles, each cluster is collected on its own, into the same store. One that fails is named, and with
    --interval tried again after TIME.
    """
    from .options import need_pipeline

    need_pipeline()
    end_on_signals(signal.SIGTERM, signal.SIGHUP)
    if interval is not None:
        enable_gc()
    from ..jobs.collect import SMALL, Plan
    from ..jobs.collect import collect as run
    from ..load.clients import Clients
    from ..load.store import Store

    kept = None if retention is None else timedelta(seconds=retention)
    plan = Plan(connection.settings, topic, interval, duration, sample_every, max_records, hosts, kept)
    small = 0 if engine.chosen else SMALL

    def collect_one(
        clients: Clients,
        start: Callable[[], Session],
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
            from ..jobs.lineage import Lineage
            from ..lineage.sink import Sink

            with Lineage(Sink(openlineage), settings, topic, history, notify) as lineage:
                total = collect_into(on_batch=lineage.add)
            lost = lineage.lost
        done = f"{count(total.records, 'record')} in {count(total.batches, 'batch', 'batches')}, {total.seconds:.1f} s"
        events = f"{count(lost, 'OpenLineage event')} could not be written; the store is complete"
        return f"{done}; {count(total.behind, 'offset')} behind", events if lost else total.incomplete

    start = partial(engine.open, short=interval is None)
    if connection.fleet:
        from .clusters import Clusters

        Store(store)  # both raise what would fail for each cluster
        hosts.for_new_store()
        loaders = {name: partial(connection.fleet.settings_of, name) for name in connection.fleet.names}
        return Clusters(loaders, collect_one, start, interval, duration).run()
    total, lost = collect_one(Clients(connection.settings), start, _print_line, duration)
    if not is_quiet():
        click.echo(total, err=True)
    if lost:
        _print_line(lost)
    return EXIT_FAILED if lost else 0


def _ignore(line: str) -> None:
    pass


def _print_line(line: str) -> None:
    click.echo(f"kgroups: {line}", err=True)
