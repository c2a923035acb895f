"""The view of ``list --by cluster``."""

from __future__ import annotations

from kgroups.model.views.cluster_groups import ClusterGroupsRow

from . import columns
from .views import Align, Column, Sooner, Tier, View, columns_of, some_above_zero

_R, _B, _W = Align.RIGHT, Tier.BASE, Tier.WIDE
_IF_ANY = Sooner(_B, some_above_zero)

LIST_BY_CLUSTER = View(
    "list-by-cluster",
    "Groups of clusters",
    columns_of(
        ClusterGroupsRow,
        columns.CLUSTER_ID,
        columns.GROUPS,
        Column("LISTED", "listed", "Groups in the list.", _R, _W),
        Column("STABLE", "stable", "Groups in the state Stable.", _R),
        Column("EMPTY", "empty", "Groups in the state Empty.", _R),
        Column("REBALANCING", "rebalancing", "Groups that rebalance.", _R),
        Column("OTHER-STATE", "other_state", "Groups in another state.", _R, _W, _IF_ANY),
        Column("UNKNOWN-STATE", "unknown_state", "Groups whose state the brokers do not report.", _R, _W, _IF_ANY),
        Column("CLASSIC", "classic", "Groups of the type classic.", _R, _W),
        Column("CONSUMER", "consumer", "Groups of the type consumer.", _R, _W),
        Column("SHARE", "share", "Groups of the type share.", _R, _W),
        Column("STREAMS", "streams", "Groups of the type streams.", _R, _W),
        Column("UNKNOWN-TYPE", "unknown_type", "Groups whose type the brokers do not report.", _R, _W),
    ),
    drops=("cluster_id",),
)
