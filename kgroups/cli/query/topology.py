"""``kgroups describe --topology``: the nodes of streams groups."""

from __future__ import annotations

from itertools import chain
from typing import Any

from kgroups.admin.client import Client
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.query.topology_nodes import describe_nodes
from kgroups.model.outcome import NO_MATCH, Outcome
from kgroups.model.views.topology_rows import nodes_remark, topology_remark, topology_rows
from kgroups.render.topology_views import TOPOLOGY

from ..frame.output import Shape
from ..frame.run_query import Connection, query_and_show


def show_topology(connection: Connection, shape: Shape, selection: Selection) -> int:
    """Show the topologies of groups; return the exit code."""

    async def query(admin: Client) -> Outcome[Any]:
        described = await admin.describe(selection)
        outcome = (
            (await describe_nodes(admin.cluster, described.items)).after(described) if admin.cluster else described
        )
        named = [] if selection.needs_list else outcome.items
        notices = [notice for group in named if (notice := topology_remark(group) or nodes_remark(group))]
        if not (outcome.items or outcome.failures):
            notices.append(NO_MATCH)
        rows = chain.from_iterable(map(topology_rows, outcome.items))
        return outcome.with_items(rows).with_failures((), notices)

    return query_and_show(connection, shape, TOPOLOGY, query, selection=selection)
