"""The limits and other requirements that a group is checked against."""

from __future__ import annotations

from typing import NamedTuple

from ..severity import Threshold


class Limits(NamedTuple):
    """All requirements for a group; ``None``, ``False``, and empty values are not checked.

    Lags are in records, times and ages in milliseconds.
    """

    states: frozenset[str] = frozenset()
    """The allowed states."""
    type: str | None = None
    assignor: str | None = None
    members: int | None = None
    """The exact number."""
    min_members: int | None = None
    assigned: bool = False
    """Whether each partition of the topics must be assigned to exactly one member."""
    lag: Threshold | None = None
    """The total of the group."""
    partition_lag: Threshold | None = None
    """Of each partition."""
    topic_lag: tuple[tuple[str, Threshold], ...] = ()
    """Glob -> the total of each matching topic."""
    time_lag: Threshold | None = None
    commit_age: Threshold | None = None
    """The time since the last commit of each partition that has one."""
    redeliveries: Threshold | None = None
    """How often an unfinished record of a share group was delivered again."""
    progress_age: Threshold | None = None
    """The time since a share group finished a record, of each partition with unfinished records."""
    headroom: Threshold | None = None
    """The time until the first unread record is deleted, as a :class:`Minimum`."""
    offset_headroom: Threshold | None = None
    """The time until the offsets of a group without members expire, as a :class:`Minimum`."""
    stopped: bool = False
    """Whether there must be no members, and no other client that commits for the group."""
    trend: bool = False
    """Whether to apply Burrow's rules to the window."""
    allow_uncommitted: bool = False
    """Whether partitions without a committed offset are ignored, instead of making lag unknown."""
    skip_missing_topics: bool = False
    """Whether a glob of ``topic_lag`` that no topic of the group matches is skipped, instead of being UNKNOWN."""
    migration_ready: bool = False
    """Whether brokers must be ready to convert the group to the consumer protocol."""
    rollback_ready: bool = False
    """Whether brokers must be ready to convert it back."""

    def or_else(self, others: Limits) -> Limits:
        """Return these limits; ``others`` fills in the limits that are not set."""
        return Limits._make(own if is_set(own) else other for own, other in zip(self, others, strict=True))


def is_set(value: object) -> bool:
    """Return whether a value of :class:`Limits` is set; 0 members is."""
    return value is not None and value is not False and value not in ((), frozenset())
