"""A rule of ``check``: its key in rules files, which is also its flag, its value, its inputs, and its verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from typing import Any, NamedTuple

from ..severity import Severity
from ..views.offset_row import OffsetRow
from .amounts import UnknownLag
from .findings import Finding, Seen
from .limits import Limits, is_set


class Input(Enum):
    """Inputs that need more requests than the offsets of groups do."""

    WINDOW = auto()
    """Several samples, and the times of commits at both ends of the window."""
    UNREAD_TIMES = auto()
    RETENTION = auto()
    OFFSET_EXPIRY = auto()
    COMMIT_TIMES = auto()
    OUTSIDERS = auto()
    SHARE_STATES = auto()
    EPOCH_ENDS = auto()
    MIGRATION = auto()


class Evidence(NamedTuple):
    """The samples of one group, oldest first.

    ``rows`` are those of the last sample, ``left`` those of topics that no member subscribes to.
    """

    seen: Sequence[Seen]
    rows: Sequence[OffsetRow]
    unknown_lag: UnknownLag
    limits: Limits
    left: Sequence[OffsetRow] = ()

    @property
    def last(self) -> Seen:
        return self.seen[-1]

    @property
    def name(self) -> str:
        return self.last.offsets.group.group


class Flag(NamedTuple):
    """The flag on the command line. Without ``metavar``, it takes no value; ``kind`` is the type of its value."""

    help: str
    metavar: str | None = None
    kind: type | None = None
    repeated: bool = False


Read = Callable[[Any], Any]
"""Parse a value.

:raises ValueError: if it is invalid; without a message, it has the wrong type.
"""


class Check(NamedTuple):
    """A rule. ``field`` is a field of :class:`Limits`; ``kind`` describes a TOML value, which ``read`` parses.

    ``read_flag`` parses the value of the flag, if other than ``read``.
    """

    key: str
    field: str
    flag: Flag
    kind: str
    read: Read
    read_flag: Read | None = None
    judge: Callable[[Evidence], Iterable[Finding]] | None = None
    inputs: frozenset[Input] = frozenset()
    about_offsets: bool = True
    """Whether committed offsets that ACLs hide make the verdict unknown."""

    def is_set(self, limits: Limits) -> bool:
        return is_set(getattr(limits, self.field))


def either(evidence: Evidence, check: str, well: bool, message: str, expected: str) -> Finding:
    """Return a finding that is OK or CRITICAL."""
    if well:
        return Finding(evidence.name, check, Severity.OK, message)
    return Finding(evidence.name, check, Severity.CRITICAL, f"{message}; {expected}")
