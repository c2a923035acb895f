"""Plan the restore of a snapshot, as an undo of everything that has changed since it was saved."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from shlex import quote
from typing import NamedTuple

from kgroups.errors import Reason
from kgroups.model.counts import count, some
from kgroups.model.groups import GroupId
from kgroups.model.offsets import Move, PlanKey, place_name
from kgroups.model.operations.origin import Mismatch, Origin
from kgroups.model.operations.reset import FromPlan, PlannedOffset
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.settings.change import PlannedSetting
from kgroups.model.snapshot.snapshot import SavedSettings, Snapshot, commits_of, has_configs
from kgroups.model.topic_scope import TopicScope, in_scope
from kgroups.net.cluster import Cluster

from ..change.apply.alter_settings import plan_settings
from ..change.plan.lookups import committed_now
from ..change.plan.plan_reset import plan_reset
from ..change.plan.reset_request import ResetRequest
from ..query.group_configs import fetch_group_configs
from ..query.select_groups import Selection


class Restore(NamedTuple):
    """The groups of a snapshot to restore, and how.

    ``create``: create groups that do not exist. ``exact``: also delete committed offsets that are not in the snapshot.
    """

    snapshot: Snapshot
    name: str
    groups: Collection[GroupId]
    topics: TopicScope | None = None
    accepted: frozenset[Mismatch] = frozenset()
    create: bool = False
    exact: bool = False


async def plan_restore(cluster: Cluster, request: Restore) -> Outcome[PlannedOffset]:
    """Plan the offsets to write, sorted by group, topic, and partition. Nothing is changed.

    Failures: what :func:`..change.plan_reset.plan_reset` reports for an undo, and what is missing in the snapshot.

    :raises UsageError: if the snapshot is of another cluster, and that is not accepted.
    """
    snapshot, groups = request.snapshot, set(request.groups)
    saved = {each.group.group: each for each in snapshot.groups if each.group.group in groups}
    moves: dict[PlanKey, Move] = {
        (name, *pair): commit
        for name, each in saved.items()
        for pair, commit in commits_of(each).items()
        if in_scope(request.topics, *pair)
    }
    extra = await _extra(cluster, request, saved, moves)
    notices = []
    if request.exact:
        moves.update(dict.fromkeys(extra))
    elif extra:
        names = sorted({name for name, _, _ in extra})
        offsets = count(len(extra), "committed offset")
        notices.append(f"{offsets} of {some(names)} not in {request.name}: not changed; to delete them, add --exact")
    idle = saved.keys() - {name for name, _, _ in moves}
    if idle:
        notices.append(f"no offsets of {count(len(idle), 'group')} to restore: {some(sorted(idle))}")
    failures, remarks = _partial(request, snapshot.partial)
    if not moves:
        return Outcome((), tuple(failures), (*notices, *remarks))
    origin = Origin(request.name, snapshot.source, accepted=request.accepted)
    kinds = {name: each.group.type for name, each in saved.items() if each.group.type}
    scenario = FromPlan(moves, exact=True, kinds=kinds, origin=origin, creates=request.create)
    planned = await plan_reset(cluster, ResetRequest(Selection(tuple(sorted({*saved} - idle))), scenario))
    differing = await _configs(cluster, request, saved)
    return planned.with_failures(failures, (*notices, *remarks, *differing))


async def committed_since(cluster: Cluster, request: Restore, planned: Iterable[PlannedOffset]) -> list[Failure]:
    """Return a failure for each planned group that has other offsets than the snapshot since it was planned."""
    known = {entry.key for entry in planned}
    groups = {name for name, _, _ in known}
    saved = {each.group.group: commits_of(each) for each in request.snapshot.groups if each.group.group in groups}
    moves = {(name, *pair): commit for name, commits in saved.items() for pair, commit in commits.items()}
    found: dict[GroupId, list[str]] = {}
    for name, topic, partition in sorted({*await _extra(cluster, request, saved, moves)} - known):
        found.setdefault(name, []).append(place_name(topic, partition))
    reason = "not restored exactly: offsets were committed since the plan was made"
    return [
        Failure(Scope.GROUP, name, f"{reason}: {some(places)}; run the command again", reason=Reason.CHANGED)
        for name, places in found.items()
    ]


async def plan_restore_settings(cluster: Cluster, request: Restore) -> Outcome[PlannedSetting]:
    """Plan the settings to write, sorted by group and name; brokers have checked the values. Nothing is changed.

    Only ``groups``, ``accepted``, and ``exact`` of the request apply. Failures: what brokers reject, and what is
    missing in the snapshot.

    :raises UsageError: if the snapshot is of another cluster, and that is not accepted.
    """
    snapshot = request.snapshot
    origin = Origin(request.name, snapshot.source, accepted=request.accepted)
    _, notices = origin.on(cluster.cluster_id)
    configs = {name: snapshot.configs[name] for name in request.groups if name in snapshot.configs}
    lost, remarks = _partial(request, snapshot.partial)
    lost = [failure for failure in lost if failure.name not in configs]
    without = sorted({*request.groups} - configs.keys() - {failure.name for failure in lost})
    if without:
        groups = f"{count(len(without), 'group')} in {request.name}: {some(without)}"
        remarks.append(f"no settings of {groups}; a snapshot contains those of groups that are not classic")
    saved = SavedSettings(origin, configs, request.exact)
    planned = await plan_settings(cluster, Selection(tuple(sorted(configs))), saved) if configs else Outcome()
    return planned.with_failures(lost, (*notices, *remarks))


async def _extra(
    cluster: Cluster, request: Restore, saved: Collection[GroupId], moves: Mapping[PlanKey, Move]
) -> list[PlanKey]:
    """Return the partitions with a committed offset now that the snapshot would contain, but does not."""
    if not saved:
        return []
    limit = request.snapshot.extent.topics
    now = await committed_now(cluster, sorted(saved))
    return [
        (name, *pair)
        for name, commits in now.items()
        for pair, commit in commits.items()
        if commit and (name, *pair) not in moves and in_scope(request.topics, *pair) and (not limit or pair[0] in limit)
    ]


def _partial(request: Restore, failures: Iterable[Failure]) -> tuple[list[Failure], list[str]]:
    """Return what cannot be restored because it could not be saved, and a notice about the other failures."""
    lost: list[Failure] = []
    others = 0
    for failure in failures:
        if failure.scope is Scope.GROUP and failure.name in request.groups:
            message = f"not restored completely: it could not be read when {request.name} was saved: {failure.message}"
            lost.append(Failure(Scope.GROUP, failure.name, message, reason=Reason.NOT_SAVED))
        elif failure.scope is not Scope.GROUP:
            others += 1
    found = f"{request.name} is partial: {count(others, 'failure')} when it was saved; see kgroups snapshot show"
    return lost, [found] if others else []


async def _configs(cluster: Cluster, request: Restore, saved: Collection[GroupId]) -> list[str]:
    """Return a notice for each setting that differs: it is restored separately."""
    snapshot = request.snapshot
    groups = [each.group for each in snapshot.groups if each.group.group in saved]
    wanted = [group for group in groups if has_configs(group.type) and group.group in snapshot.configs]
    if not wanted:
        return []
    now, failures = await fetch_group_configs(cluster, wanted)
    notices = [f"group '{failure.name}': {failure.message}" for failure in failures]
    differing = []
    exact = ""
    for name, found in sorted(now.items()):
        before = snapshot.configs[name]
        for key in sorted({*before, *found}):
            if before.get(key) != found.get(key):
                exact = exact if key in before else " --exact"
                values = (each.get(key) if key in each else "not set" for each in (found, before))
                is_now, was = values
                differing.append(f"group '{name}': {key} is not restored: it is {is_now}, in the snapshot {was}")
    if differing:
        command = f"kgroups snapshot restore {quote(request.name)} --settings{exact}"
        differing.append(f"to restore these settings: {command}")
    return [*notices, *differing]
