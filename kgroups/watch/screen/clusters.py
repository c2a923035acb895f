"""The totals of several clusters, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgroups.render.cells import escape

from ..state.cluster_totals import ClusterTotal
from ..state.watching import remark_of
from .columns import aligned, cell_text

_NAMED = 3
"""Maximum number of lines about the failures of one cluster."""
_HEADERS = (
    "CLUSTER",
    "#GROUPS",
    "CRITICAL",
    "WARNING",
    "STABLE",
    "EMPTY",
    "REBALANCING",
    "OTHER-STATE",
    "LAGGING",
    "TOTAL-LAG",
    "KNOWN-LAG",
    "UNKNOWN-LAG",
)


def named_failures(lines: Sequence[str], height: int, more: str | None) -> Sequence[str]:
    """Return the lines below the table. Of several clusters, there are more, and the last one counts those omitted.

    :param more: where these are shown; ``None`` with only one cluster.
    """
    most = _NAMED if more is None else max(_NAMED, height // 4)
    if more is not None and len(lines) > most:
        return [*lines[: most - 1], f"{len(lines) - most + 1} more{more}"]
    return lines[:most]


def cluster_lines(totals: Sequence[ClusterTotal], width: int) -> Iterator[str]:
    """Yield the lines of the table of the clusters."""
    cells: list[tuple[str, ...]] = [_HEADERS]
    for each in totals:
        stale = " (stale)" if each.stale else ""
        remark = remark_of(each.ahead, each.data_lost)
        known = cell_text(each.known_lag) + (f" ({remark})" if remark else "")
        statuses = each.groups, each.critical, each.warning
        states = each.stable, each.empty, each.rebalancing, each.other_state
        counts = map(cell_text, (*statuses, *states, each.lagging, each.total_lag))
        cells.append((f"{escape(each.cluster)}{stale}", *counts, known, cell_text(each.unknown)))
    yield from aligned(cells, width)
