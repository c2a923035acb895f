"""Writes a plan of offsets, with the old ones kept in a file before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from kgroups.errors import KgroupsError

from .undo_file import UndoFile, run_source

if TYPE_CHECKING:
    from kgroups.admin.change.writers.ledger import WriteJournal
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.operations.reset import PlannedOffset
    from kgroups.model.operations.results import AppliedOffset
    from kgroups.model.outcome import Failure, Outcome

    from .interruption import Interruption

T = TypeVar("T")

GROUPS_AT_ONCE = 500
"""Groups that are checked again in a few requests, and then written."""


async def write_offsets(
    admin: GroupAdmin,
    planned: Sequence[PlannedOffset],
    undo: UndoFile,
    *,
    force: bool = False,
    with_members: bool = False,
    together: bool = False,
) -> Outcome[AppliedOffset]:
    """Write the new offsets, some hundred groups at a time.

    Right before its part is written, each group is checked again; one that changed is left alone and named. The undo
    file is written before the first change.

    :param together: all groups are checked before the first one is written; if one has changed, none is.
    """
    from kgroups.model.operations.journal import Journal
    from kgroups.model.operations.reset import by_group
    from kgroups.model.operations.results import AppliedOffset
    from kgroups.model.outcome import Outcome, Result

    if together and (changed := (await admin.still_true(planned, with_members=with_members, force=force)).failures):
        held = not_together(changed, (entry.group_id for entry in planned))
        alone = (AppliedOffset(entry, Result.FAILED, held[entry.group_id]) for entry in planned)
        return Outcome(tuple(alone), tuple(held.values()))
    stop = undo.stop
    journal: WriteJournal = Journal(undo.record)
    stop.watch(journal)
    done: list[AppliedOffset] = []
    failures: list[Failure] = []
    parts = list(chunks(list(by_group(planned)), GROUPS_AT_ONCE))
    for number, part in enumerate(parts):
        entries = [entry for _, each in part for entry in each]
        try:
            found = await stop.bound(admin.still_true(entries, with_members=with_members, force=force))
            checked = found or Outcome((), tuple(stop.not_sent(name) for name, _ in part))
        except KgroupsError as error:
            checked = Outcome((), tuple(unchecked(name, error) for name, _ in part))
        kept = {entry.key for entry in checked.items}
        reasons = {failure.name: failure for failure in checked.failures}
        dropped = [
            AppliedOffset(entry, Result.FAILED, reasons.get(entry.group_id))
            for entry in entries
            if entry.key not in kept
        ]
        undo.record(dropped)
        done += dropped
        failures += checked.failures
        if not checked.items:
            continue
        if undo.written is None:
            rest = [*checked.items, *(entry for each in parts[number + 1 :] for _, more in each for entry in more)]
            undo.write(rest, await run_source(admin, undo.connection, rest))
        applied = await stop.bound(admin.apply_offsets(checked.items, journal))
        if applied is None:
            applied = _so_far(journal, checked.items, stop)
        done += applied.items
        failures += applied.failures
    undo.close()
    return Outcome(tuple(sorted(done, key=lambda each: each.planned.key)), tuple(failures))


def _so_far(journal: WriteJournal, planned: Sequence[PlannedOffset], stop: Interruption) -> Outcome[AppliedOffset]:
    """What is known of a write that a signal ended."""
    from kgroups.model.operations.results import AppliedOffset
    from kgroups.model.outcome import Outcome, Result

    for entry in planned:
        if journal.in_doubt(entry.key):
            journal.enter({entry.key: AppliedOffset(entry, Result.UNKNOWN, stop.unanswered(entry.group_id))})
        else:
            journal.enter({entry.key: AppliedOffset(entry, Result.FAILED, stop.not_sent(entry.group_id))})
    items = tuple(journal.results[entry.key] for entry in planned)
    return Outcome(items, tuple(dict.fromkeys(each.failure for each in items if each.failure)))


def chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield parts of at most this size."""
    for at in range(0, len(items), size):
        yield items[at : at + size]


def not_together(changed: Iterable[Failure], groups: Iterable[str]) -> dict[str, Failure]:
    """Group -> why it is left alone, because it changed or because another one did."""
    from kgroups.model.outcome import Failure, Scope

    message = "not changed: the members of another group have returned, or its offsets have changed"
    others = {name: Failure(Scope.GROUP, name, message) for name in groups}
    return {**others, **{failure.name: failure for failure in changed}}


def unchecked(group: str, error: KgroupsError) -> Failure:
    """Why a group is left alone that could not be checked again."""
    from kgroups.model.outcome import Failure, Scope

    message = f"not changed: it could not be checked again: {error}"
    return Failure.of(error, Scope.GROUP, group)._replace(message=message)
