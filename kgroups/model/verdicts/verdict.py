"""A verdict: its stable key, its severity, a sentence, the evidence, and the next command."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from .facts import Unavailable

Value = str | int | float | None


class Severity(StrEnum):
    """INFO: records are consumed, or none are left. WARNING: likely a problem. PROBLEM: records are not consumed."""

    INFO = "info"
    WARNING = "warning"
    PROBLEM = "problem"
    UNKNOWN = "unknown"


class Key(StrEnum):
    """The keys of verdicts, in order of precedence: the first one that applies is the verdict."""

    MISSING_PARTITION = "missing-partition"
    LEADERLESS = "leaderless"
    LEADER_UNRESPONSIVE = "leader-unresponsive"
    LEADER_EPOCH_AHEAD = "leader-epoch-ahead"
    RECREATED_TOPIC = "recreated-topic"
    BELOW_LOG_START = "below-log-start"
    BEYOND_LOG_END = "beyond-log-end"
    TRUNCATED_LOG = "truncated-log"
    CAUGHT_UP = "caught-up"
    NO_UNREAD_RECORDS = "no-unread-records"
    CRASH_LOOP = "crash-loop"
    NOT_SUBSCRIBED = "not-subscribed"
    UNASSIGNED = "unassigned"
    REBALANCING = "rebalancing"
    NEVER_COMMITTED = "never-committed"
    OPEN_TRANSACTION = "open-transaction"
    FETCH_DENIED = "fetch-denied"
    SAME_OFFSET_COMMITTED = "same-offset-committed"
    LARGE_RECORD = "large-record"
    NOT_COMMITTING = "not-committing"
    THROTTLED = "throttled"
    FALLING_BEHIND = "falling-behind"
    CATCHING_UP = "catching-up"
    PROGRESSING = "progressing"
    UNKNOWN = "unknown"


class Adds(StrEnum):
    """The option that a next command adds, so that it repeats a command with this option."""

    DEEP = "--deep"
    RECORD = "--show-record"


class Evidence(NamedTuple):
    """A fact that supports the verdict: its stable name, its value, and a sentence."""

    name: str
    value: Value
    text: str


class Verdict(NamedTuple):
    """The verdict about one partition of one group. ``next``: the command to run next, if there is one.

    ``adds``: the option that it adds to ``explain``, if it is about the same facts.
    """

    group: str
    topic: str
    partition: int
    key: Key
    severity: Severity
    text: str
    evidence: tuple[Evidence, ...] = ()
    next: str | None = None
    unavailable: tuple[Unavailable, ...] = ()
    adds: Adds | None = None

    @property
    def rank(self) -> tuple[int, int]:
        """The place in a list that begins with the worst verdict."""
        return _WORST_FIRST.index(self.severity), _KEYS.index(self.key)


_WORST_FIRST = (Severity.PROBLEM, Severity.WARNING, Severity.UNKNOWN, Severity.INFO)
_KEYS = tuple(Key)
