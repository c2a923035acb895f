"""Output of ``kafka-share-groups``, byte-identical to Kafka's, including padding and trailing blanks.

As in :mod:`.lists`, groups are sorted by name. A negative lag is ``-``, as in the Java tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kgroups.model.groups import Group, GroupState
from kgroups.model.operations.results import DeletedTopicOffsets
from kgroups.model.outcome import NOT_FOUND, Scope
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.model.views.offsets import offset_rows

from .operations import java_error
from .text import COORDINATOR, NAME, Show, assignment_text, coordinator_text, or_dash, pad, widest


def offsets_text(offsets: GroupOffsets, *, verbose: bool, show: Show = str) -> Iterator[str]:
    """Yield a group of ``--describe --offsets``."""
    rows = offset_rows(offsets)
    name = show(offsets.group.group)
    if not rows:
        yield f"\nShare group '{name}' has no offset information.\n"
        return
    wide, far = widest(NAME, (name,)), widest(NAME, (show(row.topic or "") for row in rows))
    numbers = "%-10s %-13s %-13s %s" if verbose else "%-10s %-13s %s"
    heads = ("PARTITION", *(("LEADER-EPOCH",) if verbose else ()), "START-OFFSET", "LAG")
    yield f"\n{pad('GROUP', wide)} {pad('TOPIC', far)} {numbers % heads}"
    for row in rows:
        epoch = (_not_below_zero(row.leader_epoch),) if verbose else ()
        cells = numbers % (row.partition, *epoch, _not_below_zero(row.start_offset), _not_below_zero(row.lag))
        yield f"\n{pad(name, wide)} {pad(show(row.topic or ''), far)} {cells}"
    yield "\n"


def members_text(group: Group, *, verbose: bool, show: Show = str) -> Iterator[str]:
    """Yield a group of ``--describe --members``; nothing for a group without members."""
    members = sorted(group.members or (), key=lambda member: member.member_id)
    if not members:
        return
    header = ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "MEMBER-EPOCH", "ASSIGNMENT"]
    rows = [
        [
            show(group.group),
            show(member.member_id),
            show(member.host),
            show(member.client_id),
            str(member.assignment.size),
            str(member.member_epoch),
            show(assignment_text(member.assignment, nothing="")),
        ]
        for member in members
    ]
    widths = [widest(NAME, (cells[at] for cells in rows)) for at in range(4)]
    for cells in (header, *rows):
        padded = [pad(cell, width) for cell, width in zip(cells, widths, strict=False)]
        epoch = [f"{cells[5]:13}"] if verbose else []
        yield "\n" + " ".join([*padded, f"{cells[4]:12}", *epoch, cells[6]])
    yield "\n"


def state_text(group: Group, *, verbose: bool, show: Show = str) -> Iterator[str]:
    """Yield a group of ``--describe --state``."""
    name, where = show(group.group), coordinator_text(group, show)
    wide, far = widest(NAME, (name,)), widest(COORDINATOR, (where,))
    epochs = (_not_below_zero(group.group_epoch), _not_below_zero(group.target_assignment_epoch)) if verbose else ()
    heads = ("GROUP-EPOCH", "ASSIGNMENT-EPOCH") if verbose else ()
    rest = "%-15s %-12s %-17s %s" if verbose else "%-15s %s"
    yield f"\n{pad('GROUP', wide)} {pad('COORDINATOR (ID)', far)} {rest % ('STATE', *heads, '#MEMBERS')}"
    cells = (show(group.state), *epochs, len(group.members or ()))
    yield f"\n{pad(name, wide)} {pad(where, far)} {rest % cells}\n"


def remark(group: Group, show: Show = str) -> str | None:
    """Return the text for stderr after a group's table and an empty line."""
    empty = group.state == GroupState.EMPTY
    return f"Share group '{show(group.group)}' has no active members." if empty else None


def deleted_offsets_text(topics: Sequence[DeletedTopicOffsets], show: Show = str) -> Iterator[str]:
    """Yield the table of ``--delete-offsets``."""
    wide = widest(NAME, (show(entry.topic) for entry in topics))
    yield f"\n{pad('TOPIC', wide)} STATUS"
    for entry in sorted(topics, key=lambda each: each.topic):
        status = f"Error: {show(entry.failure.message)}" if entry.failure else "Successful"
        yield f"\n{pad(show(entry.topic), wide)} {status}"
    yield "\n"


def offset_errors_text(topics: Iterable[DeletedTopicOffsets], show: Show = str) -> Iterator[str]:
    """Yield the error of the whole group."""
    group_failures = [entry.failure for entry in topics if entry.failure and entry.failure.scope is Scope.GROUP]
    if group_failures:
        failure = group_failures[0]
        text = failure.message if failure.error == NOT_FOUND else java_error(failure).rpartition("Exception: ")[2]
        yield f"\nError: {show(text)}\n"


def _not_below_zero(value: int | None) -> str:
    return or_dash(None if value is None or value < 0 else value)
