"""The data of the page: plain values, in lists of limited length with their total number.

Times are aware datetimes in UTC; lags are numbers of records, never negative; absent values are ``None``. Text from the
cluster is unescaped: the code that renders it must escape it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Generic, NamedTuple, TypeVar

from kgroups.model.migration import Verdict

from .words import anchor

T = TypeVar("T")


class Period(NamedTuple):
    """From ``since`` (inclusive) to ``until`` (exclusive), both with a time zone."""

    since: datetime
    until: datetime


class Bounds(NamedTuple):
    """Maximum content of a page that browsers can display and people can read."""

    groups: int = 20
    """Lines of a chart, lanes of the timeline."""
    points: int = 2000
    """Points of a chart, over all its lines."""
    rates: int = 5
    """Groups of the commit chart; all others are one additional series."""
    rebalances: int = 250
    """Marks on the timeline."""
    rows: int = 50
    """Rows of a table, except the table of groups."""
    names: int = 5
    """Names in a cell, such as the members that joined."""
    pages: int = 100
    """Groups in the table of groups, each with a page of its own."""
    samples: int = 48
    """Points of the chart of a group's page."""
    listed: int = 4000
    """Rows of each type of list, over all pages."""


class Kept(NamedTuple, Generic[T]):
    """The first ``rows`` of a list of length ``total``."""

    rows: tuple[T, ...]
    total: int

    @property
    def left_out(self) -> int:
        return self.total - len(self.rows)


class LagPoint(NamedTuple):
    """The highest values in a time bucket."""

    time: datetime
    """Start of the bucket."""
    lag: int | None
    behind_ms: int | None
    """Lag in time of the worst partition: how long ago the log end offset was the committed offset."""


class LagSeries(NamedTuple):
    group: str
    peak: int
    """Highest lag in the span."""
    last: int | None
    """Lag at the last sample."""
    points: tuple[LagPoint, ...]
    """Ordered by time; a bucket without a sample has no point."""
    verdict: str | None = None
    flagged: bool = False
    """Whether the group needs attention for another reason than the lag in these points."""


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
    """Number of members that joined; this and the next three are ``None`` if the previous rebalance is unknown."""
    left: int | None
    restarted: int | None
    resubscribed: int | None
    joined_names: tuple[str, ...]
    """The first members that joined."""
    left_names: tuple[str, ...]
    pause_ms: int | None
    """Time between the group's last commit before and first commit after; for all group types."""
    converge_ms: int | None
    """Time until all members had the epoch; not for classic groups."""


class Lane(NamedTuple):
    """One group of the timeline."""

    group: str
    rebalances: int
    longest_ms: int | None
    """The longest pause of commits."""


class Rebalances(NamedTuple):
    lanes: Kept[Lane]
    """The groups with the most rebalances, those first."""
    marks: Kept[Rebalance]
    """The latest rebalances of these groups, ordered by time. ``total`` counts the rebalances of all groups."""


class GroupRow(NamedTuple):
    group: str
    kind: str | None
    state: str | None
    state_since: datetime | None
    use: str
    """LIVE, STALE, EMPTY or UNKNOWN."""
    verdict: str | None
    """Verdict of its worst partition: OK, UNKNOWN, WARN, STOP, STALL, REWIND; ``None``: not judged."""
    lag: int | None
    behind_ms: int | None
    partitions: int
    members: int
    last_commit: datetime | None
    unjudged: str | None = None
    """The reason why it is unknown whether the group keeps up: a key of :data:`~.findings.UNJUDGED`, or ``None``."""
    status: str = "UNKNOWN"
    """CRITICAL, WARNING, UNKNOWN, or OK: the worst of the verdict, anomalies, expiring offsets, and missing commits."""
    anomalies: tuple[str, ...] = ()
    expiring: bool = False
    since: datetime | None = None
    """Last commit of a stopped partition, start of the samples of another bad verdict, or the first anomaly; the
    earliest of these. The cause may be older."""
    lost: int | None = 0
    """Offsets that were deleted before they were read."""
    reread: int | None = 0
    """Offsets by which committed offsets went back."""


class Tally(NamedTuple):
    """The number of groups with the same other values; includes deleted groups."""

    use: str
    state: str | None
    verdict: str | None
    groups: int
    expiring: bool = False
    """Whether some of their offsets expire soon."""
    anomalous: bool = False
    """Whether they had anomalies."""
    unjudged: str | None = None
    """The reason why it is unknown whether the groups keep up, as in :class:`GroupRow`."""
    status: str = "UNKNOWN"
    """As in :class:`GroupRow`."""


class Cost(NamedTuple):
    """What is wrong with all groups together, as numbers for people who do not know Kafka."""

    lag: int | None = None
    """Records that are not read, and not deleted, of the groups with a known lag; ``None``: no lag is known."""
    unknown: int = 0
    """Number of groups without a known lag."""
    behind_ms: int | None = None
    """Largest known lag in time of a group."""
    untimed: int = 0
    """Number of groups with lag whose lag in time is unknown."""
    since: datetime | None = None
    """Earliest ``since`` of the groups."""
    lost: int | None = 0
    reread: int | None = 0


class Groups(NamedTuple):
    rows: Kept[GroupRow]
    """Existing groups, worst first."""
    tallies: tuple[Tally, ...]

    def number(self, *, use: str | None = None, verdict: str | None = None) -> int:
        """Count the groups of the cluster with this use and verdict; deleted ones only if ``use`` is DELETED."""
        return sum(
            each.groups
            for each in self.tallies
            if (each.use != "DELETED" if use is None else each.use == use) and verdict in (None, each.verdict)
        )


class Consumer(NamedTuple):
    """A topic, and a group with committed offsets on it."""

    topic: str
    group: str
    partitions: int
    members: int
    """Members of the group at the end of the span, including members that do not read the topic."""
    clients: tuple[str, ...]
    """The first clients of these members, as instance ID or client ID@host."""
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
    """Number of groups with this anomaly."""
    names: tuple[str, ...]
    """The first of these groups, those with the most first."""


class Anomalies(NamedTuple):
    rows: Kept[Anomaly]
    """Latest first."""
    counts: tuple[AnomalyCount, ...]
    offenders: Kept[Offender]


class RatePoint(NamedTuple):
    time: datetime
    commits: int
    progress: int | None
    """Number of records by which these commits advanced; ``None``: unknown."""


class RateSeries(NamedTuple):
    group: str | None
    """``None``: all other groups together."""
    commits: int
    points: tuple[RatePoint, ...]
    """Ordered by time; a bucket without a commit has no point."""


class Rate(NamedTuple):
    """The groups that commit most, those first, then all others as one series."""

    series: Kept[RateSeries]
    """``total`` counts groups."""
    bucket: timedelta


class Stale(NamedTuple):
    group: str
    kind: str | None
    use: str
    """STALE, EMPTY, DELETED or UNKNOWN."""
    state: str | None
    partitions: int
    last_commit: datetime | None
    commit_age_ms: int | None
    gone: datetime | None
    """Latest possible time of the deletion."""


class Expiring(NamedTuple):
    """The offsets of one group on one topic."""

    group: str
    topic: str
    partitions: int
    empty_since: datetime | None
    expires: datetime | None
    """Earliest expiry."""
    left_ms: int | None
    """Time left at the end of the span; negative: due."""


class Retention(NamedTuple):
    """The retention time of committed offsets."""

    ms: int
    source: str
    """rule, brokers, or assumed."""


class LogPart(NamedTuple):
    """A partition of __consumer_offsets, and how complete its history is."""

    log_partition: int
    records: int
    density: float | None
    missing: int
    known_since: datetime | None
    last_time: datetime | None
    hung: int
    from_birth: bool
    """Whether it was read since its first record, without gaps."""


class Completeness(NamedTuple):
    parts: Kept[LogPart]
    """Least complete first."""
    records: int
    known_since: datetime | None
    """Since when history is complete in all partitions; ``None``: not complete in some, or always complete in all."""
    unknown: int
    """Number of partitions without complete history."""
    missing: int
    """Offsets that were not read, between others that were."""
    hung: int
    """Offsets that wait for an open transaction."""
    last_time: datetime | None
    """Log time of the last record."""
    unread_since: datetime | None = None
    """Log time of the first record that an open transaction hides."""

    @property
    def has_holes(self) -> bool:
        """Whether some of the log is unknown, also at the end of the span."""
        return bool(self.unknown or self.missing or self.hung)


class PartitionRow(NamedTuple):
    topic: str
    partition: int
    verdict: str | None
    """``None``: not judged."""
    lag: int | None
    committed: int | None
    last_commit: datetime | None
    remark: str | None
    """Why the lag is unknown."""


class Member(NamedTuple):
    client: str
    """Instance ID or client ID@host."""
    since: datetime | None


class GroupPage(NamedTuple):
    """One group, with the first rows of its lists."""

    row: GroupRow
    points: tuple[LagPoint, ...]
    """Ordered by time; a bucket without a sample has no point."""
    partitions: Kept[PartitionRow]
    """Worst first."""
    members: Kept[Member]
    rebalances: Kept[Rebalance]
    """Latest first."""
    anomalies: Kept[Anomaly]
    """Latest first."""
    expiring: Kept[Expiring]


class VerdictCount(NamedTuple):
    """The number of groups with a verdict about their migration (KIP-848)."""

    verdict: Verdict
    upgrade: int
    rollback: int


class Blocked(NamedTuple):
    """A rule of brokers that groups are blocked by, or that makes it unknown, with the same fixes."""

    direction: str
    """upgrade, or rollback."""
    rule: str
    names: tuple[str, ...]
    """The first groups."""
    groups: int
    text: str
    """The rule in words, of the first group."""
    fixes: tuple[str, ...]


class Migrations(NamedTuple):
    """Which groups brokers would convert to the consumer protocol, and back."""

    file: str | None = None
    """The name of the file with the verdicts; ``None``: there is none, and they are unknown."""
    written: datetime | None = None
    verdicts: tuple[VerdictCount, ...] = ()
    missing: int = 0
    """Number of groups of history that the file does not contain, and that are not share or streams groups."""
    blocked: Kept[Blocked] = Kept((), 0)
    """Those of most groups first."""


class ReportData(NamedTuple):
    cluster_id: str | None
    period: Period
    """The requested period."""
    shown: Period
    """The part of the period with known data, which charts show."""
    lag: Lag
    rebalances: Rebalances
    groups: Groups
    consumers: Kept[Consumer]
    anomalies: Anomalies
    rate: Rate
    stale: Kept[Stale]
    """Groups with members first, deleted groups last; each ordered by time since the last commit, longest first."""
    expiring: Kept[Expiring]
    """Earliest expiry first."""
    completeness: Completeness
    retention: Retention | None = None
    """The retention time that ``expiring`` uses."""
    cost: Cost = Cost()
    migrations: Migrations = Migrations()
    pages: Kept[GroupPage] = Kept((), 0)
    """The pages of the worst groups, in the order of ``groups``."""
    age: str = ""
    """When the data ends: the last batch, and the last sample."""
    unknown_until: datetime | None = None
    """The requested end, if the data ends before it: ``period`` ends with the data."""

    def page_of(self, group: str) -> str | None:
        """Return the ID of the page of a group."""
        return anchor(group) if any(page.row.group == group for page in self.pages.rows) else None

    @property
    def empty(self) -> bool:
        """Whether there are no data."""
        return not (self.completeness.parts.total or self.groups.tallies or self.lag.series.total)
