"""Data of report pages, written by hand: a busy day with hostile names, and a day without history."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from typing import TypeVar

from kgroups.history.report.data import (
    Anomalies,
    Anomaly,
    AnomalyCount,
    Blocked,
    Bounds,
    Completeness,
    Consumer,
    Cost,
    Expiring,
    GroupPage,
    GroupRow,
    Groups,
    Kept,
    Lag,
    LagPoint,
    LagSeries,
    Lane,
    LogPart,
    Member,
    Migrations,
    Offender,
    PartitionRow,
    Period,
    Rate,
    RatePoint,
    RateSeries,
    Rebalance,
    Rebalances,
    ReportData,
    Retention,
    Stale,
    Tally,
    VerdictCount,
)
from kgroups.model.migration import Verdict

T = TypeVar("T", bound=tuple)  # type: ignore[type-arg]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = Period(NOON - timedelta(days=1), NOON)
HOSTILE = "</script><img src=x onerror=\"document.title='broken'\">"
BIDI = "evil\u202egpj.exe\x1b[31m"
NAMES = (
    "billing", "orders-enrichment", "fraud-scoring", HOSTILE, "search-indexer", "mail-sender", "warehouse.loader-v2",
    "recommendations", "connect-s3-sink", "clickstream-sessions", BIDI, "audit",
    "a-group-with-a-name-that-somebody-made-of-everything-that-they-knew-about-it.production.eu-west-1.team-payments",
)  # fmt: skip
STEP = timedelta(minutes=15)
STATUS_OF = {"STALL": "CRITICAL", "STOP": "CRITICAL", "WARN": "WARNING", "OK": "OK"} | dict.fromkeys(
    (None, "UNKNOWN"), "UNKNOWN"
)


def at(hours: float) -> datetime:
    """So many hours after the begin of the day."""
    return DAY.since + timedelta(hours=hours)


def busy_day() -> ReportData:
    return ReportData(
        cluster_id="q1Sh-9_ISia_zwGINzRvyQ",
        period=DAY,
        shown=Period(at(0), at(24)),
        lag=Lag(Kept(tuple(_lag(number, name) for number, name in enumerate(NAMES)), 38), STEP),
        rebalances=_rebalances(),
        groups=_groups(),
        consumers=Kept(tuple(_consumer(number) for number in range(9)), 61),
        anomalies=_anomalies(),
        rate=_rate(),
        stale=Kept(
            (
                Stale("nightly-export", "classic", "EMPTY", "Empty", 12, at(3), hours(21), None),
                Stale("mirror-2", "consumer", "STALE", "Stable", 3, at(20), hours(4), None),
                Stale("load-test-7", "classic", "DELETED", "Dead", 0, at(1), hours(23), at(9.5)),
            ),
            3,
        ),
        expiring=Kept(
            (
                Expiring("old-reader", "orders", 6, at(-160), at(23.9), -360_000),
                Expiring("nightly-export", "clicks", 12, at(-150), at(31), hours(7)),
            ),
            2,
        ),
        completeness=_completeness(),
        retention=Retention(hours(7 * 24), "assumed"),
        cost=Cost(2_012_345, 1, hours(7), 2, at(6), 4120, None),
        migrations=_migrations(),
        pages=Kept(tuple(_page(number) for number in (0, 2, 3, 12)), 38),
    )


def _migrations() -> Migrations:
    counts = {Verdict.READY: (21, 30), Verdict.BLOCKED: (9, 0), Verdict.UNKNOWN: (6, 6), Verdict.DONE: (2, 2)}
    blocked = (
        Blocked("upgrade", "user-data", NAMES[:5], 9, f"the assignment of {HOSTILE} has user data", (HOSTILE, BIDI)),
        Blocked("upgrade", "rebalancing", NAMES[5:6], 1, "it is rebalancing", ()),
    )
    verdicts = tuple(VerdictCount(verdict, *counts.get(verdict, (0, 0))) for verdict in Verdict)
    return Migrations(f"{HOSTILE}.json", at(23), verdicts, 4, Kept(blocked, 51))


def hundred_groups(long: str | None = None) -> ReportData:
    """Return the report data of a cluster with 100 groups, with as many rows as the default bounds allow.

    :param long: text in each name of a group, topic, member, and client.
    """
    bounds, day = Bounds(), busy_day()
    names = [f"{number}{long}" if long else f"production.payments-service-{number}" for number in range(100)]

    def many(rows: tuple[T, ...], total: int) -> Kept[T]:
        shown = (renamed(row, names[number % 100]) for number, row in enumerate(islice(cycle(rows), total)))
        return Kept(tuple(shown), 40 if total <= 40 else 10 * total)

    def renamed(row: T, group: str) -> T:
        fields = row._fields  # type: ignore[attr-defined]
        new: dict[str, object] = {"group": group} if "group" in fields else {}
        if long:
            new |= {each: long[:249] for each in ("topic",) if each in fields}
            new |= {each: long for each in ("client", "member", "note") if each in fields}
            new |= {each: (long,) * 5 for each in ("joined_names", "left_names", "clients") if each in fields}
            new |= {each: 9 for each in ("joined", "left") if each in fields}
            new |= {"names": (long,) * 5, "text": long} if "names" in fields else {}
        return row._replace(**new)  # type: ignore[attr-defined,no-any-return]

    def page(number: int) -> GroupPage:
        one, few = day.pages.rows[0], 40
        return GroupPage(
            one.row._replace(group=names[number]), one.points[: bounds.samples],
            many(one.partitions.rows, few), many(one.members.rows, few), many(_rebalances().marks.rows, few),
            many(day.anomalies.rows.rows, few), many(day.expiring.rows, few),
        )  # fmt: skip

    rows, rounds = bounds.rows, day.rebalances
    lanes = many(rounds.lanes.rows, bounds.groups)
    marks = Kept(
        tuple(
            renamed(mark, names[number % bounds.groups])
            for number, mark in enumerate(islice(cycle(rounds.marks.rows), bounds.rebalances))
        ),
        9000,
    )
    lag = many(day.lag.series.rows, bounds.groups)
    rate = day.rate.series.rows
    return day._replace(
        lag=day.lag._replace(series=lag),
        rate=day.rate._replace(series=Kept((*many(rate[:-1], len(rate) - 1).rows, rate[-1]), 100)),
        rebalances=Rebalances(lanes, marks),
        groups=day.groups._replace(rows=many(day.groups.rows.rows, bounds.pages)),
        consumers=many(day.consumers.rows, rows),
        anomalies=day.anomalies._replace(rows=many(day.anomalies.rows.rows, rows)),
        migrations=day.migrations._replace(blocked=many(day.migrations.blocked.rows, rows)),
        stale=many(day.stale.rows, rows),
        expiring=many(day.expiring.rows, rows),
        pages=Kept(tuple(map(page, range(bounds.pages))), 100),
    )


def nothing() -> ReportData:
    """Return the report data of an empty store."""
    return ReportData(
        cluster_id=None,
        period=DAY,
        shown=DAY,
        lag=Lag(Kept((), 0), STEP),
        rebalances=Rebalances(Kept((), 0), Kept((), 0)),
        groups=Groups(Kept((), 0), ()),
        consumers=Kept((), 0),
        anomalies=Anomalies(Kept((), 0), (), Kept((), 0)),
        rate=Rate(Kept((), 0), STEP),
        stale=Kept((), 0),
        expiring=Kept((), 0),
        completeness=Completeness(Kept((), 0), 0, None, 0, 0, 0, None),
    )


def hours(number: float) -> int:
    """In milliseconds."""
    return round(number * 3_600_000)


def _lag(number: int, name: str) -> LagSeries:
    """The first grows without end, the second in a hump, the others in waves; no samples between 9:00 and 11:00."""
    buckets = [step for step in range(10, 96) if not 36 <= step < 44]
    points = []
    for step in buckets:
        wave = 1 + math.sin(step / (5 + number) + number)
        lag = 60_000 / (number + 1) * wave
        if number == 0:
            lag = max(0, step - 30) ** 2 * 290
        if number == 1:
            lag += 900_000 * math.exp(-(((step - 60) / 6) ** 2))
        points.append(LagPoint(at(step / 4), round(lag), round(lag * (2 if number else 5))))
    peak = max(point.lag or 0 for point in points)
    return LagSeries(name, peak, points[-1].lag, tuple(points))


def _rebalances() -> Rebalances:
    lanes, marks = [], []
    for number, name in enumerate(NAMES[:7]):
        times = sorted(
            (3 + number * 1.7 + 20 * ((step * 0.618 + number * 0.31) % 1)) % 24 for step in range(14 - 2 * number)
        )
        if number == 2:
            times = sorted([*times, *(13 + step / 20 for step in range(9))])
        lanes.append(Lane(name, len(times), 1200 * (number + 1)))
        marks += [_mark(number, step, name, time) for step, time in enumerate(times)]
    lanes.sort(key=lambda lane: -lane.rebalances)
    marks.sort(key=lambda mark: mark.time)
    return Rebalances(Kept(tuple(lanes), 11), Kept(tuple(marks), len(marks) + 9))


def _mark(number: int, step: int, name: str, time: float) -> Rebalance:
    joined, left = ((2, 0), (0, 1), (1, 1), (0, 0), (7, 0))[(number + step) % 5]
    modern = number % 3 == 1
    return Rebalance(
        group=name,
        kind="consumer" if modern else "classic",
        time=at(time),
        generation=100 + step,
        members=6 + joined - left,
        joined=joined,
        left=left,
        restarted=1 if step % 7 == 3 else 0,
        resubscribed=0,
        joined_names=tuple(f"app-{each}-3f0c" for each in range(min(joined, 5))),
        left_names=(HOSTILE,) * left,
        pause_ms=1234 * (step + 1),
        converge_ms=850 if modern else None,
    )


def _groups() -> Groups:
    verdicts = ("STALL", "STOP", "WARN", "WARN", "WARN", "UNKNOWN", *["OK"] * 6, None)
    rows = []
    for number, (name, verdict) in enumerate(zip(NAMES, verdicts, strict=True)):
        rows.append(
            GroupRow(
                group=name,
                kind=("classic", "consumer", "share")[number % 3],
                state="Empty" if verdict == "STOP" else "Stable",
                state_since=at(number / 2),
                use="EMPTY" if verdict == "STOP" else "LIVE",
                verdict=verdict,
                lag=None if verdict is None else round(1_261_000 / (number + 1) ** 2),
                behind_ms=None if verdict is None else round(hours(7) / (number + 1) ** 3),
                partitions=12 - number % 5,
                members=0 if verdict == "STOP" else 1 + number % 7,
                last_commit=at(24 - number / 60),
                unjudged={None: "share", "UNKNOWN": "samples"}.get(verdict),
                status=STATUS_OF[verdict],
                since=at(6 + number) if verdict in ("STALL", "STOP", "WARN") else None,
                anomalies=("data_lost",) if name == "billing" else (),
                lost=4120 if name == "billing" else 0,
            )
        )
    tallies = (
        Tally("LIVE", "Stable", "OK", 31, status="OK"), Tally("LIVE", "Stable", "WARN", 3, status="WARNING"),
        Tally("LIVE", "Stable", "STALL", 1, status="CRITICAL"), Tally("EMPTY", "Empty", "STOP", 1, status="CRITICAL"),
        Tally("LIVE", "Stable", "UNKNOWN", 1, unjudged="samples"),
        Tally("STALE", "Stable", None, 1, unjudged="share", status="WARNING"),
        Tally("DELETED", "Dead", None, 1),
    )  # fmt: skip
    return Groups(Kept(tuple(rows), 38), tallies)


def _page(number: int) -> GroupPage:
    row = _groups().rows.rows[number]
    if number == 12:  # nothing is known of it
        return GroupPage(row, (), Kept((), 0), Kept((), 0), Kept((), 0), Kept((), 0), Kept((), 0))
    partitions = (
        PartitionRow("orders", 3, "STALL", 1_201_000, 88_120, at(23.9), None),
        PartitionRow("orders", 0, "UNKNOWN", None, None, None, "an open transaction hides commits"),
        PartitionRow("payments<b>", 1, None, None, 12, at(2), None),
    )
    marks = tuple(mark for mark in _rebalances().marks.rows if mark.group == row.group)[:3]
    return GroupPage(
        row=row,
        points=_lag(number, row.group).points,
        partitions=Kept(partitions, 12),
        members=Kept(tuple(Member(f"app-{each}@/10.0.{number}.{each}", at(each)) for each in range(3)), 3),
        rebalances=Kept((*marks, marks[0]._replace(joined=None, left=None)), 9),
        anomalies=Kept(tuple(each for each in _anomalies().rows.rows if each.group == row.group), 2),
        expiring=Kept((Expiring(row.group, "clicks", 12, at(-150), at(31), hours(7)),), 1),
    )


def _consumer(number: int) -> Consumer:
    members = number % 4
    topic = ("clicks", "orders", "payments<b>")[number // 3]
    return Consumer(
        topic=topic,
        group=NAMES[number],
        partitions=12 - number,
        members=members + (20 if number == 1 else 0),
        clients=tuple(f"app-{each}@/10.0.{number}.{each}" for each in range(members)),
        last_commit=at(23.5),
    )


def _anomalies() -> Anomalies:
    rows = (
        Anomaly("rebalance_storm", "fraud-scoring", at(13), at(13.4), None, None, None,
                "9 rebalances within 10 minutes, 5 are the bound"),
        Anomaly("flapping_member", "fraud-scoring", at(13), at(13.3), None, None, "scorer-3", "joined 4 times"),
        Anomaly("rewind", HOSTILE, at(8), at(8), "orders", 3, None, "from 91,022 back to 12"),
        Anomaly("data_lost", "billing", at(5), at(6), "orders", 0, None, "4,120 offsets deleted before they were read"),
        Anomaly("coverage_gap", None, at(2), at(2.1), None, None, None, "offsets 118 to 240 of partition 7 missed"),
    )  # fmt: skip
    counts = tuple(
        AnomalyCount(row.anomaly, 1, 1 if row.group else 0, (row.group,) if row.group else ()) for row in rows
    )
    offenders = (
        Offender("fraud-scoring", 2, ("flapping_member", "rebalance_storm")),
        Offender("billing", 1, ("data_lost",)),
        Offender(HOSTILE, 1, ("rewind",)),
    )
    return Anomalies(Kept(rows, 5), counts, Kept(offenders, 3))


def _rate() -> Rate:
    series = []
    for number, name in enumerate([*NAMES[:5], None]):
        points = tuple(
            RatePoint(
                at(step / 4),
                round(4000 / (number + 2) * (1.4 + math.sin(step / 12 + number / 9))),
                90_000 * (number + 1),
            )
            for step in range(4, 96)
            if number or not 60 <= step < 64
        )
        series.append(RateSeries(name, sum(point.commits for point in points), points))
    return Rate(Kept(tuple(series), 38), STEP)


def _completeness() -> Completeness:
    parts = (
        LogPart(7, 55_210, 0.98, 122, at(2.5), at(23.99), 0, False),
        LogPart(12, 40_118, 0.999, 0, at(1), at(23.98), 31, False),
        LogPart(3, 1_204, 1.0, 0, at(4), at(23.5), 0, True),
    )
    return Completeness(Kept(parts, 50), 1_204_882, at(2.5), 0, 122, 31, at(23.99))
