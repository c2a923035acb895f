"""The tables of ``kgroups explain``."""

from __future__ import annotations

from kgroups.model.explain.rows import ExplainedMember
from kgroups.model.explain.what_if import Shift
from kgroups.model.views.share_state_rows import ShareRow

from .deep_views import share_columns
from .views import Align, Sooner, Tier, View, columns_of, some_value

_L, _R = Align.LEFT, Align.RIGHT
_B, _V, _W = Tier.BASE, Tier.VERBOSE, Tier.WIDE

MEMBERS = View(
    "explain-members",
    "Members",
    columns_of(
        ExplainedMember,
        ("GROUP", "group", _L, _W, None),
        ("CONSUMER-ID", "consumer_id", _L, _B, None),
        ("GROUP-INSTANCE-ID", "group_instance_id", _L, _W, Sooner(_B, some_value)),
        ("CLIENT-ID", "client_id", _L, _V, None),
        ("HOST", "host", _L, _B, None),
        ("#PARTITIONS", "partitions", _R, _B, None),
        ("COULD-HOLD", "could_hold", _R, _B, None),
        ("ASSIGNMENT", "assignment", _L, _V, None),
        ("SUBSCRIPTION", "subscription", _L, _V, None),
        ("SUBSCRIPTION-VERSION", "subscription_version", _R, _V, None),
        ("METADATA-BYTES", "metadata_bytes", _R, _V, Sooner(_B, some_value)),
        ("NOTE", "note", _L, _V, Sooner(_B, some_value)),
    ),
)

SHARE_PARTITIONS = View(
    "explain-share-partitions",
    "Partitions of a share group",
    (
        *columns_of(
            ShareRow,
            ("TOPIC", "topic", _L, _B, None),
            ("PARTITION", "partition", _R, _B, None),
            ("START-OFFSET", "start_offset", _R, _B, None),
            ("LOG-END-OFFSET", "log_end_offset", _R, _B, None),
        ),
        *share_columns(len(ShareRow._fields)),
        *columns_of(ShareRow, ("NOTE", "note", _L, _W, Sooner(_B, some_value))),
    ),
)

SHIFTS = View(
    "explain-what-if",
    "What if",
    columns_of(
        Shift,
        ("CONSUMER-ID", "consumer_id", _L, _B, None),
        ("STATUS", "status", _L, _V, Sooner(_B, some_value)),
        ("NOW", "now", _R, _B, None),
        ("THEN", "then", _R, _B, None),
        ("GETS", "gets", _L, _B, None),
        ("GIVES-UP", "gives_up", _L, _B, None),
    ),
)
