"""The tables of the live cluster, as data: the content of ``list`` and ``describe``, in the terms of history's tables.

Rule: failures are rows too, in :data:`FAILURES`; absent values are null, never -1.
"""

from __future__ import annotations

from ..tables import Column, Table

_GROUP = Column("group", "string", "name of the group", required=True)
_KIND = Column("kind", "string", "classic, consumer, share or streams")
_MEMBER = Column("member_id", "string", "member ID")

GROUPS = Table(
    "groups",
    "One row for each group.",
    (
        _GROUP,
        _KIND,
        Column("state", "string", "state, as the broker reports it"),
        Column("protocol_type", "string", "consumer, connect, …; empty for groups that only commit"),
        Column("protocol", "string", "the selected assignor"),
        Column("coordinator_id", "int", "broker ID of the coordinator"),
        Column("coordinator_host", "string", "advertised host of the coordinator"),
        Column("coordinator_port", "int", "advertised port of the coordinator"),
        Column("group_epoch", "int", "epoch of a KIP-848 group"),
        Column("target_assignment_epoch", "int", "epoch of the target assignment of a KIP-848 group"),
    ),
)

MEMBERS = Table(
    "members",
    "One row for each member of each group.",
    (
        _GROUP,
        _KIND,
        _MEMBER,
        Column("instance_id", "string", "group.instance.id of a static member (KIP-345)"),
        Column("client_id", "string", "client.id"),
        Column("host", "string", "host that the member connected from"),
        Column("rack_id", "string", "client.rack"),
        Column("member_epoch", "int", "epoch of a member of a KIP-848 group"),
        Column("partitions", "int", "number of assigned partitions; null if the assignment cannot be decoded"),
        Column("topics", "array<string>", "subscribed topics; null if the subscription cannot be decoded"),
        Column("topic_regex", "string", "subscribed pattern (KIP-848)"),
        Column("upgraded", "boolean", "whether a member of a KIP-848 group uses KIP-848; null if not reported"),
    ),
)

ASSIGNMENTS = Table(
    "assignments",
    "Current and target assignments: one row for each member, role and topic.",
    (
        _GROUP,
        _MEMBER,
        Column("topic", "string", "name of the topic"),
        Column("partitions", "array<int>", "in ascending order"),
        Column("role", "string", "current; or target, for KIP-848 groups"),
    ),
)

OFFSETS = Table(
    "offsets",
    "One row for each partition with a commit or a member of a group, and for each member without partitions; two if "
    "two members own the same partition.",
    (
        _GROUP,
        Column("topic", "string", "null for a member without partitions"),
        Column("partition", "int", "partition of that topic"),
        Column("committed_offset", "bigint", "the next record that the group would read"),
        Column("leader_epoch", "int", "leader epoch of the last record read (KIP-320, Kafka 2.1)"),
        Column("metadata", "string", "metadata that the client attached"),
        Column("log_start", "bigint", "log start offset"),
        Column("log_end", "bigint", "log end offset; with isolation read_committed, the last stable offset"),
        Column("lag", "bigint", "log_end - committed_offset; negative if the commit is beyond the end of the log"),
        Column("member_id", "string", "member that owns the partition"),
        Column("host", "string", "host that the member connected from"),
        Column("client_id", "string", "client.id of the member"),
        Column("instance_id", "string", "group.instance.id of the member"),
        Column("note", "string", "problem: data lost, no leader, …"),
    ),
)

FAILURES = Table(
    "failures",
    "Failures of the requests for the other tables. Each task reports its own: a topic without permission is reported "
    "by each coordinator whose groups read it.",
    (
        Column("scope", "string", "scope of the failure: cluster, broker, group, topic or partition"),
        Column("name", "string", "name of the group, topic, topic-partition or broker"),
        Column("message", "string", "reason, in words"),
        Column("error", "string", "Kafka's name of the error; null if no broker reported it"),
        Column("code", "int", "Kafka's code of the error"),
        Column("api", "string", "API of the request"),
        Column("broker", "int", "broker ID"),
    ),
)

LIVE: dict[str, Table] = {table.name: table for table in (GROUPS, MEMBERS, ASSIGNMENTS, OFFSETS, FAILURES)}

_CLUSTER = Column("cluster", "string", "profile of the cluster", required=True)
_CLUSTER_ID = Column("cluster_id", "string", "ID of the cluster; null if it did not respond")


def of_clusters(table: Table) -> Table:
    """Return the table with the rows of several clusters."""
    return table._replace(columns=(_CLUSTER, _CLUSTER_ID, *table.columns))
