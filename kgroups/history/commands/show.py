"""``kgroups history show``, its shorthands, and ``sql``: tables of the store."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from kgroups.cli.frame.exit_status import is_quiet, print_to_stderr
from kgroups.cli.frame.group_options import complete_group, complete_topic
from kgroups.cli.frame.lazy_command import Command
from kgroups.cli.frame.options import completer, output_options
from kgroups.cli.frame.run_query import Shape
from kgroups.errors import EXIT_FAILED, UsageError
from kgroups.model.counts import count

from .options import (
    WITHOUT_SPARK,
    Bounds,
    Clusters,
    Engine,
    clusters_option,
    engine_options,
    need_pipeline,
    open_engine,
    query_engine_option,
    rule_option,
    since_option,
    until_option,
    untrusted_options,
)

if TYPE_CHECKING:
    from ..engine import Engine as QueryEngine
    from ..jobs.show import Answer

_group = click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="GROUP",
    help="Only this group. Repeatable.",
    shell_complete=complete_group,
)
_topic = click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="TOPIC",
    help="Only this topic. Repeatable.",
    shell_complete=complete_topic,
)
_LIMIT = 10_000

_limit = click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Show at most N rows, the latest; with --all-clusters, of each cluster. If the default omits rows, the exit "
    f"code is 1.  [default: {_LIMIT}]",
)


_clusters = clusters_option("Query all clusters of the store; the first column is the ID of the cluster.")


def _window(command: Any) -> Any:
    for option in reversed((_clusters, _group, _topic, since_option, until_option, _limit)):
        command = option(command)
    return output_options(query_engine_option(engine_options(command)))


@click.command("show", cls=Command)
@click.argument("table", shell_complete=completer("shown_tables"))
@rule_option
@_window
def show(table: str, **rest: Any) -> int:
    """Show a table of the store.

    Collected: records, commits, group_metadata, members, assignments, epochs, undecoded, heads, coverage, baseline,
    sweeps, share_states, share_coverage.
    Derived: latest_offsets, commit_rate, rebalances, group_states, memberships, lag, verdicts, stale, expiring,
    anomalies, completeness.
    """
    return _show(table, **rest)


@click.command("rebalances", cls=Command)
@_window
def rebalances(**rest: Any) -> int:
    """Show rebalances.

    Shows the members that joined, left, or restarted, and how long the rebalance or the pause in commits took.
    """
    return _show("rebalances", **rest)


@click.command("lag", cls=Command)
@_window
def lag(**rest: Any) -> int:
    """Show lag at each sample of the log end offsets."""
    return _show("lag", **rest)


@click.command("stale", cls=Command)
@rule_option
@_window
def stale(**rest: Any) -> int:
    """Show groups by the time of their last activity."""
    return _show("stale", **rest)


@click.command("sql", cls=Command)
@click.argument("query")
@_clusters
@since_option
@until_option
@rule_option
@untrusted_options
@output_options
@query_engine_option
@engine_options
def sql(
    query: str,
    bounds: Bounds | None,
    engine: Engine,
    runs_on: str | None,
    shape: Shape,
    clusters: Clusters,
    since: datetime | None,
    until: datetime | None,
    rules: tuple[str, ...],
) -> int:
    """Query the store with SQL.

    Every table, collected or derived, is available by its name:

    kgroups history sql "SELECT `group`, count(*) FROM rebalances GROUP BY 1"
    """
    if bounds and (runs_on == "spark" or engine.chosen):
        raise UsageError("--untrusted runs in DuckDB; omit the options of Spark")
    need_pipeline(*WITHOUT_SPARK)
    from ..jobs.show import TABLES, missing_rows, run_sql, run_sql_over_clusters
    from ..rules import parse_rules
    from ..transform.definitions import BEGINNING, Span

    stores, span, thresholds = clusters.open(), Span(since or BEGINNING, until or datetime.now(UTC)), parse_rules(rules)

    def run(opened: QueryEngine) -> Answer:
        if clusters.all_clusters:
            return run_sql_over_clusters(opened, stores, query, span, thresholds)
        return run_sql(opened, stores[0], query, span, thresholds)

    if bounds is None:
        with open_engine(engine, runs_on) as opened:
            return _print(run(opened), "sql", shape)
    from ..engine.sealed import SealedDuckDB

    with SealedDuckDB(tuple(TABLES), bounds.rows, bounds.seconds) as sealed:
        answer = run(sealed)
        if sealed.has_more:
            more = missing_rows(f"the result has more than {count(bounds.rows, 'row')}", "--max-rows")
            answer = answer._replace(notices=(*answer.notices, more), has_more=True)
        return _print(answer, "sql", shape, {"has_more": sealed.has_more}, chosen=bounds.chosen)


def _show(
    table: str,
    *,
    engine: Engine,
    runs_on: str | None,
    shape: Shape,
    clusters: Clusters,
    groups: tuple[str, ...],
    topics: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    limit: int | None,
    rules: tuple[str, ...] = (),
) -> int:
    need_pipeline(*WITHOUT_SPARK)
    from ..jobs.show import TABLES, TableQuery, show_clusters, show_table
    from ..rules import parse_rules

    if table not in TABLES:
        raise UsageError(f"unknown table {table!r}; use one of {', '.join(TABLES)}")
    _ = shape.format
    request = TableQuery(table, groups, topics, since, until or datetime.now(UTC), limit or _LIMIT, parse_rules(rules))
    stores = clusters.open()
    with open_engine(engine, runs_on) as opened:
        if clusters.all_clusters:
            answer = show_clusters(opened, stores, request)
        else:
            answer = show_table(opened, stores[0], request)
        return _print(answer, table, shape, chosen=limit is not None)


def _print(
    answer: Answer,
    name: str,
    shape: Shape,
    more: Mapping[str, object] = MappingProxyType({}),
    *,
    chosen: bool = True,
) -> int:
    """Print an answer; return the exit code.

    :param more: additional keys of the JSON envelope.
    :param chosen: whether the user has chosen the limit of rows; otherwise, an answer that it cuts is incomplete.
    """
    from kgroups.cli.frame.run_query import print_failures
    from kgroups.model.outcome import Outcome
    from kgroups.render.output import write_outcome
    from kgroups.render.views import view_of

    from ..jobs.show import MISSING

    names = [column.name for column in answer.columns]
    if shape.format in ("json", "jsonl") and (twice := next((each for each in names if names.count(each) > 1), None)):
        raise UsageError(
            f"sql: the result has several columns {twice}, and JSON can have one",
            hint="rename the others: SELECT ... AS",
        )
    outcome = Outcome(tuple(answer.rows), answer.failures, answer.notices)
    write_outcome(
        outcome,
        view_of(f"history-{name}", answer.columns),
        fmt=shape.format,
        stream=sys.stdout,
        columns=shape.columns,
        sort=shape.sort,
        headers=not shape.no_headers,
        more=more,
    )
    sys.stdout.flush()
    print_failures(outcome)
    if answer.has_more and is_quiet():  # otherwise, the answer would look complete
        print_to_stderr(f"kgroups: {next(each for each in answer.notices if MISSING in each)}")
    return outcome.exit_code if chosen or not answer.has_more else EXIT_FAILED
