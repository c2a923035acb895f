"""Sort and filter the rows of a watch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple

from .watching import WatchRow


class Order(StrEnum):
    """Sort order of the rows."""

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


_NUMBERS: dict[Order, Callable[[WatchRow], float | None]] = {
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


def arrange(rows: Iterable[WatchRow], order: Order, *, backwards: bool = False) -> list[WatchRow]:
    """Sort rows: names and states ascending, numbers descending, or the opposite if ``backwards``.

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


def shows_text(text: str) -> Callable[[str], bool]:
    """Return a test whether a name contains a text, regardless of case."""
    folded = text.casefold()
    return lambda name: folded in name.casefold()
