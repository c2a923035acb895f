"""The records that a group coordinator writes, as data: every type and every version of its value, since Kafka 0.8.

Names come from Kafka's message definitions (``common/message/*Key.json`` and ``*Value.json`` in the jar
kafka-group-coordinator), where a test compares them. Ids 9 and 18 were never released.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..record_schemas import Field, RecordType

_COMMIT_KEY = (Field("group", "string"), Field("topic", "string"), Field("partition", "int32"))
_GROUP_KEY = (Field("GroupId", "string"),)
_MEMBER_KEY = (Field("GroupId", "string"), Field("MemberId", "string"))

_EPOCH_AND_HASH = (Field("Epoch", "int32"), Field("MetadataHash", "int64"))
_TARGET_METADATA = (Field("AssignmentEpoch", "int32"), Field("AssignmentTimestamp", "int64", tag=0))
_MEMBER_EPOCHS = (Field("MemberEpoch", "int32"), Field("PreviousMemberEpoch", "int32"), Field("State", "int8"))
_PARTITIONS = (Field("TopicId", "uuid"), Field("Partitions", "[]int32"))
_TARGET_PARTITIONS = (Field("TopicPartitions", "[]TopicPartition", _PARTITIONS),)
_EPOCH_OF_EACH = Field("AssignmentEpochs", "[]int32", nullable=True, tag=0)
_OWNED = (*_PARTITIONS, _EPOCH_OF_EACH)
_NAMED_PARTITIONS = (Field("TopicId", "uuid"), Field("TopicName", "string"), Field("Partitions", "[]int32"))
_TASKS = (Field("SubtopologyId", "string"), Field("Partitions", "[]int32"))
_OWNED_TASKS = (*_TASKS, _EPOCH_OF_EACH)
_KEY_VALUE = (Field("Key", "string"), Field("Value", "string"))
_TOPIC_INFO = (
    Field("Name", "string"),
    Field("Partitions", "int32"),
    Field("ReplicationFactor", "int16"),
    Field("TopicConfigs", "[]TopicConfig", (Field("key", "string"), Field("value", "string"))),
)

_COMMITS = (
    # Written for clients before Kafka 0.9; never since.
    RecordType(
        0,
        "LegacyOffsetCommit",
        _COMMIT_KEY,
        (Field("offset", "int64"), Field("metadata", "string"), Field("commitTimestamp", "int64")),
        flexible="none",
    ),
    # v1 with the retention time of the client · v3 leader epoch (KIP-320) · v4 flexible, with topic ID (Kafka 4.1)
    RecordType(
        1,
        "OffsetCommit",
        _COMMIT_KEY,
        (
            Field("offset", "int64"),
            Field("leaderEpoch", "int32", versions="3+"),
            Field("metadata", "string"),
            Field("commitTimestamp", "int64"),
            Field("expireTimestamp", "int64", versions="1"),
            Field("topicId", "uuid", versions="4+", tag=0),
        ),
        valid="0-4",
        flexible="4+",
    ),
)

_CLASSIC = (
    # v1 rebalance timeout · v2 time of the state · v3 static members (KIP-345) · v4 flexible (KIP-915)
    RecordType(
        2,
        "GroupMetadata",
        (Field("group", "string"),),
        (
            Field("protocolType", "string"),
            Field("generation", "int32"),
            Field("protocol", "string", nullable=True),
            Field("leader", "string", nullable=True),
            Field("currentStateTimestamp", "int64", versions="2+"),
            Field(
                "members",
                "[]MemberMetadata",
                (
                    Field("memberId", "string"),
                    Field("groupInstanceId", "string", versions="3+", nullable=True),
                    Field("clientId", "string"),
                    Field("clientHost", "string"),
                    Field("rebalanceTimeout", "int32", versions="1+"),
                    Field("sessionTimeout", "int32"),
                    Field("subscription", "bytes"),
                    Field("assignment", "bytes"),
                ),
            ),
        ),
        valid="0-4",
        flexible="4+",
    ),
)

_CONSUMER = (
    RecordType(
        3,
        "ConsumerGroupMetadata",
        _GROUP_KEY,
        (Field("Epoch", "int32"), Field("MetadataHash", "int64", tag=0)),
    ),
    # Up to Kafka 4.0; replaced by the hash above.
    RecordType(
        4,
        "ConsumerGroupPartitionMetadata",
        _GROUP_KEY,
        (
            Field(
                "Topics",
                "[]TopicMetadata",
                (
                    Field("TopicId", "uuid"),
                    Field("TopicName", "string"),
                    Field("NumPartitions", "int32"),
                    Field(
                        "PartitionMetadata",
                        "[]PartitionMetadata",
                        (Field("Partition", "int32"), Field("Racks", "[]string")),
                    ),
                ),
            ),
        ),
    ),
    RecordType(
        5,
        "ConsumerGroupMemberMetadata",
        _MEMBER_KEY,
        (
            Field("InstanceId", "string", nullable=True),
            Field("RackId", "string", nullable=True),
            Field("ClientId", "string"),
            Field("ClientHost", "string"),
            Field("SubscribedTopicNames", "[]string"),
            Field("SubscribedTopicRegex", "string", nullable=True),
            Field("RebalanceTimeoutMs", "int32"),
            Field("ServerAssignor", "string", nullable=True),
            Field(
                "ClassicMemberMetadata",
                "ClassicMemberMetadata",
                (
                    Field("SessionTimeoutMs", "int32"),
                    Field(
                        "SupportedProtocols",
                        "[]ClassicProtocol",
                        (Field("Name", "string"), Field("Metadata", "bytes")),
                    ),
                ),
                nullable=True,
                tag=0,
            ),
        ),
    ),
    RecordType(6, "ConsumerGroupTargetAssignmentMetadata", _GROUP_KEY, _TARGET_METADATA),
    RecordType(7, "ConsumerGroupTargetAssignmentMember", _MEMBER_KEY, _TARGET_PARTITIONS),
    RecordType(
        8,
        "ConsumerGroupCurrentMemberAssignment",
        _MEMBER_KEY,
        (
            *_MEMBER_EPOCHS,
            Field("AssignedPartitions", "[]TopicPartitions", _OWNED),
            Field("PartitionsPendingRevocation", "[]TopicPartitions", _OWNED),
        ),
    ),
    RecordType(
        16,
        "ConsumerGroupRegularExpression",
        (Field("GroupId", "string"), Field("RegularExpression", "string")),
        (Field("Topics", "[]string"), Field("Version", "int64"), Field("Timestamp", "int64")),
    ),
)

_SHARE = (
    RecordType(
        10,
        "ShareGroupMemberMetadata",
        _MEMBER_KEY,
        (
            Field("RackId", "string", nullable=True),
            Field("ClientId", "string"),
            Field("ClientHost", "string"),
            Field("SubscribedTopicNames", "[]string"),
        ),
    ),
    RecordType(11, "ShareGroupMetadata", _GROUP_KEY, _EPOCH_AND_HASH),
    RecordType(12, "ShareGroupTargetAssignmentMetadata", _GROUP_KEY, _TARGET_METADATA),
    RecordType(13, "ShareGroupTargetAssignmentMember", _MEMBER_KEY, _TARGET_PARTITIONS),
    RecordType(
        14,
        "ShareGroupCurrentMemberAssignment",
        _MEMBER_KEY,
        (*_MEMBER_EPOCHS, Field("AssignedPartitions", "[]TopicPartitions", _PARTITIONS)),
    ),
    RecordType(
        15,
        "ShareGroupStatePartitionMetadata",
        _GROUP_KEY,
        (
            Field("InitializingTopics", "[]TopicPartitionsInfo", _NAMED_PARTITIONS),
            Field("InitializedTopics", "[]TopicPartitionsInfo", _NAMED_PARTITIONS),
            Field("DeletingTopics", "[]TopicInfo", (Field("TopicId", "uuid"), Field("TopicName", "string"))),
        ),
    ),
)

_STREAMS = (
    RecordType(
        17,
        "StreamsGroupMetadata",
        _GROUP_KEY,
        (
            *_EPOCH_AND_HASH,
            Field("ValidatedTopologyEpoch", "int32", tag=0, default=-1),
            # The definition does not list versions; brokers read and write it in all.
            Field("LastAssignmentConfigs", "[]LastAssignmentConfig", _KEY_VALUE, nullable=True, tag=1),
            # Since Kafka 4.4 (KIP-1331).
            Field("StoredDescriptionTopologyEpoch", "int32", tag=2, default=-1),
            Field("FailedDescriptionTopologyEpoch", "int32", tag=3, default=-1),
        ),
    ),
    RecordType(
        19,
        "StreamsGroupMemberMetadata",
        _MEMBER_KEY,
        (
            Field("InstanceId", "string", nullable=True),
            Field("RackId", "string", nullable=True),
            Field("ClientId", "string"),
            Field("ClientHost", "string"),
            Field("RebalanceTimeoutMs", "int32"),
            Field("TopologyEpoch", "int32"),
            Field("ProcessId", "string"),
            Field("UserEndpoint", "Endpoint", (Field("Host", "string"), Field("Port", "uint16")), nullable=True),
            Field("ClientTags", "[]KeyValue", _KEY_VALUE),
        ),
    ),
    RecordType(20, "StreamsGroupTargetAssignmentMetadata", _GROUP_KEY, _TARGET_METADATA),
    RecordType(
        21,
        "StreamsGroupTargetAssignmentMember",
        _MEMBER_KEY,
        (
            Field("ActiveTasks", "[]TaskIds", _TASKS),
            Field("StandbyTasks", "[]TaskIds", _TASKS),
            Field("WarmupTasks", "[]TaskIds", _TASKS),
        ),
    ),
    RecordType(
        22,
        "StreamsGroupCurrentMemberAssignment",
        _MEMBER_KEY,
        (
            *_MEMBER_EPOCHS,
            Field("ActiveTasks", "[]TaskIds", _OWNED_TASKS),
            Field("StandbyTasks", "[]TaskIds", _OWNED_TASKS),
            Field("WarmupTasks", "[]TaskIds", _OWNED_TASKS),
            Field("ActiveTasksPendingRevocation", "[]TaskIds", _OWNED_TASKS),
            Field("StandbyTasksPendingRevocation", "[]TaskIds", _OWNED_TASKS),
            Field("WarmupTasksPendingRevocation", "[]TaskIds", _OWNED_TASKS),
        ),
    ),
    RecordType(
        23,
        "StreamsGroupTopology",
        _GROUP_KEY,
        (
            Field("Epoch", "int32"),
            Field(
                "Subtopologies",
                "[]Subtopology",
                (
                    Field("SubtopologyId", "string"),
                    Field("SourceTopics", "[]string"),
                    Field("SourceTopicRegex", "[]string"),
                    Field("StateChangelogTopics", "[]TopicInfo", _TOPIC_INFO),
                    Field("RepartitionSinkTopics", "[]string"),
                    Field("RepartitionSourceTopics", "[]TopicInfo", _TOPIC_INFO),
                    Field(
                        "CopartitionGroups",
                        "[]CopartitionGroup",
                        (
                            Field("SourceTopics", "[]int16"),
                            Field("SourceTopicRegex", "[]int16"),
                            Field("RepartitionSourceTopics", "[]int16"),
                        ),
                    ),
                ),
            ),
        ),
    ),
)

RECORD_TYPES: Final[Mapping[int, RecordType]] = {
    each.id: each for each in (*_COMMITS, *_CLASSIC, *_CONSUMER, *_SHARE, *_STREAMS)
}
"""ID -> record type."""
