"""What somebody expects of a group."""

from __future__ import annotations

from typing import NamedTuple

from .severity import Threshold


class Limits(NamedTuple):
    """Every expectation that was set; what is ``None``, ``False`` or empty is not looked at.

    Lags in records, times and ages in milliseconds.
    """

    states: frozenset[str] = frozenset()
    """The states that are well."""
    type: str | None = None
    assignor: str | None = None
    members: int | None = None
    """Exactly so many."""
    min_members: int | None = None
    assigned: bool = False
    """Every partition of the topics is held by one member."""
    lag: Threshold | None = None
    """In all."""
    partition_lag: Threshold | None = None
    """Of every partition."""
    topic_lag: tuple[tuple[str, Threshold], ...] = ()
    """Glob -> the total of each topic that matches."""
    time_lag: Threshold | None = None
    commit_age: Threshold | None = None
    """Since the last commit, of every partition that has one."""
    stopped: bool = False
    """No members, and no other client that commits for the group."""
    trend: bool = False
    """Burrow's verdict over the window."""
    allow_uncommitted: bool = False
    """Partitions without a committed offset make no lag unknown."""

    def or_else(self, others: Limits) -> Limits:
        """These, and where nothing is set the others'."""
        return Limits._make(mine if is_set(mine) else theirs for mine, theirs in zip(self, others, strict=True))


def is_set(value: object) -> bool:
    """Return whether a value of :class:`Limits` is an expectation; 0 members are one."""
    return value is not None and value is not False and value not in ((), frozenset())
