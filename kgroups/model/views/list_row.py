"""Rows of the list view."""

from __future__ import annotations

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


def list_row(listed: ListedGroup) -> ListRow:
    group, protocol_type, coordinator, state, group_type = listed
    return ListRow(group, group_type, protocol_type, state, coordinator)
