"""The pages of groups: for each of the worst groups the first rows of each list."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from ...engine import Engine
from ..data import Anomaly, Bounds, Expiring, GroupPage, GroupRow, Kept, Member, PartitionRow, Period
from .lists import SOON, WORST, mark
from .rows import Row, columns, fetch, texts
from .series import lag_points, page_step

_PARTITIONS = """
    select `group`, topic, partition, status as verdict,
      unread as lag, committed_offset as committed, commit_time as last_commit, remark
    from latest_offsets
    full outer join verdicts using (`group`, topic, partition)
    left join unread using (`group`, topic, partition)"""


def pages(
    engine: Engine, period: Period, groups: Kept[GroupRow], since: datetime | None, bounds: Bounds
) -> Kept[GroupPage]:
    """Gather the pages of the first groups.

    :param since: start of the first bucket of ``fine_lag``.
    """
    names = [row.group for row in groups.rows]
    most = max(1, bounds.listed // max(len(names), 1))

    def each(query: str, order: str, make: Callable[[Row], Any]) -> Callable[[str], Kept[Any]]:
        found = _first_of_each(engine, query, order, texts(engine, names), most, make)
        return lambda group: found.get(group, Kept((), 0))

    lists = (
        each(_PARTITIONS, f"{WORST}, lag desc, topic, `partition`", _of(PartitionRow)),
        each("select `group`, client, since from present", "client, since", _of(Member)),
        each(
            "select * from rebalances",
            "log_time desc, log_partition desc, log_offset desc",
            lambda row: mark(row, bounds.names),
        ),
        each(
            f"select {columns(Anomaly)} from anomalies",
            "since desc, anomaly, topic, `partition`, member, note",
            _of(Anomaly),
        ),
        each(SOON, "left_ms, topic", _of(Expiring)),
    )
    points = lag_points(engine, period, names, page_step(period, since, bounds))
    found = (GroupPage(row, points.get(row.group, ()), *(rows(row.group) for rows in lists)) for row in groups.rows)
    return Kept(tuple(found), groups.total)


def _of(made: type[Any]) -> Callable[[Row], Any]:
    values = itemgetter(*made._fields)
    return lambda row: made(*values(row))


def _first_of_each(
    engine: Engine, query: str, order: str, groups: str, most: int, make: Callable[[Row], Any]
) -> dict[str, Kept[Any]]:
    """Return the first rows of each group in that order, and their total number."""
    rows = fetch(
        engine,
        f"""
        select * from (
          select
            *,
            count(*) over (partition by `group`) as total,
            row_number() over (partition by `group` order by {order}) as place
          from ({query}) as found
          where `group` in ({groups})
        ) as ranked
        where place <= {most} order by `group`, place""",
    )
    found: dict[str, Kept[Any]] = {}
    for group, of_group in groupby(rows, itemgetter("group")):
        kept = list(of_group)
        found[group] = Kept(tuple(map(make, kept)), kept[0]["total"])
    return found
