"""The tables of history, as data: each column once, with its type and its meaning.

Strategy: types are Spark SQL types; :func:`ddl` returns a table's schema for Spark, :func:`.arrow.arrow_schema` for
code that runs without Spark. Rule: a store records the :data:`SCHEMA_VERSION` that it was written with; a change of a
column's name, type, or meaning requires a new version. An additional table or nullable column does not: it is empty, or
null, in older stores.

Terms: ``log_partition`` and ``log_offset`` are the position of a record in ``__consumer_offsets``, or of tables of
share groups in ``__share_group_state``. They are the only
order of events; all records of a group are in one partition. ``partition`` is a partition of a topic that a group
reads. ``log_time`` is the record's timestamp: the broker's clock when it was written. All times are UTC; absent values
are null, never -1.
"""

from __future__ import annotations

from typing import NamedTuple

SCHEMA_VERSION = 1

TIMES = ("log_time", "sampled_at", "swept_at", "bucket")
"""Columns with the time of a row; each table with files has one."""


class Column(NamedTuple):
    name: str
    type: str
    """A Spark SQL type."""
    doc: str
    required: bool = False
    """Whether the column is never null."""


class Table(NamedTuple):
    name: str
    doc: str
    columns: tuple[Column, ...]
    daily: bool = True
    """Whether its files are by day."""

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


_PLACE = (
    Column("log_partition", "int", "partition of __consumer_offsets", required=True),
    Column("log_offset", "bigint", "offset in that partition", required=True),
    Column("log_time", "timestamp", "timestamp of the record"),
)
_ANY_GROUP = Column("group", "string", "name of the group")
_GROUP = _ANY_GROUP._replace(required=True)
_ANY_KIND = Column("kind", "string", "classic, consumer, share or streams")
_KIND = _ANY_KIND._replace(required=True)
_TOMBSTONE = Column(
    "tombstone", "boolean", "whether the record is a tombstone: it deletes what its key names", required=True
)
_COMMIT = (
    Column("topic", "string", "topic of the commit"),
    Column("partition", "int", "partition of that topic"),
    Column("committed_offset", "bigint", "the next record that the group would read"),
    Column("leader_epoch", "int", "leader epoch of the last record read (KIP-320, Kafka 2.1)"),
    Column("metadata", "string", "metadata that the client attached"),
    Column("commit_time", "timestamp", "when the coordinator received it; null for a tombstone"),
    Column("expire_time", "timestamp", "when it expires; values of version 1 only"),
    Column("topic_id", "string", "ID of the topic; a recreated topic has another (Kafka 4.1)"),
)

RECORDS = Table(
    "records",
    "Every record as it was read, for decoding by a later version.",
    (
        *_PLACE,
        Column("key", "binary", "bytes of the key"),
        Column("value", "binary", "bytes of the value; null for a tombstone"),
    ),
)

DECODED = Table(
    "decoded",
    "The content of each record, one row each: commits in columns, all other types as JSON in `body`.",
    (
        *RECORDS.columns,
        Column("record_type", "smallint", "ID of the record type; null if the key cannot be read"),
        Column("record_name", "string", "name of the record type, as in Kafka's message definitions"),
        Column("value_version", "smallint", "version of the value's schema"),
        _TOMBSTONE,
        _ANY_GROUP,
        *_COMMIT,
        Column("body", "string", "JSON of key and value, {'key': {…}, 'value': {…} or null}; not for commits"),
        Column("error", "string", "why it could not be decoded, or what it is instead, such as a transaction marker"),
    ),
)
"""Output of the decoder, and input of the collector. Not stored."""

COMMITS = Table(
    "commits",
    "Every offset commit (record types 0 and 1), and every tombstone of one: deleted or expired.",
    (*_PLACE, _GROUP, *_COMMIT, Column("value_version", "smallint", "version of the value's schema"), _TOMBSTONE),
)

GROUP_METADATA = Table(
    "group_metadata",
    "Every state that the coordinator of a classic group wrote (record type 2): one at the end of each rebalance.",
    (
        *_PLACE,
        _GROUP,
        Column("protocol_type", "string", "consumer, connect, …; empty for groups that only commit"),
        Column("generation", "int", "number of rebalances so far"),
        Column("protocol", "string", "the selected assignor"),
        Column("leader", "string", "member ID of the leader"),
        Column("state_time", "timestamp", "when the group entered that state (Kafka 2.1)"),
        Column("member_count", "int", "number of members; 0: the group is empty"),
        _TOMBSTONE,
    ),
)

MEMBERS = Table(
    "members",
    "Members, as they were written: all members of a classic group at every rebalance; otherwise a member when it "
    "changes (record types 2, 5, 10, 19).",
    (
        *_PLACE,
        _GROUP,
        _KIND,
        Column("generation", "int", "generation of a classic group"),
        Column("member_id", "string", "member ID"),
        Column("instance_id", "string", "group.instance.id of a static member (KIP-345)"),
        Column("client_id", "string", "client.id"),
        Column("client_host", "string", "host that the member connected from"),
        Column("rack_id", "string", "client.rack"),
        Column("rebalance_timeout_ms", "int", "maximum time to rejoin"),
        Column("session_timeout_ms", "int", "session.timeout.ms of a classic member"),
        Column("assignor", "string", "server-side assignor that the member requests (KIP-848)"),
        Column("topics", "array<string>", "subscribed topics; null if the subscription cannot be decoded"),
        Column("topic_regex", "string", "subscribed pattern (KIP-848)"),
        Column(
            "protocols",
            "array<string>",
            "classic protocols of a member of a KIP-848 group; null if it uses KIP-848 itself",
        ),
        _TOMBSTONE,
    ),
)

ASSIGNMENTS = Table(
    "assignments",
    "Assignments: one row for each member and topic (record types 2, 7, 8, 13, 14, 21, 22).",
    (
        *_PLACE,
        _GROUP,
        _KIND,
        Column("member_id", "string", "member ID"),
        Column(
            "role",
            "string",
            "assigned (classic, as the leader computed it), target, current, revoking; for streams groups followed by "
            "the task type: target-active, current-standby, …",
        ),
        Column(
            "topic", "string", "name of the topic; null if the record has only the ID; the subtopology of streams tasks"
        ),
        Column("topic_id", "string", "ID of the topic; null if the record has only the name"),
        Column("partitions", "array<int>", "in ascending order"),
        Column("epoch", "int", "generation of a classic group, member epoch of a current assignment; otherwise null"),
        _TOMBSTONE,
    ),
)

EPOCHS = Table(
    "epochs",
    "Epochs of the newer group types: of the group, of the target assignment, and of each member (record types 3, 6, "
    "8, 11, 12, 14, 17, 20, 22).",
    (
        *_PLACE,
        _GROUP,
        _KIND,
        Column("subject", "string", "group, target or member"),
        Column("member_id", "string", "member ID, if the subject is a member"),
        Column("epoch", "int", "the epoch"),
        Column("previous_epoch", "int", "previous epoch of a member"),
        Column(
            "state",
            "string",
            "state of a member: stable, unrevoked_partitions, unreleased_partitions (streams groups: _tasks), …",
        ),
        _TOMBSTONE,
    ),
)

UNDECODED = Table(
    "undecoded",
    "Records that the tables above do not contain: types of newer brokers, corrupt bytes, transaction markers in "
    "landed records; and known types without a table, as JSON.",
    (
        *_PLACE,
        Column("record_type", "smallint", "ID of the record type; null if the key cannot be read"),
        Column("record_name", "string", "name of the record type, if known"),
        Column("value_version", "smallint", "version of the value's schema"),
        _ANY_GROUP,
        Column("topic", "string", "topic of a commit, if its key could be decoded; null in rows of earlier versions"),
        Column("partition", "int", "partition of that topic, likewise"),
        _TOMBSTONE,
        Column("body", "string", "JSON of the record, if it could be decoded"),
        Column("reason", "string", "why it is in this table; null for a type that could be decoded"),
    ),
)

HEADS = Table(
    "heads",
    "Log start and end offsets of the partitions that groups have committed on, sampled during collection.",
    (
        Column("sampled_at", "timestamp", "time of the request; the same for all rows of a sample"),
        Column("topic", "string", "name of the topic"),
        Column("partition", "int", "partition of that topic"),
        Column("log_start", "bigint", "log start offset"),
        Column("log_end", "bigint", "log end offset"),
        Column("error", "string", "why the offsets are unknown"),
    ),
)

COVERAGE = Table(
    "coverage",
    "Ranges of __consumer_offsets that were read, one row for each batch and partition; an empty range for a partition "
    "in which an open transaction hides all further records, or that has no new records. Compaction deletes records, "
    "but does not move the log start offset: history is complete in a range, or the rest of it, from whole_since on.",
    (
        Column("sampled_at", "timestamp", "when the batch was written"),
        Column("log_partition", "int", "partition of __consumer_offsets"),
        Column("from_offset", "bigint", "first offset of the range"),
        Column("to_offset", "bigint", "first offset after the range"),
        Column("records", "bigint", "number of records; without markers, and aborted, compacted, and expired records"),
        Column("first_time", "timestamp", "log time of the first record"),
        Column("last_time", "timestamp", "log time of the last record"),
        Column("last_stable_offset", "bigint", "last stable offset when the batch was planned"),
        Column(
            "high_watermark", "bigint", "high watermark then; if far above the former, a hung transaction stops history"
        ),
        Column(
            "compacted",
            "bigint",
            "number of offsets without a record before compacted_to; 0: compaction deleted nothing; null in rows of "
            "earlier versions, and of imported files",
        ),
        Column("compacted_to", "bigint", "offset after the last offset that compaction deleted; null: none"),
        Column("whole_since", "timestamp", "log time of the first record from compacted_to on; null: none"),
        Column(
            "unread_since",
            "timestamp",
            "log time of the first record at or after the last stable offset; null: none, or unknown",
        ),
        Column(
            "linked_since",
            "timestamp",
            "log time since which history was complete before records were expired: the last one of each key is kept; "
            "null: nothing of the range was expired, or unknown",
        ),
        Column(
            "batch_complete",
            "boolean",
            "whether the batch of the row read all partitions to their end, if rows of it were expired; otherwise null",
        ),
    ),
)

BASELINE = Table(
    "baseline",
    "The state of the cluster when a collector started: one row for each commit, and one with a null topic for a "
    "group without commits. Tombstones may have been compacted away while no collector ran; a missing row here "
    "replaces them.",
    (
        Column("swept_at", "timestamp", "time of the request; the same for all rows of a sweep"),
        Column("complete", "boolean", "whether all groups were reported; only then a missing row means a deletion"),
        _GROUP,
        _ANY_KIND,
        Column("state", "string", "state, as the broker reports it"),
        Column("protocol_type", "string", "consumer, connect, …"),
        Column("topic", "string", "topic of the commit"),
        Column("partition", "int", "partition of that topic"),
        Column("committed_offset", "bigint", "the next record that the group would read"),
        Column("leader_epoch", "int", "leader epoch of the last record read"),
        Column("metadata", "string", "metadata that the client attached"),
        Column("log_partition", "int", "partition of __consumer_offsets that the group is in; null: unknown"),
    ),
)

SWEEPS = Table(
    "sweeps",
    "The sweeps of the cluster, one row each: also those that found no group, which have no rows in baseline.",
    (
        Column("swept_at", "timestamp", "time of the request, as in baseline"),
        Column("complete", "boolean", "whether all groups were reported; only then a missing group was deleted"),
        Column("groups", "bigint", "number of groups found"),
        Column("offsets_retention_ms", "bigint", "offsets.retention.minutes of a broker; null: unknown"),
        Column("reason", "string", "why the retention time is unknown"),
    ),
)

SHARE_STATES = Table(
    "share_states",
    "Every change of the state of a share group in a partition of a topic: the records of __share_group_state (Kafka "
    "4.1). A snapshot has the whole state, an update what changed since the record before it. Element n of the four "
    "arrays describes batch n: a range of offsets with the same delivery state and delivery count. Offsets from "
    "start_offset on without a batch were not delivered yet, or are acquired for the first time.",
    (
        Column("log_partition", "int", "partition of __share_group_state", required=True),
        *_PLACE[1:],
        Column("group", "string", "name of the share group; null if the key cannot be decoded"),
        Column("topic_id", "string", "ID of the topic; a recreated topic has another"),
        Column("topic", "string", "name of the topic when it was collected; null: deleted by then, or not visible"),
        Column("partition", "int", "partition of that topic"),
        Column("record_name", "string", "snapshot or update; null if the key cannot be decoded"),
        _TOMBSTONE,
        Column("snapshot_epoch", "int", "number of the snapshot, also in updates of it"),
        Column("state_epoch", "int", "state epoch, which the group's coordinator increases; null in updates"),
        Column("leader_epoch", "int", "leader epoch of the partition; null: an update does not change it"),
        Column("start_offset", "bigint", "all offsets below it are finished; null: none yet, or unchanged"),
        Column(
            "delivery_complete_count",
            "int",
            "number of finished offsets from start_offset on; null: not reported (Kafka 4.2)",
        ),
        Column("first_offsets", "array<bigint>", "first offset of each batch; in an update, of each changed batch"),
        Column("last_offsets", "array<bigint>", "last offset of each batch, inclusive"),
        Column("delivery_states", "array<string>", "available, acknowledged, archived, or the number of another state"),
        Column("delivery_counts", "array<int>", "how often the records of each batch were delivered"),
        Column("created_at", "timestamp", "when the coordinator made the state of a snapshot"),
        Column("error", "string", "why the record could not be decoded; then other columns are null"),
    ),
)

SHARE_COVERAGE = Table(
    "share_coverage",
    "Ranges of __share_group_state that were read, one row for each batch and partition. Brokers delete records that "
    "a later snapshot replaces: offsets between two ranges of a partition were deleted before they were read.",
    (
        COVERAGE.columns[0],
        SHARE_STATES.columns[0],
        *(
            column
            for column in COVERAGE.columns[2:]
            if not column.name.endswith(("stable_offset", "watermark", "linked_since", "batch_complete"))
        ),
    ),
)

STORED = (
    RECORDS, COMMITS, GROUP_METADATA, MEMBERS, ASSIGNMENTS, EPOCHS, UNDECODED, HEADS, COVERAGE, BASELINE, SWEEPS,
    SHARE_STATES, SHARE_COVERAGE,
)  # fmt: skip
"""The tables of a store; each is a directory of Parquet files."""

KEPT_COMMITS = Table(
    "kept_commits", "The earlier commits on which derived tables depend: see upkeep/materialize.py.", COMMITS.columns
)

OPEN_COMMITS = Table(
    "open_commits",
    "The last commits of each partition of each group, and all since the last finished bucket.",
    (
        *COMMITS.columns,
        Column("kept", "boolean", "whether it remains here after a later commit of its partition"),
    ),
    daily=False,
)

FINISHED_BUCKETS = Table(
    "finished_buckets",
    "The rows of commit_rate of buckets that no later record changes.",
    (
        _GROUP,
        Column("log_partition", "int", "partition of __consumer_offsets"),
        Column("bucket", "timestamp", "start of the bucket"),
        Column("commits", "bigint", "committed offsets"),
        Column("requests", "bigint", "distinct commit times"),
        Column("partitions", "bigint", "distinct partitions with a commit"),
        Column("progress", "bigint", "as in commit_rate, if history is complete since known_since"),
        Column("rewound", "bigint", "likewise"),
        Column("all_progress", "bigint", "as in commit_rate, if history is complete from the start"),
        Column("all_rewound", "bigint", "likewise"),
        Column("known_since", "timestamp", "known_since of completeness when the row was written"),
    ),
)

MATERIALIZED = (KEPT_COMMITS, OPEN_COMMITS, FINISHED_BUCKETS)
"""The tables that replace commits in queries to derived tables. Each can be computed again from commits."""


def ddl(table: Table) -> str:
    """Return the table's schema as Spark DDL."""
    return ", ".join(f"`{column.name}` {column.type}" for column in table.columns)
