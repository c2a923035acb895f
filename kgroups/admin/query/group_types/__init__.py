"""What differs by the type of a group: how it is described, and where it stands in its topics.

Each type (a :class:`GroupType`) is in files of its own; which of them, is chosen here and nowhere else. They are
imported when a group of their kind is met: most clusters have no others than classic groups and KIP-848 groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kgroups.model.groups import GroupType

if TYPE_CHECKING:
    from kgroups.model.offsets import GroupCommits

    from ...routing.query_coordinators import GroupQuery
    from .describer import Describer


def describer_for(kind: str | None) -> Describer[Any]:
    """How groups of a kind that is described are described; where it is not known, as classic groups."""
    if kind == GroupType.SHARE:
        from . import share

        return share.DESCRIBER
    if kind == GroupType.STREAMS:
        from . import streams

        return streams.DESCRIBER
    from . import consumers

    return consumers.CONSUMER if kind == GroupType.CONSUMER else consumers.CLASSIC


def offsets_query_for(kind: str | None) -> GroupQuery[GroupCommits]:
    """Where groups of a kind, ``None`` where it is not known, stand in their topics."""
    if kind == GroupType.SHARE:
        from .share import STARTS

        return STARTS
    from .consumers import COMMITS

    return COMMITS
