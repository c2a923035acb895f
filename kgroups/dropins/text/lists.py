"""Lists of groups, byte-identical to those of Kafka's own tools except for the order.

Groups are sorted by name; the Java tools sort by a hash or by the order of the brokers' responses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgroups.model.groups import ListedGroup

from .text import NAME, UNKNOWN, Show, pad, widest

_LISTED = 20
_GAP = 10
"""Number by which the column of names in a list is wider than the longest name."""


def list_text(groups: Sequence[ListedGroup], *, types: bool, states: bool, show: Show = str) -> Iterator[str]:
    """Yield ``kafka-consumer-groups --list``: bare names, one per line; a table with ``--type`` or ``--state``.

    An empty table also has a header.
    """
    if not (types or states):
        for group in groups:
            yield f"{show(group.group)}\n"
        return
    wide = widest(NAME, (show(group.group) for group in groups)) + _GAP
    rows = [("GROUP", "TYPE", "STATE")]
    rows += [(show(group.group), show(group.type or UNKNOWN), show(group.state or UNKNOWN)) for group in groups]
    for name, group_type, state in rows:
        cells = [pad(name, wide), *([f"{group_type:20}"] if types else []), *([f"{state:20}"] if states else [])]
        yield " ".join(cells) + "\n"


def short_list_text(groups: Sequence[ListedGroup], *, states: bool, show: Show = str) -> Iterator[str]:
    """Yield ``--list`` of share and streams groups: bare names, one per line; with ``--state`` a table."""
    if not states:
        yield from list_text(groups, types=False, states=False, show=show)
        return
    wide = widest(NAME, (show(group.group) for group in groups))
    rows = [("GROUP", "STATE"), *((show(group.group), show(group.state or UNKNOWN)) for group in groups)]
    for name, state in rows:
        yield f"{pad(name, wide)} {state}\n"


def groups_text(groups: Sequence[ListedGroup], show: Show = str) -> Iterator[str]:
    """Yield ``kafka-groups --list``: columns as wide as the longest cell; rows, not the header, end with a blank."""
    rows = [(show(group.group), show(group.type or ""), show(group.protocol_type)) for group in groups]
    wide = widest(_LISTED, (cell for row in rows for cell in row))
    yield " ".join(pad(name, wide) for name in ("GROUP", "TYPE", "PROTOCOL")) + "\n"
    for row in rows:
        yield "".join(f"{pad(cell, wide)} " for cell in row) + "\n"
