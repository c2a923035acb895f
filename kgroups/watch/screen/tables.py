"""Print the groups of a watch as one table after another, for terminals that cannot be redrawn."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from kgroups.model.counts import count
from kgroups.render.cells import escape

from ..state.arrange import Order, arrange
from ..state.cluster_totals import ClusterTotal, summary_of
from ..state.watching import WatchRow
from .clusters import cluster_lines, named_failures
from .table import table_of


def draw(
    rows: Sequence[WatchRow],
    failures: Sequence[str],
    headline: str,
    console: Console,
    totals: Sequence[ClusterTotal] | None = None,
    *,
    several: bool = False,
) -> Group:
    """Render the groups with the worst statuses within the size of the console; the others are counted.

    :param totals: the totals of several clusters, to render instead of groups.
    :param several: whether the groups of several clusters are watched.
    """
    width, height = console.size
    named = named_failures(failures, height, "" if several else None)
    room = max(1, height - len(named) - 4)
    shown = arrange(rows, Order.STATUS)
    ascii_only = console.encoding.lower() not in ("utf-8", "utf8")
    table: Table | Text
    if totals is None:
        table = table_of(shown[:room], width, ascii_only=ascii_only, styled=console.color_system is not None)
    else:
        table = Text("\n".join(cluster_lines(totals, width)), no_wrap=True)
        named, room = failures, len(shown)
    hidden = len(shown) - room
    more = f"  … {count(hidden, 'more group')}" if hidden > 0 else ""
    return Group(
        Text(
            f"kgroups watch  {summary_of(rows).text()}  {headline}",
            style="bold",
            overflow="ellipsis",
            no_wrap=True,
        ),
        table,
        *(Text(escape(line), style="red", overflow="ellipsis", no_wrap=True) for line in named),
        *((Text(more, style="dim"),) if more else ()),
    )
