"""The text of Kafka's own tools, byte for byte as their version 4.3.1 prints it: columns, pads and trailing blanks.

What differs is order: where a Java tool goes by a hash or by what a broker says first, this goes by name. The table of
each group begins with an empty line, has a header of its own, and columns as wide as this group needs.

Names are written as they are, so that scripts get what was committed; for a terminal ``show`` makes them harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from kgroups.model.assignment import Assignment
from kgroups.model.groups import Group, GroupState, ListedGroup, Member
from kgroups.model.lag import compute_lag
from kgroups.model.views.offset_row import GroupOffsets, OffsetRow
from kgroups.model.views.offsets import offset_rows

Show = Callable[[str], str]

ABSENT = "-"
UNKNOWN = "Unknown"
"""A type or a state that the broker does not tell, in a list."""

_NAME = 15
_INSTANCE = 17
_ASSIGNMENT = 20
_COORDINATOR = 25
_LISTED = 20
_GAP = 10
"""By so much is the column of names in a list wider than the longest of them."""

_VERBOSE_STATE = "%-20s %-20s %-15s %-25s %s"
_STATE = "%-20s %-20s %s"


def list_text(groups: Sequence[ListedGroup], *, types: bool, states: bool, show: Show = str) -> Iterator[str]:
    """``--list``: bare names, one a line; with ``--type`` and ``--state`` a table, its header also when it is empty."""
    if not (types or states):
        for group in groups:
            yield f"{show(group.group_id)}\n"
        return
    wide = widest(_NAME, (show(group.group_id) for group in groups)) + _GAP
    rows = [("GROUP", "TYPE", "STATE")]
    rows += [(show(group.group_id), show(group.type or UNKNOWN), show(group.state or UNKNOWN)) for group in groups]
    for name, kind, state in rows:
        cells = [pad(name, wide), *([f"{kind:20}"] if types else []), *([f"{state:20}"] if states else [])]
        yield " ".join(cells) + "\n"


def groups_text(groups: Sequence[ListedGroup], show: Show = str) -> Iterator[str]:
    """``kafka-groups --list``: all columns as wide as the longest cell; a blank ends each row, but not the header."""
    rows = [(show(group.group_id), show(group.type or ""), show(group.protocol_type)) for group in groups]
    wide = widest(_LISTED, (cell for row in rows for cell in row))
    yield " ".join(pad(name, wide) for name in ("GROUP", "TYPE", "PROTOCOL")) + "\n"
    for row in rows:
        yield "".join(f"{pad(cell, wide)} " for cell in row) + "\n"


def offsets_text(offsets: GroupOffsets, *, verbose: bool, show: Show = str) -> Iterator[str]:
    """One group of ``--describe --offsets``. Nothing where it has neither commits nor assigned partitions.

    Members with the most partitions come first, partitions that nobody holds last; members without any are not shown.
    """
    rows = _by_holder(row for row in offset_rows(offsets) if row.topic is not None)
    if not rows:
        return
    name = pad(show(offsets.group.group_id), _NAME)
    topics = {row.topic: show(row.topic or "") for row in rows}
    far = widest(_NAME, topics.values())
    holders = {_holder(row): [ABSENT if text is None else show(text) for text in _holder(row)] for row in rows}
    ids, hosts = (widest(_NAME, (cells[at] for cells in holders.values())) for at in (0, 1))
    ends = {key: f"{pad(cells[0], ids)} {pad(cells[1], hosts)} {cells[2]}\n" for key, cells in holders.items()}
    numbers = "%-10s %-15s %-15s %-15s %-15s" if verbose else "%-10s %-15s %-15s %-15s"
    heads = ("PARTITION", *(("LEADER-EPOCH",) if verbose else ()), "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG")
    yield f"\n{pad('GROUP', java_length(name))} {pad('TOPIC', far)} {numbers % heads} "
    yield f"{pad('CONSUMER-ID', ids)} {pad('HOST', hosts)} CLIENT-ID\n"
    for row in rows:
        epoch = (_or_dash(row.leader_epoch),) if verbose else ()
        lag = compute_lag(row.current_offset, row.log_end_offset)  # the Java tool's, whatever is known of the commit
        counts = (_or_dash(row.current_offset), _or_dash(row.log_end_offset), _or_dash(lag))
        cells = numbers % (row.partition, *epoch, *counts)
        yield f"{name} {pad(topics[row.topic], far)} {cells} {ends[_holder(row)]}"


def members_text(group: Group, *, verbose: bool, show: Show = str) -> Iterator[str]:
    """One group of ``--describe --members``; of a group without members the header alone."""
    members = sorted(group.members or (), key=lambda member: member.member_id)
    instances = any(member.instance_id for member in members)
    mixed = {True, False} <= {member.upgraded for member in members}
    texts = [_member_cells(group, member, show) for member in members]
    header = ["GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS"]
    header += ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED"]
    least = (_NAME, _NAME, _INSTANCE, _NAME, _NAME, _NAME, _NAME, _ASSIGNMENT, _NAME, _ASSIGNMENT)
    widths = [widest(width, (cells[at] for cells in texts)) for at, width in enumerate(least)]
    for at, cells in enumerate([header, *texts]):
        padded = [pad(cell, width) for cell, width in zip(cells, widths, strict=False)]
        shown = padded[:2] + (padded[2:3] if instances else []) + padded[3:6]
        more = [*padded[6:], *(cells[10:] if mixed else [])] if verbose else []
        yield ("\n" if not at else "") + " ".join(shown) + " " + " ".join(more) + "\n"


def state_text(group: Group, *, verbose: bool, show: Show = str) -> Iterator[str]:
    """One group of ``--describe --state``."""
    where = coordinator_text(group, show)
    name = show(group.group_id)
    members = len(group.members or ())
    epochs = (_or_dash(group.group_epoch), _or_dash(group.target_assignment_epoch)) if verbose else ()
    heads = ("GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH") if verbose else ()
    rest = _VERBOSE_STATE if verbose else _STATE
    wide, far = widest(_NAME, (name,)), widest(_COORDINATOR, (where,))
    header = rest % ("ASSIGNMENT-STRATEGY", "STATE", *heads, "#MEMBERS")
    yield f"\n{pad('GROUP', wide)} {pad('COORDINATOR (ID)', far)} {header}\n"
    cells = (show(group.protocol or ABSENT), show(group.state), *epochs, members)
    yield f"{pad(name, wide)} {pad(where, far)} {rest % cells}\n"


def remark(group: Group, show: Show = str) -> str | None:
    """What stands on stderr beside a group's table, after an empty line."""
    if group.state == GroupState.EMPTY:
        return f"Consumer group '{show(group.group_id)}' has no active members."
    if group.state in GroupState.REBALANCING:
        return f"Warning: Consumer group '{show(group.group_id)}' is rebalancing."
    return None


def coordinator_text(group: Group, show: Show = str) -> str:
    node = group.coordinator
    return f"{show(node.host)}:{node.port}  ({node.id})"


def assignment_text(assignment: Assignment | None, nothing: str = ABSENT) -> str:
    """``t-a:0,1;t:4``. Sorted as texts: before a topic's colon come dashes, dots and digits."""
    if assignment is None or not (assignment.topics or assignment.raw):
        return nothing
    if assignment.raw:
        return str(assignment.raw)
    return ";".join(sorted(f"{entry.topic}:{','.join(map(str, entry.partitions))}" for entry in assignment.topics))


def java_length(text: str) -> int:
    """In UTF-16 units, as Java counts and pads."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def pad(text: str, width: int) -> str:
    return text.ljust(width) if text.isascii() else text + " " * (width - java_length(text))


def widest(least: int, texts: Iterable[str]) -> int:
    """The width of a column that holds these texts."""
    return max(least, *map(java_length, texts), 0)


def _or_dash(value: object) -> object:
    return ABSENT if value is None else value


def _holder(row: OffsetRow) -> tuple[str | None, str | None, str | None]:
    return row.consumer_id, row.host, row.client_id


def _by_holder(rows: Iterable[OffsetRow]) -> list[OffsetRow]:
    """The rows, which come by topic and partition, in the order of their holders."""
    held: dict[str | None, list[OffsetRow]] = {}
    for row in rows:
        held.setdefault(row.consumer_id, []).append(row)
    order = sorted(held, key=lambda holder: (holder is None, -len(held[holder]), holder or ""))
    return [row for holder in order for row in held[holder]]


def _member_cells(group: Group, member: Member, show: Show) -> list[str]:
    return [
        show(group.group_id),
        show(member.member_id),
        show(member.instance_id or ""),
        show(member.host),
        show(member.client_id),
        str(_or_dash(member.assignment.size)),
        str(_or_dash(member.member_epoch)),
        show(assignment_text(member.assignment)),
        str(_or_dash(group.target_assignment_epoch)),
        show(assignment_text(member.target)),
        ABSENT if member.upgraded is None else str(member.upgraded).lower(),
    ]
