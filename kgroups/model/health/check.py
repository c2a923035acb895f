"""A rule of ``check``: its key in files of rules, which is its flag too, its value, what it needs, and its verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from typing import Any, NamedTuple

from ..views.offset_row import OffsetRow
from .amounts import Unread
from .findings import Finding, Seen
from .limits import Limits, is_set
from .severity import Severity


class Input(Enum):
    """What costs more requests than the offsets of groups."""

    WINDOW = auto()
    """Several samples, and the times of commits at both ends of the window."""
    UNREAD_TIMES = auto()
    COMMIT_TIMES = auto()
    OUTSIDERS = auto()


class Evidence(NamedTuple):
    """What was seen of one group. ``seen``: its samples in their order of time; ``rows``: of the last one."""

    seen: Sequence[Seen]
    rows: Sequence[OffsetRow]
    unread: Unread
    limits: Limits

    @property
    def last(self) -> Seen:
        return self.seen[-1]

    @property
    def name(self) -> str:
        return self.last.offsets.group.group_id


class Flag(NamedTuple):
    """The value on the command line. Without a ``metavar`` it has none; ``kind``: what it is converted to."""

    help: str
    metavar: str | None = None
    kind: type | None = None
    repeated: bool = False


Read = Callable[[Any], Any]
"""Reads a value.

:raises ValueError: if it is invalid; without a text, it is of another kind.
"""


class Check(NamedTuple):
    """``field``: of :class:`Limits`. ``read``: of a value in TOML, which is ``kind``; ``read_flag``: of the flag's."""

    key: str
    field: str
    flag: Flag
    kind: str
    read: Read
    read_flag: Read | None = None
    judge: Callable[[Evidence], Iterable[Finding]] | None = None
    inputs: frozenset[Input] = frozenset()

    def is_set(self, limits: Limits) -> bool:
        return is_set(getattr(limits, self.field))


def either(evidence: Evidence, check: str, well: bool, said: str, expected: str) -> Finding:
    """Return a finding that is OK or CRITICAL."""
    if well:
        return Finding(evidence.name, check, Severity.OK, said)
    return Finding(evidence.name, check, Severity.CRITICAL, f"{said}; {expected}")
