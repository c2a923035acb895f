"""Queries to a store: the rows of one table, or SQL over all tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

import pyarrow as pa

from kgroups.errors import HistoryError, UsageError
from kgroups.model.outcome import Failure, Scope

from ..engine import Engine
from ..load.store import Store
from ..rules import DEFAULTS, Rules
from ..tables import STORED
from ..tables import TIMES as STORED_TIMES
from ..transform.definitions import BEGINNING, DERIVED, Span, has_span
from .known import Known, open_known
from .values import rows_of

TABLES = {**{table.name: table for table in STORED}, **DERIVED}
"""The tables that can be queried, by name."""

CLUSTER_ID = "cluster_id"
"""The first column of answers of several clusters."""

TIMES = (*STORED_TIMES, "since")
"""Columns with the time of a row; the first of these that a table has."""


class TableQuery(NamedTuple):
    """A query for the latest ``limit`` rows of a table for these groups, topics (empty: all), and time window."""

    table: str
    groups: tuple[str, ...]
    topics: tuple[str, ...]
    since: datetime | None
    until: datetime
    limit: int
    rules: Rules = DEFAULTS
    is_until_chosen: bool = False
    """Whether the user has chosen ``until``; otherwise, it is now."""


class OutputColumn(NamedTuple):
    """A column of a result; ``right``: aligned to the right, as numbers are."""

    name: str
    right: bool


class Answer(NamedTuple):
    """The columns and rows of a result, as values that any output format can show."""

    columns: list[OutputColumn]
    rows: list[tuple[object, ...]]
    notices: tuple[str, ...]
    """How old the answer is, what is unknown in it, and what is assumed instead."""
    incomplete: tuple[str, ...] = ()
    """The notices about rows that are missing because what happened is unknown."""
    failures: tuple[Failure, ...] = ()
    """The clusters whose history cannot be read."""
    has_more: bool = False
    """Whether the limit of rows cut the answer; a notice says so."""


def check_filters(query: TableQuery) -> None:
    """Check that the table has what the filters are about.

    :raises UsageError: if it has not; it names the table, the filter, and the tables that have it.
    """
    name = query.table
    for option, given, column in (("--group", query.groups, "group"), ("--topic", query.topics, "topic")):
        if given and column not in TABLES[name].names:
            others = (table.name for table in TABLES.values() if column in table.names)
            raise UsageError(f"{option}: table {name} has no column {column}; tables with it: {', '.join(others)}")
    if query.since and not has_span(name):
        raise UsageError(
            f"--since: table {name} shows the end of the time span; use --until, or a table of a whole time span: "
            f"{', '.join(filter(has_span, TABLES))}"
        )


def check_sql_span(query: str, since: datetime | None, until: datetime | None) -> tuple[str, ...]:
    """Return the notice about the tables of a query that its time span does not limit.

    :raises UsageError: if it limits none of them.
    """
    if since is None and until is None:
        return ()
    named = _tables_in(query)
    limited = [name for name in named if name in DERIVED and (until or has_span(name))]
    if not limited:
        option = "--until" if since is None else "--since"
        raise UsageError(
            f"{option}: the query names no table that it limits; use WHERE, or one of "
            f"{', '.join(name for name in DERIVED if until or has_span(name))}"
        )
    whole = [name for name in named if name not in limited]
    return (f"--since and --until do not limit {', '.join(whole)}; use WHERE",) if whole else ()


def show_clusters(engine: Engine, stores: Sequence[Store], query: TableQuery) -> Answer:
    """Return the rows of a table of several clusters, each as :func:`show_table` does, after the ID of the cluster.

    A cluster whose history cannot be read is a failure of the answer.
    """
    records = _records(stores)
    rows: list[tuple[object, ...]] = []
    notices: list[str] = []
    incomplete: list[str] = []
    failures: list[Failure] = []
    columns = [OutputColumn(name, False) for name in TABLES[query.table].names]
    has_more = False
    for store in stores:
        try:
            answer = show_table(engine, store, query, records)
        except HistoryError as error:
            failures.append(Failure.of(error, Scope.CLUSTER, store.cluster))
            continue
        columns = answer.columns
        has_more |= answer.has_more
        rows += ((store.cluster, *row) for row in answer.rows)
        notices += _of_cluster(store, answer.notices)
        incomplete += _of_cluster(store, answer.incomplete)
    columns = [OutputColumn(CLUSTER_ID, False), *columns]
    return Answer(columns, rows, tuple(notices), tuple(incomplete), tuple(failures), has_more)


def show_table(engine: Engine, store: Store, query: TableQuery, records: int | None = None) -> Answer:
    """Return the rows of a table, by time: the same rows in the same order from the same history.

    :raises HistoryError: if there is no store, or it cannot be read.
    """
    names = TABLES[query.table].names
    when = next((name for name in TIMES if name in names), None)
    conditions = [
        f"`{column}` in ({', '.join(map(engine.literal, wanted))})"
        for column, wanted in (("group", query.groups), ("topic", query.topics))
        if wanted and column in names
    ]
    if when and query.table not in DERIVED:  # derived tables are limited to the window; intervals may start before it
        conditions.append(f"{when} < {engine.literal(query.until)}")
        conditions += [f"{when} >= {engine.literal(query.since)}"] if query.since else []
    rows = f"select * from {query.table} where {' and '.join(conditions) or 'true'}"
    # By all columns: otherwise rows of the same time are shown in any order, and the limit keeps any of them.
    first = [name for name in ("group", "topic", "partition") if name in names]
    rest = ", ".join(f"`{name}`" for name in [*first, *(name for name in names if name not in (*first, when))])
    if when:
        latest = f"{rows} order by {when} desc, {rest} limit {query.limit + 1}"
        rows = f"select * from ({latest}) as latest order by {when}, {rest}"
    else:
        rows = f"{rows} order by {rest} limit {query.limit + 1}"
    span = Span(query.since or BEGINNING, query.until)
    opened = open_known(
        engine, store, (query.table,), span, query.rules, records, is_until_chosen=query.is_until_chosen
    )
    found = engine.ask(rows)
    if found.num_rows <= query.limit:
        return _answer(found, opened)
    shown = f"the {'latest' if when else 'first'} {query.limit:,} rows are shown"
    cut = missing_rows(shown, "--limit", has_since=has_span(query.table))
    answer = _answer(_without_one(found, when), opened)
    return answer._replace(notices=(*answer.notices, cut), has_more=True)


def missing_rows(shown: str, option: str, *, has_since: bool = True) -> str:
    """Return the notice of an answer that a limit of rows has cut."""
    filters = "filters or --since" if has_since else "filters"
    return f"{MISSING}: {shown}; select fewer with {filters}, or set a larger {option}"


def _without_one(found: pa.Table, when: str | None) -> pa.Table:
    """Return the rows without the row that the limit excludes: the last row of the earliest time."""
    last = found.num_rows - 1
    if when:
        times = found[when].cast(pa.int64()).to_pylist()
        last = next((number for number, time in enumerate(times) if time != times[0]), len(times)) - 1
    return pa.concat_tables([found.slice(0, last), found.slice(last + 1)])


def run_sql(
    engine: Engine, store: Store, query: str, span: Span, rules: Rules = DEFAULTS, *, is_until_chosen: bool = False
) -> Answer:
    """Run a SQL query over all tables.

    :raises UsageError: if the engine rejects the query.
    :raises HistoryError: if there is no store, or it cannot be read.
    """
    opened = open_known(engine, store, _tables_in(query), span, rules, is_until_chosen=is_until_chosen)
    return _answer(engine.ask(query), opened)


def run_sql_over_clusters(
    engine: Engine,
    stores: Sequence[Store],
    query: str,
    span: Span,
    rules: Rules = DEFAULTS,
    *,
    is_until_chosen: bool = False,
) -> Answer:
    """Run a SQL query over all tables, which have the rows of several clusters, after their IDs.

    :raises UsageError: if the engine rejects the query.
    :raises HistoryError: if there is no store, or the history of a cluster cannot be read.
    """
    names, records = _tables_in(query), _records(stores)
    notices: list[str] = []
    incomplete: list[str] = []
    for number, store in enumerate(stores):
        opened = open_known(engine, store, names, span, rules, records, is_until_chosen=is_until_chosen)
        notices += _of_cluster(store, opened.notices)
        incomplete += _of_cluster(store, opened.incomplete)
        for name in names:
            engine.rename(name, f"{name}_{number}")
    for name in names:
        engine.unite(name, CLUSTER_ID, {f"{name}_{number}": store.cluster for number, store in enumerate(stores)})
    return _answer(engine.ask(query), Known(notices, incomplete))


def _tables_in(query: str) -> list[str]:
    return [name for name in TABLES if re.search(rf"\b{name}\b", query, re.IGNORECASE)]


def _records(stores: Iterable[Store]) -> int:
    """Return the number of records of clusters, as far as it can be read."""
    records = 0
    for store in stores:
        with suppress(HistoryError):  # the query of that cluster reports it
            records += store.snapshot().records
    return records


def _of_cluster(store: Store, notices: Iterable[str]) -> Iterator[str]:
    return (f"cluster {store.cluster}: {notice}" for notice in notices)


def _answer(found: pa.Table, opened: Known) -> Answer:
    columns = [OutputColumn(field.name, _is_number(field.type)) for field in found.schema]
    return Answer(columns, rows_of(found), tuple(opened.notices), tuple(opened.incomplete))


MISSING = "rows are missing"


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
