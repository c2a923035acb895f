"""A reset as it is requested, and what it selects: topics, groups, and partitions. Pure; for every transport."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kgroups.errors import Reason, UnknownTopic, UsageError
from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.offsets import PlanKey
from kgroups.model.operations.reset import FromPlan, Scenario, ToGroup, needs_log
from kgroups.model.outcome import Failure, Scope
from kgroups.model.topic_scope import TopicScope, in_scope
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code

from ...query.select_groups import Selection
from .lookups import Committed

MISSING = frozenset({Code.unknown_topic_or_partition, Code.invalid_topic_exception})
"""Errors of topics that do not exist."""


class ResetRequest(NamedTuple):
    """The groups, the scenario, and the partitions of a reset.

    ``topics``: ``None`` selects all partitions with a committed offset, or all that the plan or the other group names.
    ``kind``: the type of groups that are created. ``create``: whether to create groups that do not exist.
    ``announce``: whether a notice names those, which Kafka's tools do not. ``option``: the one that names topics.
    ``with_members``: whether groups with members are planned, in the dry run of a command that removes them first.
    ``partial``: whether an undo restores a part of a group's offsets if the others do not match the cluster.
    """

    selection: Selection
    scenario: Scenario
    topics: TopicScope | None = None
    kind: str | None = None
    create: bool = False
    announce: bool = True
    option: str = "--topic"
    with_members: bool = False
    partial: bool = False

    @property
    def creates(self) -> bool:
        """Whether named groups that do not exist are created. An undo always does: it restores deleted groups."""
        scenario = self.scenario
        return self.create or (isinstance(scenario, FromPlan) and scenario.exact and scenario.creates)


def topics_to_check(request: ResetRequest) -> list[str]:
    """Return the named topics, sorted: they must exist."""
    named = set(request.topics or ())
    if isinstance(request.scenario, FromPlan):
        named.update(topic for _, topic, _ in request.scenario.moves if request.topics is None or topic in named)
    return sorted(named)


def check_topics(request: ResetRequest, topics: Mapping[str, TopicLeaders]) -> None:
    """Check that named topics and partitions exist, except those of an undo: :func:`.plan_reset.still_there`.

    :raises UsageError: for the first topic or partition that does not exist.
    """
    planned = _partitions_of_plan(request.scenario)
    for topic in topics_to_check(request):
        if topic in planned and not needs_log(request.scenario):
            continue
        entry = topics.get(topic)
        if entry is None or is_gone(entry):
            raise UnknownTopic(f"{_origin(request, topic, None)}: topic '{topic}' does not exist", topic)
        if entry.error:
            continue  # it cannot be read: a failure, not a mistake
        named = request.topics.get(topic) if request.topics is not None else None
        missing = sorted((named or planned.get(topic, set())) - entry.leaders.keys())
        if missing:
            there = f"the number of partitions is {len(entry.leaders)}"
            origin = _origin(request, topic, missing[0])
            raise UnknownTopic(f"{origin}: topic '{topic}' has no partition {missing[0]}; {there}", topic, missing)


def is_gone(entry: TopicLeaders) -> bool:
    """Return whether a topic does not exist."""
    return bool(entry.error and entry.error.code in MISSING)


def _partitions_of_plan(scenario: Scenario) -> dict[str, set[int]]:
    """Return the partitions that a plan names, by topic."""
    named: dict[str, set[int]] = {}
    for _, topic, partition in scenario.moves if isinstance(scenario, FromPlan) else ():
        named.setdefault(topic, set()).add(partition)
    return named


def _origin(request: ResetRequest, topic: str, partition: int | None) -> str:
    """Return what names a topic: the flag, or the line of a file."""
    if isinstance(request.scenario, FromPlan) and not (request.topics and topic in request.topics):
        for key, where in request.scenario.where.items():
            if key[1] == topic and partition in (None, key[2]):
                return where
    return request.option


def resolved(scenario: Scenario, groups: Iterable[GroupId], committed: Committed) -> Scenario:
    """Return a copy of another group's offsets as a plan, and any other scenario as it is.

    :raises UsageError: if that group has no committed offsets.
    """
    if not isinstance(scenario, ToGroup):
        return scenario
    source = committed.get(scenario.source, {})
    if not any(source.values()):
        raise UsageError(f"--to-group: group '{scenario.source}' has no commits, or does not exist")
    return FromPlan({(group, *pair): commit for group in groups for pair, commit in source.items() if commit})


def keys_of(
    request: ResetRequest, groups: Iterable[GroupId], committed: Committed, topics: Mapping[str, TopicLeaders]
) -> list[PlanKey]:
    """Return the partitions to plan, sorted by group, topic, and partition."""
    names = set(groups)
    if isinstance(request.scenario, FromPlan):
        found = {key for key in request.scenario.moves if key[0] in names and in_scope(request.topics, *key[1:])}
    elif request.topics is None:
        found = {(group, *pair) for group in names for pair in committed[group]}
    else:
        pairs = [
            (topic, partition)
            for topic, partitions in request.topics.items()
            for partition in (topics[topic].leaders if partitions is None else partitions)
        ]
        found = {(group, *pair) for group in names for pair in pairs}
    return sorted(found)


def types_of(scenario: Scenario) -> Mapping[GroupId, str]:
    """Return the group types in a plan file: a deleted group is created again as that type."""
    return scenario.kinds if isinstance(scenario, FromPlan) else {}


def of_another_type(scenario: Scenario, groups: Iterable[Group]) -> dict[GroupId, Failure]:
    """Return a failure for each group that was a share group when the plan was made and is none now, or vice versa.

    Start offsets of share groups and committed offsets of other groups cannot replace each other. A file always has the
    type of a share group; other offsets without a type are commits.
    """
    if not isinstance(scenario, FromPlan):
        return {}
    origin = scenario.origin
    written_by_kgroups = origin is not None and (scenario.exact or origin.source.cluster_id is not None)
    failures = {}
    for group in groups:
        was = scenario.kinds.get(group.group)
        if was is None and not written_by_kgroups:
            continue
        if reason := converted(group, was):
            failures[group.group] = Failure(Scope.GROUP, group.group, reason, reason=Reason.CHANGED)
    return failures


def converted(group: Group, was: str | None) -> str | None:
    """Return why planned offsets do not fit a group: one of both is of a share group; ``None`` if they do.

    :param was: its type in the plan; without one, the offsets are commits.
    """
    if (was in GroupType.WITHOUT_COMMITS) == (group.type in GroupType.WITHOUT_COMMITS):
        return None
    earlier = f"a {was} group" if was else "not one"
    return f"it is now a {group.type} group, but {earlier} in the plan"
