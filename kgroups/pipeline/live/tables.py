"""The tables of the live cluster, as data: what ``list`` and ``describe`` show, with the words of history's tables.

Rule: a failure is a row too, in :data:`FAILURES`; absent is null, never -1.
"""

from __future__ import annotations

from ..tables import Column, Table

_GROUP = Column("group", "string", "name of the group")
_KIND = Column("kind", "string", "classic, consumer, share or streams")
_MEMBER = Column("member_id", "string", "its id")

GROUPS = Table(
    "groups",
    "One row for each group.",
    (
        _GROUP,
        _KIND,
        Column("state", "string", "as the broker spells it"),
        Column("protocol_type", "string", "consumer, connect, …; empty for groups that only commit"),
        Column("protocol", "string", "the assignor in force"),
        Column("coordinator_id", "int", "the broker that keeps the group"),
        Column("coordinator_host", "string", "its name or address, as it advertises it"),
        Column("coordinator_port", "int", "its port"),
        Column("group_epoch", "int", "of a KIP-848 group"),
        Column("target_assignment_epoch", "int", "of a KIP-848 group"),
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
        Column("host", "string", "where it connected from"),
        Column("rack_id", "string", "client.rack"),
        Column("member_epoch", "int", "of a member of a KIP-848 group"),
        Column("partitions", "int", "how many it holds; null where its assignment cannot be decoded"),
        Column("topics", "array<string>", "topics that it subscribed to; null where that cannot be decoded"),
        Column("topic_regex", "string", "pattern that it subscribed to (KIP-848)"),
        Column("upgraded", "boolean", "whether it uses KIP-848 in such a group; null if not reported"),
    ),
)

ASSIGNMENTS = Table(
    "assignments",
    "Who holds what, and is to hold what: one row for each member, role and topic.",
    (
        _GROUP,
        _MEMBER,
        Column("topic", "string", "its name"),
        Column("partitions", "array<int>", "in ascending order"),
        Column("role", "string", "current; or target, of KIP-848 groups"),
    ),
)

OFFSETS = Table(
    "offsets",
    "One row for each partition that a group has a commit or a member on, one for each member that holds none; two "
    "where two members claim the same.",
    (
        _GROUP,
        Column("topic", "string", "null for a member without partitions"),
        Column("partition", "int", "partition of that topic"),
        Column("committed_offset", "bigint", "the next record that the group would read"),
        Column("leader_epoch", "int", "leader epoch of the last record read (KIP-320, Kafka 2.1)"),
        Column("metadata", "string", "what the client attached"),
        Column("log_start", "bigint", "offset of the first record that is still there"),
        Column(
            "log_end", "bigint", "offset that the next record will get; with isolation read_committed the last stable"
        ),
        Column("lag", "bigint", "log_end - committed_offset; negative where the commit lies beyond the log"),
        Column("member_id", "string", "who holds the partition"),
        Column("host", "string", "where it connected from"),
        Column("client_id", "string", "its client.id"),
        Column("instance_id", "string", "its group.instance.id"),
        Column("note", "string", "what is wrong: data lost, no leader, …"),
    ),
)

FAILURES = Table(
    "failures",
    "Failures of the other tables' requests. Each task reports its own: a topic without permission is reported "
    "by each coordinator whose groups read it.",
    (
        Column("scope", "string", "what it is about: cluster, broker, group, topic or partition"),
        Column("name", "string", "of the group, topic, topic-partition or broker"),
        Column("message", "string", "why, in words"),
        Column("error", "string", "Kafka's name of the error; null if no broker reported it"),
        Column("code", "int", "its number"),
        Column("api", "string", "what was asked"),
        Column("broker", "int", "who was asked"),
    ),
)

LIVE: dict[str, Table] = {table.name: table for table in (GROUPS, MEMBERS, ASSIGNMENTS, OFFSETS, FAILURES)}
