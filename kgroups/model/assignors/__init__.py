"""Kafka's own assignors, run offline to compute assignments.

There is one file for each, and for both sticky ones. The client assignors (range, roundrobin, sticky,
cooperative-sticky) run in the leader of a classic group; the broker assignors (uniform, range) run in the coordinator
of a KIP-848 group. All are pure functions with the same signature (see :mod:`.shape`). Tests verify that the results
equal those of Kafka's Java code, partition by partition; where Java depends on the order of a HashMap, that order is
computed (see :mod:`.java_order`). Racks are not supported: the client assignors decide differently if members set
``client.rack`` and partitions have replicas in some racks only.
"""

from __future__ import annotations

from . import broker_uniform, client_range, roundrobin, sticky
from .shape import Assignor

OF_CLIENTS: dict[str, Assignor] = {
    "range": client_range.assign,
    "roundrobin": roundrobin.assign,
    "sticky": sticky.assign,
    "cooperative-sticky": sticky.assign_cooperatively,
}
"""By name, as members vote for them."""

OF_BROKERS: dict[str, Assignor] = {
    "uniform": broker_uniform.assign,
    "range": client_range.assign,  # the broker's range assignor has the same result
}
"""By name, as in the broker's ``group.consumer.assignors``."""

INCREMENTAL = frozenset({"cooperative-sticky"})
"""The client assignors with which members keep reading the partitions that they keep (KIP-429)."""
