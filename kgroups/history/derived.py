"""The tables that are computed from the stored ones, as data: each column once, with its type and its meaning.

``kgroups.history.transform`` has the function that computes each; nothing here needs Spark.

Terms are those of ``tables``. A derived table is computed for a time span, from ``since`` (inclusive) to ``until``
(exclusive): it contains what was known then, and nothing later. Times of groups are log times. Records that compaction
deleted are unknown, and never counted as zero: see ``completeness``, and the columns ``complete``.
"""

from __future__ import annotations

from .tables import Column, Table

_GROUP = Column("group", "string", "name of the group")
_KIND = Column("kind", "string", "classic, consumer, share or streams; null if only commits are known")
_PARTITION = (
    Column("topic", "string", "topic that the group reads"),
    Column("partition", "int", "partition of that topic"),
)
_PLACE = (
    Column("log_partition", "int", "partition of __consumer_offsets"),
    Column("log_offset", "bigint", "offset in that partition"),
)
_UNREAD = Column(
    "unread_since",
    "timestamp",
    "records of the group from this time on are unread, because of an open transaction, or, in memberships, cannot be "
    "decoded; null: none are",
)
_COMMITTED = Column(
    "committed_offset", "bigint", "the next record that the group would read; null: the last commit cannot be decoded"
)

LATEST_OFFSETS = Table(
    "latest_offsets",
    "The latest committed offsets of each group, in the order of the log; without deleted ones, and without those that "
    "a later complete sweep of the cluster did not find.",
    (
        _GROUP,
        *_PARTITION,
        _COMMITTED,
        Column("leader_epoch", "int", "leader epoch of the last record read"),
        Column("metadata", "string", "metadata that the client attached"),
        Column("commit_time", "timestamp", "when the coordinator received it"),
        Column("expire_time", "timestamp", "when it expires; values of version 1 only"),
        Column("topic_id", "string", "ID of the topic (Kafka 4.1)"),
        *_PLACE,
        Column("log_time", "timestamp", "timestamp of the record; time of the sweep for a baseline"),
        Column("source", "string", "log; or baseline, if the log does not have that key"),
        _UNREAD,
    ),
)

COMMIT_RATE = Table(
    "commit_rate",
    "How often groups commit, and by how many records. A bucket without a commit has no row; the bucket in which the "
    "span starts has all its commits.",
    (
        _GROUP,
        Column("bucket", "timestamp", "start of the bucket"),
        Column("commits", "bigint", "committed offsets, one for each partition of a request"),
        Column("requests", "bigint", "distinct commit times, which is about the number of requests"),
        Column("partitions", "bigint", "distinct partitions with a commit"),
        Column("progress", "bigint", "records by which commits advanced; null if the previous commit is unknown"),
        Column("rewound", "bigint", "records by which commits went back; null if the previous commit is unknown"),
        Column("complete", "boolean", "whether the bucket ended in the span, and its history is complete"),
    ),
)

REBALANCES = Table(
    "rebalances",
    "One row for each rebalance: a completed generation of a classic group, or a new epoch of another group. "
    "Members are compared with the previous rebalance; if that one is unknown, the four lists are null. "
    "The log does not contain why a member left: a timeout and a LeaveGroup are the same there.",
    (
        _GROUP,
        _KIND,
        Column("log_time", "timestamp", "log time: the end of a rebalance of a classic group, the start of any other"),
        *_PLACE,
        Column("generation", "int", "generation, or epoch of the group"),
        Column("previous_generation", "int", "the previous one in the log; those in between never completed"),
        Column("protocol", "string", "the selected assignor; of a classic group"),
        Column("leader", "string", "member ID of the leader; of a classic group"),
        Column("members", "int", "number of members then"),
        Column("joined", "array<string>", "member IDs that are new"),
        Column("left", "array<string>", "member IDs that left; those that they had at the previous rebalance"),
        Column("restarted", "array<string>", "new member IDs of static members that were members before (KIP-345)"),
        Column("resubscribed", "array<string>", "member IDs whose subscription changed"),
        Column(
            "pause_ms",
            "bigint",
            "from the group's last commit before it to the first one after it; null: one is missing",
        ),
        Column("target_ms", "bigint", "from the epoch to the target assignment; null for classic groups"),
        Column(
            "converge_ms",
            "bigint",
            "from the epoch until all members had it and were stable; null: never, or a classic group",
        ),
        Column(
            "complete",
            "boolean",
            "whether history is complete from there on; false if this may be the restart of a static member in a "
            "generation whose first record compaction deleted",
        ),
    ),
)

GROUP_STATES = Table(
    "group_states",
    "The states of groups, and how long they lasted. Intervals are not clipped to the span. A commit to a group that "
    "was deleted creates a classic group, which is Empty until it has members, or until its last offset is deleted.",
    (
        _GROUP,
        _KIND,
        Column(
            "state",
            "string",
            "Empty, Stable, Dead, or Reconciling (never for classic groups: only the end of a rebalance is in the "
            "log); Unknown while records of the group are unread because of an open transaction, or from a record that "
            "this version cannot decode to the next one that shows the whole state",
        ),
        Column("since", "timestamp", "start of the state"),
        Column("until", "timestamp", "end of the state; null: it lasts"),
        Column(
            "source",
            "string",
            "log; baseline, if a complete sweep did not find the group: Dead since then or before; unread; undecoded",
        ),
    ),
)

MEMBERSHIPS = Table(
    "memberships",
    "The members of each group, and from when to when. Intervals that overlap the span, not clipped.",
    (
        _GROUP,
        _KIND,
        Column("member_id", "string", "member ID"),
        Column("instance_id", "string", "group.instance.id of a static member"),
        Column("client_id", "string", "client.id"),
        Column("client_host", "string", "host that the member connected from"),
        Column("since", "timestamp", "when it joined; in a classic group, the end of that rebalance"),
        Column("until", "timestamp", "when it left, likewise; null: it is still a member, or unread_since is not null"),
        Column(
            "complete",
            "boolean",
            "whether `since` is when it joined, and not only the first known record of it, and `until` when it left",
        ),
        _UNREAD,
    ),
)

LAG = Table(
    "lag",
    "The lag of each group at each sample of the log end offsets. A partition without a known commit in the whole span "
    "is not in it.",
    (
        Column("sampled_at", "timestamp", "time of the sample"),
        _GROUP,
        *_PARTITION,
        Column("committed_offset", "bigint", "committed offset then; null: none, or not known yet"),
        Column("committed_at", "timestamp", "log time of that commit; time of the sweep for a baseline"),
        Column("log_start", "bigint", "log start offset"),
        Column("log_end", "bigint", "log end offset"),
        Column("lag", "bigint", "log_end - committed_offset, not clamped; null: unknown"),
        Column(
            "time_lag_ms",
            "bigint",
            "time since the log end offset was the committed offset, interpolated between two samples; 0 without lag; "
            "null: unknown, for example older than the first sample, or since a sample with a time in 1970",
        ),
        Column(
            "remark",
            "string",
            "what is wrong with the committed offset: data lost, or beyond the end of the log; or why it is unknown: "
            "an open transaction hides later commits, the log was not read until then, or this version cannot decode "
            "the last commit",
        ),
    ),
)

VERDICTS = Table(
    "verdicts",
    "Status of groups by Burrow's rules, over the last samples of the span (10 by default) since the topic was last "
    "recreated, its log truncated, or the offset deleted, in this order: "
    "UNKNOWN (the last sample with a known lag is older than the rule stale-after, an hour by default, or the lag is "
    "unknown at more than half of the samples, or the last commit cannot be decoded, see remark), "
    "REWIND (went back, and has not caught up), UNKNOWN (committed beyond the end of the log), OK (at least one sample "
    "without lag), UNKNOWN (too few samples), STOP (no commit), STALL (commits, all of the same offset), WARN (lag "
    "grew since offsets last went back, never shrank, and is more than what the group reads in 10 s), OK.",
    (
        _GROUP,
        *_PARTITION,
        Column("status", "string", "OK, UNKNOWN, WARN, STOP, STALL, REWIND; the worst last"),
        Column("group_status", "string", "worst status of the group's partitions"),
        Column("samples", "bigint", "number of samples with a known lag"),
        Column("since", "timestamp", "time of the first sample with a known lag"),
        Column("until", "timestamp", "time of the last sample with a known lag"),
        Column("committed_at", "timestamp", "time of the last commit"),
        Column("first_offset", "bigint", "committed offset at the first sample"),
        Column("last_offset", "bigint", "committed offset at the last sample"),
        Column("first_lag", "bigint", "lag at the first sample"),
        Column("last_lag", "bigint", "lag at the last sample"),
        Column(
            "remark",
            "string",
            "why the status is unknown: commits are hidden or unread, samples are old, or the commit is beyond the end",
        ),
    ),
)

STALE = Table(
    "stale",
    "Every group that was ever seen, and whether it is in use: DELETED, EMPTY (no members), STALE (no commit within a "
    "bound, an hour by default; for groups without commits, no other event), LIVE; UNKNOWN for a group without a known "
    "commit within that bound if an open transaction hides its last records, or the log was not read since: a "
    "collector that stopped is not a group that stopped.",
    (
        _GROUP,
        _KIND,
        Column("status", "string", "LIVE, STALE, EMPTY, DELETED or UNKNOWN; expired groups count as deleted"),
        Column("state", "string", "as in group_states, otherwise as in the last sweep; null if only commits are known"),
        Column("partitions", "bigint", "number of partitions with a committed offset"),
        Column("last_commit", "timestamp", "log time of its last commit that was read"),
        Column(
            "commit_age_ms",
            "bigint",
            "from the last commit to the end of the span; null: unknown, as the status is, or the commit is of 1970",
        ),
        Column("last_event", "timestamp", "log time of the last record of the group or its members"),
        Column("deleted_at", "timestamp", "latest possible time of the deletion"),
        _UNREAD,
        Column("remark", "string", "why the status is unknown"),
        Column("read_until", "timestamp", "until when the log was read of the group's partition; null: unknown"),
    ),
)

EXPIRING = Table(
    "expiring",
    "Offsets that expire soon (within a day by default) or are due: those of groups without members, and of topics "
    "that no member of the group subscribes to (KIP-211). Without groups of which an open transaction hides the last "
    "records, without offsets that cannot be decoded, and without topics of groups whose subscriptions are unknown: "
    "they are rebalancing, subscribe to a pattern, or are streams groups. Kafka counts offsets.retention.minutes from "
    "when a classic group became empty; in other groups, and groups that never had members, from the commit.",
    (
        _GROUP,
        *_PARTITION,
        _COMMITTED,
        Column("commit_time", "timestamp", "when the coordinator received it"),
        Column("empty_since", "timestamp", "when the group became empty; null if it has members, or never had any"),
        Column("counted_from", "string", "empty, commit; or expire_time, if the record contains it"),
        Column("expires_at", "timestamp", "earliest time of the expiry; brokers check every ten minutes"),
        Column("left_ms", "bigint", "time left at the end of the span; negative: it is due"),
        Column("retention_ms", "bigint", "the retention time of offsets that was used"),
        Column(
            "retention_source",
            "string",
            "rule (--rule retention), brokers (read by the last sweep), or assumed: 7 days, Kafka's default",
        ),
    ),
)

ANOMALIES = Table(
    "anomalies",
    "Anomalies: rewind, beyond_end (committed offset after the log end offsets of two samples), data_lost "
    "(committed offset before the log start offset), rebalance_storm, flapping_member, shared_instance_id (clients "
    "that use one group.instance.id in turn), coverage_gap. Rebalances of a group that grows or shrinks, or of which "
    "each member is restarted once, are no storm.",
    (
        Column("anomaly", "string", "one of the seven"),
        Column("group", "string", "name of the group; null for a coverage_gap"),
        Column("since", "timestamp", "start of the anomaly"),
        Column("until", "timestamp", "time of the last occurrence"),
        Column("topic", "string", "if it concerns a partition"),
        Column("partition", "int", "if it concerns a partition"),
        Column("member", "string", "instance ID, or client ID@host, if it concerns a member"),
        Column("log_partition", "int", "partition of __consumer_offsets, if it concerns records"),
        Column("log_offset", "bigint", "offset in that partition"),
        Column(
            "expected",
            "bigint",
            "previous commit; log end or start offset; bound on rebalances, joins, or turns; first missing offset",
        ),
        Column(
            "found",
            "bigint",
            "the commit; number of rebalances, joins, or turns; first offset that was read after the gap",
        ),
        Column("note", "string", "the anomaly in words"),
    ),
)

COMPLETENESS = Table(
    "completeness",
    "How complete history is, for each partition of __consumer_offsets.",
    (
        Column("log_partition", "int", "partition of __consumer_offsets"),
        Column("from_offset", "bigint", "first offset read"),
        Column("to_offset", "bigint", "first offset after the last offset read"),
        Column("records", "bigint", "number of records read; without those that expired"),
        Column(
            "density",
            "double",
            "records per offset read: low if the log was compacted before, or records expired; transaction markers "
            "lower it too",
        ),
        Column("missing", "bigint", "offsets between the first and the last that were not read"),
        Column("known_since", "timestamp", "log time since which history is complete; null: it is not"),
        Column("last_time", "timestamp", "log time of the last record"),
        Column("hung", "bigint", "offsets after an open transaction when last asked; they are read when it ends"),
        Column("unread_since", "timestamp", "log time of the first of them: groups of the partition are unknown since"),
    ),
)
