"""The tables of history, as data: each column once, with its type and its meaning.

Strategy: a type is written in Spark's SQL; :func:`ddl` gives a table to Spark, :func:`arrow_schema` to everything that
runs without Spark. Rule: a store says which :data:`SCHEMA_VERSION` it was written with; a change of a column's name,
type or meaning is a new version.

Words: ``log_partition`` and ``log_offset`` are the place of a record in ``__consumer_offsets``, and the only order of
things (a group lives in one partition); ``partition`` is one of the topics that a group reads. ``log_time`` is the
record's own timestamp: the broker's clock when it was written. All times are UTC; absent is null, never -1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 1


class Column(NamedTuple):
    name: str
    type: str
    """As Spark's SQL writes it."""
    doc: str


class Table(NamedTuple):
    name: str
    doc: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


_PLACE = (
    Column("log_partition", "int", "partition of __consumer_offsets"),
    Column("log_offset", "bigint", "offset in it"),
    Column("log_time", "timestamp", "the record's timestamp"),
)
_GROUP = Column("group", "string", "name of the group")
_KIND = Column("kind", "string", "classic, consumer, share or streams")
_TOMBSTONE = Column("tombstone", "boolean", "whether the record is a tombstone: it deletes what its key names")
_COMMIT = (
    Column("topic", "string", "topic of the commit"),
    Column("partition", "int", "partition of that topic"),
    Column("committed_offset", "bigint", "the next record that the group would read"),
    Column("leader_epoch", "int", "leader epoch of the last record read (KIP-320, Kafka 2.1)"),
    Column("metadata", "string", "what the client attached"),
    Column("commit_time", "timestamp", "when the coordinator took it; of a tombstone null"),
    Column("expire_time", "timestamp", "when it expires; values of version 1 only"),
    Column("topic_id", "string", "id of the topic, which a recreated topic changes (Kafka 4.1)"),
)

RECORDS = Table(
    "records",
    "Every record as it was read, to be decoded again by a later version.",
    (
        *_PLACE,
        Column("key", "binary", "its bytes"),
        Column("value", "binary", "its bytes; null is a tombstone"),
    ),
)

DECODED = Table(
    "decoded",
    "The content of each record, one row each: commits in columns, all other types as JSON in `body`.",
    (
        *RECORDS.columns,
        Column("record_type", "smallint", "its id; null where the key cannot be read"),
        Column("record_name", "string", "name of the type, as Kafka's message definitions spell it"),
        Column("value_version", "smallint", "version of the value's schema"),
        _TOMBSTONE,
        _GROUP,
        *_COMMIT,
        Column("body", "string", "JSON of key and value, {'key': {…}, 'value': {…} or null}; not for commits"),
        Column("error", "string", "why it could not be decoded, or what else it is: a transaction marker, say"),
    ),
)
"""What the decoder makes, and what the collector takes apart. Not stored."""

COMMITS = Table(
    "commits",
    "Every offset commit (record types 0 and 1), and every tombstone of one: deleted or expired.",
    (*_PLACE, _GROUP, *_COMMIT, Column("value_version", "smallint", "version of the value's schema"), _TOMBSTONE),
)

GROUP_METADATA = Table(
    "group_metadata",
    "Every state that a classic group's coordinator wrote down (record type 2): once a rebalance, when it is complete.",
    (
        *_PLACE,
        _GROUP,
        Column("protocol_type", "string", "consumer, connect, …; empty for groups that only commit"),
        Column("generation", "int", "counts the rebalances"),
        Column("protocol", "string", "the assignor in force"),
        Column("leader", "string", "member id of the leader"),
        Column("state_time", "timestamp", "since when the group is in that state (Kafka 2.1)"),
        Column("member_count", "int", "how many members it has; 0: the group is empty"),
        _TOMBSTONE,
    ),
)

MEMBERS = Table(
    "members",
    "Members, as they were written down: for a classic group all of them at every rebalance, else one as it changes "
    "(record types 2, 5, 10, 19).",
    (
        *_PLACE,
        _GROUP,
        _KIND,
        Column("generation", "int", "of a classic group"),
        Column("member_id", "string", "its id"),
        Column("instance_id", "string", "group.instance.id of a static member (KIP-345)"),
        Column("client_id", "string", "client.id"),
        Column("client_host", "string", "where it connected from"),
        Column("rack_id", "string", "client.rack"),
        Column("rebalance_timeout_ms", "int", "how long it may take to rejoin"),
        Column("session_timeout_ms", "int", "how long it may be silent; of a classic member"),
        Column("assignor", "string", "server-side assignor that it asks for (KIP-848)"),
        Column("topics", "array<string>", "topics that it subscribed to; null where that cannot be decoded"),
        Column("topic_regex", "string", "pattern that it subscribed to (KIP-848)"),
        Column(
            "protocols", "array<string>", "classic protocols that a KIP-848 group knows it by; null: it speaks KIP-848"
        ),
        _TOMBSTONE,
    ),
)

ASSIGNMENTS = Table(
    "assignments",
    "Who was given what: one row for each member and topic (record types 2, 7, 8, 13, 14, 21, 22).",
    (
        *_PLACE,
        _GROUP,
        _KIND,
        Column("member_id", "string", "its id"),
        Column(
            "role",
            "string",
            "assigned (classic, as the leader computed it), target, current, revoking; of streams groups with the kind "
            "of task behind: target-active, current-standby, …",
        ),
        Column("topic", "string", "its name; null where the record has only the id; the subtopology of streams tasks"),
        Column("topic_id", "string", "its id; null where the record has only the name"),
        Column("partitions", "array<int>", "in ascending order"),
        Column("epoch", "int", "generation of a classic group, member epoch of a current assignment; else null"),
        _TOMBSTONE,
    ),
)

EPOCHS = Table(
    "epochs",
    "How groups of the newer kinds move: epoch of the group, of the target assignment, of each member (record types "
    "3, 6, 8, 11, 12, 14, 17, 20, 22).",
    (
        *_PLACE,
        _GROUP,
        _KIND,
        Column("subject", "string", "group, target or member"),
        Column("member_id", "string", "where the subject is a member"),
        Column("epoch", "int", "the epoch"),
        Column("previous_epoch", "int", "of a member, the one before"),
        Column(
            "state",
            "string",
            "of a member: stable, unrevoked_partitions, unreleased_partitions (of streams groups: _tasks), …",
        ),
        _TOMBSTONE,
    ),
)

UNDECODED = Table(
    "undecoded",
    "Records that are something else than the tables above hold: types of newer brokers, corrupt bytes, transaction "
    "markers in landed records; and known types that have no table of their own, with their JSON.",
    (
        *_PLACE,
        Column("record_type", "smallint", "its id; null where the key cannot be read"),
        Column("record_name", "string", "name of the type, where it is known"),
        Column("value_version", "smallint", "version of the value's schema"),
        _GROUP,
        _TOMBSTONE,
        Column("body", "string", "JSON, of a type that could be decoded"),
        Column("reason", "string", "why it is here; null for a type that could be decoded"),
    ),
)

HEADS = Table(
    "heads",
    "Log start and end of the partitions that groups have committed on, sampled beside the stream.",
    (
        Column("sampled_at", "timestamp", "when it was asked; the same for all of one sample"),
        Column("topic", "string", "a topic"),
        Column("partition", "int", "a partition of it"),
        Column("log_start", "bigint", "offset of the first record that is still there"),
        Column("log_end", "bigint", "offset that the next record will get"),
        Column("error", "string", "why it is unknown"),
    ),
)

COVERAGE = Table(
    "coverage",
    "What was read of __consumer_offsets, one row for each batch and partition. Compaction leaves a log's "
    "start where it was; only records / (to_offset - from_offset) shows whether history is complete there.",
    (
        Column("sampled_at", "timestamp", "when the batch was written"),
        Column("log_partition", "int", "partition of __consumer_offsets"),
        Column("from_offset", "bigint", "first offset of the range that was read"),
        Column("to_offset", "bigint", "first offset after it"),
        Column("records", "bigint", "how many there were; markers, aborted and compacted ones are not"),
        Column("first_time", "timestamp", "log time of the first"),
        Column("last_time", "timestamp", "log time of the last"),
        Column("last_stable_offset", "bigint", "how far committed records went when the batch was cut"),
        Column(
            "high_watermark", "bigint", "end of the log then; far above the former, a hung transaction freezes history"
        ),
    ),
)

BASELINE = Table(
    "baseline",
    "The state of the cluster when a collector started: one row for each commit, one with null topic for a "
    "group without any. Tombstones may have been compacted away while no collector ran; absence here shows "
    "them.",
    (
        Column("swept_at", "timestamp", "when it was asked; the same for all of one sweep"),
        Column("complete", "boolean", "whether every broker answered: only then absence means anything"),
        _GROUP,
        _KIND,
        Column("state", "string", "as the broker spells it"),
        Column("protocol_type", "string", "consumer, connect, …"),
        Column("topic", "string", "topic of the commit"),
        Column("partition", "int", "partition of that topic"),
        Column("committed_offset", "bigint", "the next record that the group would read"),
        Column("leader_epoch", "int", "leader epoch of the last record read"),
        Column("metadata", "string", "what the client attached"),
    ),
)

STORED = (
    RECORDS, COMMITS, GROUP_METADATA, MEMBERS, ASSIGNMENTS, EPOCHS, UNDECODED, HEADS, COVERAGE, BASELINE,
)  # fmt: skip
"""The tables of a store, as folders of Parquet files."""


def ddl(table: Table) -> str:
    """The table's schema as Spark reads it."""
    return ", ".join(f"`{column.name}` {column.type}" for column in table.columns)


def arrow_schema(table: Table) -> pa.Schema:
    """The table's schema for Arrow."""
    import pyarrow as pa

    types = {
        "int": pa.int32(),
        "bigint": pa.int64(),
        "smallint": pa.int16(),
        "boolean": pa.bool_(),
        "string": pa.string(),
        "binary": pa.binary(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "array<string>": pa.list_(pa.string()),
        "array<int>": pa.list_(pa.int32()),
    }
    return pa.schema([(column.name, types[column.type]) for column in table.columns])
