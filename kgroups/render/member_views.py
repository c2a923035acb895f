"""The views of ``describe --members`` and ``--state``; other commands do not load them."""

from __future__ import annotations

from kgroups.model.views.member_rows import MemberRow, StateRow

from .views import Align, Sooner, Tier, View, both_true_and_false, columns_of, some_raw, some_true, some_value

_L, _R = Align.LEFT, Align.RIGHT
_B, _V, _W = Tier.BASE, Tier.VERBOSE, Tier.WIDE
_RARE_BASE, _RARE_VERBOSE = (Tier.RARE, Sooner(_B, some_value)), (Tier.RARE, Sooner(_V, some_value))

STATE = View(
    "state",
    "State of groups",
    columns_of(
        StateRow,
        ("GROUP", "group", _L, _B, None),
        ("COORDINATOR (ID)", "coordinator", _L, _B, None),
        ("ASSIGNMENT-STRATEGY", "assignment_strategy", _L, _B, None),
        ("STATE", "state", _L, _B, None),
        ("GROUP-EPOCH", "group_epoch", _R, _V, None),
        ("TARGET-ASSIGNMENT-EPOCH", "target_assignment_epoch", _R, _V, None),
        ("#MEMBERS", "members", _R, _B, None),
        ("TYPE", "type", _L, _W, None),
        ("PROTOCOL-TYPE", "protocol_type", _L, _W, None),
        ("TOPOLOGY-EPOCH", "topology_epoch", _R, *_RARE_VERBOSE),
        ("NOTE", "note", _L, _W, Sooner(_B, some_value)),
    ),
    drops=("target_assignment_epoch", "group_epoch", "topology_epoch", "coordinator", "assignment_strategy"),
)

MEMBERS = View(
    "members",
    "Members of groups",
    columns_of(
        MemberRow,
        ("GROUP", "group", _L, _B, None),
        ("CONSUMER-ID", "consumer_id", _L, _B, None),
        ("GROUP-INSTANCE-ID", "group_instance_id", _L, _W, Sooner(_B, some_value)),
        ("HOST", "host", _L, _B, None),
        ("CLIENT-ID", "client_id", _L, _B, None),
        ("#PARTITIONS", "partitions", _R, _B, None),
        ("CURRENT-EPOCH", "current_epoch", _R, _V, None),
        ("CURRENT-ASSIGNMENT", "current_assignment", _L, _V, None),
        ("TARGET-EPOCH", "target_epoch", _R, _V, None),
        ("TARGET-ASSIGNMENT", "target_assignment", _L, _V, None),
        ("UPGRADED", "upgraded", _L, _W, Sooner(_V, both_true_and_false)),
        ("SUBSCRIPTION", "subscription", _L, _V, None),
        ("OWNED-PARTITIONS", "owned_partitions", _L, _V, None),
        ("RACK", "rack", _L, _W, None),
        ("PROCESS-ID", "process_id", _L, *_RARE_BASE),
        ("ACTIVE-TASKS", "active_tasks", _L, *_RARE_BASE),
        ("STANDBY-TASKS", "standby_tasks", _L, *_RARE_BASE),
        ("WARMUP-TASKS", "warmup_tasks", _L, *_RARE_BASE),
        ("TARGET-ACTIVE-TASKS", "target_active_tasks", _L, *_RARE_VERBOSE),
        ("TARGET-STANDBY-TASKS", "target_standby_tasks", _L, *_RARE_VERBOSE),
        ("TARGET-WARMUP-TASKS", "target_warmup_tasks", _L, *_RARE_VERBOSE),
        ("TOPOLOGY-EPOCH", "topology_epoch", _R, *_RARE_VERBOSE),
        ("USER-ENDPOINT", "user_endpoint", _L, *_RARE_VERBOSE),
        ("CLIENT-TAGS", "client_tags", _L, *_RARE_VERBOSE),
        ("RECONCILING", "reconciling", _L, _V, Sooner(_B, some_true)),
        ("GENERATION", "generation", _R, *_RARE_VERBOSE),
        ("PREVIOUS-ASSIGNMENT", "previous_assignment", _L, *_RARE_VERBOSE),
        ("WORKER-URL", "worker_url", _L, *_RARE_VERBOSE),
        ("LEADER-URL", "leader_url", _L, *_RARE_VERBOSE),
        ("LEADER-ELIGIBILITY", "leader_eligibility", _L, *_RARE_VERBOSE),
        ("CONFIG-OFFSET", "config_offset", _R, *_RARE_VERBOSE),
        ("CONNECTORS", "connectors", _L, *_RARE_VERBOSE),
        ("CONNECTOR-TASKS", "connector_tasks", _L, *_RARE_VERBOSE),
        ("REVOKED", "revoked", _L, *_RARE_VERBOSE),
        ("DELAY-MS", "delay_ms", _R, *_RARE_VERBOSE),
        ("METADATA-VERSION", "metadata_version", _R, Tier.RARE, Sooner(_W, some_value)),
        ("METADATA-BYTES", "metadata_bytes", _R, Tier.RARE, Sooner(_W, some_value)),
        ("ASSIGNMENT-BYTES", "assignment_bytes", _R, Tier.RARE, Sooner(_W, some_value)),
        ("USER-DATA", "user_data", _L, Tier.RARE, Sooner(_V, some_raw)),
        ("ASSIGNED-USER-DATA", "assigned_user_data", _L, Tier.RARE, Sooner(_V, some_raw)),
        ("NOTE", "note", _L, _W, Sooner(_B, some_value)),
    ),
    drops=(
        "host",
        "owned_partitions",
        "subscription",
        "target_assignment",
        "current_assignment",
        "target_epoch",
        "current_epoch",
        "client_id",
        "group_instance_id",
    ),
)
