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
    help="Reuse the metrics of a poll for scrapes within this time after it.",
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
    poller = Poller(connection, chosen.selection(all_by_default=True), Isolation[isolation.upper()], with_time, max_age)
    server = _serve(poller, host, port, by == "partition")
    click.echo(f"kgroups: serving http://{host}:{server}/metrics", err=True)
    threading.Event().wait()
    return EXIT_OK


MAX_MISSING = 100_000
"""Maximum number of missing groups to remember."""


class Poller:
    """Polls the cluster when it is scraped; simultaneous scrapes share a poll."""

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

    def latest(self) -> Scrape:
        """Return the result of a poll that is at most ``max_age`` seconds old."""
        with self._lock:
            if self._last is None or time.monotonic() - self._last[0] > self._max_age:
                self._last = None  # frees its memory during the next poll
                scrape = self._poll()
                self._last = time.monotonic(), scrape
            return self._last[1]

    def _poll(self) -> Scrape:
        from kgroups.render.metrics import Scrape

        began = time.monotonic()
        self._scrapes += 1
        try:
            outcome = self._query()
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

    def _query(self) -> Outcome[Seen]:
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
        """Return the groups that may exist but were not described, with the last known number of partitions."""
        from ..frame.unanswered import unanswered

        seen = {each.offsets.group.group_id: max(1, _partitions(each.offsets)) for each in outcome.items}
        named = unanswered(outcome.failures)
        missing = self._partitions.keys() if named is None else named
        remembered = {name: self._partitions.get(name, 1) for name in missing if name not in seen}
        for name in list(remembered)[MAX_MISSING:]:  # while a broker is down, deleted groups are indistinguishable
            del remembered[name]
        self._partitions = {**seen, **remembered}
        return remembered

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
    """The collector that Prometheus's client library calls at each scrape."""

    def __init__(self, poller: Poller, partitions: bool) -> None:
        self._poller = poller
        self._partitions = partitions

    def describe(self) -> Iterator[Metric]:
        """Return nothing; otherwise the client library would poll once at the start, for the names."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        from kgroups.render.metrics import families

        return families(self._poller.latest(), partitions=self._partitions)


def _serve(poller: Poller, host: str, port: int, partitions: bool) -> int:
    """Serve on other threads; return the port.

    :raises MissingPackage: if the extra ``exporter`` is not installed.
    :raises UsageError: if the address cannot be bound.
    """
    try:
        from prometheus_client import CollectorRegistry
    except ImportError:
        raise MissingPackage("kgroups exporter needs prometheus-client: pip install 'kgroups[exporter]'") from None
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collector(poller, partitions))
    from .server import serve

    try:
        return serve(registry, host, port)
    except OSError as error:
        raise UsageError(f"--listen: cannot listen on {host}:{port}: {error.strerror or error}") from None


def _address(text: str) -> tuple[str, int]:
    """Parse HOST:PORT; port 0 selects any free port.

    :raises UsageError: if it has another form.
    """
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) < 65536):
        raise UsageError(f"--listen: {text!r} is not HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _print_dashboard() -> int:
    from importlib.resources import files

    click.echo(files("kgroups.render").joinpath("dashboard.json").read_text(encoding="utf-8"), nl=False)
    return EXIT_OK
