"""The view of the topologies of streams groups."""

from __future__ import annotations

from kgroups.model.views.topology_rows import TopologyRow

from . import columns
from .views import Align, Column, Sooner, Tier, View, columns_of, some_value

_L, _R = Align.LEFT, Align.RIGHT
_V, _W = Tier.VERBOSE, Tier.WIDE

TOPOLOGY = View(
    "topology",
    "Topologies of streams groups",
    columns_of(
        TopologyRow,
        columns.GROUP,
        columns.TOPOLOGY_EPOCH.at(_V),
        Column("SUBTOPOLOGY", "subtopology", "Subtopology of a streams application."),
        Column("#TASKS", "tasks", "Active tasks of the subtopology.", _R),
        Column("ROLE", "role", "Role of the topic in the subtopology."),
        columns.TOPIC,
        columns.PARTITIONS.at(_V),
        Column(
            "#REPLICAS",
            "replication",
            "Replication factor that the application requires.",
            _R,
            _W,
            Sooner(_V, some_value),
        ),
        Column("CONFIGS", "configs", "Settings of the topic that the application requires.", _L, _V),
        Column("NODES", "nodes", "Nodes of the subtopology.", _L, _W, Sooner(_V, some_value)),
    ),
)
