"""The view of ``list --by cluster``."""

from __future__ import annotations

from kgroups.model.views.cluster_groups import ClusterGroupsRow

from .views import Align, Sooner, Tier, View, columns_of, some_above_zero

_L, _R, _B, _W = Align.LEFT, Align.RIGHT, Tier.BASE, Tier.WIDE

_IF_ANY = Sooner(_B, some_above_zero)
LIST_BY_CLUSTER = View(
    "list-by-cluster",
    "Groups of clusters",
    columns_of(
        ClusterGroupsRow,
        ("CLUSTER-ID", "cluster_id", _L, _B, None),
        ("#GROUPS", "groups", _R, _B, None),
        ("LISTED", "listed", _R, _W, None),
        ("STABLE", "stable", _R, _B, None),
        ("EMPTY", "empty", _R, _B, None),
        ("REBALANCING", "rebalancing", _R, _B, None),
        ("OTHER-STATE", "other_state", _R, _W, _IF_ANY),
        ("UNKNOWN-STATE", "unknown_state", _R, _W, _IF_ANY),
        ("CLASSIC", "classic", _R, _W, None),
        ("CONSUMER", "consumer", _R, _W, None),
        ("SHARE", "share", _R, _W, None),
        ("STREAMS", "streams", _R, _W, None),
        ("UNKNOWN-TYPE", "unknown_type", _R, _W, None),
    ),
    drops=("cluster_id",),
)
