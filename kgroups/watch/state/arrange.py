"""Sort and filter the rows of a watch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from fnmatch import translate
from typing import Any, NamedTuple

from kgroups.model.groups import is_glob
from kgroups.model.status import Status

from .watching import WatchRow


class Order(StrEnum):
    """Sort order of the rows."""

    STATUS = "status"
    LAG = "lag"
    GROUP = "group"
    RATE = "rate"
    STATE = "state"
    REBALANCES = "rebalances"
    MEMBERS = "members"
    WRITES = "writes"
    CATCH_UP = "catch-up"
    CLUSTER = "cluster"


class ShownLag(NamedTuple):
    """The number in the column LAG: the total, the last known total (``old``), or a lower bound (``least``)."""

    value: int | None
    old: bool = False
    least: bool = False


def shown_lag(row: WatchRow) -> ShownLag:
    """Return the number in the column LAG."""
    if row.total_lag is not None:
        return ShownLag(row.total_lag, old=row.stale)
    if row.last_lag is not None and row.last_lag >= (row.known_lag or 0):
        return ShownLag(row.last_lag, old=True)
    return ShownLag(row.known_lag, least=True) if row.known_lag else ShownLag(None)


def catch_up(row: WatchRow) -> float | None:
    """Return the milliseconds until the lag is 0, infinity if it never is, and ``None`` if unknown or steady."""
    if row.catch_up_ms is not None:
        return row.catch_up_ms
    return float("inf") if row.falls_behind else None


def _badness() -> Callable[[WatchRow], tuple[int, int]]:
    """Return a function whose value is larger, the worse the status is, and among equal ones, the larger the lag."""
    badness: dict[tuple[Status, int], int] = {}

    def of(row: WatchRow) -> tuple[int, int]:
        status, severity, _ = row.status
        key = status, int(severity)
        bad = badness.get(key)
        if bad is None:
            first, second = row.status.rank
            bad = badness[key] = -(first * len(Status) + second)
        lag = row.total_lag
        return bad, (shown_lag(row).value or 0) if lag is None else lag

    return of


_NUMBERS: dict[Order, Callable[[WatchRow], Any]] = {
    Order.STATUS: _badness(),
    Order.LAG: lambda row: shown_lag(row).value,
    Order.RATE: lambda row: row.rate_out,
    Order.REBALANCES: lambda row: row.rebalances,
    Order.MEMBERS: lambda row: row.members,
    Order.WRITES: lambda row: row.rate_in,
    Order.CATCH_UP: catch_up,
}


_TEXTS: dict[Order, Callable[[WatchRow], str]] = {
    Order.GROUP: lambda row: row.group,
    Order.STATE: lambda row: row.state,
    Order.CLUSTER: lambda row: row.cluster,
}


ASCENDING = frozenset(_TEXTS)
"""The orders that begin with the least value, unless reversed."""


def arrange(rows: Iterable[WatchRow], order: Order, *, backwards: bool = False) -> list[WatchRow]:
    """Sort rows: names and states ascending, numbers descending, the worst status first, or reversed if ``backwards``.

    Groups with unknown numbers are last in both directions; equal rows are sorted by name, then by cluster.
    """
    arranged = sorted(rows, key=lambda row: (row.group, row.cluster))
    number = _NUMBERS.get(order)
    if number is None:
        arranged.sort(key=_TEXTS[order], reverse=backwards)
        return arranged
    keyed = [(number(row), row) for row in arranged]
    known = [(value, row) for value, row in keyed if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=not backwards)
    return [*(row for _, row in known), *(row for value, row in keyed if value is None)]


Compile = Callable[[str, bool], Callable[[str], bool]]
"""Compiles a regular expression into a test of names. If the second argument is true, it matches whole names as
``--regex`` does; otherwise parts of them, regardless of case. Raises ``KgroupsError`` if it is invalid."""


class Filter(NamedTuple):
    """A test of names, and how its text was read: as ``text``, ``glob``, or ``regex``."""

    kind: str
    matches: Callable[[str], bool]
    inverse: bool = False

    def shows(self, *names: str) -> bool:
        """Return whether one of the names matches, or with ``inverse``, none of them."""
        return any(map(self.matches, names)) is not self.inverse


EVERYTHING = Filter("text", lambda name: True)


def filter_of(pattern: str, compile_regex: Compile) -> Filter:
    """Parse a filter: text that a name contains, a glob of whole names, or ``/REGEX/``; ``!`` in front inverts.

    ``^``, ``$``, and ``|`` also make it a regular expression, and ``~REGEX`` must match whole names. The last ``/`` may
    be missing: it is not there yet while the filter is typed.

    :raises KgroupsError: if a regular expression is invalid.
    """
    text = pattern.removeprefix("!")
    if text.startswith("~"):
        kind, matches = "regex", compile_regex(text[1:], True)
    elif text.startswith("/") or any(char in text for char in "^$|"):
        inner = text[1:].removesuffix("/") if text.startswith("/") else text
        kind, matches = "regex", compile_regex(inner, False)
    elif is_glob(text):
        kind, matches = "glob", _glob(text.casefold())
    else:
        folded = text.casefold()
        kind, matches = "text", lambda name: folded in name.casefold()
    if not text.strip("/~"):
        return EVERYTHING._replace(kind=kind)
    return Filter(kind, matches, inverse=text != pattern)


def _glob(folded: str) -> Callable[[str], bool]:
    """Return a test whether a whole name matches a glob, or contains its text, as in ``a[1]``; regardless of case."""
    match = re.compile(translate(folded)).match  # takes time linear in * and the name
    return lambda name: match(name.casefold()) is not None or folded in name.casefold()
