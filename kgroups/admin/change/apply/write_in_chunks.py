"""Write planned offsets of many groups: save the old offsets, then write, each group checked again right before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kgroups.model.operations.journal import Journal
from kgroups.model.operations.reset import PlannedOffset, by_group
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import Failure, Outcome, Result
from kgroups.net.cluster import Cluster

from .apply_offsets import Checker, apply_offsets
from .chunks import FIRST_GROUPS, GROUPS_AT_ONCE, UndoLog, check_again, chunks, not_together
from .interruption import Interruption
from .writers.ledger import WriteJournal


async def write_in_chunks(
    cluster: Cluster,
    planned: Sequence[PlannedOffset],
    undo: UndoLog,
    *,
    force: bool = False,
    with_members: bool = False,
    together: bool = False,
) -> Outcome[AppliedOffset]:
    """Write planned offsets, or delete those whose new offset is ``None``; one item for each, sorted.

    A group that has changed since it was planned is left alone and is a failure.

    :param force: also write groups whose offsets have changed, or with open transactions.
    :param with_members: also write groups that have members.
    :param together: check all groups before the first one is written; if one has changed, write none.
    """
    checker = Checker(cluster, with_members=with_members, force=force)
    if together and (changed := (await checker.check(planned)).failures):
        held = not_together(changed, (entry.group for entry in planned))
        alone = (AppliedOffset(entry, Result.FAILED, held[entry.group], True) for entry in planned)
        return Outcome(_sorted(alone), tuple(held.values()))
    stop = undo.stop
    journal: WriteJournal = Journal(undo.record)
    stop.watch(journal)
    done: list[AppliedOffset] = []
    failures: dict[Failure, None] = {}
    notices: dict[str, None] = {}
    groups = list(by_group(planned))
    going: list[PlannedOffset] = []
    while groups and not going:
        first, groups = groups[:FIRST_GROUPS], groups[FIRST_GROUPS:]
        entries = [entry for _, each in first for entry in each]
        checked = await check_again([name for name, _ in first], checker.check_first(entries), stop)
        kept = {entry.key for entry in checked.items}
        reasons = {failure.name: failure for failure in checked.failures}
        done += (
            AppliedOffset(entry, Result.FAILED, reasons.get(entry.group), True)
            for entry in entries
            if entry.key not in kept
        )
        failures.update(dict.fromkeys(checked.failures))
        going += checked.items
    if going:
        going += (entry for _, each in groups for entry in each)
        await undo.save(cluster, going)
    for part in chunks(list(by_group(going)), GROUPS_AT_ONCE):
        entries = [entry for _, each in part for entry in each]
        write = apply_offsets(cluster, entries, journal, checker=checker, amend=undo.amend)
        applied = await stop.bound(write) or _so_far(journal, entries, stop)
        undo.record(each for each in applied.items if each.result is Result.APPLIED and each.failure)
        done += applied.items
        failures.update(dict.fromkeys(applied.failures))
        notices.update(dict.fromkeys(applied.notices))
    undo.close()
    return Outcome(_sorted(done), tuple(failures), tuple(notices))


def _sorted(items: Iterable[AppliedOffset]) -> tuple[AppliedOffset, ...]:
    return tuple(sorted(items, key=lambda each: each.planned.key))


def _so_far(journal: WriteJournal, planned: Sequence[PlannedOffset], stop: Interruption) -> Outcome[AppliedOffset]:
    """Return what is known about a write that a signal ended."""
    for entry in planned:
        if journal.in_doubt(entry.key):
            journal.enter({entry.key: AppliedOffset(entry, Result.UNKNOWN, stop.unanswered(entry.group))})
        else:
            journal.enter({entry.key: AppliedOffset(entry, Result.FAILED, stop.not_sent(entry.group))})
    items = tuple(journal.results[entry.key] for entry in planned)
    return Outcome(items, tuple(dict.fromkeys(each.failure for each in items if each.failure)))
