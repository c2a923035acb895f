"""Options of the history commands: store, Spark, and time window."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kgroups.cli.frame.command import OptionGroup
from kgroups.cli.frame.group_options import complete_group, complete_topic
from kgroups.cli.frame.options import Duration, check_exclusive, output_options
from kgroups.errors import MissingPackage, UsageError, install_command
from kgroups.model.duration import parse_moment
from kgroups.model.placement import OFFSETS_TOPIC

from .spark_settings import PackageList, PythonFiles, SparkSetting

if TYPE_CHECKING:
    from ..load.store import Store

STORE_ENV = "KGROUPS_STORE"
LIMIT = 10_000
"""Rows that are shown by default."""
MOST = 2**31 - 2
"""Maximum number of rows; Spark's LIMIT has 32 bits."""


_NOW = "kgroups.now"
"""Key of click's ``Context.meta``: the time from which all ages of a command line count."""


class Ago(click.ParamType[datetime]):
    """A time: ISO 8601 (UTC without a zone), or an age such as 90m, 2h, 7d."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        now = datetime.now(UTC)
        try:
            return parse_moment(str(value).strip(), ctx.meta.setdefault(_NOW, now) if ctx else now)
        except ValueError as error:
            self.fail(f"{value!r} {error}", param, ctx)


def check_span(since: datetime | None, until: datetime | None) -> datetime:
    """Return the end of a time span; default: now.

    :raises UsageError: if the span is empty.
    """
    end = until or datetime.now(UTC)
    if since and since >= end:
        name = f"--until {_text(end)}" if until else f"now, {_text(end)}"
        raise UsageError(f"--since {_text(since)} is not before {name}")
    return end


def _text(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


class Bounds(NamedTuple):
    """The limits of an untrusted query; ``seconds`` is the time limit."""

    rows: int
    seconds: float
    chosen: bool
    """Whether the user has chosen the number of rows."""


_MAX_ROWS, _MAX_SECONDS = 10_000, 30.0


def _bounds(untrusted: bool, max_rows: int | None, max_time: float | None) -> Bounds | None:
    if not untrusted and (max_rows, max_time) != (None, None):
        raise UsageError("--max-rows and --max-time require --untrusted")
    return (
        Bounds(min(max_rows or _MAX_ROWS, MOST), max_time or _MAX_SECONDS, max_rows is not None) if untrusted else None
    )


untrusted_options = OptionGroup(
    "bounds",
    (
        click.option(
            "--untrusted",
            is_flag=True,
            help="Run an untrusted query: accept a single SELECT that can read only the store's tables. Runs in "
            "DuckDB.",
        ),
        click.option(
            "--max-rows",
            type=click.IntRange(1),
            metavar="N",
            help=f"With --untrusted: return at most N rows.  [default: {_MAX_ROWS}]",
        ),
        click.option(
            "--max-time", type=Duration(), help="With --untrusted: run for at most this long.  [default: 30s]"
        ),
    ),
    _bounds,
)
"""--untrusted and its limits; ``bounds`` is a :class:`Bounds`, or ``None`` without the option."""


def _engine_option(what: str) -> Callable[[Any], Any]:
    return click.option(
        "--engine",
        "runs_on",
        type=click.Choice(("duckdb", "spark")),
        help=f"{what}  [default: duckdb; spark if an option of Spark is given]",
    )


query_engine_option = _engine_option("Engine of the query: duckdb, in this process, or spark.")
upkeep_engine_option = _engine_option("Where files are rewritten: duckdb, in this process, or spark, on executors.")


def need_pipeline(*packages: str, extra: str = "pipeline") -> None:
    """Check that packages are installed.

    :param packages: default: all packages of the extra ``pipeline`` that history imports.
    :param extra: the extra that installs them.
    :raises MissingPackage: if one is missing.
    """
    missing = [
        name
        for name in packages or ("pyspark", "pyarrow", "numpy", "pandas", "obstore", "duckdb")
        if importlib.util.find_spec(name) is None
    ]
    if missing:
        raise MissingPackage(f"history needs {', '.join(missing)}: {install_command(extra)}")


def need_queries() -> None:
    """Check that the packages of the extra ``pipeline`` are installed that queries and maintenance need.

    :raises MissingPackage: if one is missing.
    """
    need_pipeline("duckdb", "pyarrow", "numpy", "obstore")


def need_packages(*packages: str) -> None:
    """Check that packages are installed, for commands that need no others of the extra ``pipeline``.

    :raises MissingPackage: if one is missing; it names only these, because the extra has hundreds of MB.
    """
    if any(importlib.util.find_spec(name) is None for name in packages):
        raise MissingPackage(f"history dump needs {' and '.join(packages)}: pip install {' '.join(packages)}")


_ENGINE = (
    click.option("--master", metavar="URL", help="Spark master to run on.  [default: local[*], this machine]"),
    click.option("--remote", metavar="URL", help="Spark Connect server to run on: sc://HOST:PORT."),
    click.option(
        "--conf",
        type=SparkSetting(),
        multiple=True,
        metavar="KEY=VALUE",
        help="Setting of Spark, as for spark-submit. Takes precedence over the defaults of kgroups. Repeatable.",
    ),
    click.option(
        "--packages",
        type=PackageList(),
        metavar="GROUP:ARTIFACT:VERSION[,...]",
        help="Maven packages for the driver and the executors.",
    ),
    click.option(
        "--py-files",
        type=PythonFiles(),
        default=(),
        metavar="FILE[,...]",
        help="Python archives and files for the executors, such as kgroups itself if it is not installed there.",
    ),
    click.option(
        "--spark-log", metavar="FILE", help="File for Spark's log output.  [default: in the user's cache directory]"
    ),
)

store_option = click.option(
    "--store",
    required=True,
    metavar="DIR",
    envvar=STORE_ENV,
    help=f"Store: a directory, or a URL (s3://…, gs://…, az://…, abfs://…, hdfs://…).  [env: {STORE_ENV}]",
)

cluster_option = click.option(
    "--cluster", metavar="ID", help="ID of the cluster, if the store has the history of several."
)


class Clusters(NamedTuple):
    """The store, and which of its clusters a query is about."""

    location: str
    cluster: str | None
    all_clusters: bool

    def open(self) -> list[Store]:
        """Return the store of each cluster; exactly one without ``all_clusters``.

        :raises HistoryError: if there is no store, or it has several clusters and none was selected.
        """
        from ..load.store import Store

        return Store.of_clusters(self.location, self.cluster, self.all_clusters)


def _clusters(store: str, cluster: str | None, all_clusters: bool) -> Clusters:
    check_exclusive(cluster=cluster is not None, all_clusters=all_clusters)
    return Clusters(store, cluster, all_clusters)


def clusters_option(all_help: str) -> OptionGroup:
    """Return ``--store``, ``--cluster``, and ``--all-clusters``; ``clusters`` is a :class:`Clusters`."""
    every = click.option("--all-clusters", is_flag=True, help=all_help)
    return OptionGroup("clusters", (store_option, cluster_option, every), _clusters)


topic_option = click.option(
    "--topic",
    default=OFFSETS_TOPIC,
    show_default=True,
    metavar="TOPIC",
    help="Topic to read: a copy of __consumer_offsets.",
    shell_complete=complete_topic,
)
since_option = click.option(
    "--since", type=Ago(), metavar="TIME", help="Start time: an age (2h, 7d), or a time in ISO 8601."
)
until_option = click.option("--until", type=Ago(), metavar="TIME", help="End time.  [default: now]")


class RuleList(click.ParamType[Any]):
    """Rules as ``NAME=VALUE``."""

    name = "rule"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from ..rules import parse_rules

        parse_rules((str(value),))  # before Spark starts, which takes seconds
        return str(value)


rule_option = click.option(
    "--rule",
    "rules",
    type=RuleList(),
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a threshold. Repeatable. Times: bucket=1m, stale-after=1h, retention (of offsets; default: as read "
    "from the brokers), expiring-within=1d, storm-window=10m, flap-window=10m. Numbers: samples=10, storm=5, flaps=3.",
)


engine_options = OptionGroup("engine", _ENGINE, "kgroups.history.run.engine:engine_of")
"""The Spark options; ``engine`` is an :class:`.engine.Engine`.

Invalid combinations raise :class:`UsageError` before the body of the command runs.
"""

_group = click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="GROUP",
    help="Only this group, in tables with the column group. Repeatable.",
    shell_complete=complete_group,
)
_topic = click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="TOPIC",
    help="Only this topic, in tables with the column topic. Repeatable.",
    shell_complete=complete_topic,
)
_limit = click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Show at most N rows, the latest; with --all-clusters, of each cluster. If the default omits rows, the exit "
    f"code is 1.  [default: {LIMIT}]",
)


query_clusters = clusters_option("Query all clusters of the store; the first column is the ID of the cluster.")


window_options = (
    output_options,
    query_engine_option,
    engine_options,
    query_clusters,
    _group,
    _topic,
    since_option,
    until_option,
    _limit,
)
