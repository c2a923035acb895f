"""The facts about the share groups among some groups."""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.model.group_log import ReadBudget
from kgroups.model.groups import GroupType
from kgroups.model.views.offset_row import GroupOffsets

from .client import Client, WireOnly, wire_of
from .share_state.gather import Gathered, gather_share_facts


async def share_facts(admin: Client, items: Iterable[GroupOffsets], limits: ReadBudget) -> Gathered:
    """Return what is known about the partitions of share groups; groups of other types are ignored.

    :raises UsageError: if there are share groups, and the transport does not support them.
    """
    shared = [item for item in items if item.group.type == GroupType.SHARE]
    if not shared:
        return Gathered({}, ())
    return await gather_share_facts(wire_of(admin, WireOnly.SHARE_STATES), shared, limits)
