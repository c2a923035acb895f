"""The columns that several views share: each once, with its meaning."""

from __future__ import annotations

from .views import Align, Column, Sooner, Tier, some_value

_L, _R = Align.LEFT, Align.RIGHT
_B, _V, _W = Tier.BASE, Tier.VERBOSE, Tier.WIDE

ASSIGNMENT_STRATEGY = Column("ASSIGNMENT-STRATEGY", "assignment_strategy", "Name of the assignor.")
BOOTSTRAP = Column("BOOTSTRAP", "bootstrap", "Bootstrap servers.")
CLIENT_ID = Column("CLIENT-ID", "client_id", "Client ID of the member. Null: no member.")
CLUSTER_ID = Column("CLUSTER-ID", "cluster_id", "ID of the cluster.")
CONSUMER_ID = Column("CONSUMER-ID", "consumer_id", "Member ID. Null: no member.")
COORDINATOR = Column("COORDINATOR (ID)", "coordinator", "The broker that coordinates the group.")
CURRENT_OFFSET = Column("CURRENT-OFFSET", "current_offset", "Committed offset. Null: none, or unknown.", _R)
GENERATION = Column(
    "GENERATION",
    "generation",
    "Generation of a classic group; of a member, that of the partitions that it owned.",
    _R,
    Tier.RARE,
    Sooner(_V, some_value),
)
GROUP = Column("GROUP", "group", "Group ID.")
GROUP_EPOCH = Column("GROUP-EPOCH", "group_epoch", "Epoch of the group.", _R, _V)
GROUP_INSTANCE_ID = Column(
    "GROUP-INSTANCE-ID",
    "group_instance_id",
    "group.instance.id of a static member. Null: a dynamic member, or no member.",
    _L,
    _W,
    Sooner(_B, some_value),
)
GROUPS = Column("#GROUPS", "groups", "Number of groups.", _R)
HOST = Column("HOST", "host", "Host of the member, as brokers report it. Null: no member.")
KEY = Column("KEY", "key", "Name of the setting.")
KNOWN_LAG = Column("KNOWN-LAG", "known_lag", "Sum of the known lags, in records.", _R, _W)
LAG = Column(
    "LAG",
    "lag",
    "Log end offset minus committed offset, in records; negative if the commit is beyond the end. Null: "
    "unknown, also without a commit.",
    _R,
)
LOG_END_OFFSET = Column("LOG-END-OFFSET", "log_end_offset", "Log end offset.", _R)
LOG_START_OFFSET = Column("LOG-START-OFFSET", "log_start_offset", "Log start offset.", _R, _W)
MEMBERS = Column("#MEMBERS", "members", "Number of members.", _R)
METADATA_BYTES = Column(
    "METADATA-BYTES", "metadata_bytes", "Size of the metadata of the member in bytes.", _R, _V, Sooner(_B, some_value)
)
NOTE = Column("NOTE", "note", "What is unusual about the row, in words. Null: nothing.", _L, _W, Sooner(_B, some_value))
ORIGIN = Column("ORIGIN", "origin", "Where the value is set.")
PARTITION = Column("PARTITION", "partition", "Partition number.", _R)
PARTITIONS = Column("#PARTITIONS", "partitions", "Number of partitions.", _R)
PROTOCOL_TYPE = Column("PROTOCOL-TYPE", "protocol_type", "Protocol type, such as consumer or connect.", _L, _W)
START_OFFSET = Column(
    "START-OFFSET",
    "start_offset",
    "Start offset of a share group, which has no committed offsets.",
    _R,
    _W,
    Sooner(_B, some_value),
)
STATE = Column("STATE", "state", "State of the group.")
SUBSCRIPTION = Column("SUBSCRIPTION", "subscription", "What the member subscribes to.", _L, _V)
TARGET_ASSIGNMENT_EPOCH = Column(
    "TARGET-ASSIGNMENT-EPOCH", "target_assignment_epoch", "Epoch of the target assignment.", _R, _V
)
TOPIC = Column("TOPIC", "topic", "Topic.")
TOPOLOGY_EPOCH = Column(
    "TOPOLOGY-EPOCH",
    "topology_epoch",
    "Epoch of the topology of a streams group.",
    _R,
    Tier.RARE,
    Sooner(_V, some_value),
)
TOTAL_LAG = Column(
    "TOTAL-LAG", "total_lag", "Sum of the lags, in records. Null: the lag of a partition is unknown.", _R
)
TYPE = Column("TYPE", "type", "Group type: Classic, Consumer, Share, or Streams.", _L, _W)
VALUE = Column("VALUE", "value", "Value in effect.")
