"""The groups of whole clusters, counted by state and type."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ..groups import GroupState, GroupType, ListedGroup
from ..outcome import Outcome, is_partial


class ClusterGroupsRow(NamedTuple):
    """The selected groups of one cluster. ``groups`` is ``None`` if the list may be partial; ``listed`` are in it.

    The other fields count listed groups by state and by type. If the broker is too old to report those of some, their
    number is in ``unknown_state`` or ``unknown_type``, and the other counts are ``None``.
    """

    cluster_id: str | None
    groups: int | None
    listed: int
    stable: int | None
    empty: int | None
    rebalancing: int | None
    other_state: int | None
    unknown_state: int
    classic: int | None
    consumer: int | None
    share: int | None
    streams: int | None
    unknown_type: int


def cluster_groups_row(cluster_id: str | None, listed: Outcome[ListedGroup]) -> ClusterGroupsRow:
    """Return the row of one cluster."""
    groups = [each for each in listed.items if each.type != GroupType.SPARK]  # it is not of the cluster
    states = Counter(each.state for each in groups)
    types = Counter(each.type for each in groups)
    count = len(groups)

    def of_states(*wanted: str) -> int | None:
        return None if states[None] else sum(states[state] for state in wanted)

    def of_type(wanted: str) -> int | None:
        return None if types[None] else types[wanted]

    usual = (GroupState.STABLE, GroupState.EMPTY, *GroupState.REBALANCING)
    return ClusterGroupsRow(
        cluster_id,
        None if is_partial(listed) else count,
        count,
        of_states(GroupState.STABLE),
        of_states(GroupState.EMPTY),
        of_states(*GroupState.REBALANCING),
        of_states(*(state for state in states if state and state not in usual)),
        states[None],
        of_type(GroupType.CLASSIC),
        of_type(GroupType.CONSUMER),
        of_type(GroupType.SHARE),
        of_type(GroupType.STREAMS),
        types[None],
    )
