"""Makes the plan of a reset, by whatever transport: what has to be asked, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.offsets import Logs, PlanKey
from kgroups.model.operations.reset import FromPlan, PlannedOffset, ToGroup, ToTime, needs_log
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code

from ..query.select_groups import Selection
from ..routing.partition_leaders import TopicPartition
from . import reset_plan, restore
from .reset_plan import Committed, ResetRequest

Times = Mapping[TopicPartition, int | None]
"""The first offset of each partition at some time; ``None`` where no record is that young."""


class Lookups(Protocol):
    """What a transport tells. Nothing is changed by it."""

    async def topics(self, names: Sequence[str]) -> Mapping[str, TopicLeaders]:
        """These topics, each with its partitions or with the error that was given for it."""

    async def groups(self, selection: Selection) -> tuple[Outcome[Group], Committed]:
        """The selected groups, of those not named the consumers', and their commits; no commits of one that does not
        exist, which also is a failure (GROUP_ID_NOT_FOUND)."""

    async def logs(self, pairs: Iterable[TopicPartition], ms: int | None) -> tuple[Logs, Times, tuple[Failure, ...]]:
        """Both ends of these logs, and with ``ms`` where they were at that time."""


async def make_plan(lookups: Lookups, request: ResetRequest) -> Outcome[PlannedOffset]:
    """See :func:`kgroups.admin.change.reset_offsets.plan_reset`."""
    told = await lookups.topics(reset_plan.topics_to_check(request))
    reset_plan.check_topics(request, told)
    groups, committed = await lookups.groups(request.selection)
    missing = _missing(groups, request.selection)
    unreadable = [failure for failure in groups.failures if failure.name not in missing or failure.error != NOT_FOUND]
    failures = [*unreadable, *(() if request.creates else map(_not_created, missing))]
    missing = missing if request.creates else {}
    idle, refused = reset_plan.idle_groups(groups.items)
    strange = reset_plan.of_another_kind(request.scenario, groups.items)
    refused += strange.values()
    known = [name for name in (*idle, *missing) if name in committed and name not in strange]
    blamed = None
    if isinstance(request.scenario, ToGroup):
        blamed = request.scenario.source
        asked, source = await lookups.groups(Selection((request.scenario.source,)))
        groups = groups._replace(notices=tuple(dict.fromkeys((*groups.notices, *asked.notices))))
        if request.scenario.source not in source:  # it could not be read: that is no mistake of who asks
            return Outcome((), (*asked.failures, *failures, *refused), groups.notices)
        request = request._replace(scenario=reset_plan.resolved(request.scenario, known, source))
    meant = _inputs(request, reset_plan.keys_of(request, known, committed, told), groups.items)
    keys = meant.items
    there = reset_plan.still_there(request.scenario, keys, committed, told)
    allowed = restore.applicable(request.scenario, there.items, committed, told)
    logs, times, holes = await _logs(lookups, request, allowed.items)
    kinds: dict[GroupId, str | None] = dict.fromkeys(missing, request.kind)
    was = reset_plan.kinds_of(request.scenario)
    kinds.update(
        {group: kind for group, kind in was.items() if kind in GroupType.WITHOUT_COMMITS}
    )  # others are made by a commit
    kinds.update({group.group_id: group.type for group in groups.items})
    planned = reset_plan.plan(request.scenario, allowed.items, committed, logs, times, kinds)
    planned = restore.inside(request.scenario, planned, logs, told)
    notices = _made(request, missing, [entry.key for entry in planned.items])
    notices += _nothing_to_do(request, known, keys, blamed)
    notices += restore.restored_groups(request.scenario, planned.items, committed, groups.items)
    return planned.with_failures(
        (
            *failures,
            *refused,
            *meant.failures,
            *there.failures,
            *allowed.failures,
            *reset_plan.unreadable(told),
            *holes,
        ),
        (*groups.notices, *allowed.notices, *notices),
    )


def _inputs(request: ResetRequest, keys: Sequence[PlanKey], groups: Sequence[Group]) -> Outcome[PlanKey]:
    """Of streams groups what concerns their input topics; an undo puts back whatever was taken."""
    scenario = request.scenario
    if not any(group.type == GroupType.STREAMS for group in groups) or (
        isinstance(scenario, FromPlan) and scenario.exact
    ):
        return Outcome(tuple(keys))
    from kgroups.model.operations.internal_topics import of_inputs

    from_file = {topic for _, topic, _ in scenario.moves} if isinstance(scenario, FromPlan) else None
    return of_inputs(keys, groups, from_file if request.topics is None else request.topics)


async def look_again(
    lookups: Lookups, planned: Iterable[PlannedOffset], *, with_members: bool, force: bool = False
) -> Outcome[PlannedOffset]:
    """See :func:`kgroups.admin.change.reset_offsets.still_true`."""
    entries = list(planned)
    if not entries:
        return Outcome()
    groups, committed = await lookups.groups(Selection(tuple(sorted({entry.group_id for entry in entries}))))
    unread = [failure for failure in groups.failures if failure.error != NOT_FOUND]
    unknown = {failure.name for failure in unread}
    readable = {name: commits for name, commits in committed.items() if name not in unknown}
    checked = reset_plan.still_as_planned(entries, groups.items, readable, with_members=with_members, force=force)
    return checked.with_failures(unread)


def _missing(groups: Outcome[Group], selection: Selection) -> dict[GroupId, None]:
    """The named groups that do not exist, sorted."""
    not_found = {failure.name for failure in groups.failures if failure.error == NOT_FOUND}
    return dict.fromkeys(sorted(not_found.intersection(selection.names)))


def _not_created(name: GroupId) -> Failure:
    """Why nothing is planned for a named group that does not exist: it may be a typing error."""
    message = "the group does not exist; to create it, add --create-group"
    return Failure(Scope.GROUP, name, message, NOT_FOUND, int(Code.group_id_not_found))


def _made(request: ResetRequest, missing: Iterable[GroupId], keys: Iterable[PlanKey]) -> list[str]:
    """Says which groups are going to be created."""
    planned = {group for group, _, _ in keys}
    return [f"group '{name}' does not exist and would be created" for name in missing if name in planned]


def _nothing_to_do(
    request: ResetRequest, groups: Iterable[GroupId], keys: Iterable[PlanKey], source: GroupId | None
) -> list[str]:
    """Of the named groups those of which nothing is planned, although a file, if there is one, names them.

    :param source: the group whose commits are copied.
    """
    idle = frozenset(request.selection.names) - {group for group, _, _ in keys}
    if source is not None and idle:
        return [f"--to-group: group '{source}' has no commits on the selected partitions"]
    if isinstance(request.scenario, FromPlan):
        idle &= {group for group, _, _ in request.scenario.moves}
    return [f"group '{name}' has no such commits" for name in groups if name in idle]


async def _logs(
    lookups: Lookups, request: ResetRequest, keys: Iterable[PlanKey]
) -> tuple[Logs, Times, tuple[Failure, ...]]:
    pairs = {(topic, partition) for _, topic, partition in keys}
    if not needs_log(request.scenario):  # an undo is restored without them too: its plan notes what is unknown
        logs, _, _ = await lookups.logs(pairs, None) if pairs else (Logs(), {}, ())
        return logs, {}, ()
    # Below 0 are the wire's own words.
    ms = max(0, request.scenario.ms) if isinstance(request.scenario, ToTime) else None
    return await lookups.logs(pairs, ms)
