"""A row of the list view."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from ..cluster import Node
from ..groups import ListedGroup


class ListRow(NamedTuple):
    """One group of ``list``."""

    group: str
    type: str | None
    protocol_type: str
    state: str | None
    coordinator: Node


# Every listed group passes through this: it stays in C.
_list_row = partial(tuple.__new__, ListRow)


def list_row(listed: ListedGroup) -> ListRow:
    group, protocol_type, coordinator, state, kind = listed
    return _list_row((group, kind, protocol_type, state, coordinator))
