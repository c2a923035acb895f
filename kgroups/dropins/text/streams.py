"""Output of ``kafka-streams-groups``, byte-identical to Kafka's, sorted by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kgroups.model.groups import Group, GroupState
from kgroups.model.lag import compute_lag
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import DeletedGroup, DeletedTopic
from kgroups.model.streams import (
    NODE_TYPES,
    AssignedTasks,
    Nodes,
    ProcessingNode,
    StreamsMember,
    Tasks,
    TopologyNodes,
    TopologyStatus,
)
from kgroups.model.views.offset_row import GroupOffsets, OffsetRow
from kgroups.model.views.offsets import offset_rows

from .operations import java_error
from .text import COORDINATOR, NAME, Show, or_dash, pad, widest

_NOT_EMPTY = 68
_ASSIGNOR = 15
_RESET = 30
"""Width of the columns of names in the table of ``--reset-offsets``."""


def offsets_text(offsets: GroupOffsets, *, verbose: bool, show: Show = str) -> Iterator[str]:
    """Yield a group of ``--describe --offsets``: partitions of active tasks; nothing for a group without members."""
    if not offsets.group.members or offsets.group.state == GroupState.DEAD:
        return
    rows = [row for row in offset_rows(offsets) if row.consumer_id is not None and row.topic is not None]
    name = show(offsets.group.group)
    wide, far = widest(NAME, (name,)), widest(NAME, (show(row.topic or "") for row in rows))
    verbose_head = f" {'CURRENT-OFFSET':15} {'LEADER-EPOCH':15} {'LOG-END-OFFSET':15} {'OFFSET-LAG':15}"
    head = verbose_head if verbose else " OFFSET-LAG"
    yield f"{pad('GROUP', wide)} {pad('TOPIC', far)} {'PARTITION':10}{head}\n"
    for row in rows:
        cells = [_lag(row)]
        if verbose:
            cells = [or_dash(row.current_offset), or_dash(row.leader_epoch), or_dash(row.log_end_offset), *cells]
            cells = [f"{cell:15}" for cell in cells]
        yield f"{pad(name, wide)} {pad(show(row.topic or ''), far)} {row.partition!s:10} {' '.join(cells)}\n"


def _lag(row: OffsetRow) -> str:
    """Return the lag like the Java tool: without a commit from the log start offset."""
    offset = row.log_start_offset if row.current_offset is None else row.current_offset
    return or_dash(compute_lag(offset, row.log_end_offset))


def members_text(group: Group, *, verbose: bool, show: Show = str) -> Iterator[str]:
    """Yield a group of ``--describe --members``; nothing for a group without members."""
    members = [(member, member.streams) for member in group.members or () if member.streams]
    if not members or group.state == GroupState.DEAD:
        return
    members.sort(key=lambda pair: pair[0].member_id)
    name = show(group.group)
    wide = widest(NAME, (name,))
    ids = widest(NAME, (show(member.member_id) for member, _ in members))
    processes = widest(NAME, (show(details.process) for _, details in members))
    clients = widest(NAME, (show(member.client_id) for member, _ in members))
    ends = f"{pad('PROCESS', processes)} {pad('CLIENT-ID', clients)} ASSIGNMENTS\n"
    if verbose:
        yield (
            f"{pad('GROUP', wide)} {'TARGET-ASSIGNMENT-EPOCH':25} {'TOPOLOGY-EPOCH':15}{pad('MEMBER', ids)} "
            f"{'MEMBER-PROTOCOL':15} {'MEMBER-EPOCH':15} {ends}"
        )
    else:
        yield f"{pad('GROUP', wide)} {pad('MEMBER', ids)} {ends}"
    for member, details in members:
        client = f"{pad(show(details.process), processes)} {pad(show(member.client_id), clients)}"
        end = f"{client} {show(_all_tasks(details, verbose))}\n"
        member_id = pad(show(member.member_id), ids)
        if verbose:
            epochs = f"{or_dash(group.target_assignment_epoch):25} {details.topology_epoch!s:15}"
            protocol = "classic" if details.classic else "streams"
            yield f"{pad(name, wide)} {epochs}{member_id} {protocol:15} {or_dash(member.member_epoch):15} {end}"
        else:
            yield f"{pad(name, wide)} {member_id} {end}"


def _all_tasks(member: StreamsMember, verbose: bool) -> str:
    return _tasks(member.tasks, "") + (_tasks(member.target, "TARGET-") if verbose else "")


def _tasks(assigned: AssignedTasks, prefix: str) -> str:
    roles = (("ACTIVE", assigned.active), ("STANDBY", assigned.standby), ("WARMUP", assigned.warmup))
    return "".join(_of_role(f"{prefix}{role}", tasks) for role, tasks in roles)


def _of_role(role: str, tasks: Tasks) -> str:
    """Return ``ACTIVE: 0:[0,2]; 1:[1]; ``, or ``""`` without tasks."""
    if not tasks.subtopologies:
        return ""
    return f"{role}: " + "".join(
        f"{entry.subtopology}:[{','.join(map(str, entry.partitions))}]; " for entry in tasks.subtopologies
    )


def state_text(group: Group, *, verbose: bool, show: Show = str, assignor: bool = True) -> Iterator[str]:
    """Yield a group of ``--describe --state``, with the remarks of the Java tool.

    :param assignor: whether there is a column of the assignor, as from Kafka 4.4 on.
    """
    name, node = show(group.group), group.coordinator
    if group.state == GroupState.EMPTY:
        yield f"\nError: Streams group '{name}' has no active members.\n"
    elif group.state == GroupState.DEAD:
        yield f"\nError: Streams group '{name}' group state is DEAD.\n"
    where = f"{show(node.host)}:{node.port} ({node.id})"
    wide, far = widest(NAME, (name,)), widest(COORDINATOR, (where,))
    chosen = show(group.protocol)
    width = widest(_ASSIGNOR, (chosen,))
    begin, by = (f"{pad('ASSIGNOR', width)} ", f"{pad(chosen, width)} ") if assignor else ("", "")
    heads = f"{'GROUP-EPOCH':15} {'TARGET-ASSIGNMENT-EPOCH':25} " if verbose else ""
    epochs = f"{or_dash(group.group_epoch):15} {or_dash(group.target_assignment_epoch):25} " if verbose else ""
    yield f"{pad('GROUP', wide)} {pad('COORDINATOR (ID)', far)} {begin}{'STATE':25} {heads}#MEMBERS\n"
    yield f"{pad(name, wide)} {pad(where, far)} {by}{show(group.state):25} {epochs}{len(group.members or ())}\n"


def has_nodes(group: Group) -> bool:
    """Return whether the broker describes the nodes of a group's topology."""
    return _nodes_of(group).status == TopologyStatus.AVAILABLE


def _nodes_of(group: Group) -> TopologyNodes:
    nodes = group.topology.nodes if group.topology else None
    return nodes or TopologyNodes(TopologyStatus(TopologyStatus.NOT_REQUESTED))


def topology_text(group: Group, *, verbose: bool, show: Show = str) -> Iterator[str]:
    """Yield a group of ``--describe --topology``: its nodes, or why there are none."""
    nodes = _nodes_of(group)
    if nodes.status == TopologyStatus.AVAILABLE:
        yield from _nodes_text(nodes, show)
        return
    name = f"streams group '{show(group.group)}'"
    reasons = {
        TopologyStatus.NOT_STORED: f"No topology description is stored for {name}.",
        TopologyStatus.ERROR: (
            f"The broker failed to fetch the topology description for {name}. See the broker logs for details."
        ),
    }
    status = "NOT_REQUESTED" if nodes.status == TopologyStatus.NOT_REQUESTED else "UNKNOWN"
    other = f"No topology description is available for {name} (status: {status})."
    yield f"\nError: {reasons.get(nodes.status, other)}\n"


def _nodes_text(nodes: TopologyNodes, show: Show) -> Iterator[str]:
    yield "Topologies:\n"
    for name, part in nodes.subtopologies:
        yield f"   Sub-topology: {show(name)}\n"
        yield from (f"    {_node_text(node, part, show)}\n" for node in part)
        yield "\n"
    for number, store in enumerate(nodes.global_stores, len(nodes.subtopologies)):
        yield f"   Sub-topology: {number} for global store (will not generate tasks)\n"
        yield from (f"    {_node_text(node, Nodes(store), show)}\n" for node in store)
        yield "\n"
    yield "\n"


def _node_text(node: ProcessingNode, part: Nodes, show: Show) -> str:
    """Return a node with its successors and predecessors; the latter follow from the other nodes of its part."""
    name, after = show(node.name), f"\n      --> {_names(node.successors, show)}"
    before = f"\n      <-- {_names((other.name for other in part if node.name in other.successors), show)}"
    match NODE_TYPES.get(node.type):
        case "source":
            return f"Source: {name} (topics: [{', '.join(map(show, sorted({*node.source_topics})))}]){after}"
        case "processor":
            return f"Processor: {name} (stores: [{', '.join(map(show, sorted({*node.stores})))}]){after}{before}"
        case _:
            return f"Sink: {name} (topic: {show('null' if node.sink_topic is None else node.sink_topic)}){before}"


def _names(names: Iterable[str], show: Show) -> str:
    return ", ".join(map(show, sorted({*names}))) or "none"


def plan_text(planned: Sequence[PlannedOffset], groups: Iterable[str], show: Show = str) -> Iterator[str]:
    """Yield the table of ``--reset-offsets``, with columns of fixed width.

    :param groups: the selected groups; without any there is no header.
    """
    if any(True for _ in groups) or planned:
        yield "\n" + _reset_row("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET")
    for entry in planned:
        yield "\n" + _reset_row(show(entry.group), show(entry.topic), str(entry.partition), str(entry.new))
    yield "\n"


def _reset_row(group: str, topic: str, partition: str, offset: str) -> str:
    return f"{pad(group, _RESET)} {pad(topic, _RESET)} {partition:10} {offset:15}"


def deleted_text(groups: Sequence[DeletedGroup], topics: Sequence[DeletedTopic], show: Show = str) -> Iterator[str]:
    """Yield the deleted groups and internal topics of ``--delete``.

    :param topics: results for the internal topics that were to be deleted.
    """
    names = "', '".join(show(group.group) for group in groups if not group.failure)
    if not any(group.failure for group in groups):
        yield f"Deletion of requested streams groups ('{names}') was successful.\n"
    elif names:
        yield f"\nThese streams groups were deleted successfully: '{names}'.\n"
    owners = "', '".join(sorted({show(topic.group) for topic in topics}))
    if owners and not any(topic.failure for topic in topics):
        yield f"Deletion of associated internal topics of the streams groups ('{owners}') was successful.\n"


def undeleted_text(groups: Sequence[DeletedGroup], topics: Sequence[DeletedTopic], show: Show = str) -> Iterator[str]:
    """Yield the groups and internal topics that ``--delete`` has not deleted."""
    failed = [(show(group.group), group.failure) for group in groups if group.failure]
    if failed:
        yield "\nError: Deletion of some streams groups failed:\n"
    for name, failure in failed:
        cause = show(java_error(failure))
        if failure.code == _NOT_EMPTY:
            cause = f"org.apache.kafka.common.errors.GroupNotEmptyException: Streams group '{name}' is not EMPTY."
        yield f"* Group '{name}' could not be deleted due to: {cause}\n"
    kept = [(show(topic.topic), topic.failure) for topic in topics if topic.failure]
    if kept:
        yield "\nError: Deletion of some associated internal topics failed:\n"
    for name, failure in kept:
        yield f"* Internal topic '{name}' could not be deleted due to: {show(java_error(failure))}\n"
