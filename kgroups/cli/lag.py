"""``kgroups lag``."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, NamedTuple

from kgroups.admin.client import Client
from kgroups.admin.query.select_groups import Selection
from kgroups.config.settings import Transport
from kgroups.errors import UsageError
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import NO_MATCH, Failure, Outcome
from kgroups.model.status import Status, totals_text
from kgroups.model.views.lag_rows import GroupLagRow, LagRow, PartitionLagRow, cluster_row
from kgroups.model.views.lag_summary import LAG_ROWS, Ages, By, Share, shares
from kgroups.model.views.refused_rows import refused_rows
from kgroups.render.lag_views import CLUSTER_LAG, LAG_VIEWS
from kgroups.render.selection import named_keys, sort_rows
from kgroups.render.table import RowStore
from kgroups.render.views import Column

from .frame.options import ConnectionOptions
from .frame.output import Shape
from .frame.run_query import query_and_show
from .frame.selected_groups import GroupOptions
from .query.stream_rows import collect_rows, take_rows

_ADDED: dict[str, tuple[str, ...]] = {
    "--time": ("time_lag_ms",),
    "--headroom": ("headroom_ms", "headroom_max_ms", "headroom_by"),
    "--exact": ("unread_min", "unread_max"),
}
"""The columns that options add; each also adds those of --time."""


def lag(
    connection: ConnectionOptions,
    shape: Shape,
    chosen: GroupOptions,
    by: str,
    only_lagging: bool,
    min_lag: int | None,
    top: int | None,
    with_time: bool,
    with_headroom: bool,
    exact: bool,
    isolation: str,
) -> int:
    """Run ``kgroups lag``; return the exit code."""
    selection = chosen.selection(all_by_default=True)
    level = Isolation[isolation.upper()]
    reading = _Reading(with_time, with_headroom, exact)
    filters = _Filters(only_lagging, min_lag, "groups" if by == By.GROUP else "rows")
    if by == "cluster":
        query_of_cluster = _ClusterQuery(selection, level, filters)
        return _by_cluster(connection, shape, query_of_cluster, top, reading.given)
    view = LAG_VIEWS[by]
    ranked = shape.sort or (None if top is None else "-lag" if by == By.PARTITION else "-known_lag")
    named = named_keys(view, shape.columns, ranked)
    shape = shape._replace(sort=ranked, extra=_extra_columns(connection, named, reading))
    if by == By.GROUP:
        shape = shape.with_status
    with_totals = by == By.GROUP and shape.format == "table"
    ranked_by_reading = not named_keys(view, ranked).isdisjoint(shape.extra)

    def first_rows(rows: list[Any]) -> list[Any]:
        return rows if top is None else sort_rows(rows, view, ranked)[:top]

    async def query_offsets(admin: Client) -> Outcome[Any]:
        totals = _Totals(shown=with_totals)
        kept = None if top is None else first_rows
        collector = _RowCollector(view.columns, filters, kept, totals)
        streamed = await take_rows(
            admin.stream_offsets(selection, isolation=level, whole_topics=True),
            LAG_ROWS[By(by)],
            lambda item: dict.fromkeys(share.row() for share in shares(item, By(by))),
            collector.append,
            insert=collector.insert,
            seen=collector.count,
            refused_alone=True,
        )
        notices = [*filters.notices(collector.undecided, collector.unranked), *totals.notices(len(collector.items))]
        if not collector.groups and not streamed.failures:
            notices.append(NO_MATCH)
        return streamed.with_failures((), notices)._replace(items=collector.items)

    async def query_and_read(admin: Client) -> Outcome[Any]:
        totals = _Totals(shown=with_totals)
        outcome = await admin.describe_offsets(selection, isolation=level, whole_topics=True)
        now = int(time.time() * 1000)
        share_of = {share.row(): share for item in outcome.items for share in shares(item, By(by))}
        seen = {item.group.group for item in outcome.items}
        refused = refused_rows(LAG_ROWS[By(by)], (each for each in outcome.failures if each.name not in seen))
        rows, undecided = filters.keep(totals.counted((*share_of, *refused)))
        notices: list[str] = []
        kept = sum(map(_is_unknown, rows))
        if not outcome.items and not outcome.failures:
            notices.append(NO_MATCH)
        if not ranked_by_reading:
            rows = first_rows(rows)
        shown = [share_of[row] for row in rows if row in share_of]
        ages, failures = await reading.ages(admin, shown, now, level)
        rows = first_rows([share_of[row].row(ages) if row in share_of else row for row in rows])
        unranked = kept - sum(map(_is_unknown, rows))
        notices += (*filters.notices(undecided, unranked), *totals.notices(len(rows)))
        return outcome.with_items(rows).with_failures(failures, notices)

    return query_and_show(
        connection, shape, view, query_and_read if reading.given else query_offsets, selection=selection, top=top
    )


class _Reading(NamedTuple):
    """The options that read records."""

    time: bool
    headroom: bool
    exact: bool

    @property
    def given(self) -> list[str]:
        return [f"--{option}" for option, value in zip(self._fields, self, strict=True) if value]

    async def ages(
        self, admin: Client, shown: Sequence[Share], now: int, isolation: Isolation
    ) -> tuple[Ages, tuple[Failure, ...]]:
        from kgroups.admin.observe import read_ages

        return await read_ages(admin, shown, now, isolation=isolation, headroom=self.headroom, exact=self.exact)


class _Filters(NamedTuple):
    """``--only-lagging`` and ``--min``; ``what`` they filter: groups, or rows."""

    only_lagging: bool
    min_lag: int | None
    what: str

    def keep(self, rows: Iterable[LagRow]) -> tuple[list[Any], int]:
        """Return the rows to show, and the number of omitted rows whose lag is unknown, at least in part."""
        kept, undecided = [], 0
        for row in rows:
            left = row.left_lag if isinstance(row, GroupLagRow) else 0
            most = left or row.known_lag if row.known_lag is None else max(row.known_lag, left)
            enough = self.min_lag is None or (most is not None and most >= self.min_lag)
            if enough and (row.behind or left or not self.only_lagging):
                kept.append(row)
            elif _is_unknown(row):
                undecided += 1
        return kept, undecided

    def notices(self, undecided: int, unranked: int = 0) -> list[str]:
        """Return how many rows of unknown lag are not shown, and which options show them.

        :param unranked: the number of those that ``--top`` leaves out.
        """
        options = ["--only-lagging"] * self.only_lagging + ["--min"] * (self.min_lag is not None)
        hidden = ((undecided, " and ".join(options)), (unranked, "--top"))
        return [
            f"{self.what} omitted although their lag is unknown, at least in part: {number:,}; "
            f"to see them, omit {without}"
            for number, without in hidden
            if number
        ]


def _is_unknown(row: LagRow) -> bool:
    """Return whether records may be unread that a lag does not show; an empty log has none."""
    if isinstance(row, PartitionLagRow):
        return row.lag is None and (row.log_start_offset is None or row.log_start_offset != row.log_end_offset)
    return row.total_lag is None


class _ClusterQuery(NamedTuple):
    """The query of ``--by cluster``: one row for all selected groups."""

    selection: Selection
    isolation: Isolation
    filters: _Filters

    async def row(self, admin: Client) -> Outcome[Any]:
        streamed = await collect_rows(
            admin.stream_offsets(self.selection, isolation=self.isolation, whole_topics=True),
            GroupLagRow,
            lambda item: [share.row() for share in shares(item, By.GROUP)],
        )
        groups = streamed.items
        rows = [cluster_row(admin.cluster_id, streamed)] if groups or streamed.failures else []
        kept, undecided = self.filters.keep(rows)
        notices = self.filters.notices(undecided)
        if not groups and not streamed.failures:
            notices.append(NO_MATCH)
        return streamed.with_items(kept).with_failures((), notices)


def _by_cluster(
    connection: ConnectionOptions, shape: Shape, query: _ClusterQuery, top: int | None, given: list[str]
) -> int:
    """Show the lag of the whole cluster.

    :param given: options that are not supported with it.
    """
    if given:
        raise UsageError(f"{given[0]} is not supported with --by cluster")
    shape = shape._replace(sort=shape.sort or (None if top is None else "-known_lag"))
    return query_and_show(connection, shape, CLUSTER_LAG, query.row, selection=query.selection, top=top)


class _Totals:
    """The totals of all groups, also of those that are not shown; a terminal shows them after the rows of groups."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._statuses = Counter[str]()
        self._known_lag = 0
        self._whole = True

    def counted(self, rows: Iterable[Any]) -> Iterable[Any]:
        """Return the rows, and count those that are iterated."""
        return map(self._count, rows) if self._shown else rows

    def _count(self, row: GroupLagRow) -> GroupLagRow:
        self._statuses[row.status or Status.UNKNOWN] += 1
        self._known_lag += row.known_lag or 0
        self._whole = self._whole and row.total_lag is not None
        return row

    def notices(self, shown: int) -> list[str]:
        """Return the totals, and how many of the groups are shown."""
        number = self._statuses.total()
        if number < 2:
            return []
        text = totals_text(self._statuses, self._known_lag, self._whole)
        return [text if shown == number else f"{shown:,} of {number:,} groups shown; all {text}"]


class _RowCollector:
    """Collects the rows to show, batch by batch; of a ranking, only the first rows are kept."""

    def __init__(
        self,
        columns: Iterable[Column],
        filters: _Filters,
        first_rows: Callable[[list[Any]], list[Any]] | None,
        totals: _Totals,
    ) -> None:
        self._filters = filters
        self._first_rows = first_rows
        self._totals = totals
        self._store = RowStore(columns)
        self._best: list[Any] = []
        self.groups = self.undecided = self._unknown = 0

    @property
    def items(self) -> Any:
        """The rows; a RowStore is iterated like a tuple."""
        return tuple(self._best) if self._first_rows else self._store

    @property
    def unranked(self) -> int:
        """How many rows of unknown lag are not among the first ones."""
        return self._unknown - sum(map(_is_unknown, self._best))

    def append(self, rows: Iterable[Any]) -> None:
        self._add(rows, self._store.append)

    def insert(self, rows: Iterable[Any]) -> None:
        self._add(rows, self._store.insert)

    def count(self, group: object) -> None:
        self.groups += 1

    def _add(self, rows: Iterable[Any], add: Callable[[Iterable[Any]], None]) -> None:
        kept, undecided = self._filters.keep(self._totals.counted(rows))
        self.undecided += undecided
        if self._first_rows:
            self._unknown += sum(map(_is_unknown, kept))
            self._best = self._first_rows([*self._best, *kept])
        else:
            add(kept)


def _extra_columns(connection: ConnectionOptions, named: Container[str], reading: _Reading) -> tuple[str, ...]:
    """Return the columns that the options add.

    :param named: the columns to show, or to sort by.

    :raises UsageError: if others are named, or if the transport does not support the options.
    """
    given = reading.given
    if given and connection.settings.transport is Transport.LIBRDKAFKA:
        raise UsageError(f"{given[0]} is not supported with --transport librdkafka")
    added = dict.fromkeys(["--time", *given] if given else [])
    for option, columns in _ADDED.items():
        if option not in added and (missing := next(filter(named.__contains__, columns), None)):
            raise UsageError(f"the column {missing} requires {option}")
    return tuple(column for option in added for column in _ADDED[option])
