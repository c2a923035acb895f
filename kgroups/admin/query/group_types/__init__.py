"""Choose the requests that describe a group and fetch its offsets, by group type.

Each :class:`GroupType` has its own module, which is chosen only here, and imported when a group of its type is found:
most clusters have only classic and consumer groups.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from kgroups.model.groups import GroupType
from kgroups.model.offsets import GroupCommits

from ...routing.query_coordinators import GroupQuery
from .describer import Describer

_DESCRIBERS = {
    GroupType.SHARE: ("share", "DESCRIBER"),
    GroupType.STREAMS: ("streams", "DESCRIBER"),
    GroupType.CONSUMER: ("consumers", "CONSUMER"),
}
_OFFSETS = {GroupType.SHARE: ("share", "STARTS")}


def describer_for(group_type: str | None) -> Describer[Any]:
    """Return the describer of a group type; that of classic groups if it is unknown."""
    found: Describer[Any] = _imported(*_DESCRIBERS.get(group_type or "", ("consumers", "CLASSIC")))
    return found


def offsets_query_for(group_type: str | None) -> GroupQuery[GroupCommits]:
    """Return the query for the offsets of a group type; that for commits if it is unknown."""
    found: GroupQuery[GroupCommits] = _imported(*_OFFSETS.get(group_type or "", ("consumers", "COMMITS")))
    return found


@cache
def _imported(module: str, name: str) -> Any:
    return getattr(import_module(f"kgroups.admin.query.group_types.{module}"), name)
