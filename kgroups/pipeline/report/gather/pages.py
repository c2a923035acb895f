"""The pages of groups: for each of the worst groups the first rows of each list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from kgroups.pipeline.engine import Engine

from ..data import Anomaly, Bounds, Expiring, GroupPage, GroupRow, Kept, Member, PartitionRow, Period
from .lists import ANOMALY, SOON, WORST, mark
from .rows import Row, fetch, texts
from .series import page_lag

T = TypeVar("T")


def pages(
    engine: Engine, period: Period, groups: Kept[GroupRow], since: datetime | None, bounds: Bounds
) -> Kept[GroupPage]:
    """Gather the pages of the first groups.

    :param since: start of the first bucket of ``fine_lag``.
    """
    rows = groups.rows
    chosen = texts(engine, [row.group for row in rows])

    def of_each(query: str, order: str, make: Callable[[Row], T]) -> Callable[[str], Kept[T]]:
        return _of_each(engine, query, order, chosen, bounds.listed, make)

    partitions = of_each(
        """
        select `group`, topic, partition, status as verdict,
          case when last_lag is not null then greatest(last_lag, 0) end as lag,
          committed_offset, commit_time, remark
        from latest_offsets full outer join verdicts using (`group`, topic, partition)""",
        f"{WORST}, lag desc, topic, `partition`",
        lambda row: PartitionRow(
            row["topic"], row["partition"], row["verdict"], row["lag"], row["committed_offset"], row["commit_time"],
            row["remark"],
        ),
    )  # fmt: skip
    members = of_each(
        "select `group`, client, since from present", "client, since", lambda row: Member(row["client"], row["since"])
    )
    rebalances = of_each(
        "select * from rebalances",
        "log_time desc, log_partition desc, log_offset desc",
        lambda row: mark(row, bounds.names),
    )
    anomalies = of_each(
        f"select {ANOMALY} from anomalies",
        "since desc, anomaly, topic, `partition`, member, note",
        lambda row: Anomaly(*(row[name] for name in Anomaly._fields)),
    )
    expiring = of_each(SOON, "left_ms, topic", lambda row: Expiring(*(row[name] for name in Expiring._fields)))
    points = page_lag(engine, period, [row.group for row in rows], since, bounds)
    found = (
        GroupPage(
            row,
            points.get(row.group, ()),
            partitions(row.group),
            members(row.group),
            rebalances(row.group),
            anomalies(row.group),
            expiring(row.group),
        )
        for row in rows
    )
    return Kept(tuple(found), groups.total)


def _of_each(
    engine: Engine, query: str, order: str, groups: str, most: int, make: Callable[[Row], T]
) -> Callable[[str], Kept[T]]:
    """Return a function of a group that returns its first rows of a query in that order, and their total number."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in fetch(
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
    ):
        rows[row["group"]].append(row)

    def of(group: str) -> Kept[T]:
        found: Sequence[Row] = rows.get(group, ())
        return Kept(tuple(map(make, found)), found[0]["total"] if found else 0)

    return of
