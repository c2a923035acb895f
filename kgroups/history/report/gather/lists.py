"""Lists: rebalances and anomalies; and the state at the end of the period: groups, consumers, offsets."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from kgroups.model.lag import AHEAD

from ...engine import Engine
from ..data import (
    Anomalies,
    Anomaly,
    AnomalyCount,
    Bounds,
    Consumer,
    Cost,
    Expiring,
    GroupRow,
    Groups,
    Kept,
    Lane,
    Offender,
    Rebalance,
    Rebalances,
    Stale,
    Tally,
)
from ..findings import ANOMALIES, CRITICAL, VERDICTS
from .rows import Row, columns, fetch, first, texts

WORST = (
    "case verdict when 'OK' then 1 when 'UNKNOWN' then 2 when 'WARN' then 3 when 'STOP' then 4 when 'STALL' then 5 "
    "when 'REWIND' then 6 else 0 end desc"
)
"""Order of verdicts, in SQL."""
_SEVEREST = "case status when 'CRITICAL' then 1 when 'WARNING' then 2 when 'UNKNOWN' then 3 else 4 end"
SOON = """
    select `group`, topic, count(*) as partitions, min(empty_since) as empty_since, min(expires_at) as expires,
      min(left_ms) as left_ms
    from expiring group by `group`, topic"""
"""Expiring offsets by topic, in SQL."""


def rebalances(engine: Engine, bounds: Bounds) -> tuple[Rebalances, datetime | None]:
    """Return the rebalances, and the time of the first one."""
    (seen,) = fetch(
        engine,
        "select count(*) as found, count(distinct `group`) as groups, min(log_time) as since from rebalances",
    )
    lanes = fetch(
        engine,
        f"""
        select `group`, count(*) as rebalances, max(pause_ms) as longest
        from rebalances group by `group` order by rebalances desc, `group` limit {bounds.groups}""",
    )
    marks = fetch(
        engine,
        f"""
        select * from rebalances where `group` in ({texts(engine, [row["group"] for row in lanes])})
        order by log_time desc, log_partition desc, log_offset desc limit {bounds.rebalances}""",
    )
    kept = Kept(tuple(Lane(row["group"], row["rebalances"], row["longest"]) for row in lanes), seen["groups"])
    shown = tuple(mark(row, bounds.names) for row in reversed(marks))
    return Rebalances(kept, Kept(shown, seen["found"])), seen["since"]


def mark(row: Row, names: int) -> Rebalance:
    joined, left, restarted, resubscribed = (row[each] for each in ("joined", "left", "restarted", "resubscribed"))
    return Rebalance(
        row["group"], row["kind"], row["log_time"], row["generation"], row["members"],
        _length(joined), _length(left), _length(restarted), _length(resubscribed),
        tuple(joined or ())[:names], tuple(left or ())[:names], row["pause_ms"], row["converge_ms"],
    )  # fmt: skip


def _length(clients: list[str] | None) -> int | None:
    return None if clients is None else len(clients)


def anomalies(engine: Engine, bounds: Bounds) -> Anomalies:
    order = "since desc, anomaly, `group`, topic, partition, member, note"
    shown = first(engine, f"select {columns(Anomaly)} from anomalies", order, bounds.rows, lambda row: Anomaly(**row))
    counted = fetch(
        engine,
        f"""
        with of_groups as (select anomaly, `group`, count(*) as found from anomalies group by anomaly, `group`),
        ranked as (
          select
            *,
            sum(found) over (partition by anomaly) as total,
            count(`group`) over (partition by anomaly) as groups,
            row_number() over (partition by anomaly order by `group` is null, found desc, `group`) as place
          from of_groups
        )
        select * from ranked where place <= {bounds.names} order by anomaly, place""",
    )
    kinds = list(dict.fromkeys(row["anomaly"] for row in counted))
    counts = []
    for kind in kinds:
        rows = [row for row in counted if row["anomaly"] == kind]
        names = tuple(row["group"] for row in rows if row["group"] is not None)
        counts.append(AnomalyCount(kind, rows[0]["total"], rows[0]["groups"], names))
    offenders = first(
        engine,
        "select `group`, count(*) as anomalies, array_agg(distinct anomaly) as kinds from anomalies "
        "where `group` is not null group by `group`",
        "anomalies desc, `group`",
        bounds.groups,
        lambda row: Offender(row["group"], row["anomalies"], tuple(sorted(row["kinds"]))),
    )
    return Anomalies(shown, tuple(counts), offenders)


def define_groups(engine: Engine) -> None:
    """Define the relations of the end: ``present``, the members, ``unread``, and ``report_groups``, the groups.

    ``unread`` has the records of each partition that are not read, and not deleted, at the last sample; null: unknown.
    """
    critical, stopped = (
        _texts(name for name, each in problems.items() if each.level == CRITICAL) for problems in (ANOMALIES, VERDICTS)
    )
    engine.define(
        "present",
        """
        select
          `group`,
          since,
          coalesce(instance_id, client_id || '@' || client_host, client_id, client_host, '') as client,
          count(*) over (partition by `group`) as members
        from memberships
        where until is null""",
    )
    engine.define(
        "unread",
        """
        select
          `group`, topic, partition,
          case when lag >= 0 then least(lag, log_end - log_start) end as unread
        from lag
        qualify row_number() over (partition by `group`, topic, partition order by sampled_at desc) = 1""",
    )
    engine.define(
        "report_groups",
        f"""
        with judged as (
          select
            `group`,
            case
              when max(group_status) = 'OK' and count(status) < count(*) then 'UNKNOWN' else max(group_status)
            end as verdict,
            count(status) as judged,
            count(*) as offsets,
            -- A sum without some partitions is not the lag of the group.
            case when count(unread) = count(*) then sum(unread) end as lag,
            bool_or(remark = '{AHEAD}') as ahead
          from latest_offsets
          full outer join verdicts using (`group`, topic, partition)
          left join unread using (`group`, topic, partition)
          group by `group`
        ),
        lasting as (
          select `group`, max(since) as state_since from group_states where until is null group by `group`
        ),
        counted as (
          select `group`, max(members) as members from present group by `group`
        ),
        last_behind as (
          select `group`, behind as behind_ms
          from fine_lag
          qualify row_number() over (partition by `group` order by bucket desc) = 1
        ),
        bad_since as (
          select `group`, min(case when status = 'STOP' then committed_at else since end) as verdict_since
          from verdicts
          where status = group_status and status in ({_texts(VERDICTS)})
          group by `group`
        ),
        costs as (
          select
            `group`,
            sum(case when anomaly = 'data_lost' then most else 0 end) as lost,
            sum(case when anomaly = 'rewind' then total else 0 end) as reread,
            bool_and(most is not null) as measured
          from (
            select anomaly, `group`, topic, partition, max(expected - found) as most, sum(expected - found) as total
            from anomalies
            where anomaly in ('data_lost', 'rewind')
            group by anomaly, `group`, topic, partition
          ) as of_partitions
          group by `group`
        ),
        flagged as (
          select
            `group`,
            array_agg(distinct anomaly) as anomalies,
            min(since) as anomalous_since,
            bool_or(anomaly in ({critical})) as critical
          from anomalies
          where `group` is not null
          group by `group`
        ),
        known as (
          select
            `group`, kind, state, state_since, stale.status as `use`, verdict, lag, behind_ms, partitions,
            coalesce(members, 0) as members, last_commit, expiring_group is not null as expiring,
            anomalies, anomalies is not null as anomalous, coalesce(critical, false) as critical,
            case when measured is null or measured then cast(coalesce(lost, 0) as bigint) end as lost,
            case when measured is null or measured then cast(coalesce(reread, 0) as bigint) end as reread,
            least(verdict_since, anomalous_since, case when stale.status = 'STALE' then last_commit end) as since,
            case
              when stale.unread_since is not null and verdict = 'UNKNOWN' then 'transaction'
              when stale.status = 'UNKNOWN' and coalesce(verdict in ('UNKNOWN', 'OK'), true)
                then case when state = 'Unknown' then 'undecoded' else 'unread' end
              when verdict <> 'UNKNOWN' then null
              when ahead then 'ahead'
              when judged.judged = judged.offsets then 'samples'
              when kind = 'share' then 'share'
              when partitions = 0 then 'commits'
              else 'heads'
            end as unjudged
          from stale
          left join judged using (`group`)
          left join lasting using (`group`)
          left join counted using (`group`)
          left join last_behind using (`group`)
          left join bad_since using (`group`)
          left join costs using (`group`)
          left join flagged using (`group`)
          left join (select distinct `group`, `group` as expiring_group from expiring) as expiring using (`group`)
        )
        select
          *,
          case
            when critical or verdict in ({stopped}) then 'CRITICAL'
            when anomalous or expiring or `use` = 'STALE' or verdict in ({_texts(VERDICTS)}) then 'WARNING'
            when verdict = 'OK' and `use` <> 'UNKNOWN' then 'OK'
            else 'UNKNOWN'
          end as status
        from known""",
    )


def _texts(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def cost(engine: Engine) -> Cost:
    """Sum up what is wrong with all groups."""
    (row,) = fetch(
        engine,
        """
        select
          cast(sum(lag) as bigint) as lag,
          count(*) - count(lag) as unknown,
          max(behind_ms) as behind_ms,
          count(case when lag > 0 and behind_ms is null then 1 end) as untimed,
          min(since) as since,
          case when count(lost) = count(*) then cast(sum(lost) as bigint) end as lost,
          case when count(reread) = count(*) then cast(sum(reread) as bigint) end as reread
        from report_groups where `use` <> 'DELETED'""",
    )
    return Cost(**row)


def groups(engine: Engine, bounds: Bounds) -> Groups:
    """Gather the groups, worst first."""
    tallies = fetch(
        engine,
        "select `use`, state, verdict, count(*) as groups, expiring, anomalous, unjudged, status from report_groups "
        "group by `use`, state, verdict, expiring, anomalous, unjudged, status",
    )
    found = Groups(Kept((), 0), tuple(sorted((Tally(**row) for row in tallies), key=repr)))
    existing = f"select {columns(GroupRow)} from report_groups where `use` <> 'DELETED'"
    order = f"{_SEVEREST}, {WORST}, lag desc, `group`"
    rows = first(engine, existing, order, bounds.pages, _group_row)
    return found._replace(rows=Kept(rows.rows, found.number()))


def _group_row(row: Row) -> GroupRow:
    return GroupRow(**row | {"anomalies": tuple(sorted(row["anomalies"] or ()))})


def consumers(engine: Engine, bounds: Bounds) -> Kept[Consumer]:
    """Gather the consumers, by topic; groups with members and recent commits if there are too many."""
    clients: dict[str, list[str]] = {}
    for row in fetch(
        engine,
        f"select `group`, client from present qualify row_number() over (partition by `group` order by client) "
        f"<= {bounds.names} order by `group`, client",
    ):
        clients.setdefault(row["group"], []).append(row["client"])
    reads = """
        select topic, `group`, count(*) as partitions, max(commit_time) as last_commit, max(members) as members
        from latest_offsets
        left join (select distinct `group`, members from present) as counted using (`group`)
        group by topic, `group`"""

    def consumer(row: Row) -> Consumer:
        names = tuple(clients.get(row["group"], ()))
        return Consumer(row["topic"], row["group"], row["partitions"], row["members"] or 0, names, row["last_commit"])

    order = "members is not null desc, last_commit desc, topic, `group`"
    found = first(engine, reads, order, bounds.rows, consumer)
    return found._replace(rows=tuple(sorted(found.rows, key=lambda row: (row.topic, row.group))))


def stale(engine: Engine, bounds: Bounds) -> Kept[Stale]:
    quiet = """
        select `group`, kind, status as `use`, state, partitions, last_commit, commit_age_ms, deleted_at as gone
        from stale where status <> 'LIVE'"""
    order = "case `use` when 'UNKNOWN' then 1 when 'STALE' then 2 when 'EMPTY' then 3 else 4 end, commit_age_ms desc"
    return first(engine, quiet, f"{order}, `group`", bounds.rows, lambda row: Stale(**row))


def expiring(engine: Engine, bounds: Bounds) -> Kept[Expiring]:
    return first(engine, SOON, "left_ms, `group`, topic", bounds.rows, lambda row: Expiring(**row))
