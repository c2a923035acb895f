"""What the page needs, and no more: plain values, each list of them bounded, with the number that there were.

Times are UTC and know it; lags are records, never below 0; absent is ``None``. All text is the cluster's, exactly as it
was written: whoever shows it escapes it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Period(NamedTuple):
    """From ``since`` (in it) to ``until`` (not in it), both with their zone."""

    since: datetime
    until: datetime


class Bounds(NamedTuple):
    """How much a page may hold, that a browser can bear and a person can read."""

    groups: int = 20
    """Lines of a chart, lanes of the timeline."""
    points: int = 2000
    """Points of a chart, all its lines together."""
    rates: int = 5
    """Groups of the commit chart; the others are one more."""
    rebalances: int = 500
    """Marks on the timeline."""
    rows: int = 200
    """Rows of a table."""
    names: int = 5
    """Names in a cell: members that joined, say."""


class Kept(NamedTuple, Generic[T]):
    """The first ``rows`` of ``total``."""

    rows: tuple[T, ...]
    total: int

    @property
    def left_out(self) -> int:
        return self.total - len(self.rows)


class LagPoint(NamedTuple):
    """The worst of a bucket of time."""

    time: datetime
    """Begin of the bucket."""
    lag: int | None
    behind_ms: int | None
    """The same as time: since when the end of the log stood where the group stands; of its worst partition."""


class LagSeries(NamedTuple):
    group: str
    peak: int
    """The most in the span."""
    last: int | None
    """At the last sample."""
    points: tuple[LagPoint, ...]
    """In order of time; a bucket without a sample has none."""


class Lag(NamedTuple):
    """The groups with the highest peaks, worst first."""

    series: Kept[LagSeries]
    bucket: timedelta


class Rebalance(NamedTuple):
    group: str
    kind: str | None
    time: datetime
    generation: int | None
    members: int | None
    joined: int | None
    """How many; ``None`` where the rebalance before is not known. So for the other three."""
    left: int | None
    restarted: int | None
    resubscribed: int | None
    joined_names: tuple[str, ...]
    """The first few of them."""
    left_names: tuple[str, ...]
    pause_ms: int | None
    """Between the group's commits before and after; of groups of any kind."""
    converge_ms: int | None
    """Until all members had it; not of classic groups."""


class Lane(NamedTuple):
    """One group of the timeline."""

    group: str
    rebalances: int
    longest_ms: int | None
    """The longest pause of commits."""


class Rebalances(NamedTuple):
    lanes: Kept[Lane]
    """The groups that rebalance most, those first."""
    marks: Kept[Rebalance]
    """The latest of them, in order of time. ``total`` counts those of all groups."""


class GroupRow(NamedTuple):
    group: str
    kind: str | None
    state: str | None
    state_since: datetime | None
    use: str
    """LIVE, STALE or EMPTY."""
    verdict: str | None
    """Of its worst partition: OK, UNKNOWN, WARN, STOP, STALL, REWIND; ``None``: not judged."""
    lag: int | None
    behind_ms: int | None
    partitions: int
    members: int
    last_commit: datetime | None


class Tally(NamedTuple):
    """How many groups are alike in these three; deleted ones among them."""

    use: str
    state: str | None
    verdict: str | None
    groups: int


class Groups(NamedTuple):
    rows: Kept[GroupRow]
    """Those that are there, worst first."""
    tallies: tuple[Tally, ...]

    def number(self, *, use: str | None = None, verdict: str | None = None) -> int:
        """How many groups are so, in all of the cluster; deleted ones only where they are asked for."""
        return sum(
            each.groups
            for each in self.tallies
            if (each.use != "DELETED" if use is None else each.use == use) and verdict in (None, each.verdict)
        )


class Consumer(NamedTuple):
    """A topic, and a group that has offsets of it."""

    topic: str
    group: str
    partitions: int
    members: int
    """Of the group, at the end of the span, whatever they read of it."""
    clients: tuple[str, ...]
    """The first few of their clients, as instance id, or client id@host."""
    last_commit: datetime | None


class Offender(NamedTuple):
    group: str
    anomalies: int
    kinds: tuple[str, ...]


class Anomaly(NamedTuple):
    anomaly: str
    group: str | None
    since: datetime | None
    until: datetime | None
    topic: str | None
    partition: int | None
    member: str | None
    note: str | None


class AnomalyCount(NamedTuple):
    anomaly: str
    found: int
    groups: int
    """How many groups it happened to."""
    names: tuple[str, ...]
    """The first few of them, those that it happened to most."""


class Anomalies(NamedTuple):
    rows: Kept[Anomaly]
    """The latest first."""
    counts: tuple[AnomalyCount, ...]
    offenders: Kept[Offender]


class RatePoint(NamedTuple):
    time: datetime
    commits: int
    progress: int | None
    """Records that these commits went forward; ``None``: unknown."""


class RateSeries(NamedTuple):
    group: str | None
    """``None``: all other groups together."""
    commits: int
    points: tuple[RatePoint, ...]
    """In order of time; a bucket without a commit has none."""


class Rate(NamedTuple):
    """The groups that commit most, those first, and behind them the others as one."""

    series: Kept[RateSeries]
    """``total`` counts groups."""
    bucket: timedelta


class Stale(NamedTuple):
    group: str
    kind: str | None
    use: str
    """STALE, EMPTY or DELETED."""
    state: str | None
    partitions: int
    last_commit: datetime | None
    commit_age_ms: int | None
    gone: datetime | None
    """When it was deleted, at the latest."""


class Expiring(NamedTuple):
    """The offsets of one group on one topic."""

    group: str
    topic: str
    partitions: int
    empty_since: datetime | None
    expires: datetime | None
    """The first of them."""
    left_ms: int | None
    """From the end of the span; negative: due."""


class LogPart(NamedTuple):
    """A partition of __consumer_offsets, and how whole its history is."""

    log_partition: int
    records: int
    density: float | None
    missing: int
    known_since: datetime | None
    last_time: datetime | None
    hung: int
    from_birth: bool
    """Whether it was read from its first record on, and nothing was missing."""


class Completeness(NamedTuple):
    parts: Kept[LogPart]
    """Those that are least whole first."""
    records: int
    known_since: datetime | None
    """From then on, history is whole in all partitions; ``None``: in some it is not, or in all it always was."""
    unknown: int
    """Partitions whose history is not whole at all."""
    missing: int
    """Offsets that nobody read, between others that were."""
    hung: int
    """Offsets that wait for an open transaction."""
    last_time: datetime | None
    """Log time of the last record."""


class ReportData(NamedTuple):
    cluster_id: str | None
    period: Period
    """What was asked for."""
    shown: Period
    """The part of it of which anything is known: what charts show."""
    lag: Lag
    rebalances: Rebalances
    groups: Groups
    consumers: Kept[Consumer]
    anomalies: Anomalies
    rate: Rate
    stale: Kept[Stale]
    """Those with members first, the deleted ones last; of each the quietest first."""
    expiring: Kept[Expiring]
    """The first to expire first."""
    completeness: Completeness

    @property
    def empty(self) -> bool:
        """Whether nothing at all is known."""
        return not (self.completeness.parts.total or self.groups.tallies or self.lag.series.total)
