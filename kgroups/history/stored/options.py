"""The options of the data source ``kgroups-history``, parsed and validated. No I/O.

====================== =================================================================================
path                   location of the store, as for ``--store``: also ``load("s3://bucket/history")``
store                  the same; for ``CREATE TABLE``, where Spark takes ``path`` for a location of its own
table                  a collected or derived table; default commits
cluster                IDs or globs of clusters, comma-separated or a JSON list, ``*`` for all; default: the only one
since, until           ISO 8601, or an age such as 2h. Collected tables: only rows of that time; default: all rows.
                       Derived tables: the time span, as for ``history show``; default: until now
groups                 only these groups: names or globs, comma-separated or a JSON list
columns                only these columns of the table, comma-separated; the others are not read
rules                  thresholds of derived tables, as for ``--rule``: ``stale-after=2h,samples=20``
numPartitions          minimum number of input partitions; default: by the size of the files, and the cores that Spark
                       had when the source was registered
startingEntry          first entry of the manifest to read: earliest (default: everything), latest, a number, or JSON:
                       ``{"CLUSTER": 17}``; streams only
maxEntriesPerTrigger   maximum number of entries of each cluster in a micro-batch; default: all; streams only
streamName             keep replaced files for this stream until it has read them, at most 7 days; streams only
====================== =================================================================================

Options of writes; see :mod:`kgroups.history.load.sink`:

====================== =================================================================================
path, store            location of the store
cluster                ID of the cluster; default: the only one
bootstrap.servers      bootstrap servers of the cluster, instead of its ID: a store is created if it does not exist, and
                       compaction is detected. Required if rows are ranges
command.config, topic  as for ``kgroups-offsets``
timeout                maximum seconds without a response from a broker; default 30
====================== =================================================================================
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from kgroups.config.settings import ClientSettings
from kgroups.errors import UsageError
from kgroups.model.duration import parse_moment
from kgroups.model.placement import OFFSETS_TOPIC

from ..connection import resolve_settings
from ..options import Options
from ..rules import DEFAULTS, Rules, parse_rules
from ..tables import COMMITS, STORED, TIMES, Column, Table
from ..transform.definitions import BEGINNING, DERIVED, FOREVER, Span, has_span
from .selection import Selection

STREAM_ONLY = ("startingEntry", "maxEntriesPerTrigger", "streamName")
OPTIONS = (
    *("path", "store", "table", "cluster", "since", "until", "groups", "columns", "rules", "numPartitions"),
    *STREAM_ONLY,
)

TABLES: dict[str, Table] = {**{table.name: table for table in STORED}, **DERIVED}

CLUSTER_ID = Column("cluster_id", "string", "ID of the cluster", required=True)
"""The first column of each table."""

Start = str | int | Mapping[str, int]
"""``earliest``, ``latest``, or the number of an entry, for all clusters or for each."""


WRITE_OPTIONS = ("path", "store", "cluster", "bootstrap.servers", "command.config", "topic", "timeout")


class WriteOptions(NamedTuple):
    """The parsed options of a write."""

    location: str
    cluster: str | None
    settings: ClientSettings | None
    topic: str


class StoredOptions(NamedTuple):
    """The parsed options."""

    location: str
    table: Table
    """With the column of the cluster."""
    clusters: tuple[str, ...] | None
    """Names and globs; ``None``: the only cluster."""
    selection: Selection
    span: Span
    """Of a derived table."""
    rules: Rules
    partitions: int | None
    start: Start
    max_entries: int | None
    stream: str | None

    def __repr__(self) -> str:
        return f"StoredOptions({self.table.name})"  # no location: it may contain a key

    @property
    def plain(self) -> Table:
        """The table without the column of the cluster."""
        return TABLES[self.table.name]


def parse_options(options: Options) -> StoredOptions:
    """Parse the options.

    :raises UsageError: if an option is invalid; the message names it.
    """
    table = options.one_of("table", TABLES, COMMITS.name)
    groups, now = options.names("groups"), datetime.now(UTC)
    since, until = (_moment(options, name, now) for name in ("since", "until"))
    if since and since >= (until or (now if table.name in DERIVED else FOREVER)):
        raise options.error("since", f"is not before until, {options.get('until') or 'now'}")
    if since and not has_span(table.name):
        raise options.error("since", f"has no effect on table {table.name}, which shows the end of the span; use until")
    if groups and "group" not in table.names:
        raise options.error("groups", f"has no effect on table {table.name}, which has no column group")
    is_derived = table.name in DERIVED
    if options.get("rules") is not None and not is_derived:
        raise options.error("rules", f"has no effect on table {table.name}, which is collected; remove the option")
    try:
        rules = parse_rules(options.names("rules") or ())
    except UsageError as error:
        raise options.error("rules", f"is invalid: {error}") from None
    time = None if is_derived else next(name for name in TIMES if name in table.names)
    return StoredOptions(
        _location(options),
        table._replace(columns=(CLUSTER_ID, *table.columns)),
        options.names("cluster"),
        Selection(time, None if is_derived else since, None if is_derived else until, groups),
        Span(since or BEGINNING, until or now),
        rules if is_derived else DEFAULTS,
        options.number("numPartitions"),
        _start(options),
        options.number("maxEntriesPerTrigger"),
        options.get("streamName"),
    )


def parse_write_options(options: Options, embedded: ClientSettings | None = None) -> WriteOptions:
    """Parse the options of a write.

    :param embedded: settings in the class of the source; used only for their own bootstrap servers.
    :raises UsageError: if an option is invalid; the message names it.
    :raises ConfigError: if the file of ``command.config`` is invalid.
    """
    cluster, servers = options.get("cluster"), options.get("bootstrap.servers")
    if servers is not None and cluster is not None:
        raise options.error("cluster", "and bootstrap.servers are mutually exclusive; remove one")
    if servers is None:
        for name in ("command.config", "topic", "timeout"):
            if options.get(name) is not None:
                raise options.error(name, "has no effect without bootstrap.servers")
    timeout = options.seconds("timeout", 30)
    settings = None if servers is None else resolve_settings(options, embedded)._replace(timeout=timeout)
    return WriteOptions(_location(options), cluster, settings, options.get("topic") or OFFSETS_TOPIC)


def _location(options: Options) -> str:
    path, store = options.get("path"), options.get("store")
    if path and store:
        raise options.error("store", f"and path {path!r} are mutually exclusive; remove one")
    location = store or path
    if not location:
        fix = "set it to the location of a store, or use load(LOCATION)"
        if options.from_catalog:
            fix = "in CREATE TABLE, use the option store: Spark does not pass path"
        elif not options.as_dict():
            fix += "; for a table, omit the list of columns in CREATE TABLE: Spark then keeps the table's options"
        raise UsageError(f"{options.source}: option path is not set; {fix}")
    return location


def _moment(options: Options, name: str, now: datetime) -> datetime | None:
    text = options.get(name)
    try:
        return None if text is None else parse_moment(text.strip(), now)
    except ValueError as error:
        raise options.error(name, str(error)) from None


def _start(options: Options) -> Start:
    text = options.get("startingEntry") or "earliest"
    if text in ("earliest", "latest"):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    numbers = found.values() if isinstance(found, dict) else [found]
    if any(type(number) is not int or number < 0 for number in numbers):
        raise options.error("startingEntry", 'must be earliest, latest, a number, or {"CLUSTER": NUMBER, …}')
    return found  # type: ignore[no-any-return]
