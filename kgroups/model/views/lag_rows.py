"""The rows of the lag views. All have ``total_lag`` and ``behind``, by which they are filtered and sorted.

The row of a group that the principal cannot describe has its name and a note; all other fields are ``None``.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..counts import count
from ..duration import Milliseconds
from ..outcome import Outcome, is_partial


class LagRow(Protocol):
    """The properties that the rows of all lag views have."""

    @property
    def total_lag(self) -> int | None: ...

    @property
    def behind(self) -> int | None: ...

    @property
    def unknown(self) -> int | None: ...

    @property
    def known_lag(self) -> int | None: ...


class Tally(NamedTuple):
    """The sums over several partitions.

    ``partitions`` counts them all. ``behind`` of them have a lag above 0, ``ahead`` a lag below 0 (a commit beyond the
    end of the log), ``uncommitted`` no commit, and ``unknown`` a commit, but no known log end offset. ``data_lost``
    have a commit below the log start offset: records were deleted before they were read.

    ``total_lag`` is ``None`` if the lag of any partition is unknown; ``known_lag`` is then the sum of the others.

    ``headroom_ms``, ``headroom_max_ms``, ``headroom_by``: see :class:`kgroups.model.headroom.Headroom`. ``unread_min``,
    ``unread_max``: see :class:`kgroups.model.unread_count.UnreadCount`.
    """

    total_lag: int | None
    max_lag: int | None
    max_topic: str | None
    max_partition: int | None
    partitions: int
    behind: int
    uncommitted: int
    unknown: int
    ahead: int
    data_lost: int
    time_lag_ms: Milliseconds | None
    note: str | None
    known_lag: int | None = None
    headroom_ms: Milliseconds | None = None
    headroom_max_ms: Milliseconds | None = None
    headroom_by: str | None = None
    unread_min: int | None = None
    unread_max: int | None = None


class GroupLagRow(NamedTuple):
    """One group. ``members`` counts its members; the other fields are those of :class:`Tally`."""

    group: str
    state: str
    members: int | None
    total_lag: int | None
    max_lag: int | None
    max_topic: str | None
    max_partition: int | None
    partitions: int
    behind: int
    uncommitted: int
    unknown: int
    ahead: int
    data_lost: int
    time_lag_ms: Milliseconds | None
    note: str | None
    known_lag: int | None = None
    headroom_ms: Milliseconds | None = None
    headroom_max_ms: Milliseconds | None = None
    headroom_by: str | None = None
    unread_min: int | None = None
    unread_max: int | None = None
    status: str | None = None
    """A :class:`kgroups.model.status.Status`: what one sample proves."""
    left_lag: int = 0
    """The known number of unread records on topics that no member subscribes to."""


class TopicLagRow(NamedTuple):
    """One topic of one group. The other fields are those of :class:`Tally`."""

    group: str
    topic: str
    total_lag: int | None
    max_lag: int | None
    max_topic: str | None
    max_partition: int | None
    partitions: int
    behind: int
    uncommitted: int
    unknown: int
    ahead: int
    data_lost: int
    time_lag_ms: Milliseconds | None
    note: str | None
    known_lag: int | None = None
    headroom_ms: Milliseconds | None = None
    headroom_max_ms: Milliseconds | None = None
    headroom_by: str | None = None
    unread_min: int | None = None
    unread_max: int | None = None


class MemberLagRow(NamedTuple):
    """One member of one group, or without ``consumer_id``, the partitions without an owner.

    The other fields are those of :class:`Tally`.
    """

    group: str
    consumer_id: str | None
    group_instance_id: str | None
    host: str | None
    client_id: str | None
    total_lag: int | None
    max_lag: int | None
    max_topic: str | None
    max_partition: int | None
    partitions: int
    behind: int
    uncommitted: int
    unknown: int
    ahead: int
    data_lost: int
    time_lag_ms: Milliseconds | None
    note: str | None
    known_lag: int | None = None
    headroom_ms: Milliseconds | None = None
    headroom_max_ms: Milliseconds | None = None
    headroom_by: str | None = None
    unread_min: int | None = None
    unread_max: int | None = None


class PartitionLagRow(NamedTuple):
    """One partition of one group."""

    group: str
    topic: str
    partition: int
    current_offset: int | None
    log_start_offset: int | None
    log_end_offset: int | None
    lag: int | None
    time_lag_ms: Milliseconds | None
    consumer_id: str | None
    host: str | None
    client_id: str | None
    group_instance_id: str | None
    note: str | None
    start_offset: int | None = None
    """Of a share group, which has no commits."""
    headroom_ms: Milliseconds | None = None
    headroom_max_ms: Milliseconds | None = None
    headroom_by: str | None = None
    unread_min: int | None = None
    unread_max: int | None = None

    @property
    def total_lag(self) -> int | None:
        """The number of unread records; 0 for a commit beyond the end of the log."""
        return None if self.lag is None else max(0, self.lag)

    @property
    def behind(self) -> int:
        return int(self.lag is not None and self.lag > 0)

    @property
    def unknown(self) -> int:
        return int(self.lag is None and not (self.current_offset is None and self.start_offset is None))

    @property
    def known_lag(self) -> int | None:
        return self.total_lag


class ClusterLagRow(NamedTuple):
    """The groups of one cluster.

    ``total_lag`` is ``None`` if the lag of a group is unknown; ``known_lag`` sums the rest. The counts do not include
    ``unknown_groups``: groups whose lag is unknown in part, or that cannot be described. If groups may be missing, only
    ``known_lag`` and ``listed``, the number of groups that were read, are known; the sum and the counts are ``None``.
    """

    cluster_id: str | None
    groups: int | None = None
    total_lag: int | None = None
    known_lag: int = 0
    max_lag: int | None = None
    max_group: str | None = None
    partitions: int | None = None
    behind: int | None = None
    lagging_groups: int | None = None
    unknown_groups: int | None = None
    uncommitted: int | None = None
    unknown: int | None = None
    ahead: int | None = None
    data_lost: int | None = None
    listed: int = 0
    note: str | None = None


def cluster_row(cluster_id: str | None, outcome: Outcome[GroupLagRow]) -> ClusterLagRow:
    groups = outcome.items
    unknown = [row for row in groups if row.total_lag is None]
    largest = max(groups, key=lambda row: -1 if row.max_lag is None else row.max_lag, default=None)

    def total(field: str) -> int:
        return sum(getattr(row, field) or 0 for row in groups)

    known = sum((row.known_lag if row.total_lag is None else row.total_lag) or 0 for row in groups)
    if is_partial(outcome, {row.group for row in groups}):
        note = f"groups are missing: lag at least {known:,} in at least {count(len(groups), 'group')}"
        return ClusterLagRow(cluster_id, known_lag=known, listed=len(groups), note=note)
    return ClusterLagRow(
        cluster_id,
        len(groups),
        None if unknown else known,
        known,
        largest and largest.max_lag,
        largest.group if largest and largest.max_lag is not None else None,
        total("partitions"),
        total("behind"),
        sum(1 for row in groups if row.behind),
        len(unknown),
        total("uncommitted"),
        total("unknown"),
        total("ahead"),
        total("data_lost"),
        len(groups),
    )
