"""``kgroups history show``, its shorthands, and ``sql``: tables of the store."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from kgroups.cli.frame.exit_status import is_quiet, print_to_stderr
from kgroups.cli.frame.output import Shape, print_failures
from kgroups.errors import EXIT_FAILED, UsageError
from kgroups.model.counts import count
from kgroups.model.outcome import Outcome
from kgroups.render.output import write_outcome
from kgroups.render.views import view_of

from ..engine import Engine as QueryEngine
from ..engine.sealed import SealedDuckDB
from ..jobs.show import (
    MISSING,
    TABLES,
    Answer,
    TableQuery,
    check_filters,
    check_sql_span,
    missing_rows,
    run_sql,
    run_sql_over_clusters,
    show_clusters,
    show_table,
)
from ..rules import parse_rules
from ..transform.definitions import BEGINNING, Span
from .engine import Engine, open_engine
from .options import LIMIT, MOST, Bounds, Clusters, check_span


def show(table: str, **rest: Any) -> int:
    """Run ``kgroups history show``; return the exit code."""
    return _show(table, **rest)


def rebalances(**rest: Any) -> int:
    """Run ``kgroups history rebalances``; return the exit code."""
    return _show("rebalances", **rest)


def lag(**rest: Any) -> int:
    """Run ``kgroups history lag``; return the exit code."""
    return _show("lag", **rest)


def stale(**rest: Any) -> int:
    """Run ``kgroups history stale``; return the exit code."""
    return _show("stale", **rest)


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
    """Run ``kgroups history sql``; return the exit code."""
    if bounds and (runs_on == "spark" or engine.chosen):
        raise UsageError("--untrusted runs in DuckDB; omit the options of Spark")

    span, thresholds = Span(since or BEGINNING, check_span(since, until)), parse_rules(rules)
    whole = check_sql_span(query, since, until)
    stores = clusters.open()

    def run(opened: QueryEngine) -> Answer:
        if clusters.all_clusters:
            answer = run_sql_over_clusters(opened, stores, query, span, thresholds, is_until_chosen=until is not None)
        else:
            answer = run_sql(opened, stores[0], query, span, thresholds, is_until_chosen=until is not None)
        return answer._replace(notices=(*answer.notices, *whole))

    if bounds is None:
        with open_engine(engine, runs_on) as opened:
            return _print(run(opened), "sql", shape)

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
    if table not in TABLES:
        raise UsageError(f"unknown table {table!r}; use one of {', '.join(TABLES)}")
    _ = shape.format
    end, most = check_span(since, until), min(limit or LIMIT, MOST)
    request = TableQuery(table, groups, topics, since, end, most, parse_rules(rules), until is not None)
    check_filters(request)
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
    cut = tuple(each for each in answer.notices if MISSING in each) if answer.has_more else ()
    for notice in (*answer.incomplete, *cut) if is_quiet() else ():  # otherwise, the answer would look complete
        print_to_stderr(f"kgroups: {notice}")
    return EXIT_FAILED if answer.incomplete or (cut and not chosen) else outcome.exit_code
