"""The view of the topologies of streams groups."""

from __future__ import annotations

from kgroups.model.views.topology_rows import TopologyRow

from .views import Align, Sooner, Tier, View, columns_of, some_value

TOPOLOGY = View(
    "topology",
    "Topologies of streams groups",
    columns_of(
        TopologyRow,
        ("GROUP", "group", Align.LEFT, Tier.BASE, None),
        ("TOPOLOGY-EPOCH", "topology_epoch", Align.RIGHT, Tier.VERBOSE, None),
        ("SUBTOPOLOGY", "subtopology", Align.LEFT, Tier.BASE, None),
        ("#TASKS", "tasks", Align.RIGHT, Tier.BASE, None),
        ("ROLE", "role", Align.LEFT, Tier.BASE, None),
        ("TOPIC", "topic", Align.LEFT, Tier.BASE, None),
        ("#PARTITIONS", "partitions", Align.RIGHT, Tier.VERBOSE, None),
        ("#REPLICAS", "replication", Align.RIGHT, Tier.WIDE, Sooner(Tier.VERBOSE, some_value)),
        ("CONFIGS", "configs", Align.LEFT, Tier.VERBOSE, None),
        ("NODES", "nodes", Align.LEFT, Tier.WIDE, Sooner(Tier.VERBOSE, some_value)),
    ),
)
