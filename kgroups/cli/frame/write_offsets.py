"""Write planned offsets, for the commands that show one result for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .undo_file import UndoFile

if TYPE_CHECKING:
    from kgroups.admin.port.capabilities import GroupChanger
    from kgroups.model.operations.reset import PlannedOffset
    from kgroups.model.operations.results import AppliedOffset
    from kgroups.model.outcome import Outcome


async def write_offsets(
    admin: GroupChanger,
    planned: Sequence[PlannedOffset],
    undo: UndoFile,
    *,
    force: bool = False,
    with_members: bool = False,
    together: bool = False,
) -> Outcome[AppliedOffset]:
    """Write planned offsets with :func:`.write_in_chunks`; return a result for each, also for skipped groups."""
    from kgroups.admin.change.write_in_chunks import write_in_chunks
    from kgroups.model.outcome import Outcome

    done = await write_in_chunks(admin, planned, undo, force=force, with_members=with_members, together=together)
    items = sorted((*done.applied, *done.left_alone), key=lambda each: each.planned.key)
    return Outcome(tuple(items), done.failures, done.notices)
