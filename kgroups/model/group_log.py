"""What only a group's own partition of ``__consumer_offsets`` tells. Times are milliseconds since 1970."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .groups import Group, GroupId, GroupState, GroupType
from .moments import moment_text

Key = tuple[object, ...]
"""What a record is about: its type, and the fields of its key."""


class Timeouts(NamedTuple):
    """Of one member, in milliseconds; ``None`` where the record does not have it."""

    session: int | None
    rebalance: int | None


class CommitTimes(NamedTuple):
    """When an offset was committed, when it expires by the client's own word (before Kafka 2.1), and the ID of the
    topic, as a 128-bit number (Kafka 4.1)."""

    committed: int
    expires: int | None = None
    topic_id: int | None = None


class GroupLog(NamedTuple):
    """What is in the log of one group, as far as it was read.

    ``generation``, ``leader`` and ``state_since`` are of classic groups; ``state_since`` is known since Kafka 2.1.
    ``rebalanced`` is when the assignment was last written.
    """

    generation: int | None
    leader: str | None
    state_since: int | None
    rebalanced: int | None
    timeouts: Mapping[str, Timeouts]
    commits: Mapping[tuple[str, int], CommitTimes]


NOT_READ = GroupLog(None, None, None, None, {}, {})


class ReadBudget(NamedTuple):
    """Of each partition: at most about so many bytes, for so many seconds."""

    bytes: int
    seconds: float


class Reach(NamedTuple):
    """How much of a partition was read: ``records``, from offset ``first`` on, of offsets ``start`` to ``end``.

    ``back_to`` is the time of the oldest record of these. ``missing`` counts what was looked for and not found.
    """

    partition: int
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
        """What is there and was not found was written before then; ``None`` where all was read, or not all decoded."""
        return None if self.first <= self.start or self.unreadable else self.back_to

    def __str__(self) -> str:
        read = f"read {self.records:,} records ({self.bytes:,} bytes) of __consumer_offsets-{self.partition}"
        where = f"offsets {self.first:,} to {self.end:,} of {self.start:,} to {self.end:,}"
        since = f", back to {moment_text(self.back_to)}" if self.back_to is not None else ""
        broken = f"; {self.unreadable:,} could not be decoded" if self.unreadable else ""
        stopped = f"; stopped at {self.stopped}, {self.missing:,} not found" if self.stopped else ""
        return f"{read}, {where}{since}{broken}{stopped}"


class LogQuery:
    """Which records are looked for: the newest of each key."""

    STATE = "state"
    MEMBERS = "members"
    OFFSETS = "offsets"


_OF_STATE = {GroupType.CONSUMER: (3, 6), GroupType.SHARE: (11, 12), GroupType.STREAMS: (17, 20)}
_OF_MEMBERS = {GroupType.CONSUMER: 5, GroupType.STREAMS: 19}
_COMMIT, _CLASSIC = 1, 2


def keys_of(group: Group, what: str, committed: Iterable[tuple[str, int]] = ()) -> frozenset[Key]:
    """The records that tell what is wanted of a group; of an empty one also since when it is."""
    name = group.group_id
    of_state = _OF_STATE.get(group.type or "", (_CLASSIC,))
    keys: set[Key] = set()
    if what == LogQuery.OFFSETS:
        keys |= commit_keys(name, committed)
    if what == LogQuery.MEMBERS and group.type in _OF_MEMBERS:
        keys |= {(_OF_MEMBERS[group.type], name, member.member_id) for member in group.members or ()}
    elif what != LogQuery.OFFSETS or counts_from_empty(group):
        keys |= {(kind, name) for kind in of_state}
    return frozenset(keys)


def commit_keys(group: GroupId, committed: Iterable[tuple[str, int]]) -> frozenset[Key]:
    """The records of these commits."""
    return frozenset((_COMMIT, group, topic, partition) for topic, partition in committed)


def counts_from_empty(group: Group) -> bool:
    """Whether the group's offsets expire together, from when it became empty (KIP-211)."""
    classic = group.type in (GroupType.CLASSIC, None)
    return classic and group.state == GroupState.EMPTY and group.protocol_type != ""


def expires_at(group: Group, commit: CommitTimes, log: GroupLog, retention: int | None) -> int | None:
    """When the offset will be forgotten, if nobody comes; ``None`` while the group has members, or where unknown.

    ``retention`` is the broker's, in milliseconds.
    """
    if commit.expires is not None:
        return commit.expires
    if retention is None or group.state not in GroupState.WITHOUT_MEMBERS:
        return None
    since = log.state_since if counts_from_empty(group) and log.state_since is not None else commit.committed
    return since + retention


class GroupLogs(NamedTuple):
    """What was found of each group, what was read for it, and the broker's retention of offsets, if it told.

    ``unread``: group -> why not all that was wanted of it is known; ``before``: group -> what is not known of it was
    written before then, where that much can be said.
    """

    logs: Mapping[GroupId, GroupLog]
    notices: tuple[str, ...]
    retention: int | None = None
    unread: Mapping[GroupId, str] = {}
    before: Mapping[GroupId, int] = {}

    def of(self, group: GroupId) -> GroupLog:
        return self.logs.get(group, NOT_READ)
