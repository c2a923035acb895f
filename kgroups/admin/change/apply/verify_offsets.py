"""Compare what was written with the log of the group: another client may have committed since the check.

Share groups have no commits, and thus no such log: their start offsets are read back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress

from kgroups.errors import KgroupsError, Reason
from kgroups.model.counts import count, some
from kgroups.model.groups import GroupId, GroupType
from kgroups.model.offsets import PlanKey, place_name
from kgroups.model.operations.reset import PlannedOffset, SeenLog, by_group
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.operations.rivals import Rivals, rivals_of
from kgroups.model.outcome import Failure, Outcome, Result, Scope
from kgroups.net.cluster import Cluster

from ...routing.partition_leaders import topic_leaders
from ..plan.lookups import Committed, committed_offsets, start_offsets
from .commit_log import CommitLog, is_alone, move_of

Read = Callable[[Cluster, Sequence[GroupId]], Awaitable[Committed]]


async def verified_offsets(
    cluster: Cluster, log: CommitLog, applied: Sequence[AppliedOffset], whole: Collection[GroupId] = ()
) -> Outcome[AppliedOffset]:
    """Return results with the failures of groups to which another client has committed since they were checked.

    :param whole: deleted groups. An offset on a partition that was not planned is one more item.
    """
    written = [
        each.planned
        for each in applied
        if each.result is Result.APPLIED
        and not each.failure
        and each.planned.kind not in GroupType.WITHOUT_COMMITS
        and (each.planned.before or each.planned.after)
    ]
    rivals: dict[PlanKey, Rivals] = {}
    unseen: dict[GroupId, str] = {}
    if written or whole:
        records, unseen = await log.read(written, whole)
        others = await _unplanned(cluster, {*records} - {entry.key for entry in written})
        for entry in others:
            moves = [move_of(*record) for record in records[entry.key]]
            if any(moves):
                rivals[entry.key] = rivals_of(None, moves) or Rivals(replaced_by=tuple(moves))
                written.append(entry)
        applied = [*applied, *(AppliedOffset(entry, Result.APPLIED) for entry in others if entry.key in rivals)]
        for entry in (each for each in written if each.key not in rivals):
            made = records.get(entry.key, [])
            if entry.group not in unseen and not is_alone(made, entry.after):
                found = rivals_of(entry.after, [move_of(*record) for record in made])
                if found is None:
                    unseen[entry.group] = "what was written is not in the log of the group"
                elif found != Rivals():
                    rivals[entry.key] = found
    starts = [
        each.planned
        for each in applied
        if each.result is Result.APPLIED
        and not each.failure
        and each.planned.kind in GroupType.WITHOUT_COMMITS
        and each.planned.after
    ]
    unseen |= {entry.group: "share groups have no log of their start offsets" for entry in starts}
    rivals |= await _read_back(cluster, [entry for entry in written if entry.group in unseen], committed_offsets)
    rivals |= await _read_back(cluster, starts, start_offsets)
    written += starts
    failures = {
        name: _failure(name, [(entry, rivals[entry.key]) for entry in part])
        for name, part in by_group(entry for entry in written if entry.key in rivals)
    }
    items = tuple(_with_rivals(each, rivals.get(each.planned.key), failures) if failures else each for each in applied)
    reasons = sorted({reason for reason in unseen.values() if reason})
    notices = tuple(
        f"{count(sum(each == reason for each in unseen.values()), 'group')}: it is unknown whether another client "
        f"committed between the check and the write: {reason}"
        for reason in reasons
    )
    return Outcome(items, tuple(dict.fromkeys(each.failure for each in items if each.failure)), notices)


async def _unplanned(cluster: Cluster, keys: Collection[PlanKey]) -> list[PlannedOffset]:
    """Return partitions that were not planned, with their topic IDs if known, as offsets that are deleted."""
    ids: dict[str, int] = {}
    if keys:
        with suppress(KgroupsError):  # the results are still reported
            topics = await topic_leaders(cluster, sorted({topic for _, topic, _ in keys}))
            ids = {name: found.topic_id for name, found in topics.items()}
    return [PlannedOffset(*key, None, None, seen=SeenLog(ids.get(key[1]) or None)) for key in sorted(keys)]


def amend_after(
    amend: Callable[[Sequence[PlannedOffset]], None], entries: Sequence[PlannedOffset]
) -> tuple[Failure, ...]:
    """Record old offsets that have been overwritten; return the failures of their groups if that is impossible."""
    try:
        amend(entries)
    except KgroupsError as error:
        reason = f"its old offsets are not in the undo file: {error}"
        return tuple(Failure(Scope.GROUP, name, reason, reason=error.reason) for name, _ in by_group(entries))
    return ()


def _with_rivals(each: AppliedOffset, rivals: Rivals | None, failures: Mapping[GroupId, Failure]) -> AppliedOffset:
    if rivals is None:
        return each
    planned = each.planned._replace(before=rivals.overwritten[-1]) if rivals.overwritten else each.planned
    return each._replace(planned=planned, failure=failures[planned.group])


def _failure(name: GroupId, found: Sequence[tuple[PlannedOffset, Rivals]]) -> Failure:
    words = [text for entry, rivals in found if (text := rivals.words(place_name(entry.topic, entry.partition)))]
    return Failure(Scope.GROUP, name, f"written, but not alone: {some(words)}", reason=Reason.STILL_COMMITTING)


async def _read_back(cluster: Cluster, written: Sequence[PlannedOffset], read: Read) -> dict[PlanKey, Rivals]:
    """Return the partitions whose offset is not the one that was written."""
    if not written:
        return {}
    committed = await read(cluster, sorted({entry.group for entry in written}))
    found = {}
    for entry in written:
        now = committed.get(entry.group, {}).get((entry.topic, entry.partition))
        is_same = now == entry.after
        if entry.kind in GroupType.WITHOUT_COMMITS and now and entry.after:
            is_same = now.offset == entry.after.offset  # start offsets have no metadata
        if entry.group in committed and not is_same:
            found[entry.key] = Rivals(replaced_by=(now,))
    return found
