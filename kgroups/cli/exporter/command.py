"""``kgroups exporter``."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from kgroups.errors import KgroupsError, MissingPackage, UsageError
from kgroups.model.outcome import EXIT_OK

from ..frame.exit_status import enable_gc
from ..frame.group_options import GroupOptions, group_and_topic_options
from ..frame.options import ConnectionOptions, Duration, connection_options, isolation_option

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.groups import GroupId
    from kgroups.model.health.findings import Seen
    from kgroups.model.offsets import Isolation
    from kgroups.model.outcome import Outcome
    from kgroups.model.views.offset_row import GroupOffsets
    from kgroups.render.metrics import Scrape


@click.command("exporter")
@group_and_topic_options
@click.option(
    "--listen", default="127.0.0.1:9308", show_default=True, metavar="HOST:PORT", help="Address to listen on."
)
@click.option(
    "--max-age",
    type=Duration(),
    default="5s",
    show_default=True,
    help="Serve the metrics of the last poll to scrapes within this time.",
)
@click.option(
    "--by",
    type=click.Choice(["group", "partition"]),
    default="partition",
    show_default=True,
    help="Export series per partition, or only sums per group.",
)
@click.option("--time", "with_time", is_flag=True, help="Also export the time lag; reads records at each poll.")
@click.option("--dashboard", is_flag=True, help="Print a Grafana dashboard for these metrics, in JSON, and exit.")
@isolation_option
@connection_options
def exporter(
    connection: ConnectionOptions,
    chosen: GroupOptions,
    listen: str,
    max_age: float,
    by: str,
    with_time: bool,
    dashboard: bool,
    isolation: str,
) -> int:
    """Serve metrics of groups to Prometheus.

    Serves /metrics for the selected groups; by default for all groups. Each scrape polls the cluster and reports the
    duration and the failures; if the cluster does not respond, kgroups_up is 0.
    """
    from kgroups.model.offsets import Isolation

    if dashboard:
        return _print_dashboard()
    enable_gc()
    host, port = _address(listen)
    looks = Poller(connection, chosen.selection(all_by_default=True), Isolation[isolation.upper()], with_time, max_age)
    server = _serve(looks, host, port, by == "partition")
    click.echo(f"kgroups: serving http://{host}:{server}/metrics", err=True)
    threading.Event().wait()
    return EXIT_OK


MOST_MISSING = 100_000
"""Groups that are remembered without being seen."""


class Poller:
    """The cluster, looked at when it is scraped; scrapes that come together share a look."""

    def __init__(
        self, connection: ConnectionOptions, selection: Selection, isolation: Isolation, with_time: bool, max_age: float
    ) -> None:
        from kgroups.model.watch.rebalances import Rebalances

        self._connection = connection
        self._selection = selection
        self._isolation = isolation
        self._with_time = with_time
        self._max_age = max_age
        self._lock = threading.Lock()
        self._rebalances = Rebalances()
        self._failures: Counter[str] = Counter()
        self._scrapes = 0
        self._partitions: dict[GroupId, int] = {}
        self._last: tuple[float, Scrape] | None = None

    def newest(self) -> Scrape:
        """A look that is no older than ``max_age``."""
        with self._lock:
            if self._last is None or time.monotonic() - self._last[0] > self._max_age:
                self._last = None  # what it holds is not needed while the next one is made
                scrape = self._look()
                self._last = time.monotonic(), scrape
            return self._last[1]

    def _look(self) -> Scrape:
        from kgroups.render.metrics import Scrape

        began = time.monotonic()
        self._scrapes += 1
        try:
            outcome = self._ask()
        except KgroupsError:
            self._failures["cluster"] += 1
            seen: tuple[Seen, ...] = ()
            up = False
            missing: Mapping[GroupId, int] = dict(self._partitions)
        else:
            seen, up = outcome.items, True
            self._failures.update(failure.scope.value for failure in outcome.failures)
            missing = self._missing(outcome)
            self._count(outcome, missing)
        seconds = time.monotonic() - began
        counts = {each.offsets.group.group_id: self._rebalances.count(each.offsets.group.group_id) for each in seen}
        return Scrape(seen, counts, up, seconds, self._scrapes, dict(self._failures), missing)

    def _ask(self) -> Outcome[Seen]:
        from kgroups.admin.observe import observe

        from ..frame.run_query import run_query

        outcome, _ = run_query(
            self._connection.settings,
            lambda admin: observe(admin, self._selection, isolation=self._isolation, with_ages=self._with_time),
            debug=self._connection.debug,
            quiet=True,
        )
        return outcome

    def _missing(self, outcome: Outcome[Seen]) -> Mapping[GroupId, int]:
        """The groups that may be there and were not described, with their partitions, as far as they were ever seen."""
        from ..frame.unanswered import unanswered

        seen = {each.offsets.group.group_id: max(1, _partitions(each.offsets)) for each in outcome.items}
        named = unanswered(outcome.failures)
        missing = self._partitions.keys() if named is None else named
        kept = {name: self._partitions.get(name, 1) for name in missing if name not in seen}
        for name in list(kept)[MOST_MISSING:]:  # while a broker is down, groups that are gone cannot be told apart
            del kept[name]
        self._partitions = {**seen, **kept}
        return kept

    def _count(self, outcome: Outcome[Seen], missing: Mapping[GroupId, int]) -> None:
        for each in outcome.items:
            self._rebalances.add(each.offsets.group)
        seen = {each.offsets.group.group_id for each in outcome.items}
        for name in self._rebalances.names - seen - missing.keys():
            self._rebalances.drop(name)


def _partitions(offsets: GroupOffsets) -> int:
    from kgroups.model.views.lag_summary import By, shares

    return len({(row.topic, row.partition) for share in shares(offsets, By.GROUP) for row in share.rows if row.topic})


class Collector:
    """What Prometheus's client asks at each scrape."""

    def __init__(self, looks: Poller, partitions: bool) -> None:
        self._looks = looks
        self._partitions = partitions

    def describe(self) -> Iterator[Metric]:
        """Nothing: else the client would collect once to know the names, before anybody asked."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        from kgroups.render.metrics import families

        return families(self._looks.newest(), partitions=self._partitions)


def _serve(looks: Poller, host: str, port: int, partitions: bool) -> int:
    """Serves on threads of their own; gives the port.

    :raises MissingPackage: without the extra.
    :raises UsageError: when it cannot listen there.
    """
    try:
        from prometheus_client import CollectorRegistry
    except ImportError:
        raise MissingPackage("kgroups exporter needs prometheus-client: pip install 'kgroups[exporter]'") from None
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collector(looks, partitions))
    from .server import serve

    try:
        return serve(registry, host, port)
    except OSError as error:
        raise UsageError(f"--listen: cannot listen on {host}:{port}: {error.strerror or error}") from None


def _address(text: str) -> tuple[str, int]:
    """:raises UsageError: for what is no HOST:PORT. Port 0 is any that is free."""
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) < 65536):
        raise UsageError(f"--listen: {text!r} is not HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _print_dashboard() -> int:
    from importlib.resources import files

    click.echo(files("kgroups.render").joinpath("dashboard.json").read_text(encoding="utf-8"), nl=False)
    return EXIT_OK
