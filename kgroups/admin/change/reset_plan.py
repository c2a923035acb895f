"""What a reset comes to, from what is known of groups, commits and logs. Pure; for every transport."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kgroups.errors import UsageError
from kgroups.model.counts import count
from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE, Group, GroupId, GroupState, GroupType, ListedGroup
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs, PlanKey
from kgroups.model.operations.reset import (
    Facts,
    FromPlan,
    PlannedOffset,
    Scenario,
    ToGroup,
    by_group,
    needs_log,
    plan_partition,
)
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.topic_scope import TopicScope, in_scope
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code, KafkaError, kafka_error

from ..query.group_types import describer_for
from ..query.select_groups import Selection
from ..routing.partition_leaders import TopicPartition, partition_name

Committed = Mapping[GroupId, Mapping[TopicPartition, Commit | None]]
"""Group -> what it has committed; groups whose commits could not be read are not in it. ``None`` for a partition that a
share group has, and where it has not started."""

_MISSING = frozenset({Code.unknown_topic_or_partition, Code.invalid_topic_exception})


class ResetRequest(NamedTuple):
    """Which groups, where to, and on which partitions; ``topics`` of ``None``: all that a group has committed, or that
    the plan or the other group names. ``kind``: what a group is made as that does not exist; ``create``: whether it is
    made at all, other than by an undo."""

    selection: Selection
    scenario: Scenario
    topics: TopicScope | None = None
    kind: str | None = None
    create: bool = False

    @property
    def creates(self) -> bool:
        """Whether a named group that does not exist is planned; an undo puts back what was, and so always does."""
        return self.create or (isinstance(self.scenario, FromPlan) and self.scenario.exact)


def in_reach(listed: Iterable[ListedGroup], selection: Selection) -> tuple[list[ListedGroup], tuple[str, ...]]:
    """Of groups that were not named, where no types are chosen, the consumers' alone: what others keep under a group's
    name is not ours to move. And a remark about those left out."""
    if selection.among.types:
        return list(listed), ()
    named = set(selection.names)
    kept: list[ListedGroup] = []
    others = 0
    for group in listed:
        known = group.type in (None, GroupType.CLASSIC, GroupType.CONSUMER)
        if group.group_id in named or (known and group.protocol_type in (CONSUMER_PROTOCOL_TYPE, "")):
            kept.append(group)
        else:
            others += 1
    return kept, (
        f"{count(others, 'group')} of other kinds (Connect, share, streams) left out: name them",
    ) if others else ()


def idle_groups(groups: Iterable[Group]) -> tuple[list[GroupId], list[Failure]]:
    """The groups whose offsets may be moved, and why the others' may not."""
    idle: list[GroupId] = []
    failures: list[Failure] = []
    for group in groups:
        if group.state in GroupState.WITHOUT_MEMBERS:
            idle.append(group.group_id)
        else:
            failures.append(has_members(group))
    return idle, failures


def has_members(group: Group) -> Failure:
    """Why a group is left alone."""
    error = kafka_error(Code.non_empty_group, f"the group has members, its state is {group.state}: stop them first")
    api = describer_for(group.type).query.api.name  # what told it
    return error.failure(Scope.GROUP, group.group_id, api=api, broker=group.coordinator.id)


def committed(commits: Iterable[GroupCommits]) -> dict[GroupId, dict[TopicPartition, Commit | None]]:
    found: dict[GroupId, dict[TopicPartition, Commit | None]] = {}
    for each in commits:
        found[each.group_id] = {
            (topic, commit.partition): commit for topic, made in each.topics.items() for commit in made
        }
        found[each.group_id].update(
            ((topic, partition), None) for topic, partitions in each.unset.items() for partition in partitions
        )
    return found


def topics_to_check(request: ResetRequest) -> list[str]:
    """The topics that were named, and so have to exist."""
    named = set(request.topics or ())
    if isinstance(request.scenario, FromPlan):
        named.update(topic for _, topic, _ in request.scenario.moves if request.topics is None or topic in named)
    return sorted(named)


def check_topics(request: ResetRequest, told: Mapping[str, TopicLeaders]) -> None:
    """An undo's own topics and partitions may be gone: see :func:`still_there`.

    :raises UsageError: for the first topic or partition that was named and does not exist.
    """
    planned = _of_plan(request.scenario)
    for topic in topics_to_check(request):
        if topic in planned and not needs_log(request.scenario):
            continue
        entry = told.get(topic)
        if entry is None or _is_gone(entry):
            raise UsageError(f"{_where(request, topic, None)}: there is no topic '{topic}'")
        if entry.error:
            continue  # it cannot be read: a failure, not a mistake
        wanted = request.topics.get(topic) if request.topics is not None else None
        for partition in sorted(wanted or planned.get(topic, set())):
            if partition not in entry.leaders:
                there = f"it has {len(entry.leaders)}, from 0 on"
                raise UsageError(
                    f"{_where(request, topic, partition)}: topic '{topic}' has no partition {partition}; {there}"
                )


def still_there(
    scenario: Scenario, keys: Iterable[PlanKey], committed: Committed, told: Mapping[str, TopicLeaders]
) -> Outcome[PlanKey]:
    """Of an undo the partitions that exist. One that is gone is a failure, unless the group has there what it had: so
    that the others are put back. Of any other scenario all of them: that they exist is checked already."""
    if not (isinstance(scenario, FromPlan) and scenario.exact):
        return Outcome(tuple(keys))
    kept: list[PlanKey] = []
    failures: list[Failure] = []
    for key in keys:
        group, topic, partition = key
        entry = told.get(topic)
        if entry and not _is_gone(entry) and (entry.error or partition in entry.leaders):
            kept.append(key)
        elif committed[group].get((topic, partition)) != scenario.moves[key]:
            what = "topic" if entry is None or _is_gone(entry) else "partition"
            error = KafkaError(Code.unknown_topic_or_partition, f"group '{group}': the {what} is gone: not put back")
            failures.append(error.failure(Scope.PARTITION, partition_name((topic, partition)), api="Metadata"))
    return Outcome(tuple(kept), tuple(failures))


def _is_gone(entry: TopicLeaders) -> bool:
    return bool(entry.error and entry.error.code in _MISSING)


def _of_plan(scenario: Scenario) -> dict[str, set[int]]:
    """Topic -> the partitions of it that a plan names."""
    named: dict[str, set[int]] = {}
    for _, topic, partition in scenario.moves if isinstance(scenario, FromPlan) else ():
        named.setdefault(topic, set()).add(partition)
    return named


def _where(request: ResetRequest, topic: str, partition: int | None) -> str:
    """Who named it: the flag, or the line of a file."""
    if isinstance(request.scenario, FromPlan) and not (request.topics and topic in request.topics):
        for key, where in request.scenario.where.items():
            if key[1] == topic and partition in (None, key[2]):
                return where
    return "--topic"


def resolved(scenario: Scenario, groups: Iterable[GroupId], committed: Committed) -> Scenario:
    """A copy of another group's commits, as the plan that it comes to; any other scenario as it is.

    :raises UsageError: when that group has no commits.
    """
    if not isinstance(scenario, ToGroup):
        return scenario
    source = committed.get(scenario.source, {})
    if not any(source.values()):
        raise UsageError(f"--to-group: group '{scenario.source}' has no commits, or does not exist")
    return FromPlan({(group, *pair): commit for group in groups for pair, commit in source.items() if commit})


def keys_of(
    request: ResetRequest, groups: Iterable[GroupId], committed: Committed, told: Mapping[str, TopicLeaders]
) -> list[PlanKey]:
    """The partitions to plan, sorted."""
    names = set(groups)
    if isinstance(request.scenario, FromPlan):
        found = {key for key in request.scenario.moves if key[0] in names and in_scope(request.topics, *key[1:])}
    elif request.topics is None:
        found = {(group, *pair) for group in names for pair in committed[group]}
    else:
        pairs = [
            (topic, partition)
            for topic, partitions in request.topics.items()
            for partition in (told[topic].leaders if partitions is None else partitions)
        ]
        found = {(group, *pair) for group in names for pair in pairs}
    return sorted(found)


def plan(
    scenario: Scenario,
    keys: Iterable[PlanKey],
    committed: Committed,
    logs: Logs,
    times: Mapping[TopicPartition, int | None],
    kinds: Mapping[GroupId, str | None],
) -> Outcome[PlannedOffset]:
    """Each partition planned, or why it is not; one whose log could not be read has its failure already."""
    planned: list[PlannedOffset] = []
    failures: list[Failure] = []
    for key in keys:
        group, topic, partition = key
        pair = (topic, partition)
        if pair in logs.holes and needs_log(scenario):
            continue
        log = logs.offsets.get(topic, {}).get(partition, LogOffsets())
        entry = plan_partition(scenario, key, Facts(committed[group].get(pair), log, times.get(pair)))
        if isinstance(entry, Failure):
            failures.append(entry)
        else:
            beyond = bool(entry.before and log.end is not None and entry.before.offset > log.end)
            planned.append(entry._replace(kind=kinds.get(group), beyond_end=beyond))
    return Outcome(tuple(planned), tuple(failures))


def kinds_of(scenario: Scenario) -> Mapping[GroupId, str]:
    """What a plan says of the kinds of its groups: where one does not exist, it is made as that."""
    return scenario.kinds if isinstance(scenario, FromPlan) else {}


def of_another_kind(scenario: Scenario, groups: Iterable[Group]) -> dict[GroupId, Failure]:
    """Of a plan the groups that are share groups and were none when it was made, or the other way round: what one
    keeps is not where the other was."""
    told = kinds_of(scenario)
    return {
        group.group_id: Failure(
            Scope.GROUP, group.group_id, f"it is a {group.type} group by now, and a {was} group in the plan"
        )
        for group in groups
        if (was := told.get(group.group_id))
        and (was in GroupType.WITHOUT_COMMITS) != (group.type in GroupType.WITHOUT_COMMITS)
    }


def still_as_planned(
    planned: Iterable[PlannedOffset],
    groups: Iterable[Group],
    committed: Committed,
    *,
    with_members: bool,
    force: bool = False,
) -> Outcome[PlannedOffset]:
    """The plan of those groups that are as they were when it was made; with ``force`` over what they have by now."""
    by_name = {group.group_id: group for group in groups}
    kept: list[PlannedOffset] = []
    failures: list[Failure] = []
    for name, entries in by_group(planned):
        group = by_name.get(name)
        if name not in committed:
            continue  # it could not be read: that has its failure
        if group and group.state not in GroupState.WITHOUT_MEMBERS and not with_members:
            failures.append(has_members(group))
        elif force:
            kept += [entry._replace(before=committed[name].get((entry.topic, entry.partition))) for entry in entries]
        elif any(committed[name].get((entry.topic, entry.partition)) != entry.before for entry in entries):
            message = "its offsets have changed since the plan was made: nothing was written; plan it again"
            failures.append(Failure(Scope.GROUP, name, message))
        else:
            kept += entries
    return Outcome(tuple(kept), tuple(failures))


def unreadable(told: Mapping[str, TopicLeaders]) -> Iterator[Failure]:
    """The topics whose partitions are not known."""
    for topic in told.values():
        if isinstance(topic.error, KafkaError) and topic.error.code not in _MISSING:
            yield topic.error.failure(Scope.TOPIC, topic.topic, api="Metadata")
