"""Describe groups: their state and members, and on request their offsets and the offsets of the logs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterable, Sequence
from operator import attrgetter

from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE, Group, GroupId, GroupState, GroupType
from kgroups.model.offsets import GroupCommits, Isolation
from kgroups.model.outcome import Failure, Outcome, Scope, merge
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.net.cluster import Cluster
from kgroups.protocol.error_codes import Code

from ..routing.query_coordinators import GroupResults
from .describe_groups import describe_listed, describe_named
from .group_offsets import fetch_offsets, refetch_offsets
from .log_offsets import fetch_logs
from .select_groups import ResolvedSelection, Selection
from .stream import Stages, collect, stream_batches


async def describe(cluster: Cluster, selection: Selection) -> Outcome[Group]:
    """Return the state and members of the selected groups, sorted by name."""
    topics = selection.topics

    async def query(resolved: ResolvedSelection) -> Outcome[Group]:
        return await describe_located(cluster, resolved, topics=topics)

    return await collect(stream_batches(cluster, selection, Stages(query, _unchanged, _group)))


async def describe_located(
    cluster: Cluster, resolved: ResolvedSelection, *, topics: frozenset[str] = frozenset()
) -> Outcome[Group]:
    """Return the state and members of groups whose coordinators are known; look them up again only if they moved.

    :param topics: if not empty, only groups with commits or assignments on these topics.
    """
    if not topics:
        return _with_notices(await _described(cluster, resolved))
    groups, commits = await describe_with_offsets(cluster, resolved)
    joined = _join(groups, commits, topics)
    return _with_notices(joined.with_items(group for group, _ in joined.items))


async def describe_offsets(
    cluster: Cluster,
    selection: Selection,
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
    whole_topics: bool = False,
) -> Outcome[GroupOffsets]:
    """Return the selected groups with their commits, and the start and end offsets of the logs, sorted by name.

    If topics are selected, only commits and assignments on these topics are included.

    :param whole_topics: include all partitions of these topics, even those without commits or assignments.
    """
    return await collect(stream_offsets(cluster, selection, isolation=isolation, whole_topics=whole_topics))


def stream_offsets(
    cluster: Cluster,
    selection: Selection,
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
    whole_topics: bool = False,
) -> AsyncGenerator[Outcome[GroupOffsets]]:
    """Yield what :func:`describe_offsets` returns in batches, sorted by name within and across them.

    Log offsets are read after the commits of a batch: see :func:`.stream.stream_batches`.
    """
    topics = selection.topics

    async def query(resolved: ResolvedSelection) -> Outcome[_Pair]:
        return await _pairs(cluster, resolved, topics)

    async def finish(pairs: Sequence[_Pair]) -> tuple[Sequence[GroupOffsets], Sequence[Failure]]:
        return await with_logs(cluster, pairs, topics, isolation=isolation, whole_topics=whole_topics)

    return stream_batches(cluster, selection, Stages(query, finish, _pair_name))


async def describe_commits(cluster: Cluster, selection: Selection) -> Outcome[tuple[Group, GroupCommits]]:
    """Return the selected groups with their commits, without the offsets of logs, sorted by name."""

    async def query(resolved: ResolvedSelection) -> Outcome[_Pair]:
        return await _pairs(cluster, resolved, selection.topics)

    async def finish(pairs: Sequence[_Pair]) -> tuple[Sequence[_Pair], Sequence[Failure]]:
        return pairs, ()

    return await collect(stream_batches(cluster, selection, Stages(query, finish, _pair_name)))


async def describe_located_offsets(
    cluster: Cluster,
    resolved: ResolvedSelection,
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
) -> Outcome[GroupOffsets]:
    """Return what :func:`describe_offsets` does, for groups whose coordinators are known."""
    every: frozenset[str] = frozenset()
    pairs = await _pairs(cluster, resolved, every)
    described, failures = await with_logs(cluster, pairs.items, every, isolation=isolation, whole_topics=False)
    return pairs.with_items(described).with_failures(failures)


async def _pairs(cluster: Cluster, resolved: ResolvedSelection, topics: frozenset[str]) -> Outcome[_Pair]:
    """Return each group with its commits, sorted by name."""
    groups, commits = await describe_with_offsets(cluster, resolved)
    joined = _join(_with_placeholders(groups, commits), commits, topics)
    notices = _with_notices(joined.with_items(group for group, _ in joined.items)).notices
    return joined._replace(notices=notices)


async def with_logs(
    cluster: Cluster, pairs: Sequence[_Pair], topics: frozenset[str], *, isolation: Isolation, whole_topics: bool
) -> tuple[Sequence[GroupOffsets], Sequence[Failure]]:
    """Add the start and end offsets of all logs that these groups have commits or assignments on."""
    partitions = partitions_of(pairs, topics)
    if not whole_topics:
        logs, failures = await fetch_logs(cluster, partitions, isolation=isolation, with_high=True)
        return [GroupOffsets(group, committed, logs, topics) for group, committed in pairs], failures
    # Members of share groups read any partition.
    groups = (group for group, _ in pairs if group.type != GroupType.SHARE)
    untouched = {topic for group in groups for topic in group.subscribed_topics() if not partitions.get(topic)}
    untouched = untouched & topics if topics else untouched
    partitions.update({topic: {0} for topic in untouched})
    logs, failures = await fetch_logs(cluster, partitions, isolation=isolation, whole_topics=True, with_high=True)
    if untouched:
        failures = tuple(failure for failure in failures if not _is_absent(failure, untouched))
    return [GroupOffsets(group, committed, logs, topics) for group, committed in pairs], failures


def _is_absent(failure: Failure, topics: Collection[str]) -> bool:
    """Return whether one of these topics does not exist; members may subscribe to it before that."""
    name = failure.name if failure.scope is Scope.TOPIC else failure.name.rpartition("-")[0]
    return name in topics and failure.code == Code.unknown_topic_or_partition


async def _unchanged(groups: Sequence[Group]) -> tuple[Sequence[Group], Sequence[Failure]]:
    return groups, ()


async def describe_with_offsets(
    cluster: Cluster, resolved: ResolvedSelection
) -> tuple[Outcome[Group], GroupResults[GroupCommits]]:
    """Return the groups, and the commits of each, or the start offsets of share groups."""
    if resolved.members is None:
        groups, offsets = await asyncio.gather(_described(cluster, resolved), fetch_offsets(cluster, resolved))
    else:
        groups = await _described(cluster, resolved)
        kept = {group.group for group in groups.items}
        resolved = resolved._replace(listed=tuple(each for each in resolved.listed if each.group in kept))
        offsets = await fetch_offsets(cluster, resolved)
    await refetch_offsets(cluster, groups.items, resolved.named, offsets)
    return groups, offsets


async def _described(cluster: Cluster, resolved: ResolvedSelection) -> Outcome[Group]:
    outcome = merge(
        await asyncio.gather(
            _described_listed(cluster, resolved), describe_named(cluster, resolved.named, resolved.types)
        )
    )
    groups = sorted(outcome.items, key=lambda group: group.group)
    return outcome.with_items(groups).with_failures(resolved.failures, resolved.notices)


async def _described_listed(cluster: Cluster, resolved: ResolvedSelection) -> Outcome[Group]:
    if resolved.members is None:
        return await describe_listed(cluster, resolved.listed)
    perhaps = [group for group in resolved.listed if group.state not in GroupState.WITHOUT_MEMBERS]
    return resolved.members.kept(await describe_listed(cluster, perhaps))


def _with_notices(groups: Outcome[Group]) -> Outcome[Group]:
    """Add a notice for each group type that this version can only list."""
    types = sorted({group.type or "" for group in groups.items if group.members is None and group.state})
    notices = [
        f"{group_type} groups are listed, but not described: members and offsets are not supported yet"
        for group_type in types
    ]
    return groups.with_failures((), notices)


def _with_placeholders(groups: Outcome[Group], commits: GroupResults[GroupCommits]) -> Outcome[Group]:
    """Add the groups of which only the commits are visible.

    Kafka 4.3 describes a KIP-848 group only to principals with DESCRIBE on all topics of its members.
    """
    undescribed = [failure.name for failure in groups.failures if failure.code == Code.topic_authorization_failed]
    known = [(name, commits.found[name][0]) for name in undescribed if name in commits.found]
    if not known:
        return groups
    placeholders = [
        Group(name, GroupType.CONSUMER, "", CONSUMER_PROTOCOL_TYPE, "", node, members=None) for name, node in known
    ]
    return groups.with_items(sorted((*groups.items, *placeholders)))


_Pair = tuple[Group, GroupCommits]


def _join(groups: Outcome[Group], commits: GroupResults[GroupCommits], topics: frozenset[str]) -> Outcome[_Pair]:
    """Pair each group with its commits; if they could not be read, it is a failure, not a group without commits."""
    undescribed = {failure.name for failure in groups.failures}
    pairs: list[_Pair] = []
    failures: list[Failure] = []
    for group in groups.items:
        name: GroupId = group.group
        if name in commits.found:
            pairs.append((group, commits.found[name][1]))
        elif group.members is None or name not in commits.failed:
            pairs.append((group, GroupCommits(name, {})))
        elif name not in undescribed:
            failures.append(commits.failed[name])
    failures += (reason for _, commits in pairs for reason in commits.failures.values())
    if topics:
        pairs = [pair for pair in (on_topics(group, committed, topics) for group, committed in pairs) if pair]
    return groups.with_items(pairs).with_failures(failures)


def on_topics(group: Group, commits: GroupCommits, topics: frozenset[str]) -> _Pair | None:
    """Return the pair with only its commits on these topics; ``None`` if it has no commit or assignment on them."""
    kept = commits._replace(
        topics={topic: commits.topics[topic] for topic in commits.topics if topic in topics},
        unset={topic: commits.unset[topic] for topic in commits.unset if topic in topics},
        pending=commits.pending and frozenset(pair for pair in commits.pending if pair[0] in topics),
    )
    return (group, kept) if kept.topics or kept.unset or group.is_assigned(topics) else None


_partition = attrgetter("partition")
_group = attrgetter("group")


def _pair_name(pair: _Pair) -> GroupId:
    return pair[0].group


def partitions_of(pairs: Iterable[_Pair], topics: frozenset[str]) -> dict[str, set[int]]:
    """Return the partitions that any group has a commit or an assignment on, by topic; only of ``topics``, if any."""
    partitions: dict[str, set[int]] = {}
    for group, commits in pairs:
        for topic, committed in commits.topics.items():
            partitions.setdefault(topic, set()).update(map(_partition, committed))
        for topic, unset in commits.unset.items():
            partitions.setdefault(topic, set()).update(unset)
        for member in group.members or ():
            for entry in member.assignment.topics:
                if not topics or entry.topic in topics:
                    partitions.setdefault(entry.topic, set()).update(entry.partitions)
    return partitions
