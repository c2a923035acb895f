"""Plan a reset: look up what it needs, and decide the new offset of each partition. Nothing is changed.

A plan is applied in two more steps: :mod:`.revalidate` and :mod:`.apply_offsets`, in chunks (:mod:`.write_in_chunks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.offsets import LogOffsets, Logs, PlanKey
from kgroups.model.operations.reset import (
    Facts,
    FromPlan,
    PlannedOffset,
    Scenario,
    SeenLog,
    SkipRecords,
    ToGroup,
    ToTime,
    needs_log,
    plan_partition,
)
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope
from kgroups.model.record import NextRecords
from kgroups.model.time_lag import Position, position
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code, KafkaError

from ...query.select_groups import Selection
from ...routing.partition_leaders import TopicPartition, partition_name
from . import restore
from .lookups import Committed, Lookups, Pending, Times, without_members
from .needs_kafka import acls_of_offsets, offsets_that_can_be_deleted, supported_writes
from .own_epochs import OwnEpochs
from .plan_notices import with_notices
from .reset_request import (
    MISSING,
    ResetRequest,
    check_topics,
    is_gone,
    keys_of,
    of_another_type,
    resolved,
    topics_to_check,
    types_of,
)


async def plan_reset(cluster: Cluster, request: ResetRequest) -> Outcome[PlannedOffset]:
    """Plan the new offsets, sorted by group, topic, and partition; without those that brokers are too old to write.

    Failures: a group with members (NON_EMPTY_GROUP), a partition that cannot be planned, a partition of an undo that no
    longer exists, and a named group that does not exist, unless the request creates it.

    :raises UsageError: if a named topic or partition does not exist, the group to copy has no committed offsets, or the
        offsets are of another cluster.
    """
    request, notices = restore.for_cluster(request, cluster.cluster_id)
    planned = await supported_writes(cluster, await planned_offsets(Lookups(cluster), request))
    planned = (await offsets_that_can_be_deleted(cluster, planned)).with_failures((), notices)
    return await with_notices(cluster, request.selection, planned, acls_of_offsets(planned.items))


async def planned_offsets(lookups: Lookups, request: ResetRequest) -> Outcome[PlannedOffset]:
    topics = await lookups.topics(topics_to_check(request))
    check_topics(request, topics)
    groups, committed, pending = await lookups.groups(request.selection)
    missing = _missing(groups, request.selection)
    unreadable = [failure for failure in groups.failures if failure.name not in missing or failure.error != NOT_FOUND]
    failures = [*unreadable, *(() if request.creates else map(_not_created, missing))]
    missing = missing if request.creates else {}
    idle, refused = without_members(groups.items)
    strange = of_another_type(request.scenario, groups.items)
    refused += strange.values()
    known = [
        name for name in (*(group.group_id for group in idle), *missing) if name in committed and name not in strange
    ]
    blamed = None
    if isinstance(request.scenario, ToGroup):
        blamed = request.scenario.source
        found, source, _ = await lookups.groups(Selection((request.scenario.source,)))
        groups = groups._replace(notices=tuple(dict.fromkeys((*groups.notices, *found.notices))))
        if request.scenario.source not in source:  # it could not be read: a failure, not a mistake
            return Outcome((), (*found.failures, *failures, *refused), groups.notices)
        request = request._replace(scenario=resolved(request.scenario, known, source))
    meant = _inputs(request, keys_of(request, known, committed, topics), groups.items)
    keys = meant.items
    there = _still_there(request.scenario, keys, committed, topics)
    kinds: dict[GroupId, str | None] = dict.fromkeys(missing, request.kind)
    was = types_of(request.scenario)
    kinds.update(
        {group: kind for group, kind in was.items() if kind in GroupType.WITHOUT_COMMITS}
    )  # a commit creates the others
    kinds.update({group.group_id: group.type for group in groups.items})
    epochs = OwnEpochs(lookups, {name for name, kind in kinds.items() if kind in GroupType.WITHOUT_COMMITS})
    allowed = await restore.applicable(request.scenario, there.items, committed, topics, epochs)
    logs, times, holes = await _logs(lookups, request, allowed.items, topics)
    unread, unskippable = await _next_records(lookups, request.scenario, allowed.items, committed, logs)
    planned = _plan(request.scenario, unread, committed, logs, times, kinds, topics, pending)
    planned = planned.with_items(await epochs.applied(planned.items))
    planned = restore.inside(request.scenario, planned, logs, topics)
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
            *_unreadable(topics),
            *holes,
            *unskippable,
        ),
        (*groups.notices, *allowed.notices, *notices),
    )


def _inputs(request: ResetRequest, keys: Sequence[PlanKey], groups: Sequence[Group]) -> Outcome[PlanKey]:
    """Keep only input topics of streams groups; an undo restores every offset."""
    scenario = request.scenario
    if not any(group.type == GroupType.STREAMS for group in groups) or (
        isinstance(scenario, FromPlan) and scenario.exact
    ):
        return Outcome(tuple(keys))
    from kgroups.model.operations.internal_topics import of_inputs

    from_file = {topic for _, topic, _ in scenario.moves} if isinstance(scenario, FromPlan) else None
    return of_inputs(keys, groups, from_file if request.topics is None else request.topics)


def _still_there(
    scenario: Scenario, keys: Iterable[PlanKey], committed: Committed, topics: Mapping[str, TopicLeaders]
) -> Outcome[PlanKey]:
    """Return the partitions of an undo that exist; other scenarios pass, because theirs are checked already.

    A partition that is gone is a failure, unless the group has the old offset there: the others are restored.
    """
    if not (isinstance(scenario, FromPlan) and scenario.exact):
        return Outcome(tuple(keys))
    kept: list[PlanKey] = []
    failures: list[Failure] = []
    for key in keys:
        group, topic, partition = key
        entry = topics.get(topic)
        if entry and not is_gone(entry) and (entry.error or partition in entry.leaders):
            kept.append(key)
        elif committed[group].get((topic, partition)) != scenario.moves[key]:
            what = "topic" if entry is None or is_gone(entry) else "partition"
            error = KafkaError(
                Code.unknown_topic_or_partition, f"group '{group}': the {what} does not exist any more; not restored"
            )
            failures.append(error.failure(Scope.PARTITION, partition_name((topic, partition)), api="Metadata"))
    return Outcome(tuple(kept), tuple(failures))


Unread = Mapping[PlanKey, NextRecords | None]
"""The partitions to plan, and for a :class:`SkipRecords` the next records of each."""


async def _next_records(
    lookups: Lookups, scenario: Scenario, keys: Sequence[PlanKey], committed: Committed, logs: Logs
) -> tuple[Unread, tuple[Failure, ...]]:
    """Read the records to skip; a partition whose records cannot be read is a failure, and is not planned."""
    unread: dict[PlanKey, NextRecords | None] = dict.fromkeys(keys)
    if not isinstance(scenario, SkipRecords):
        return unread, ()
    positions: dict[PlanKey, Position] = {}
    for group, topic, partition in keys:
        commit = committed[group].get((topic, partition))
        log = logs.offsets.get(topic, {}).get(partition, LogOffsets())
        if at := position(topic, partition, commit.offset if commit else None, log):
            positions[group, topic, partition] = at
    if not positions:
        return unread, ()
    found, failures = await lookups.next_records(positions.values(), scenario.count, scenario.isolation)
    for key, at in positions.items():
        if at in failures:
            del unread[key]
        else:
            unread[key] = found[at]
    return unread, tuple(dict.fromkeys(failures.values()))


def _plan(
    scenario: Scenario,
    unread: Unread,
    committed: Committed,
    logs: Logs,
    times: Mapping[TopicPartition, int | None],
    kinds: Mapping[GroupId, str | None],
    topics: Mapping[str, TopicLeaders],
    pending: Pending,
) -> Outcome[PlannedOffset]:
    """Plan each partition, or return its failure. Partitions whose log could not be read have one already."""
    planned: list[PlannedOffset] = []
    failures: list[Failure] = []
    for key, records in unread.items():
        group, topic, partition = key
        pair = (topic, partition)
        if pair in logs.holes and needs_log(scenario):
            continue
        log = logs.offsets.get(topic, {}).get(partition, LogOffsets())
        entry = plan_partition(scenario, key, Facts(committed[group].get(pair), log, times.get(pair), records))
        if isinstance(entry, Failure):
            failures.append(entry)
        else:
            beyond = bool(entry.before and log.end is not None and entry.before.offset > log.end)
            held = pair in pending.get(group, ())
            seen = _seen(key, log, logs, topics)
            planned.append(entry._replace(kind=kinds.get(group), beyond_end=beyond, seen=seen, pending=held))
    return Outcome(tuple(planned), tuple(failures))


def _seen(key: PlanKey, log: LogOffsets, logs: Logs, topics: Mapping[str, TopicLeaders]) -> SeenLog:
    """Return what is compared before an offset is written."""
    _, topic, partition = key
    topic_id = logs.topic_ids.get(topic) or (topics[topic].topic_id if topic in topics else 0)
    return SeenLog(topic_id or None, log.start, log.end, logs.epochs.get(topic, {}).get(partition))


def _missing(groups: Outcome[Group], selection: Selection) -> dict[GroupId, None]:
    """Return the named groups that do not exist, sorted."""
    not_found = {failure.name for failure in groups.failures if failure.error == NOT_FOUND}
    return dict.fromkeys(sorted(not_found.intersection(selection.names)))


def _not_created(name: GroupId) -> Failure:
    """Return the failure of a named group that does not exist: it may be a typing error."""
    message = "the group does not exist; to create it, add --create-group"
    return Failure(Scope.GROUP, name, message, NOT_FOUND, int(Code.group_id_not_found))


def _made(request: ResetRequest, missing: Iterable[GroupId], keys: Iterable[PlanKey]) -> list[str]:
    """Return a notice for each group that will be created."""
    planned = {group for group, _, _ in keys}
    undo = _is_undo(request.scenario) and not request.create
    way = "the undo creates it again" if undo else "--create-group creates it"
    if not undo and request.kind is None:
        way += " as a classic group (kafka-share-groups --reset-offsets creates a share group)"
    return [f"group '{name}' does not exist; {way}" for name in missing if name in planned]


def _is_undo(scenario: Scenario) -> bool:
    return isinstance(scenario, FromPlan) and scenario.exact and bool(scenario.origin and scenario.origin.written)


def _nothing_to_do(
    request: ResetRequest, groups: Iterable[GroupId], keys: Iterable[PlanKey], source: GroupId | None
) -> list[str]:
    """Return a notice for each named group without planned partitions, unless a file does not name it.

    :param source: the group whose commits are copied.
    """
    idle = frozenset(request.selection.names) - {group for group, _, _ in keys}
    if source is not None and idle.intersection(groups):
        return [f"--to-group: group '{source}' has no committed offsets on the selected partitions"]
    if isinstance(request.scenario, FromPlan):
        idle &= {group for group, _, _ in request.scenario.moves}
    return [f"group '{name}' has no committed offsets on the selected partitions" for name in groups if name in idle]


async def _logs(
    lookups: Lookups, request: ResetRequest, keys: Iterable[PlanKey], topics: Mapping[str, TopicLeaders]
) -> tuple[Logs, Times, tuple[Failure, ...]]:
    pairs = {(topic, partition) for _, topic, partition in keys}
    if not needs_log(request.scenario):  # an undo needs no logs: its plan notes what is unknown
        logs, _, _ = await lookups.logs(pairs, None, topics) if pairs else (Logs(), {}, ())
        return logs, {}, ()
    # Negative timestamps have special meanings in ListOffsets.
    ms = max(0, request.scenario.ms) if isinstance(request.scenario, ToTime) else None
    return await lookups.logs(pairs, ms, topics)


def _unreadable(topics: Mapping[str, TopicLeaders]) -> Iterator[Failure]:
    """Yield the failures of topics whose partitions are unknown."""
    for topic in topics.values():
        if isinstance(topic.error, KafkaError) and topic.error.code not in MISSING:
            yield topic.error.failure(Scope.TOPIC, topic.topic, api="Metadata")
