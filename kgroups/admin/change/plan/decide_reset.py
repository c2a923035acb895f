"""Decide the new offset of each partition of a reset from facts about the cluster. Pure; for every transport."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from types import MappingProxyType
from typing import NamedTuple

from kgroups.errors import Reason
from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.offsets import Commit, LogOffsets, Logs, PlanKey
from kgroups.model.operations.internal_topics import of_inputs
from kgroups.model.operations.reset import Facts as PartitionFacts
from kgroups.model.operations.reset import (
    FromPlan,
    PlannedOffset,
    Scenario,
    SeenLog,
    SkipRecords,
    ToGroup,
    needs_log,
    plan_partition,
)
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope
from kgroups.model.record import NextRecords
from kgroups.model.time_lag import Position, position
from kgroups.protocol.error_codes import Code, KafkaError

from ...query.leader_epochs import EpochAt
from ...query.select_groups import Selection
from ...routing.partition_leaders import TopicPartition, Topics, partition_name
from . import restore
from .lookups import Committed, Pending, Times, without_members
from .own_epochs import Epochs, OwnEpochs
from .reset_request import (
    MISSING,
    ResetRequest,
    is_gone,
    keys_of,
    of_another_type,
    resolved,
    types_of,
)


class Facts(NamedTuple):
    """What is known about a cluster; what was not looked up yet is empty.

    ``source``: the group to copy, and its committed offsets. ``records``: the next records at positions; ``unread``:
    why those at others are unknown.
    """

    request: ResetRequest
    topics: Topics
    groups: Outcome[Group]
    committed: Committed
    pending: Pending
    source: tuple[Outcome[Group], Committed] = (Outcome(), MappingProxyType({}))
    epochs: Epochs = MappingProxyType({})
    logs: Logs = Logs()
    times: Times = MappingProxyType({})
    log_failures: tuple[Failure, ...] = ()
    records: Mapping[Position, NextRecords] = MappingProxyType({})
    unread: Mapping[Position, Failure] = MappingProxyType({})

    def before(self, key: PlanKey) -> Commit | None:
        """Return the committed offset of a group on a partition."""
        return self.committed[key[0]].get(key[1:])

    def log(self, pair: TopicPartition) -> LogOffsets:
        return self.logs.offsets.get(pair[0], {}).get(pair[1], LogOffsets())


class Targets(NamedTuple):
    """The partitions that are left to plan, the failures of the others, and notices.

    ``scenario``: a :class:`ToGroup` only if that group is unknown. ``types``: the type of each group; of groups that
    are created, the requested one. ``created``: the named groups that do not exist, if they are created. ``idle``:
    notices about groups without partitions. ``refused``: how many offsets of a file do not match the cluster.
    """

    scenario: Scenario
    keys: tuple[PlanKey, ...] = ()
    types: Mapping[GroupId, str | None] = MappingProxyType({})
    created: tuple[GroupId, ...] = ()
    idle: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()
    refused: Mapping[GroupId, int] = MappingProxyType({})

    def kept(self, found: Outcome[PlanKey]) -> Targets:
        """Return the targets with only the items of an outcome left, and with its failures and notices."""
        failures, notices = (*self.failures, *found.failures), (*self.notices, *found.notices)
        return self._replace(keys=found.items, failures=failures, notices=notices)

    def own_epochs(self, epochs: Epochs) -> OwnEpochs:
        return OwnEpochs(epochs, {name for name, each in self.types.items() if each in GroupType.WITHOUT_COMMITS})


def select_partitions(facts: Facts) -> Targets:
    """Select the partitions to plan, of groups that can be changed.

    :raises UsageError: if the group to copy has no committed offsets.
    """
    request, groups, committed = facts.request, facts.groups, facts.committed
    scenario = request.scenario
    missing = _missing(groups, request.selection)
    failures = [failure for failure in groups.failures if failure.name not in missing or failure.error != NOT_FOUND]
    if not request.creates:
        failures += map(_not_created, missing)
        missing = {}
    idle, with_members = ([*groups.items], []) if request.with_members else without_members(groups.items)
    converted = of_another_type(scenario, groups.items)
    failures += (*with_members, *converted.values())
    names = (*(group.group for group in idle), *missing)
    known = [name for name in names if name in committed and name not in converted]
    notices, copied = groups.notices, None
    if isinstance(scenario, ToGroup):
        copied, (source, commits) = scenario.source, facts.source
        notices = tuple(dict.fromkeys((*notices, *source.notices)))
        if copied not in commits:  # it could not be read: a failure, not a mistake
            return Targets(scenario, failures=(*source.failures, *failures), notices=notices)
        scenario = resolved(scenario, known, commits)
        request = request._replace(scenario=scenario)
    inputs = _inputs(request, keys_of(request, known, committed, facts.topics), groups.items)
    types: dict[GroupId, str | None] = dict.fromkeys(missing, request.kind)
    # A commit creates groups of the other types.
    types |= {group: each for group, each in types_of(scenario).items() if each in GroupType.WITHOUT_COMMITS}
    types |= {group.group: group.type for group in groups.items}
    without = _without_partitions(request, known, inputs.items, copied)
    targets = Targets(scenario, (), types, tuple(missing), tuple(without), tuple(failures), notices)
    return targets.kept(inputs).kept(_existing(scenario, inputs.items, facts))


def epochs_of_file(facts: Facts, targets: Targets) -> set[EpochAt]:
    """Return the leader epochs that show which offsets of an undo are restored already."""
    moves = restore.unchanged_moves(targets.scenario, targets.keys, facts.committed)
    return targets.own_epochs(facts.epochs).of(moves)


def compare_with_file(facts: Facts, targets: Targets) -> Targets:
    """Keep the partitions whose offsets may be written although the cluster has changed since the file was written."""
    own = targets.own_epochs(facts.epochs)
    kept, refused = restore.applicable(targets.scenario, targets.keys, facts.committed, facts.topics, own)
    return targets.kept(kept)._replace(refused=refused)


def unread_positions(facts: Facts, targets: Targets) -> dict[PlanKey, Position]:
    """Return where the records to skip begin."""
    found: dict[PlanKey, Position] = {}
    for key in targets.keys if isinstance(targets.scenario, SkipRecords) else ():
        before = facts.before(key)
        if at := position(*key[1:], before.offset if before else None, facts.log(key[1:])):
            found[key] = at
    return found


def draft_offsets(facts: Facts, targets: Targets) -> Outcome[PlannedOffset]:
    """Plan each partition, or return its failure. Partitions whose log could not be read have one already."""
    planned: list[PlannedOffset] = []
    failures: list[Failure] = []
    scenario, positions = targets.scenario, unread_positions(facts, targets)
    seen_of = lru_cache(1 << 16)(partial(_seen, facts))  # many groups share the logs of few partitions
    for key in targets.keys:
        group, pair, at = key[0], key[1:], positions.get(key)
        if (pair in facts.logs.holes and needs_log(scenario)) or at in facts.unread:
            continue
        before, log = facts.before(key), facts.log(pair)
        records = facts.records[at] if at else None
        entry = plan_partition(scenario, key, PartitionFacts(before, log, facts.times.get(pair), records))
        if isinstance(entry, Failure):
            failures.append(entry)
            continue
        beyond = bool(entry.before and log.end is not None and entry.before.offset > log.end)
        held = pair in facts.pending.get(group, ())
        planned.append(
            entry._replace(kind=targets.types.get(group), beyond_end=beyond, seen=seen_of(pair), pending=held)
        )
    return Outcome(tuple(planned), tuple(failures))


def epochs_of_draft(targets: Targets, draft: Outcome[PlannedOffset]) -> set[EpochAt]:
    """Return the leader epochs with which offsets would be written."""
    return targets.own_epochs({}).of((entry.key, entry.after) for entry in draft.items)


def finish_plan(facts: Facts, targets: Targets, draft: Outcome[PlannedOffset]) -> Outcome[PlannedOffset]:
    """Return the plan: the draft as it may be written, with all failures and notices."""
    scenario = targets.scenario
    if isinstance(scenario, ToGroup):
        return Outcome((), targets.failures, targets.notices)
    planned = draft.with_items(map(targets.own_epochs(facts.epochs).noted, draft.items))
    inside = restore.inside(scenario, planned, facts.logs, facts.topics)
    if not facts.request.partial:
        outside = Counter(entry.group for entry in planned.items) - Counter(entry.group for entry in inside.items)
        inside = restore.whole_groups(scenario, inside, outside + Counter(targets.refused))
    planned = inside
    unread = dict.fromkeys(facts.unread.values())
    failures = (*targets.failures, *_unreadable(facts.topics), *facts.log_failures, *unread)
    restored = restore.restored_groups(scenario, planned.items, facts.committed, facts.groups.items)
    created = _created(facts.request, targets.created, {entry.group for entry in planned.items})
    return planned.with_failures(failures, (*targets.notices, *created, *targets.idle, *restored))


def _inputs(request: ResetRequest, keys: Sequence[PlanKey], groups: Sequence[Group]) -> Outcome[PlanKey]:
    """Keep only input topics of streams groups; an undo restores every offset."""
    scenario = request.scenario
    if not any(group.type == GroupType.STREAMS for group in groups) or not needs_log(scenario):
        return Outcome(tuple(keys))
    from_file = {topic for _, topic, _ in scenario.moves} if isinstance(scenario, FromPlan) else None
    return of_inputs(keys, groups, from_file if request.topics is None else request.topics)


def _existing(scenario: Scenario, keys: Iterable[PlanKey], facts: Facts) -> Outcome[PlanKey]:
    """Return the partitions of an undo that exist; other scenarios pass, because theirs are checked already.

    A partition that is gone is a failure, unless the group has the old offset there: the others are restored.
    """
    if not (isinstance(scenario, FromPlan) and scenario.exact):
        return Outcome(tuple(keys))
    kept: list[PlanKey] = []
    failures: list[Failure] = []
    for key in keys:
        group, topic, partition = key
        entry = facts.topics.get(topic)
        if entry and not is_gone(entry) and (entry.error or partition in entry.leaders):
            kept.append(key)
        elif facts.before(key) != scenario.moves[key]:
            what = "topic" if entry is None or is_gone(entry) else "partition"
            error = KafkaError(
                Code.unknown_topic_or_partition, f"group '{group}': the {what} does not exist any more; not restored"
            )
            failures.append(error.failure(Scope.PARTITION, partition_name((topic, partition)), api="Metadata"))
    return Outcome(tuple(kept), tuple(failures))


def _seen(facts: Facts, pair: TopicPartition) -> SeenLog:
    """Return what is compared before an offset is written."""
    topic, partition = pair
    topic_id = facts.logs.topic_ids.get(topic) or (facts.topics[topic].topic_id if topic in facts.topics else 0)
    epoch = facts.logs.epochs.get(topic, {}).get(partition)
    scope, entry = facts.request.topics or {}, facts.topics.get(topic)
    whole = topic in scope and scope[topic] is None and not isinstance(facts.request.scenario, FromPlan | ToGroup)
    return SeenLog(topic_id or None, *facts.log(pair), epoch, len(entry.leaders) if whole and entry else None)


def _missing(groups: Outcome[Group], selection: Selection) -> dict[GroupId, None]:
    """Return the named groups that do not exist, sorted."""
    not_found = {failure.name for failure in groups.failures if failure.error == NOT_FOUND}
    return dict.fromkeys(sorted(not_found.intersection(selection.names)))


def _not_created(name: GroupId) -> Failure:
    """Return the failure of a named group that does not exist: it may be a typing error."""
    message = "the group does not exist; to create it, add --create-group"
    return Failure(Scope.GROUP, name, message, NOT_FOUND, int(Code.group_id_not_found), reason=Reason.GROUP_NOT_FOUND)


def _created(request: ResetRequest, missing: Iterable[GroupId], planned: Container[GroupId]) -> list[str]:
    """Return a notice for each group that will be created."""
    scenario = request.scenario
    is_undo = isinstance(scenario, FromPlan) and scenario.exact and scenario.origin and scenario.origin.written
    undo = is_undo and not request.create
    way = "the undo creates it again" if undo else "--create-group creates it"
    if not undo and request.kind is None:
        way += " as a classic group (kafka-share-groups --reset-offsets creates a share group)"
    return [f"group '{name}' does not exist; {way}" for name in missing if name in planned and request.announce]


def _without_partitions(
    request: ResetRequest, groups: Iterable[GroupId], keys: Iterable[PlanKey], source: GroupId | None
) -> list[str]:
    """Return a notice for each named group without planned partitions, unless a file does not name it.

    :param source: the group whose commits are copied.
    """
    names = tuple(groups)
    idle = frozenset(request.selection.names) - {group for group, _, _ in keys}
    if source is not None and idle.intersection(names):
        return [f"--to-group: group '{source}' has no committed offsets on the selected partitions"]
    if isinstance(request.scenario, FromPlan):
        idle &= {group for group, _, _ in request.scenario.moves}
        return [
            f"group '{name}' has no offsets in the plan on the selected partitions" for name in names if name in idle
        ]
    return [f"group '{name}' has no committed offsets on the selected partitions" for name in names if name in idle]


def _unreadable(topics: Topics) -> Iterator[Failure]:
    """Yield the failures of topics whose partitions are unknown."""
    for topic in topics.values():
        if isinstance(topic.error, KafkaError) and topic.error.code not in MISSING:
            yield topic.error.failure(Scope.TOPIC, topic.topic, api="Metadata")
