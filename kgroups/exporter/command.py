"""Serve metrics of groups to Prometheus.

Serves /metrics, /healthz, and /ready for the selected groups; by default for all groups. Polls the cluster in the
background: a scrape never waits for a broker. Groups that do not respond keep their last values, marked by
kafka_consumergroup_stale. The address is printed after the first poll.

With several profiles, each cluster is polled on its own; all series have the label cluster, and
/probe?profile=NAME serves the metrics of one cluster without it.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from kgroups.cli.frame.command import Command
from kgroups.cli.frame.deprecated_options import deprecated_option
from kgroups.cli.frame.group_options import group_and_topic_options
from kgroups.cli.frame.lazy_command import resolve
from kgroups.cli.frame.options import Duration, file_option, isolation_option, position_options
from kgroups.errors import MissingPackage, install_command

from .server import CONNECTIONS

_FILE = click.Path(path_type=Path)


def _print_dashboard(context: click.Context, _: click.Parameter, name: str | None) -> None:
    if name and not context.resilient_parsing:
        click.echo(resolve("kgroups.exporter.monitoring.dashboards:grafana_json")(name))
        context.exit()


def _need_client() -> None:
    """Check that the extra is installed.

    :raises MissingPackage: if not.
    """
    if find_spec("prometheus_client") is None:
        raise MissingPackage(f"kgroups exporter needs prometheus-client: {install_command('exporter')}")


command = Command(
    "exporter",
    __doc__,
    body="kgroups.exporter.run:exporter",
    check=_need_client,
    options=(
        group_and_topic_options,
        click.option(
            "--listen",
            default="127.0.0.1:9308",
            show_default=True,
            metavar="[HOST]:PORT",
            help="Address to listen on; :PORT for all interfaces.",
        ),
        click.option("--interval", type=Duration(), default="15s", show_default=True, help="Time between polls."),
        deprecated_option("--max-age", replacement="--interval", type=Duration()),
        click.option(
            "--keep",
            type=Duration(),
            default="1h",
            show_default=True,
            help="Maximum time to serve the last known values of groups that do not respond.",
        ),
        click.option(
            "--by",
            type=click.Choice(["group", "topic", "partition"]),
            default="partition",
            show_default=True,
            help="Most detailed level to export.",
        ),
        click.option(
            "--compat",
            type=click.Choice(["kafka_exporter", "kminion", "grafana"]),
            default="kafka_exporter",
            show_default=True,
            help="Use the metric names of another exporter; kminion and grafana also include the names of "
            "kafka_exporter.",
        ),
        click.option(
            "--max-series",
            type=click.IntRange(1),
            metavar="N",
            default=1_000_000,
            show_default=True,
            help="Maximum number of series of groups and logs.",
        ),
        click.option("--time", "with_time", is_flag=True, help="Measure the time lag by reading records at each poll."),
        click.option(
            "--headroom",
            "with_headroom",
            is_flag=True,
            help="Also export the time until retention deletes the first unread record; implies --time.",
        ),
        click.option(
            "--exact",
            is_flag=True,
            help="Also export the number of unread records, counted by reading them at each poll; implies --time.",
        ),
        click.option(
            "--commit-age", is_flag=True, help="Also export the age of commits, read from __consumer_offsets."
        ),
        click.option(
            "--tls-certificate", type=_FILE, metavar="FILE", help="Serve HTTPS with this certificate chain (PEM)."
        ),
        click.option(
            "--tls-key", type=_FILE, metavar="FILE", help="Private key of the certificate, without a password (PEM)."
        ),
        click.option(
            "--basic-auth", type=_FILE, metavar="FILE", help="Require a user of this file, with lines USER:PASSWORD."
        ),
        click.option(
            "--max-connections",
            type=click.IntRange(1),
            metavar="N",
            default=CONNECTIONS,
            show_default=True,
            help="Maximum number of requests at a time, except health checks.",
        ),
        click.option(
            "--dashboard",
            type=click.Choice(["fleet", "group", "partition"]),
            is_flag=False,
            flag_value="fleet",
            help="Print a Grafana dashboard for these metrics, in JSON, and exit; fleet if none is named.",
            is_eager=True,
            expose_value=False,
            callback=_print_dashboard,
        ),
        file_option("--alerts", "alerts.yaml", "Print alert rules for Prometheus, in YAML, and exit."),
        file_option("--systemd-unit", "kgroups-exporter.service", "Print a unit for systemd, and exit."),
        isolation_option,
        position_options,
    ),
    examples=(
        ("Serve metrics of all groups", "kgroups exporter --all-groups --listen :9308"),
        ("Serve metrics with one series per topic", "kgroups exporter --regex 'orders-.*' --by topic"),
        ("Print alert rules for Prometheus", "kgroups exporter --alerts"),
    ),
    sections={
        "Metrics": "--interval --max-age --keep --by --compat --max-series --time --headroom --exact --commit-age "
        "--isolation"
    },
    page="exporter.md",
)
