"""The views of ``describe --members`` and ``--state``; other commands do not load them."""

from __future__ import annotations

from kgroups.model.views.member_rows import MemberRow, StateRow

from . import columns
from .views import Align, Column, Sooner, Tier, View, both_true_and_false, columns_of, some_raw, some_true, some_value

_L, _R = Align.LEFT, Align.RIGHT
_B, _V, _W = Tier.BASE, Tier.VERBOSE, Tier.WIDE
_RARE_BASE, _RARE_VERBOSE = (Tier.RARE, Sooner(_B, some_value)), (Tier.RARE, Sooner(_V, some_value))

STATE = View(
    "state",
    "State of groups",
    columns_of(
        StateRow,
        columns.GROUP,
        columns.COORDINATOR,
        columns.ASSIGNMENT_STRATEGY,
        columns.STATE,
        columns.GROUP_EPOCH,
        columns.TARGET_ASSIGNMENT_EPOCH,
        columns.MEMBERS,
        columns.TYPE,
        columns.PROTOCOL_TYPE,
        columns.TOPOLOGY_EPOCH,
        columns.NOTE,
    ),
    drops=("coordinator", "assignment_strategy"),
)

MEMBERS = View(
    "members",
    "Members of groups",
    columns_of(
        MemberRow,
        columns.GROUP,
        columns.CONSUMER_ID,
        columns.GROUP_INSTANCE_ID,
        columns.HOST,
        columns.CLIENT_ID,
        columns.PARTITIONS,
        Column("CURRENT-EPOCH", "current_epoch", "Epoch of the member.", _R, _V),
        Column("CURRENT-ASSIGNMENT", "current_assignment", "Partitions that the member has now.", _L, _V),
        Column("TARGET-EPOCH", "target_epoch", "Epoch of the target assignment.", _R, _V),
        Column("TARGET-ASSIGNMENT", "target_assignment", "Partitions of the target assignment.", _L, _V),
        Column(
            "UPGRADED",
            "upgraded",
            "Whether the member uses the consumer protocol (KIP-848).",
            _L,
            _W,
            Sooner(_V, both_true_and_false),
        ),
        columns.SUBSCRIPTION,
        Column("OWNED-PARTITIONS", "owned_partitions", "Partitions that the member reports as its own.", _L, _V),
        Column("RACK", "rack", "Rack of the member.", _L, _W),
        Column("PROCESS-ID", "process_id", "ID of the instance of a streams application.", _L, *_RARE_BASE),
        Column("ACTIVE-TASKS", "active_tasks", "Active tasks of a member of a streams group.", _L, *_RARE_BASE),
        Column("STANDBY-TASKS", "standby_tasks", "Standby tasks of a member of a streams group.", _L, *_RARE_BASE),
        Column("WARMUP-TASKS", "warmup_tasks", "Warm-up tasks of a member of a streams group.", _L, *_RARE_BASE),
        Column(
            "TARGET-ACTIVE-TASKS", "target_active_tasks", "Active tasks of the target assignment.", _L, *_RARE_VERBOSE
        ),
        Column(
            "TARGET-STANDBY-TASKS",
            "target_standby_tasks",
            "Standby tasks of the target assignment.",
            _L,
            *_RARE_VERBOSE,
        ),
        Column(
            "TARGET-WARMUP-TASKS", "target_warmup_tasks", "Warm-up tasks of the target assignment.", _L, *_RARE_VERBOSE
        ),
        columns.TOPOLOGY_EPOCH,
        Column(
            "USER-ENDPOINT",
            "user_endpoint",
            "Endpoint of the member for requests of other programs.",
            _L,
            *_RARE_VERBOSE,
        ),
        Column("CLIENT-TAGS", "client_tags", "Client tags of a member of a streams group.", _L, *_RARE_VERBOSE),
        Column(
            "RECONCILING",
            "reconciling",
            "Whether the member has not yet reached its target assignment.",
            _L,
            _V,
            Sooner(_B, some_true),
        ),
        columns.GENERATION,
        Column(
            "PREVIOUS-ASSIGNMENT",
            "previous_assignment",
            "Partitions of the member before the last rebalance, by its own account.",
            _L,
            *_RARE_VERBOSE,
        ),
        Column("WORKER-URL", "worker_url", "URL of a Connect worker.", _L, *_RARE_VERBOSE),
        Column(
            "LEADER-URL", "leader_url", "URL of the leader of a Connect cluster or Schema Registry.", _L, *_RARE_VERBOSE
        ),
        Column(
            "LEADER-ELIGIBILITY",
            "leader_eligibility",
            "Whether an instance of Schema Registry may become the leader.",
            _L,
            *_RARE_VERBOSE,
        ),
        Column(
            "CONFIG-OFFSET",
            "config_offset",
            "Offset up to which a Connect worker has read configurations.",
            _R,
            *_RARE_VERBOSE,
        ),
        Column("CONNECTORS", "connectors", "Connectors that a Connect worker runs.", _L, *_RARE_VERBOSE),
        Column(
            "CONNECTOR-TASKS",
            "connector_tasks",
            "Tasks that a Connect worker runs, as CONNECTOR-NUMBER.",
            _L,
            *_RARE_VERBOSE,
        ),
        Column("REVOKED", "revoked", "Connectors and tasks to stop.", _L, *_RARE_VERBOSE),
        Column(
            "DELAY-MS", "delay_ms", "Time in ms that Connect waits for the return of a lost worker.", _R, *_RARE_VERBOSE
        ),
        Column(
            "METADATA-VERSION",
            "metadata_version",
            "Version of the metadata of the member.",
            _R,
            Tier.RARE,
            Sooner(_W, some_value),
        ),
        columns.METADATA_BYTES.at(Tier.RARE, Sooner(_W, some_value)),
        Column(
            "ASSIGNMENT-BYTES",
            "assignment_bytes",
            "Size of the assignment in bytes.",
            _R,
            Tier.RARE,
            Sooner(_W, some_value),
        ),
        Column(
            "USER-DATA", "user_data", "User data in the subscription of a member.", _L, Tier.RARE, Sooner(_V, some_raw)
        ),
        Column(
            "ASSIGNED-USER-DATA",
            "assigned_user_data",
            "User data in the assignment of a member.",
            _L,
            Tier.RARE,
            Sooner(_V, some_raw),
        ),
        columns.NOTE,
    ),
    drops=("host", "consumer_id", "group_instance_id"),
)
