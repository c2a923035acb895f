"""The views of ``kgroups lag``, one for each aggregation."""

from __future__ import annotations

from kgroups.model.views.cluster_lag import ClusterLagRow
from kgroups.model.views.lag_rows import GroupLagRow, MemberLagRow, PartitionLagRow, TopicLagRow

from .views import Align, Sooner, Spec, Tier, View, columns_of, some_above_zero, some_value

_L, _R = Align.LEFT, Align.RIGHT
_B, _W, _A = Tier.BASE, Tier.WIDE, Tier.ASKED


_HEADROOM: tuple[Spec, ...] = (
    ("HEADROOM", "headroom_ms", _R, _A, None),
    ("HEADROOM-MAX", "headroom_max_ms", _R, _A, None),
    ("HEADROOM-BY", "headroom_by", _L, _A, None),
)
_UNREAD: tuple[Spec, ...] = (
    ("UNREAD", "unread_min", _R, _A, None),
    ("UNREAD-MAX", "unread_max", _R, _A, None),
)
_TALLY: tuple[Spec, ...] = (
    ("TOTAL-LAG", "total_lag", _R, _B, None),
    ("KNOWN-LAG", "known_lag", _R, _W, None),
    ("MAX-LAG", "max_lag", _R, _B, None),
    ("MAX-TOPIC", "max_topic", _L, _W, None),
    ("MAX-PARTITION", "max_partition", _R, _W, None),
    ("#PARTITIONS", "partitions", _R, _B, None),
    ("BEHIND", "behind", _R, _B, None),
    ("UNCOMMITTED", "uncommitted", _R, _B, None),
    ("UNKNOWN", "unknown", _R, _W, Sooner(_B, some_above_zero)),
    ("AHEAD", "ahead", _R, _W, Sooner(_B, some_above_zero)),
    ("DATA-LOST", "data_lost", _R, _W, Sooner(_B, some_above_zero)),
    *_UNREAD,
    ("TIME-LAG", "time_lag_ms", _R, _A, None),
    *_HEADROOM,
    ("NOTE", "note", _L, _W, Sooner(_B, some_value)),
)

_COUNTS = ("max_lag", "partitions")
"""What a narrow terminal omits first of each view of sums."""

GROUP_LAG = View(
    "lag",
    "Lag of groups",
    columns_of(
        GroupLagRow,
        ("GROUP", "group", _L, _B, None),
        ("STATE", "state", _L, _B, None),
        ("#MEMBERS", "members", _R, _B, None),
        *_TALLY,
    ),
    drops=(*_COUNTS, "members", "uncommitted"),
)

TOPIC_LAG = View(
    "lag-by-topic",
    "Lag of groups by topic",
    columns_of(TopicLagRow, ("GROUP", "group", _L, _B, None), ("TOPIC", "topic", _L, _B, None), *_TALLY),
    drops=(*_COUNTS, "uncommitted"),
)

PARTITION_LAG = View(
    "lag-by-partition",
    "Lag of groups by partition",
    columns_of(
        PartitionLagRow,
        ("GROUP", "group", _L, _B, None),
        ("TOPIC", "topic", _L, _B, None),
        ("PARTITION", "partition", _R, _B, None),
        ("CURRENT-OFFSET", "current_offset", _R, _B, None),
        ("START-OFFSET", "start_offset", _R, _W, Sooner(_B, some_value)),
        ("LOG-START-OFFSET", "log_start_offset", _R, _W, None),
        ("LOG-END-OFFSET", "log_end_offset", _R, _B, None),
        ("LAG", "lag", _R, _B, None),
        *_UNREAD,
        ("TIME-LAG", "time_lag_ms", _R, _A, None),
        *_HEADROOM,
        ("CONSUMER-ID", "consumer_id", _L, _W, None),
        ("HOST", "host", _L, _W, None),
        ("CLIENT-ID", "client_id", _L, _W, None),
        ("GROUP-INSTANCE-ID", "group_instance_id", _L, _W, None),
        ("NOTE", "note", _L, _W, Sooner(_B, some_value)),
    ),
    drops=("start_offset", "log_end_offset", "current_offset"),
)

MEMBER_LAG = View(
    "lag-by-member",
    "Lag of groups by member",
    columns_of(
        MemberLagRow,
        ("GROUP", "group", _L, _B, None),
        ("CONSUMER-ID", "consumer_id", _L, _B, None),
        ("GROUP-INSTANCE-ID", "group_instance_id", _L, _W, Sooner(_B, some_value)),
        ("HOST", "host", _L, _W, None),
        ("CLIENT-ID", "client_id", _L, _W, None),
        *_TALLY,
    ),
    drops=(*_COUNTS, "group_instance_id", "uncommitted"),
)

CLUSTER_LAG = View(
    "lag-by-cluster",
    "Lag of clusters",
    columns_of(
        ClusterLagRow,
        ("CLUSTER-ID", "cluster_id", _L, _B, None),
        ("#GROUPS", "groups", _R, _B, None),
        ("TOTAL-LAG", "total_lag", _R, _B, None),
        ("KNOWN-LAG", "known_lag", _R, _B, None),
        ("MAX-LAG", "max_lag", _R, _B, None),
        ("MAX-GROUP", "max_group", _L, _B, None),
        ("LAGGING-GROUPS", "lagging_groups", _R, _B, None),
        ("UNKNOWN-GROUPS", "unknown_groups", _R, _B, None),
        ("#PARTITIONS", "partitions", _R, _W, None),
        ("BEHIND", "behind", _R, _W, None),
        ("UNCOMMITTED", "uncommitted", _R, _W, None),
        ("UNKNOWN", "unknown", _R, _W, None),
        ("AHEAD", "ahead", _R, _W, Sooner(_B, some_above_zero)),
        ("DATA-LOST", "data_lost", _R, _W, Sooner(_B, some_above_zero)),
        ("#LISTED", "listed", _R, _W, None),
        ("NOTE", "note", _L, _W, Sooner(_B, some_value)),
    ),
    drops=("max_group", "max_lag", "cluster_id"),
)

LAG_VIEWS = {"group": GROUP_LAG, "topic": TOPIC_LAG, "partition": PARTITION_LAG, "member": MEMBER_LAG}
"""Value of ``--by`` -> view; that of ``cluster`` has other columns."""
