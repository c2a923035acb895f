"""Facts about groups that only ``__consumer_offsets`` contains. Times are in milliseconds since 1970."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .counts import count
from .groups import Group, GroupId, GroupState, GroupType
from .moments import moment_text

Key = tuple[object, ...]
"""The identity of a record: its type, and the fields of its key."""


class Timeouts(NamedTuple):
    """The timeouts of one member, in milliseconds; ``None`` if the record does not contain them."""

    session: int | None
    rebalance: int | None


class CommitTimes(NamedTuple):
    """The times of one committed offset.

    ``committed`` is when it was committed, ``expires`` the expiration time that the client set (before Kafka 2.1), and
    ``topic_id`` the ID of the topic, as a 128-bit number (Kafka 4.1).
    """

    committed: int
    expires: int | None = None
    topic_id: int | None = None


class GroupLog(NamedTuple):
    """The facts found in the log of one group, as far as it was read.

    ``generation``, ``leader``, ``state``, and ``state_since`` exist only for classic groups, ``state_since`` since
    Kafka 2.1: a record is written when a group becomes Stable or Empty. ``rebalanced`` is when the assignment was last
    written.
    """

    generation: int | None
    leader: str | None
    state_since: int | None
    rebalanced: int | None
    timeouts: Mapping[str, Timeouts]
    commits: Mapping[tuple[str, int], CommitTimes]
    state: str | None = None

    def since(self, state: str | None) -> int | None:
        """Return since when the group has its present state; ``None`` while that is not the state in the record."""
        return self.state_since if state is not None and state == self.state else None


NOT_READ = GroupLog(None, None, None, None, {}, {})


class ReadBudget(NamedTuple):
    """Limits on reading each partition: approximate number of bytes, and seconds."""

    bytes: int
    seconds: float


class Reach(NamedTuple):
    """The part of a log that was read: ``records`` from ``first`` on; the log has offsets ``start`` to ``end``.

    ``back_to`` is the timestamp of the oldest record read. ``missing`` counts the requested records that were not
    found.
    """

    log: str
    """The name of the partition."""
    records: int
    bytes: int
    first: int
    start: int
    end: int
    back_to: int | None
    unreadable: int = 0
    missing: int = 0
    stopped: str | None = None

    @property
    def older(self) -> int | None:
        """The time before which the records that were not found were written.

        ``None``: all were read, or some could not be decoded.
        """
        return None if self.first <= self.start or self.unreadable else self.back_to

    def __str__(self) -> str:
        read = f"read {count(self.records, 'record')} ({count(self.bytes, 'byte')}) of {self.log}"
        where = f"offsets {self.first:,} to {self.end:,} of {self.start:,} to {self.end:,}"
        since = f", back to {moment_text(self.back_to)}" if self.back_to is not None else ""
        broken = f"; {self.unreadable:,} could not be decoded" if self.unreadable else ""
        stopped = f"; stopped at {self.stopped}, {self.missing:,} not found" if self.stopped else ""
        return f"{read}, {where}{since}{broken}{stopped}"


class LogQuery:
    """The facts to search for, in the newest record of each key."""

    STATE = "state"
    MEMBERS = "members"
    OFFSETS = "offsets"


_OF_STATE = {GroupType.CONSUMER: (3, 6), GroupType.SHARE: (11, 12), GroupType.STREAMS: (17, 20)}
_OF_MEMBERS = {GroupType.CONSUMER: 5, GroupType.STREAMS: 19}
_COMMIT, _CLASSIC = 1, 2


def keys_of(group: Group, what: str, committed: Iterable[tuple[str, int]] = ()) -> frozenset[Key]:
    """Return the keys of the records with the requested facts; for an empty group, also the key of its state."""
    name = group.group
    of_state = _OF_STATE.get(group.type or "", (_CLASSIC,))
    keys: set[Key] = set()
    if what == LogQuery.OFFSETS:
        keys |= commit_keys(name, committed)
    if what == LogQuery.MEMBERS and group.type in _OF_MEMBERS:
        keys |= {(_OF_MEMBERS[group.type], name, member.member_id) for member in group.members or ()}
    elif what != LogQuery.OFFSETS or counts_from_empty(group):
        keys |= {(record_type, name) for record_type in of_state}
    return frozenset(keys)


def commit_keys(group: GroupId, committed: Iterable[tuple[str, int]]) -> frozenset[Key]:
    """Return the keys of the records of these commits."""
    return frozenset((_COMMIT, group, topic, partition) for topic, partition in committed)


def counts_from_empty(group: Group) -> bool:
    """Return whether the offsets of a group expire together, counted from when it became empty (KIP-211)."""
    classic = group.type in (GroupType.CLASSIC, None)
    return classic and group.state == GroupState.EMPTY and group.protocol_type != ""


def expires_at(
    group: Group, commit: CommitTimes, log: GroupLog, retention: int | None, *, left: bool = False
) -> int | None:
    """Return when an offset expires if no member joins; ``None`` if it does not expire, or if unknown.

    While a group has members, only offsets of topics that no member subscribes to expire, counted from the commit.

    :param retention: the broker's offset retention, in milliseconds.
    :param left: whether no member subscribes to the topic.
    """
    if commit.expires is not None:
        return commit.expires
    if retention is None or not (left or group.state in GroupState.WITHOUT_MEMBERS):
        return None
    if counts_from_empty(group) and log.state_since is not None:
        since = log.since(group.state)
        return None if since is None else since + retention
    return commit.committed + retention


class GroupLogs(NamedTuple):
    """The facts found for each group, notices about what was read, and the broker's offset retention, if known.

    ``unread``: group -> why some of its requested facts are unknown. ``before``: group -> the records of its unknown
    facts are older than this, if known.
    """

    logs: Mapping[GroupId, GroupLog]
    notices: tuple[str, ...]
    retention: int | None = None
    unread: Mapping[GroupId, str] = {}
    before: Mapping[GroupId, int] = {}

    def of(self, group: GroupId) -> GroupLog:
        return self.logs.get(group, NOT_READ)
