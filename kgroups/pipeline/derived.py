"""The tables that are computed from the stored ones, as data: each column once, with its type and its meaning.

``kgroups.pipeline.transform`` has the function that makes each; nothing here needs Spark.

Words are those of ``tables``. A derived table is asked for a span of time, from ``since`` (in it) to ``until`` (not in
it): it says what was known then, and nothing later. Times of groups are log times. What compaction took away is
unknown, and never counted as none: see ``completeness``, and the columns ``complete``.
"""

from __future__ import annotations

from .tables import Column, Table

_GROUP = Column("group", "string", "name of the group")
_KIND = Column("kind", "string", "classic, consumer, share or streams; null where only commits are known")
_PARTITION = (
    Column("topic", "string", "a topic that the group reads"),
    Column("partition", "int", "a partition of it"),
)
_PLACE = (
    Column("log_partition", "int", "partition of __consumer_offsets"),
    Column("log_offset", "bigint", "its offset in the partition"),
)
_COMMITTED = Column("committed_offset", "bigint", "the next record that the group would read")

LATEST_OFFSETS = Table(
    "latest_offsets",
    "Where each group stands: its last commit in the order of the log. Deleted ones are not in it, nor those that a "
    "later complete sweep of the cluster did not find.",
    (
        _GROUP,
        *_PARTITION,
        _COMMITTED,
        Column("leader_epoch", "int", "leader epoch of the last record read"),
        Column("metadata", "string", "what the client attached"),
        Column("commit_time", "timestamp", "when the coordinator took it"),
        Column("expire_time", "timestamp", "when it expires; values of version 1 only"),
        Column("topic_id", "string", "id of the topic (Kafka 4.1)"),
        *_PLACE,
        Column("log_time", "timestamp", "the record's timestamp; of a baseline, when it was swept"),
        Column("source", "string", "log; or baseline, where the log does not have that key"),
    ),
)

COMMIT_RATE = Table(
    "commit_rate",
    "How often groups commit, and how far that takes them. A bucket without a commit has no row.",
    (
        _GROUP,
        Column("bucket", "timestamp", "its begin"),
        Column("commits", "bigint", "offsets committed, one for each partition of a request"),
        Column("requests", "bigint", "distinct times of commit: about as many requests"),
        Column("partitions", "bigint", "distinct partitions that were committed"),
        Column("progress", "bigint", "records that commits went forward; null where no commit before them is known"),
        Column("rewound", "bigint", "records that commits went back; null likewise"),
        Column("complete", "boolean", "whether all of the bucket is inside the span, and of whole history"),
    ),
)

REBALANCES = Table(
    "rebalances",
    "One row for each rebalance: a generation of a classic group that was completed, a new epoch of the "
    "others. Members are compared with the rebalance before; if that one is unknown, the four lists are null. "
    "The log does not contain why a member left: a timeout and a LeaveGroup are the same there.",
    (
        _GROUP,
        _KIND,
        Column("log_time", "timestamp", "when it was written: classic at the end of a rebalance, else at its begin"),
        *_PLACE,
        Column("generation", "int", "generation, or epoch of the group"),
        Column("previous_generation", "int", "the one before in the log; those between were begun and never completed"),
        Column("protocol", "string", "the assignor in force; of a classic group"),
        Column("leader", "string", "member id of the leader; of a classic group"),
        Column("members", "int", "how many there were then"),
        Column("joined", "array<string>", "member ids that are new"),
        Column("left", "array<string>", "member ids that are gone"),
        Column("restarted", "array<string>", "new member ids of static members that were there before (KIP-345)"),
        Column("resubscribed", "array<string>", "member ids that subscribe to something else than before"),
        Column(
            "pause_ms", "bigint", "from the group's last commit before to its first one after; null: one is missing"
        ),
        Column("target_ms", "bigint", "from epoch to target assignment; null for classic groups"),
        Column(
            "converge_ms",
            "bigint",
            "from epoch to the moment when all members had it and were stable; null: they never did; null for classic",
        ),
        Column("complete", "boolean", "whether history is whole from there on"),
    ),
)

GROUP_STATES = Table(
    "group_states",
    "In which state groups were, and for how long; states that lasted longer than the span are there unclipped.",
    (
        _GROUP,
        _KIND,
        Column(
            "state", "string", "Empty, Stable, Reconciling (not of classic groups: the log has its ends only), Dead"
        ),
        Column("since", "timestamp", "its begin"),
        Column("until", "timestamp", "its end; null: it lasts"),
        Column(
            "source", "string", "log; or baseline, where a complete sweep did not find the group: Dead at the latest"
        ),
    ),
)

MEMBERSHIPS = Table(
    "memberships",
    "Who was in which group, from when to when; those that overlap the span, unclipped.",
    (
        _GROUP,
        _KIND,
        Column("member_id", "string", "its id"),
        Column("instance_id", "string", "group.instance.id of a static member"),
        Column("client_id", "string", "client.id"),
        Column("client_host", "string", "where it connected from"),
        Column("since", "timestamp", "of a classic group, the end of the rebalance that it joined with"),
        Column("until", "timestamp", "likewise; null: it is still there"),
        Column("complete", "boolean", "whether `since` is its begin, and not merely the first that is known of it"),
    ),
)

LAG = Table(
    "lag",
    "How far behind each group was whenever heads were sampled. A partition of which no commit is known in all of the "
    "span is not in it.",
    (
        Column("sampled_at", "timestamp", "when heads were asked"),
        _GROUP,
        *_PARTITION,
        Column("committed_offset", "bigint", "as of then; null: none, or not known yet"),
        Column("committed_at", "timestamp", "log time of that commit; of a baseline, when it was swept"),
        Column("log_start", "bigint", "offset of the first record that was still there"),
        Column("log_end", "bigint", "offset that the next record would get"),
        Column("lag", "bigint", "log_end - committed_offset, not clamped; null: unknown"),
        Column(
            "time_lag_ms",
            "bigint",
            "since the end of the log stood at the committed offset, between two samples by interpolation; 0 without "
            "lag; null: unknown, say older than the first sample",
        ),
        Column("remark", "string", "what is wrong with the commit's place in the log"),
    ),
)

VERDICTS = Table(
    "verdicts",
    "How groups fare by Burrow's rules, judged over the last samples of the span (10 by default), in this order: "
    "REWIND (went back, and has not caught up), OK (without lag in any of them), UNKNOWN (too few samples), STOP (no "
    "commit), STALL (commits, all of the same offset), WARN (lag never shrank), OK.",
    (
        _GROUP,
        *_PARTITION,
        Column("status", "string", "OK, UNKNOWN, WARN, STOP, STALL, REWIND; worse ones behind"),
        Column("group_status", "string", "the worst of the group's partitions"),
        Column("samples", "bigint", "how many with a known lag were judged"),
        Column("since", "timestamp", "the first of them"),
        Column("until", "timestamp", "the last of them"),
        Column("committed_at", "timestamp", "when the last commit was made"),
        Column("first_offset", "bigint", "committed offset at the first"),
        Column("last_offset", "bigint", "committed offset at the last"),
        Column("first_lag", "bigint", "lag at the first"),
        Column("last_lag", "bigint", "lag at the last"),
    ),
)

STALE = Table(
    "stale",
    "Every group that was ever seen, and whether anybody uses it: DELETED, EMPTY (no members), STALE (no commit for "
    "longer than a bound, an hour by default; without any commit, no other event), LIVE.",
    (
        _GROUP,
        _KIND,
        Column("status", "string", "LIVE, STALE, EMPTY or DELETED; expired groups count as deleted"),
        Column(
            "state", "string", "as in group_states, else as the last sweep has it; null where only commits are known"
        ),
        Column("partitions", "bigint", "how many it has offsets for"),
        Column("last_commit", "timestamp", "log time of its last commit"),
        Column("commit_age_ms", "bigint", "from there to the end of the span"),
        Column("last_event", "timestamp", "log time of the last record about it or its members"),
        Column("deleted_at", "timestamp", "when, at the latest"),
    ),
)

EXPIRING = Table(
    "expiring",
    "Offsets of groups without members that expire soon (within a day by default) or are due. Kafka counts "
    "offsets.retention from when a classic group became empty (KIP-211), for other kinds and for groups that never had "
    "members from the commit.",
    (
        _GROUP,
        *_PARTITION,
        _COMMITTED,
        Column("commit_time", "timestamp", "when the coordinator took it"),
        Column("empty_since", "timestamp", "when the group became empty; null where it never had members"),
        Column("counted_from", "string", "empty, commit; or expire_time, where the record contains it"),
        Column("expires_at", "timestamp", "not before then; brokers check every ten minutes"),
        Column("left_ms", "bigint", "from the end of the span; negative: it is due"),
    ),
)

ANOMALIES = Table(
    "anomalies",
    "Anomalies: rewind, beyond_end (committed offset after the log end offset of the next sample), data_lost "
    "(committed offset before the log's start), rebalance_storm, flapping_member, coverage_gap.",
    (
        Column("anomaly", "string", "one of the six"),
        Column("group", "string", "name of the group; null for a coverage_gap"),
        Column("since", "timestamp", "its begin"),
        Column("until", "timestamp", "when it was last seen"),
        Column("topic", "string", "where it concerns a partition"),
        Column("partition", "int", "where it concerns a partition"),
        Column("member", "string", "instance id, or client id@host, where it concerns a member"),
        Column("log_partition", "int", "partition of __consumer_offsets; where it is about records"),
        Column("log_offset", "bigint", "offset in it"),
        Column(
            "expected",
            "bigint",
            "the commit before; end, or start, of the log; the bound on rebalances, or joins; the first missing offset",
        ),
        Column("found", "bigint", "the commit; how many rebalances, or joins; the first offset that was read again"),
        Column("note", "string", "the same in words"),
    ),
)

COMPLETENESS = Table(
    "completeness",
    "How whole history is, for each partition of __consumer_offsets.",
    (
        Column("log_partition", "int", "partition of __consumer_offsets"),
        Column("from_offset", "bigint", "first offset that was ever read"),
        Column("to_offset", "bigint", "first offset after the last"),
        Column("records", "bigint", "how many there were"),
        Column(
            "density",
            "double",
            "records for each offset that was read: little where the log was compacted before; markers of "
            "transactions lower it too",
        ),
        Column("missing", "bigint", "offsets between the first and the last that were not read"),
        Column("known_since", "timestamp", "log time from which on history is whole; null: it is not"),
        Column("last_time", "timestamp", "log time of the last record"),
        Column("hung", "bigint", "offsets behind an open transaction when it was last read: history waits for it"),
    ),
)
