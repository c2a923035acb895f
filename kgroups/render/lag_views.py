"""The views of ``kgroups lag``, one for each aggregation."""

from __future__ import annotations

from kgroups.model.status import Status, rank_of
from kgroups.model.views.lag_rows import ClusterLagRow, GroupLagRow, MemberLagRow, PartitionLagRow, TopicLagRow

from . import columns
from .views import Align, Column, Sooner, Tier, View, columns_of, some_above_zero

_L, _R = Align.LEFT, Align.RIGHT
_B, _W, _A = Tier.BASE, Tier.WIDE, Tier.ASKED

STATUS = Column(
    "STATUS",
    "status",
    "What one sample proves about the group, worst first: "
    + ", ".join(Status)
    + ". Null: the group cannot be described.",
    Align.LEFT,
    Tier.ASKED,
    order=rank_of,
)
"""Also of other views of groups; not in ``columns``, which ``kgroups list`` imports."""

_AHEAD = Column(
    "AHEAD",
    "ahead",
    "Partitions whose committed offset is beyond the log end offset.",
    _R,
    _W,
    Sooner(_B, some_above_zero),
)
_BEHIND = Column("BEHIND", "behind", "Partitions whose lag is above 0.", _R)
_DATA_LOST = Column(
    "DATA-LOST",
    "data_lost",
    "Partitions whose committed offset is below the log start offset: records were deleted unread.",
    _R,
    _W,
    Sooner(_B, some_above_zero),
)
_MAX_LAG = Column("MAX-LAG", "max_lag", "Largest lag, in records.", _R)
_TIME_LAG_MS = Column(
    "TIME-LAG", "time_lag_ms", "Age of the first unread record in ms. Null without --time, and if unknown.", _R, _A
)
_UNCOMMITTED = Column("UNCOMMITTED", "uncommitted", "Partitions without a committed offset.", _R)
_UNKNOWN = Column(
    "UNKNOWN",
    "unknown",
    "Partitions with a committed offset, but an unknown log end offset.",
    _R,
    _W,
    Sooner(_B, some_above_zero),
)
_HEADROOM: tuple[Column, ...] = (
    Column(
        "HEADROOM",
        "headroom_ms",
        "Time in ms until the first unread record is deleted. Null without --headroom, or if unknown.",
        _R,
        _A,
    ),
    Column(
        "HEADROOM-MAX",
        "headroom_max_ms",
        "Upper bound of headroom_ms. Null without --headroom, and if unknown.",
        _R,
        _A,
    ),
    Column(
        "HEADROOM-BY",
        "headroom_by",
        "The setting that deletes the first unread record. Null without --headroom, and if unknown.",
        _L,
        _A,
    ),
)
_UNREAD: tuple[Column, ...] = (
    Column(
        "UNREAD",
        "unread_min",
        "Number of unread records, or a lower bound. Null without --exact, and if unknown.",
        _R,
        _A,
    ),
    Column(
        "UNREAD-MAX",
        "unread_max",
        "Upper bound of the number of unread records. Null without --exact, and if unknown.",
        _R,
        _A,
    ),
)
_TALLY: tuple[Column, ...] = (
    columns.TOTAL_LAG,
    columns.KNOWN_LAG,
    _MAX_LAG,
    Column("MAX-TOPIC", "max_topic", "Topic of the partition with the largest lag.", _L, _W),
    Column("MAX-PARTITION", "max_partition", "Partition with the largest lag.", _R, _W),
    columns.PARTITIONS,
    _BEHIND,
    _UNCOMMITTED,
    _UNKNOWN,
    _AHEAD,
    _DATA_LOST,
    *_UNREAD,
    _TIME_LAG_MS,
    *_HEADROOM,
    columns.NOTE,
)

_COUNTS = ("max_lag", "partitions")
"""The columns that a narrow terminal omits first, for each view of sums."""

_PROBLEMS = ("behind", "unknown", "ahead", "data_lost")
"""Those that it omits last."""

GROUP_LAG = View(
    "lag",
    "Lag of groups",
    columns_of(
        GroupLagRow,
        columns.GROUP,
        columns.STATE,
        STATUS,
        columns.MEMBERS._replace(doc="Number of members. Null: Kafka does not report it."),
        *_TALLY,
    ),
    drops=(*_COUNTS, "members", "uncommitted", *_PROBLEMS),
)

TOPIC_LAG = View(
    "lag-by-topic",
    "Lag of groups by topic",
    columns_of(TopicLagRow, columns.GROUP, columns.TOPIC, *_TALLY),
    drops=(*_COUNTS, "uncommitted", *_PROBLEMS),
)

PARTITION_LAG = View(
    "lag-by-partition",
    "Lag of groups by partition",
    columns_of(
        PartitionLagRow,
        columns.GROUP,
        columns.TOPIC,
        columns.PARTITION,
        columns.CURRENT_OFFSET,
        columns.START_OFFSET,
        columns.LOG_START_OFFSET,
        columns.LOG_END_OFFSET,
        columns.LAG,
        *_UNREAD,
        _TIME_LAG_MS,
        *_HEADROOM,
        columns.CONSUMER_ID.at(_W),
        columns.HOST.at(_W),
        columns.CLIENT_ID.at(_W),
        columns.GROUP_INSTANCE_ID.at(_W),
        columns.NOTE,
    ),
    drops=("start_offset", "log_end_offset", "current_offset"),
)

MEMBER_LAG = View(
    "lag-by-member",
    "Lag of groups by member",
    columns_of(
        MemberLagRow,
        columns.GROUP,
        columns.CONSUMER_ID,
        columns.GROUP_INSTANCE_ID,
        columns.HOST.at(_W),
        columns.CLIENT_ID.at(_W),
        *_TALLY,
    ),
    drops=(*_COUNTS, "group_instance_id", "uncommitted", *_PROBLEMS),
)

CLUSTER_LAG = View(
    "lag-by-cluster",
    "Lag of clusters",
    columns_of(
        ClusterLagRow,
        columns.CLUSTER_ID,
        columns.GROUPS,
        columns.TOTAL_LAG,
        columns.KNOWN_LAG.at(_B),
        _MAX_LAG,
        Column("MAX-GROUP", "max_group", "Group with the largest lag."),
        Column("LAGGING-GROUPS", "lagging_groups", "Groups with a partition whose lag is above 0.", _R),
        Column("UNKNOWN-GROUPS", "unknown_groups", "Groups whose lag is unknown, at least in part.", _R),
        columns.PARTITIONS.at(_W),
        _BEHIND.at(_W),
        _UNCOMMITTED.at(_W),
        _UNKNOWN.at(_W),
        _AHEAD,
        _DATA_LOST,
        Column("#LISTED", "listed", "Groups in the list.", _R, _W),
        columns.NOTE,
    ),
    drops=("max_group", "max_lag", "cluster_id"),
)

LAG_VIEWS = {"group": GROUP_LAG, "topic": TOPIC_LAG, "partition": PARTITION_LAG, "member": MEMBER_LAG}
"""Value of ``--by`` -> view; the view of ``cluster`` has other columns."""
