"""Output of ``kafka-consumer-groups --describe``, byte-identical to Kafka's.

The table of each group starts with an empty line, and has its own header and column widths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kgroups.model.groups import Group, GroupState, Member
from kgroups.model.lag import compute_lag
from kgroups.model.views.offset_row import GroupOffsets, OffsetRow
from kgroups.model.views.offsets import offset_rows

from .text import ABSENT, COORDINATOR, NAME, Show, assignment_text, coordinator_text, java_length, or_dash, pad, widest

_INSTANCE = 17
_ASSIGNMENT = 20
_VERBOSE_STATE = "%-20s %-20s %-15s %-25s %s"
_STATE = "%-20s %-20s %s"


def offsets_text(offsets: GroupOffsets, *, verbose: bool, show: Show = str) -> Iterator[str]:
    """Yield a group of ``--describe --offsets``; nothing if it has neither commits nor assigned partitions.

    Members with the most partitions come first, unassigned partitions last; members without partitions are omitted.
    """
    rows = _by_owner(row for row in offset_rows(offsets) if row.topic is not None)
    if not rows:
        return
    name = pad(show(offsets.group.group), NAME)
    topics = {row.topic: show(row.topic or "") for row in rows}
    far = widest(NAME, topics.values())
    owners = {_owner(row): [ABSENT if text is None else show(text) for text in _owner(row)] for row in rows}
    ids, hosts = (widest(NAME, (cells[at] for cells in owners.values())) for at in (0, 1))
    ends = {key: f"{pad(cells[0], ids)} {pad(cells[1], hosts)} {cells[2]}\n" for key, cells in owners.items()}
    numbers = "%-10s %-15s %-15s %-15s %-15s" if verbose else "%-10s %-15s %-15s %-15s"
    heads = ("PARTITION", *(("LEADER-EPOCH",) if verbose else ()), "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG")
    yield f"\n{pad('GROUP', java_length(name))} {pad('TOPIC', far)} {numbers % heads} "
    yield f"{pad('CONSUMER-ID', ids)} {pad('HOST', hosts)} CLIENT-ID\n"
    for row in rows:
        epoch = (or_dash(row.leader_epoch),) if verbose else ()
        lag = compute_lag(row.current_offset, row.log_end_offset)  # like the Java tool, even if the commit is unusual
        counts = (or_dash(row.current_offset), or_dash(row.log_end_offset), or_dash(lag))
        cells = numbers % (row.partition, *epoch, *counts)
        yield f"{name} {pad(topics[row.topic], far)} {cells} {ends[_owner(row)]}"


def members_text(group: Group, *, verbose: bool, show: Show = str) -> Iterator[str]:
    """Yield a group of ``--describe --members``; only the header for a group without members."""
    members = sorted(group.members or (), key=lambda member: member.member_id)
    instances = any(member.instance_id for member in members)
    mixed = {True, False} <= {member.upgraded for member in members}
    texts = [_member_cells(group, member, show) for member in members]
    header = ["GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS"]
    header += ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED"]
    minimums = (NAME, NAME, _INSTANCE, NAME, NAME, NAME, NAME, _ASSIGNMENT, NAME, _ASSIGNMENT)
    widths = [widest(width, (cells[at] for cells in texts)) for at, width in enumerate(minimums)]
    for at, cells in enumerate([header, *texts]):
        padded = [pad(cell, width) for cell, width in zip(cells, widths, strict=False)]
        shown = padded[:2] + (padded[2:3] if instances else []) + padded[3:6]
        more = [*padded[6:], *(cells[10:] if mixed else [])] if verbose else []
        yield ("\n" if not at else "") + " ".join(shown) + " " + " ".join(more) + "\n"


def state_text(group: Group, *, verbose: bool, show: Show = str) -> Iterator[str]:
    """Yield a group of ``--describe --state``."""
    where = coordinator_text(group, show)
    name = show(group.group)
    members = len(group.members or ())
    epochs = (or_dash(group.group_epoch), or_dash(group.target_assignment_epoch)) if verbose else ()
    heads = ("GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH") if verbose else ()
    rest = _VERBOSE_STATE if verbose else _STATE
    wide, far = widest(NAME, (name,)), widest(COORDINATOR, (where,))
    header = rest % ("ASSIGNMENT-STRATEGY", "STATE", *heads, "#MEMBERS")
    yield f"\n{pad('GROUP', wide)} {pad('COORDINATOR (ID)', far)} {header}\n"
    cells = (show(group.protocol or ABSENT), show(group.state), *epochs, members)
    yield f"{pad(name, wide)} {pad(where, far)} {rest % cells}\n"


def remark(group: Group, show: Show = str) -> str | None:
    """Return the text for stderr after a group's table and an empty line."""
    if group.state == GroupState.EMPTY:
        return f"Consumer group '{show(group.group)}' has no active members."
    if group.state in GroupState.REBALANCING:
        return f"Warning: Consumer group '{show(group.group)}' is rebalancing."
    return None


def _owner(row: OffsetRow) -> tuple[str | None, str | None, str | None]:
    return row.consumer_id, row.host, row.client_id


def _by_owner(rows: Iterable[OffsetRow]) -> list[OffsetRow]:
    """Group rows, which are sorted by topic and partition, by their owners."""
    owned: dict[str | None, list[OffsetRow]] = {}
    for row in rows:
        owned.setdefault(row.consumer_id, []).append(row)
    order = sorted(owned, key=lambda owner: (owner is None, -len(owned[owner]), owner or ""))
    return [row for owner in order for row in owned[owner]]


def _member_cells(group: Group, member: Member, show: Show) -> list[str]:
    return [
        show(group.group),
        show(member.member_id),
        show(member.instance_id or ""),
        show(member.host),
        show(member.client_id),
        or_dash(member.assignment.size),
        or_dash(member.member_epoch),
        show(assignment_text(member.assignment)),
        or_dash(group.target_assignment_epoch),
        show(assignment_text(member.target)),
        ABSENT if member.upgraded is None else str(member.upgraded).lower(),
    ]
