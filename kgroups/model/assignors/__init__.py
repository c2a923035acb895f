"""Kafka's own assignors, run offline: who would get which partitions.

One file each. The client's four (range, roundrobin, sticky, cooperative-sticky) run at a classic group's leader; the
broker's two (uniform, range) at the coordinator of a KIP-848 group. All are pure, of one shape (see :mod:`.shape`), and
give what Java's give, partition by partition, for tests compare them. Where Java follows the order of a HashMap, that
order is worked out (see :mod:`.java_order`). Not covered: racks. Where members name a ``client.rack`` and replicas of
partitions are in some racks only, the client's assignors choose otherwise.
"""

from __future__ import annotations

from . import broker_uniform, client_range, cooperative_sticky, roundrobin, sticky
from .shape import Assignor

OF_CLIENTS: dict[str, Assignor] = {
    "range": client_range.assign,
    "roundrobin": roundrobin.assign,
    "sticky": sticky.assign,
    "cooperative-sticky": cooperative_sticky.assign,
}
"""By the names that members vote with."""

OF_BROKERS: dict[str, Assignor] = {
    "uniform": broker_uniform.assign,
    "range": client_range.assign,  # the broker's range gives the same runs
}
"""By the names in the broker's ``group.consumer.assignors``."""

INCREMENTAL = frozenset({"cooperative-sticky"})
"""Of the clients' assignors those under which members keep working on what they keep (KIP-429)."""
