"""Write planned offsets in chunks of groups, each checked again right before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from kgroups.model.operations.journal import Journal
from kgroups.model.operations.reset import PlannedOffset, by_group
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import Failure, Outcome, Result

from .chunks import GROUPS_AT_ONCE, TopicIds, UndoLog, check_again, chunks, not_together
from .interruption import Interruption
from .writers.ledger import WriteJournal


class OffsetWriter(TopicIds, Protocol):
    """A client that can check planned offsets again and write them."""

    async def revalidate(
        self, planned: Sequence[PlannedOffset], *, with_members: bool = False, force: bool = False
    ) -> Outcome[PlannedOffset]: ...

    async def apply_offsets(
        self, planned: Sequence[PlannedOffset], journal: WriteJournal | None = None
    ) -> Outcome[AppliedOffset]: ...


class Written(NamedTuple):
    """The results of planned offsets: those that were to be written, those of groups left alone, and all failures."""

    applied: tuple[AppliedOffset, ...]
    left_alone: tuple[AppliedOffset, ...]
    failures: tuple[Failure, ...]


async def write_in_chunks(
    admin: OffsetWriter,
    planned: Sequence[PlannedOffset],
    undo: UndoLog,
    *,
    force: bool = False,
    with_members: bool = False,
    together: bool = False,
) -> Written:
    """Write planned offsets, or delete those whose new offset is ``None``.

    A group that has changed since it was planned is left alone and is a failure.

    :param force: also write groups whose offsets have changed.
    :param with_members: also write groups that have members.
    :param together: check all groups before the first one is written; if one has changed, write none.
    """
    if together and (changed := (await admin.revalidate(planned, with_members=with_members, force=force)).failures):
        held = not_together(changed, (entry.group_id for entry in planned))
        alone = (AppliedOffset(entry, Result.FAILED, held[entry.group_id]) for entry in planned)
        return Written((), tuple(alone), tuple(held.values()))
    stop = undo.stop
    journal: WriteJournal = Journal(undo.record)
    stop.watch(journal)
    saved = False
    done: list[AppliedOffset] = []
    left_alone: list[AppliedOffset] = []
    failures: list[Failure] = []
    parts = list(chunks(list(by_group(planned)), GROUPS_AT_ONCE))
    for number, part in enumerate(parts):
        entries = [entry for _, each in part for entry in each]
        check = admin.revalidate(entries, with_members=with_members, force=force)
        checked = await check_again([name for name, _ in part], check, stop)
        kept = {entry.key for entry in checked.items}
        reasons = {failure.name: failure for failure in checked.failures}
        dropped = [
            AppliedOffset(entry, Result.FAILED, reasons.get(entry.group_id))
            for entry in entries
            if entry.key not in kept
        ]
        undo.record(dropped)
        left_alone += dropped
        failures += checked.failures
        if not checked.items:
            continue
        if not saved:
            rest = [*checked.items, *(entry for each in parts[number + 1 :] for _, more in each for entry in more)]
            await undo.save(admin, rest)
            saved = True
        applied = await stop.bound(admin.apply_offsets(checked.items, journal))
        if applied is None:
            applied = _so_far(journal, checked.items, stop)
        done += applied.items
        failures += applied.failures
    undo.close()
    return Written(tuple(done), tuple(left_alone), tuple(failures))


def _so_far(journal: WriteJournal, planned: Sequence[PlannedOffset], stop: Interruption) -> Outcome[AppliedOffset]:
    """Return what is known about a write that a signal ended."""
    for entry in planned:
        if journal.in_doubt(entry.key):
            journal.enter({entry.key: AppliedOffset(entry, Result.UNKNOWN, stop.unanswered(entry.group_id))})
        else:
            journal.enter({entry.key: AppliedOffset(entry, Result.FAILED, stop.not_sent(entry.group_id))})
    items = tuple(journal.results[entry.key] for entry in planned)
    return Outcome(items, tuple(dict.fromkeys(each.failure for each in items if each.failure)))
