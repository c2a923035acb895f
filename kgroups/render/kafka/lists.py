"""Lists of groups as Kafka's own tools print them, byte for byte as version 4.3.1.

What differs is order: where a Java tool goes by a hash or by what a broker says first, this goes by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgroups.model.groups import ListedGroup

from .text import NAME, UNKNOWN, Show, pad, widest

_LISTED = 20
_GAP = 10
"""By so much is the column of names in a list wider than the longest of them."""


def list_text(groups: Sequence[ListedGroup], *, types: bool, states: bool, show: Show = str) -> Iterator[str]:
    """``kafka-consumer-groups --list``: bare names, one a line; with ``--type`` and ``--state`` a table.

    An empty table has its header, too.
    """
    if not (types or states):
        for group in groups:
            yield f"{show(group.group_id)}\n"
        return
    wide = widest(NAME, (show(group.group_id) for group in groups)) + _GAP
    rows = [("GROUP", "TYPE", "STATE")]
    rows += [(show(group.group_id), show(group.type or UNKNOWN), show(group.state or UNKNOWN)) for group in groups]
    for name, kind, state in rows:
        cells = [pad(name, wide), *([f"{kind:20}"] if types else []), *([f"{state:20}"] if states else [])]
        yield " ".join(cells) + "\n"


def short_list_text(groups: Sequence[ListedGroup], *, states: bool, show: Show = str) -> Iterator[str]:
    """``--list`` of share and of streams groups: bare names, one a line; with ``--state`` a table."""
    if not states:
        yield from list_text(groups, types=False, states=False, show=show)
        return
    wide = widest(NAME, (show(group.group_id) for group in groups))
    rows = [("GROUP", "STATE"), *((show(group.group_id), show(group.state or UNKNOWN)) for group in groups)]
    for name, state in rows:
        yield f"{pad(name, wide)} {state}\n"


def groups_text(groups: Sequence[ListedGroup], show: Show = str) -> Iterator[str]:
    """``kafka-groups --list``: all columns as wide as the longest cell; a blank ends each row, but not the header."""
    rows = [(show(group.group_id), show(group.type or ""), show(group.protocol_type)) for group in groups]
    wide = widest(_LISTED, (cell for row in rows for cell in row))
    yield " ".join(pad(name, wide) for name in ("GROUP", "TYPE", "PROTOCOL")) + "\n"
    for row in rows:
        yield "".join(f"{pad(cell, wide)} " for cell in row) + "\n"
