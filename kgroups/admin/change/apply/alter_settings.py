"""Change settings of groups: plan them, let brokers check the new values, and write them (KIP-848, Kafka 4.0)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kgroups.model.groups import GroupId
from kgroups.model.operations.journal import Journal
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Result, merge
from kgroups.model.settings.change import (
    AppliedSetting,
    DesiredSettings,
    PlannedSetting,
    changed_since,
    changes_by_group,
    plan_group,
    unused,
)
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.incremental_alter_configs import API, IncrementalAlterConfigs
from kgroups.protocol.call import Call
from kgroups.protocol.error_codes import KafkaError

from ...query.describe import describe
from ...query.group_configs import read_settings
from ...query.select_groups import Selection
from ...routing.query_coordinators import GroupQuery, GroupResults, query_coordinators
from ...routing.recheck import Check, Recheck
from ...routing.witness import Witness
from ..plan.plan_notices import with_notices
from .chunks import GROUPS_AT_ONCE, UndoLog, check_again, chunks
from .interruption import Interruption

SettingsJournal = Journal[GroupId, tuple[AppliedSetting, ...]]


async def plan_settings(cluster: Cluster, selection: Selection, desired: DesiredSettings) -> Outcome[PlannedSetting]:
    """Return the settings to change, sorted by group and name; those of groups whose broker rejects one are failures.

    All values of a group are checked together, as Kafka writes them: the broker sees each group as it will be.
    """
    return await with_notices(cluster, selection, await _plan(cluster, selection, desired), commits=False)


async def _plan(cluster: Cluster, selection: Selection, desired: DesiredSettings) -> Outcome[PlannedSetting]:
    found = await read_settings(cluster, selection)
    selection.check_complete(found.failures)
    planned = merge([plan_group(each, desired) for each in found.items])
    changing = {each.group for each in planned.items}
    there = await describe(cluster, Selection(tuple(sorted(changing)))) if changing else Outcome()
    missing = sorted(failure.name for failure in there.failures if failure.error == NOT_FOUND)
    notices = [f"group '{name}' does not exist: its settings apply when it is created" for name in missing]
    planned = planned.with_failures((), (*notices, *unused(planned.items, there.items)))
    rejected = (await _send(cluster, planned.items, validate_only=True)).failed
    kept = (each for each in planned.items if each.group not in rejected)
    return planned.with_items(kept).with_failures(failure for _, failure in sorted(rejected.items())).after(found)


async def alter_settings(
    cluster: Cluster, planned: Sequence[PlannedSetting], journal: SettingsJournal | None = None
) -> Outcome[AppliedSetting]:
    """Write settings; one item for each. Brokers change all settings of a group, or none.

    Each group is checked again right before its request, and after each wait; if its settings have changed since they
    were planned, it is left alone.

    :param journal: receives the results of each group as they arrive, and can stop the change.
    """
    journal = journal or Journal()

    async def check(part: Sequence[GroupId]) -> Mapping[GroupId, Failure]:
        now = await read_settings(cluster, Selection(tuple(part)))
        members = frozenset(part)
        entries = [each for each in planned if each.group in members]
        reasons = {failure.name: failure for failure in now.failures if failure.name in members}
        return reasons | changed_since(entries, {each.group: each for each in now.items})

    results = await _send(cluster, planned, journal, check)
    items = []
    for each in planned:
        failure = results.failed.get(each.group)
        unknown = Result.UNKNOWN if each.group in results.unknown else Result.FAILED
        items.append(AppliedSetting(each, unknown if failure else Result.APPLIED, failure))
    journal.enter(_by_group(items))
    return _outcome(items)


async def _send(
    cluster: Cluster,
    planned: Sequence[PlannedSetting],
    journal: SettingsJournal | None = None,
    check: Check | None = None,
    *,
    validate_only: bool = False,
) -> GroupResults[GroupId]:
    changes = changes_by_group(planned)
    all_applied = _by_group([AppliedSetting(each, Result.APPLIED) for each in planned])

    def call(names: tuple[GroupId, ...]) -> Call[Mapping[GroupId, GroupId | KafkaError]]:
        return IncrementalAlterConfigs({name: changes[name] for name in names}, validate_only)

    def applied(_: object, group: GroupId, __: object) -> dict[GroupId, tuple[AppliedSetting, ...]]:
        return {group: all_applied[group]}

    witness: Witness[Any, Any, GroupId] | None = Witness(journal, lambda group: (group,), applied) if journal else None
    step = "settings checked" if validate_only else "settings changed"
    recheck = Recheck(check, changes) if check else None
    query: GroupQuery[GroupId] = GroupQuery(
        step, API, call, changes=not validate_only, witness=witness, recheck=recheck
    )
    return await query_coordinators(cluster, query, dict.fromkeys(changes))


async def alter_in_chunks(
    cluster: Cluster, planned: Sequence[PlannedSetting], undo: UndoLog
) -> Outcome[AppliedSetting]:
    """Write planned settings in chunks of groups, each checked again right before; one item for each, in their order.

    A group whose planned settings have changed since is left alone and is a failure.
    """
    stop = undo.stop
    journal: SettingsJournal = Journal(lambda groups: undo.record(each for group in groups for each in group))
    stop.watch(journal)
    saved = False
    done: list[AppliedSetting] = []
    names = sorted({each.group for each in planned})
    for part in chunks(names, GROUPS_AT_ONCE):
        members = frozenset(part)
        entries = [each for each in planned if each.group in members]
        checked = await check_again(part, read_settings(cluster, Selection(tuple(part))), stop)
        reasons = {failure.name: failure for failure in checked.failures}
        reasons |= changed_since(entries, {each.group: each for each in checked.items})
        going = [each for each in entries if each.group not in reasons]
        done += (AppliedSetting(each, Result.FAILED, reasons[each.group]) for each in entries if each.group in reasons)
        if going and not saved:
            settled = {each.planned.key for each in done}
            await undo.save(cluster, [each for each in planned if each.key not in settled])
            saved = True
        undo.record(each for each in done if each.planned.group in members)
        if going:
            written = await stop.bound(alter_settings(cluster, going, journal))
            done += (written or _so_far(journal, going, stop)).items
    undo.close()
    return _outcome(sorted(done, key=lambda each: each.planned.key))


def _so_far(journal: SettingsJournal, planned: Sequence[PlannedSetting], stop: Interruption) -> Outcome[AppliedSetting]:
    """Return what is known about a change that a signal ended."""
    items = []
    for each in planned:
        group = each.group
        if journal.in_doubt(group):
            items.append(AppliedSetting(each, Result.UNKNOWN, stop.unanswered(group)))
        elif group in journal.results:
            items.append(AppliedSetting(each, Result.APPLIED))
        else:
            items.append(AppliedSetting(each, Result.FAILED, stop.not_sent(group)))
    journal.enter(_by_group(items))
    return _outcome(items)


def _by_group(items: Iterable[AppliedSetting]) -> dict[GroupId, tuple[AppliedSetting, ...]]:
    groups: dict[GroupId, tuple[AppliedSetting, ...]] = {}
    for each in items:
        groups[each.planned.group] = (*groups.get(each.planned.group, ()), each)
    return groups


def _outcome(items: Sequence[AppliedSetting]) -> Outcome[AppliedSetting]:
    failures: dict[Failure, None] = dict.fromkeys(each.failure for each in items if each.failure)
    return Outcome(tuple(items), tuple(failures))
