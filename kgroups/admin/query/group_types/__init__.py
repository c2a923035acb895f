"""Choose the requests that describe a group and fetch its offsets, by group type.

Each :class:`GroupType` has its own module, which is chosen only here, and imported when a group of its type is found:
most clusters have only classic and consumer groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgroups.model.groups import GroupType

if TYPE_CHECKING:
    from kgroups.model.offsets import GroupCommits

    from ...routing.query_coordinators import GroupQuery
    from .describer import Describer


def describer_for(group_type: str | None) -> Describer[Any]:
    """Return the describer of a group type; that of classic groups if it is unknown."""
    if group_type == GroupType.SHARE:
        from . import share

        return share.DESCRIBER
    if group_type == GroupType.STREAMS:
        from . import streams

        return streams.DESCRIBER
    from . import consumers

    return consumers.CONSUMER if group_type == GroupType.CONSUMER else consumers.CLASSIC


def offsets_query_for(group_type: str | None) -> GroupQuery[GroupCommits]:
    """Return the query for the offsets of a group type; that for commits if it is unknown."""
    if group_type == GroupType.SHARE:
        from .share import STARTS

        return STARTS
    from .consumers import COMMITS

    return COMMITS
