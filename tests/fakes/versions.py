"""API versions that brokers of each Kafka version report, measured, for the APIs that kgroups uses."""

from __future__ import annotations

from collections.abc import Mapping

FETCH, LIST_OFFSETS, METADATA, OFFSET_FETCH, FIND_COORDINATOR = 1, 2, 3, 9, 10
OFFSET_FOR_LEADER_EPOCH = 23
DESCRIBE_GROUPS, LIST_GROUPS, API_VERSIONS, CONSUMER_GROUP_DESCRIBE = 15, 16, 18, 69
OFFSET_COMMIT, LEAVE_GROUP, DELETE_GROUPS, OFFSET_DELETE = 8, 13, 42, 47
SHARE_GROUP_DESCRIBE, DESCRIBE_SHARE_GROUP_OFFSETS = 77, 90
ALTER_SHARE_GROUP_OFFSETS, DELETE_SHARE_GROUP_OFFSETS = 91, 92
DELETE_TOPICS, STREAMS_GROUP_DESCRIBE = 20, 89
DESCRIBE_ACLS, DESCRIBE_CONFIGS, DESCRIBE_LOG_DIRS, INCREMENTAL_ALTER_CONFIGS = 29, 32, 35, 44

NAMES = {
    FETCH: "Fetch",
    LIST_OFFSETS: "ListOffsets",
    METADATA: "Metadata",
    OFFSET_FETCH: "OffsetFetch",
    FIND_COORDINATOR: "FindCoordinator",
    DESCRIBE_GROUPS: "DescribeGroups",
    LIST_GROUPS: "ListGroups",
    API_VERSIONS: "ApiVersions",
    CONSUMER_GROUP_DESCRIBE: "ConsumerGroupDescribe",
    OFFSET_COMMIT: "OffsetCommit",
    OFFSET_FOR_LEADER_EPOCH: "OffsetForLeaderEpoch",
    LEAVE_GROUP: "LeaveGroup",
    DELETE_GROUPS: "DeleteGroups",
    OFFSET_DELETE: "OffsetDelete",
    SHARE_GROUP_DESCRIBE: "ShareGroupDescribe",
    DESCRIBE_SHARE_GROUP_OFFSETS: "DescribeShareGroupOffsets",
    ALTER_SHARE_GROUP_OFFSETS: "AlterShareGroupOffsets",
    DELETE_SHARE_GROUP_OFFSETS: "DeleteShareGroupOffsets",
    DELETE_TOPICS: "DeleteTopics",
    STREAMS_GROUP_DESCRIBE: "StreamsGroupDescribe",
    DESCRIBE_ACLS: "DescribeAcls",
    DESCRIBE_CONFIGS: "DescribeConfigs",
    DESCRIBE_LOG_DIRS: "DescribeLogDirs",
    INCREMENTAL_ALTER_CONFIGS: "IncrementalAlterConfigs",
}

Ranges = dict[int, tuple[int, int]]


def _ranges(*newest: int, oldest: Mapping[int, int] | None = None) -> dict[int, tuple[int, int]]:
    """In the order of the columns below; -1 where the broker does not have the API."""
    keys = (API_VERSIONS, METADATA, FIND_COORDINATOR, LIST_GROUPS, DESCRIBE_GROUPS, OFFSET_FETCH, LIST_OFFSETS)
    acts = (OFFSET_COMMIT, LEAVE_GROUP, DELETE_GROUPS, OFFSET_DELETE)
    given = zip((*keys, CONSUMER_GROUP_DESCRIBE, FETCH, *acts), newest, strict=True)
    return {key: ((oldest or {}).get(key, 0), version) for key, version in given if version >= 0}


KAFKA: dict[str, Ranges] = {
    # ApiVersions, Metadata, FindCoordinator, ListGroups, DescribeGroups, OffsetFetch, ListOffsets,
    # ConsumerGroupDescribe, Fetch, OffsetCommit, LeaveGroup, DeleteGroups, OffsetDelete
    "1.1.1": _ranges(1, 5, 1, 1, 1, 3, 2, -1, 7, 3, 1, 0, -1),
    "2.5.1": _ranges(3, 9, 3, 3, 5, 7, 5, -1, 11, 8, 4, 2, 0),
    "2.8.2": _ranges(3, 11, 3, 4, 5, 7, 6, -1, 12, 8, 4, 2, 0),
    "3.9.1": _ranges(4, 12, 6, 5, 5, 9, 9, 0, 17, 9, 5, 2, 0),
    "4.3.1": _ranges(
        *(4, 13, 6, 5, 6, 10, 11, 1, 18, 10, 5, 2, 0),
        oldest={OFFSET_FETCH: 1, LIST_OFFSETS: 1, FETCH: 4, OFFSET_COMMIT: 2},
    )
    | {
        SHARE_GROUP_DESCRIBE: (1, 1),
        DESCRIBE_SHARE_GROUP_OFFSETS: (0, 1),
        ALTER_SHARE_GROUP_OFFSETS: (0, 0),
        DELETE_SHARE_GROUP_OFFSETS: (0, 0),
        DELETE_TOPICS: (1, 6),
        STREAMS_GROUP_DESCRIBE: (0, 0),
        DESCRIBE_CONFIGS: (1, 4),
        INCREMENTAL_ALTER_CONFIGS: (0, 1),
    },
}
for _release, _newest in {"1.1.1": 0, "2.5.1": 1, "2.8.2": 2, "3.9.1": 4, "4.3.1": 5}.items():
    KAFKA[_release][DESCRIBE_LOG_DIRS] = (int(_release == "4.3.1"), _newest)
for _release, _newest in {"1.1.1": 0, "2.5.1": 3, "2.8.2": 4, "3.9.1": 4, "4.3.1": 4}.items():
    KAFKA[_release][OFFSET_FOR_LEADER_EPOCH] = (2 if _release == "4.3.1" else 0, _newest)
for _release, _newest in {"1.1.1": 1, "2.5.1": 2, "2.8.2": 4, "3.9.1": 4}.items():
    KAFKA[_release][DESCRIBE_CONFIGS] = (0, _newest)
for _release, _newest in {"1.1.1": 0, "2.5.1": 2, "2.8.2": 2, "3.9.1": 3, "4.3.1": 3}.items():
    KAFKA[_release][DESCRIBE_ACLS] = (int(_release == "4.3.1"), _newest)
KAFKA["4.4.0"] = KAFKA["4.3.1"] | {API_VERSIONS: (0, 5), DELETE_GROUPS: (0, 3), STREAMS_GROUP_DESCRIBE: (0, 1)}
