"""Writes a plan of offsets, with the old ones kept in a file before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .undo_file import UndoFile

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.acts import AppliedOffset
    from kgroups.model.outcome import Outcome
    from kgroups.model.reset import PlannedOffset


async def write_offsets(
    admin: GroupAdmin,
    planned: Sequence[PlannedOffset],
    undo: UndoFile,
    *,
    old: bool,
    with_members: bool = False,
) -> Outcome[AppliedOffset]:
    """Looks again whether an old plan still holds, keeps the old offsets in a file, and writes the new ones."""
    from kgroups.model.acts import AppliedOffset, Result
    from kgroups.model.outcome import Outcome
    from kgroups.model.plan_file import json_undo

    fresh = Outcome(tuple(planned))
    checked = await admin.still_true(planned, with_members=with_members) if old else fresh
    kept = {entry.key for entry in checked.items}
    reasons = {failure.name: failure for failure in checked.failures}
    dropped = [
        AppliedOffset(entry, Result.FAILED, reasons.get(entry.group_id)) for entry in planned if entry.key not in kept
    ]
    if checked.items:
        undo.write(sorted({entry.group_id for entry in checked.items}), json_undo(checked.items))
    applied = await admin.apply_offsets(checked.items)
    items = sorted((*applied.items, *dropped), key=lambda each: each.planned.key)
    return applied.with_items(items).with_failures(checked.failures)
