"""The rows of the lag views. All tell ``total_lag`` and ``behind``, by which they are chosen and ranked.

A group that may not be seen is a row of its name and a note; all other fields of it are ``None``.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..duration import Milliseconds


class LagRow(Protocol):
    """What every row of every lag view can be asked."""

    @property
    def total_lag(self) -> int | None: ...

    @property
    def behind(self) -> int | None: ...

    @property
    def unknown(self) -> int | None: ...

    @property
    def known_lag(self) -> int | None: ...


class Tally(NamedTuple):
    """Some partitions, summed up.

    Of ``partitions``, ``behind`` have a lag above 0; ``ahead`` one below, a commit beyond the end of the log;
    ``uncommitted`` no commit; ``unknown`` a commit, but no log that could be asked about. ``data_lost`` are those whose
    commit lies below the start of the log: records were deleted before they were read.

    ``total_lag`` is ``None`` where the lag of one partition is unknown: ``known_lag`` is then that of the others.
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


class GroupLagRow(NamedTuple):
    """One group; ``members`` counts them. The rest is a :class:`Tally`."""

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


class TopicLagRow(NamedTuple):
    """One topic of one group; as above."""

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


class MemberLagRow(NamedTuple):
    """One member of one group, or with no ``consumer_id`` the partitions that nobody holds; as above."""

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
    """Of a share group, instead of a commit."""

    @property
    def total_lag(self) -> int | None:
        return self.lag

    @property
    def behind(self) -> int:
        return int(self.lag is not None and self.lag > 0)

    @property
    def unknown(self) -> int:
        return int(self.lag is None and not (self.current_offset is None and self.start_offset is None))

    @property
    def known_lag(self) -> int | None:
        return self.lag
