"""How an offset was translated, and what the result is worth."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Method(StrEnum):
    """What proves a translated offset, strongest first."""

    IDENTICAL = "identical"
    """Both logs have the same records at the same offsets."""
    RECORD = "record"
    """The record at the offset, or its neighbors, were found in the other log."""
    HEADER = "header"
    """A header of the copies has the offset of the original."""
    SYNC = "sync"
    """MirrorMaker 2 recorded the offset, or an earlier one."""
    END = "end"
    """The group has read everything, and so has the copy."""
    TIME = "time"
    """The first record of the same time or later: only a lower bound."""

    @property
    def rank(self) -> int:
        return list(Method).index(self)


class Impossible(StrEnum):
    """Why an offset cannot be translated."""

    NO_TOPIC = "no copy of the topic"
    NO_PARTITION = "no such partition in the copy"
    OTHER_PARTITIONS = "other partitions in the copy"
    NOT_COPIED_YET = "not copied yet"
    NOT_COPIED = "not copied"
    TRUNCATED = "deleted from the copy"
    DELETED = "deleted from the source"
    BEYOND_END = "beyond the end of the source"
    AMBIGUOUS = "ambiguous"
    NOT_FOUND = "not found"
    LIMIT = "limit reached"
    UNREADABLE = "unreadable"
    NOT_ALLOWED = "method not allowed"
    PENDING = "open transaction"


class Translation(NamedTuple):
    """The offset in the copy at which a group continues, or why there is none.

    ``at_most``: how many records before its first unread one the group may read again; ``None``: unknown.
    ``evidence``: what was compared, as text for people. ``epoch``: the leader epoch of the last record before the
    offset, of the copy's log; ``None``: unknown.
    """

    offset: int | None
    method: Method | None
    evidence: str
    at_most: int | None = 0
    why: Impossible | None = None
    epoch: int | None = None
    twice: int = 0
    """How many records were found again after the offset, read ones among them: the copier wrote them twice."""
    others: int = 0
    """How many records before the offset were seen that are not copies: the group skips them."""

    @property
    def read_again(self) -> int | None:
        """How many read records the group may receive again; ``None``: unknown, also if some were written twice."""
        return None if self.twice else self.at_most

    @classmethod
    def impossible(cls, why: Impossible, evidence: str) -> Translation:
        return cls(None, None, evidence, None, why)

    @property
    def exact(self) -> bool:
        """Whether the first record that the group reads in the copy is its first unread one."""
        return self.offset is not None and self.at_most == 0
