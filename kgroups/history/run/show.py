"""``kgroups history show``, its shorthands, and ``sql``: tables of the store."""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from kgroups.cli.frame.exit_status import is_quiet, print_to_stderr
from kgroups.cli.frame.output import Shape, print_failures
from kgroups.cli.frame.selection_hints import similar_names
from kgroups.errors import EXIT_FAILED, Reason, UsageError
from kgroups.model.counts import count, some
from kgroups.model.groups import is_glob
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.render.output import write_outcome
from kgroups.render.views import view_of

from ..engine import Engine as QueryEngine
from ..engine.sealed import SealedDuckDB
from ..jobs.names import names_in
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
from ..load.store import Store
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
            return _print(run(opened), "sql", shape, cluster_id=_cluster_id(stores))

    with SealedDuckDB(tuple(TABLES), bounds.rows, bounds.seconds) as sealed:
        answer = run(sealed)
        if sealed.has_more:
            more = missing_rows(f"the result has more than {count(bounds.rows, 'row')}", "--max-rows")
            answer = answer._replace(notices=(*answer.notices, more), has_more=True)
        return _print(
            answer, "sql", shape, {"has_more": sealed.has_more}, cluster_id=_cluster_id(stores), chosen=bounds.chosen
        )


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
        answer = _with_absent_names(opened, stores, request, answer)
        return _print(answer, table, shape, cluster_id=_cluster_id(stores), chosen=limit is not None)


def _cluster_id(stores: Sequence[Store]) -> str | None:
    """Return the ID of the only cluster."""
    return stores[0].identity().cluster_id if len(stores) == 1 else None


def _with_absent_names(engine: QueryEngine, stores: Sequence[Store], request: TableQuery, answer: Answer) -> Answer:
    """Return the answer with a failure for each selected name that no cluster has, and a note if it has no rows."""
    if answer.failures:  # the history that cannot be read may have them
        return answer
    places = {column.name: place for place, column in enumerate(answer.columns)}
    failures: list[Failure] = []
    notices: list[str] = []
    for scope, wanted in ((Scope.GROUP, request.groups), (Scope.TOPIC, request.topics)):
        shown = {row[places[scope.value]] for row in answer.rows} if wanted else set()
        if absent := [name for name in dict.fromkeys(wanted) if name not in shown]:
            known = sorted(set().union(*(names_in(engine, store, scope.value) for store in stores)))
            failures += (_not_in_store(scope, name, known) for name in absent if name not in known)
            if (empty := [name for name in absent if name in known]) and not (answer.has_more or answer.incomplete):
                notices.append(f"table {request.table} has no selected rows of {scope.value} {some(empty)}")
    return answer._replace(failures=tuple(failures), notices=(*answer.notices, *notices))


def _not_in_store(scope: Scope, name: str, known: Sequence[str]) -> Failure:
    reason = Reason.GROUP_NOT_FOUND if scope is Scope.GROUP else Reason.TOPIC_NOT_FOUND
    hint = similar_names(name, known)
    if is_glob(name):
        found = fnmatch.filter(known, name)
        hint = (
            f"--{scope.value} takes names, not globs; {f'matching names: {some(found)}' if found else 'none matches'}"
        )
    return Failure(scope, name, f"the store has no history of this {scope.value}", reason=reason, hint=hint)


def _print(
    answer: Answer,
    name: str,
    shape: Shape,
    more: Mapping[str, object] = MappingProxyType({}),
    *,
    cluster_id: str | None,
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
        cluster_id=cluster_id,
        more=more,
    )
    sys.stdout.flush()
    print_failures(outcome)
    cut = tuple(each for each in answer.notices if MISSING in each) if answer.has_more else ()
    for notice in (*answer.incomplete, *cut) if is_quiet() else ():  # otherwise, the answer would look complete
        print_to_stderr(f"kgroups: {notice}")
    return EXIT_FAILED if answer.incomplete or (cut and not chosen) else outcome.exit_code
