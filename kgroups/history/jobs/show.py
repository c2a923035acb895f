"""Queries to a store: the rows of one table, or SQL over all tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any, NamedTuple

import pyarrow as pa

from kgroups.errors import HistoryError, UsageError
from kgroups.model.counts import count
from kgroups.model.lag import waiting_remark
from kgroups.model.listed import ValueList
from kgroups.model.outcome import Failure, Scope
from kgroups.model.placement import OFFSETS_TOPIC

from ..engine import Engine, open_tables
from ..load.manifest import BATCH, Snapshot
from ..load.store import Store
from ..rules import DEFAULTS, Rules
from ..tables import COVERAGE, HEADS, STORED, SWEEPS, Table
from ..tables import TIMES as STORED_TIMES
from ..transform.definitions import BEGINNING, DERIVED, Span, has_span

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
    named = [name for name in TABLES if re.search(rf"\b{name}\b", query, re.IGNORECASE)]
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
    return Answer([OutputColumn(CLUSTER_ID, False), *columns], rows, tuple(notices), tuple(failures), has_more)


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
    notices = _open(engine, store, (query.table,), Span(query.since or BEGINNING, query.until), query.rules, records)
    found = engine.ask(rows)
    if found.num_rows <= query.limit:
        return _answer(found, notices)
    notices.append(missing_rows(f"the {'latest' if when else 'first'} {query.limit:,} rows are shown", "--limit"))
    return _answer(_without_one(found, when), notices)._replace(has_more=True)


def missing_rows(shown: str, option: str) -> str:
    """Return the notice of an answer that a limit of rows has cut."""
    return f"{MISSING}: {shown}; select fewer with filters or --since, or set a larger {option}"


def _without_one(found: pa.Table, when: str | None) -> pa.Table:
    """Return the rows without the row that the limit excludes: the last row of the earliest time."""
    last = found.num_rows - 1
    if when:
        times = found[when].cast(pa.int64()).to_pylist()
        last = next((number for number, time in enumerate(times) if time != times[0]), len(times)) - 1
    return pa.concat_tables([found.slice(0, last), found.slice(last + 1)])


def run_sql(engine: Engine, store: Store, query: str, span: Span, rules: Rules = DEFAULTS) -> Answer:
    """Run a SQL query over all tables.

    :raises UsageError: if the engine rejects the query.
    :raises HistoryError: if there is no store, or it cannot be read.
    """
    notices = _open(engine, store, _tables_in(query), span, rules)
    return _answer(engine.ask(query), notices)


def run_sql_over_clusters(
    engine: Engine, stores: Sequence[Store], query: str, span: Span, rules: Rules = DEFAULTS
) -> Answer:
    """Run a SQL query over all tables, which have the rows of several clusters, after their IDs.

    :raises UsageError: if the engine rejects the query.
    :raises HistoryError: if there is no store, or the history of a cluster cannot be read.
    """
    names, records = _tables_in(query), _records(stores)
    notices: list[str] = []
    for number, store in enumerate(stores):
        notices += _of_cluster(store, _open(engine, store, names, span, rules, records))
        for name in names:
            engine.rename(name, f"{name}_{number}")
    for name in names:
        engine.unite(name, CLUSTER_ID, {f"{name}_{number}": store.cluster for number, store in enumerate(stores)})
    return _answer(engine.ask(query), notices)


def _tables_in(query: str) -> list[str]:
    return [name for name in TABLES if name in query]


def _records(stores: Iterable[Store]) -> int:
    """Return the number of records of clusters, as far as it can be read."""
    records = 0
    for store in stores:
        with suppress(HistoryError):  # the query of that cluster reports it
            records += store.snapshot().records
    return records


def _of_cluster(store: Store, notices: Iterable[str]) -> Iterator[str]:
    return (f"cluster {store.cluster}: {notice}" for notice in notices)


def _answer(found: pa.Table, notices: Iterable[str]) -> Answer:
    columns = [OutputColumn(field.name, _is_number(field.type)) for field in found.schema]
    return Answer(columns, _rows(found), tuple(notices))


def _open(
    engine: Engine, store: Store, names: Collection[str], span: Span, rules: Rules, records: int | None = None
) -> list[str]:
    """Define tables; return how old they are, and what is unknown in them."""
    derived = DERIVED.keys() & set(names)
    needed = [*names, *(["stalls"] if derived else []), *(["retention"] if "expiring" in names else [])]
    snapshot = open_tables(engine, store, needed, span, rules, records)
    notices = [age_of(snapshot)]
    end = end_of(snapshot)
    if end and span.since > end:
        notices.append(f"the time span begins after the last data, of {_plain(end)}: what happened in it is unknown")
    if "expiring" in names and engine.fetch("select retention_source from retention")[0][0].as_py() == "assumed":
        notices.append(ASSUMED_RETENTION)
    if derived:
        stalls = _rows(engine.fetch("select log_partition, hung, unread_since from stalls order by log_partition"))
        notices += (_stall(*row) for row in stalls[:MAX_STALLS])
        if len(stalls) > MAX_STALLS:
            notices.append(f"{count(len(stalls) - MAX_STALLS, 'further partition')} of {OFFSETS_TOPIC} likewise")
    return notices


MISSING = "rows are missing"

UNKNOWN_AGE = "the age of the store is unknown: it has no batch of collect, and no sample of log ends"

MAX_STALLS = 5
"""Maximum number of partitions that are named."""

ASSUMED_RETENTION = (
    "expiring: offsets.retention.minutes of the brokers is unknown; 7 days are assumed. Collect with the ACL "
    "DESCRIBE_CONFIGS on the cluster, or set --rule retention=TIME"
)


def age_of(snapshot: Snapshot) -> str:
    """Return how old the store is: an answer contains nothing later."""
    collected = max((entry.committed_at for entry in snapshot.entries.values() if entry.kind == BATCH), default="")
    read, sampled = _last(snapshot, COVERAGE), _last(snapshot, HEADS)
    if read and not collected:  # the batches are merged
        collected = str(_plain(read))
    parts = [f"last batch {collected.replace('+00:00', 'Z')}"] if collected else []
    if sampled:
        parts.append(f"last sample of log ends {_plain(sampled)}")
    return f"the store's {', '.join(parts)}" if parts else UNKNOWN_AGE


def end_of(snapshot: Snapshot) -> datetime | None:
    """Return the time of the last data of a store: what happened later is unknown. ``None``: it has no data."""
    return max((time for table in (COVERAGE, HEADS, SWEEPS) if (time := _last(snapshot, table))), default=None)


def _last(snapshot: Snapshot, table: Table) -> datetime | None:
    last = max((file.last for file in snapshot.files(table) if file.last is not None), default=None)
    return None if last is None else BEGINNING + timedelta(microseconds=last)


def _stall(log_partition: Any, hung: Any, unread_since: object) -> str:
    since = f"; its groups are unknown since {unread_since}" if unread_since else ""
    return f"{OFFSETS_TOPIC}-{log_partition}: {waiting_remark(hung)}{since}"


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _rows(table: pa.Table) -> list[tuple[object, ...]]:
    """Return rows as values that any output format can show.

    :raises UsageError: if a value has no such form, such as a time after the year 9999.
    """
    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        try:
            columns.append(list(_values(column)))
        except (OverflowError, ValueError, NotImplementedError, ImportError):
            raise UsageError(
                f"column {field.name}: a value of the type {field.type} cannot be shown",
                hint="convert it to a text: CAST(... AS VARCHAR)",
            ) from None
    return list(zip(*columns, strict=True))


def _values(column: pa.ChunkedArray) -> Iterator[object]:
    """Yield the values of a column for output."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "us":
        # For datetimes, Arrow imports pandas, which takes as long as a query.
        micros = (value for chunk in column.chunks for value in chunk.view(pa.int64()).to_pylist())
        return (None if value is None else _plain(BEGINNING + timedelta(microseconds=value)) for value in micros)
    return map(_plain, column.to_pylist())


def _plain(value: Any) -> object:
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, list | tuple):
        return ValueList(map(_plain, value))
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Decimal):
        return float(value) if value.as_tuple().exponent else int(value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)  # JSON has no such number
    return value if value is None or isinstance(value, str | int | float) else str(value)
