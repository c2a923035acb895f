"""The main question: these groups, described; with their offsets and lag where wanted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from operator import attrgetter

from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE, Group, GroupId, GroupType
from kgroups.model.offsets import GroupCommits, Isolation
from kgroups.model.outcome import Failure, Outcome, merge
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.net.cluster import Cluster
from kgroups.protocol.error_codes import Code

from ..routing.query_coordinators import GroupResults
from .describe_groups import describe_listed, describe_named
from .group_offsets import fetch_offsets, refetch_offsets
from .log_offsets import fetch_logs
from .select_groups import ResolvedSelection, Selection
from .stream import Stages, collect, stream_answers


async def describe(cluster: Cluster, selection: Selection) -> Outcome[Group]:
    """State and members of the selected groups, sorted by name."""
    topics = selection.topics

    async def ask(resolved: ResolvedSelection) -> Outcome[Group]:
        return await describe_located(cluster, resolved, topics=topics)

    return await collect(stream_answers(cluster, selection, Stages(ask, _as_they_are, _group_id)))


async def describe_located(
    cluster: Cluster, resolved: ResolvedSelection, *, topics: frozenset[str] = frozenset()
) -> Outcome[Group]:
    """The same of groups whose coordinators are known: nothing is listed or looked up again, unless they moved."""
    if not topics:
        return _with_remarks(await _described(cluster, resolved))
    groups, commits = await describe_with_offsets(cluster, resolved)
    joined = _joined(groups, commits, topics)
    return _with_remarks(joined.with_items(group for group, _ in joined.items))


async def describe_offsets(
    cluster: Cluster,
    selection: Selection,
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
    whole_topics: bool = False,
) -> Outcome[GroupOffsets]:
    """The selected groups with their commits and both ends of the logs, sorted by name.

    With topics selected, only commits and assignments on these topics are shown. With ``whole_topics`` the logs are
    those of all partitions of the topics, also of such that no group has touched.
    """
    return await collect(stream_offsets(cluster, selection, isolation=isolation, whole_topics=whole_topics))


def stream_offsets(
    cluster: Cluster,
    selection: Selection,
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
    whole_topics: bool = False,
) -> AsyncGenerator[Outcome[GroupOffsets]]:
    """The same in batches, see :func:`.stream.stream_answers`: log offsets are read after the commits of a batch."""
    topics = selection.topics

    async def ask(resolved: ResolvedSelection) -> Outcome[_Pair]:
        return await _pairs(cluster, resolved, topics)

    async def finish(pairs: Sequence[_Pair]) -> tuple[Sequence[GroupOffsets], Sequence[Failure]]:
        return await _with_logs(cluster, pairs, topics, isolation=isolation, whole_topics=whole_topics)

    return stream_answers(cluster, selection, Stages(ask, finish, _pair_name))


async def describe_located_offsets(
    cluster: Cluster,
    resolved: ResolvedSelection,
    *,
    topics: frozenset[str] = frozenset(),
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
    whole_topics: bool = False,
) -> Outcome[GroupOffsets]:
    """The same of groups whose coordinators are known: nothing is listed or looked up again, unless they moved."""
    pairs = await _pairs(cluster, resolved, topics)
    described, failures = await _with_logs(cluster, pairs.items, topics, isolation=isolation, whole_topics=whole_topics)
    return pairs.with_items(described).with_failures(failures)


async def _pairs(cluster: Cluster, resolved: ResolvedSelection, topics: frozenset[str]) -> Outcome[_Pair]:
    """Each group beside its commits, sorted by name."""
    groups, commits = await describe_with_offsets(cluster, resolved)
    joined = _joined(_with_stand_ins(groups, commits), commits, topics)
    remarks = _with_remarks(joined.with_items(group for group, _ in joined.items)).notices
    return joined._replace(notices=remarks)


async def _with_logs(
    cluster: Cluster, pairs: Sequence[_Pair], topics: frozenset[str], *, isolation: Isolation, whole_topics: bool
) -> tuple[Sequence[GroupOffsets], Sequence[Failure]]:
    """The pairs, with both ends of all logs that they are about."""
    partitions = _partitions(pairs, topics)
    logs, failures = await fetch_logs(cluster, partitions, isolation=isolation, whole_topics=whole_topics)
    return [GroupOffsets(group, committed, logs, topics) for group, committed in pairs], failures


async def _as_they_are(groups: Sequence[Group]) -> tuple[Sequence[Group], Sequence[Failure]]:
    return groups, ()


async def describe_with_offsets(
    cluster: Cluster, resolved: ResolvedSelection
) -> tuple[Outcome[Group], GroupResults[GroupCommits]]:
    """The groups, and where each stands: what it has committed, or what groups of its kind have instead."""
    groups, positions = await asyncio.gather(_described(cluster, resolved), fetch_offsets(cluster, resolved))
    await refetch_offsets(cluster, groups.items, resolved.named, positions)
    return groups, positions


async def _described(cluster: Cluster, resolved: ResolvedSelection) -> Outcome[Group]:
    outcome = merge(
        await asyncio.gather(describe_listed(cluster, resolved.listed), describe_named(cluster, resolved.named))
    )
    groups = sorted(outcome.items, key=lambda group: group.group_id)
    return outcome.with_items(groups).with_failures(resolved.failures, resolved.notices)


def _with_remarks(groups: Outcome[Group]) -> Outcome[Group]:
    """Says which kinds of group are only listed by this version."""
    kinds = sorted({group.type or "" for group in groups.items if group.members is None and group.state})
    notices = [f"{kind} groups: members and offsets are not described yet, only listed" for kind in kinds]
    return groups.with_failures((), notices)


def _with_stand_ins(groups: Outcome[Group], commits: GroupResults[GroupCommits]) -> Outcome[Group]:
    """Groups besides, of which only the commits may be seen: Kafka 4.3 does not describe a KIP-848 group to who may
    not DESCRIBE each topic of its members."""
    refused = [failure.name for failure in groups.failures if failure.code == Code.topic_authorization_failed]
    known = [(name, commits.found[name][0]) for name in refused if name in commits.found]
    if not known:
        return groups
    stand_ins = [
        Group(name, GroupType.CONSUMER, "", CONSUMER_PROTOCOL_TYPE, "", node, members=None) for name, node in known
    ]
    return groups.with_items(sorted((*groups.items, *stand_ins)))


_Pair = tuple[Group, GroupCommits]


def _joined(groups: Outcome[Group], commits: GroupResults[GroupCommits], topics: frozenset[str]) -> Outcome[_Pair]:
    """Each group beside its commits; one whose commits could not be read is a failure, not a group without any."""
    told = {failure.name for failure in groups.failures}
    pairs: list[_Pair] = []
    failures: list[Failure] = []
    for group in groups.items:
        name: GroupId = group.group_id
        if name in commits.found:
            pairs.append((group, commits.found[name][1]))
        elif group.members is None or name not in commits.failed:
            pairs.append((group, GroupCommits(name, {})))
        elif name not in told:
            failures.append(commits.failed[name])
    failures += (reason for _, commits in pairs for reason in commits.failures.values())
    if topics:
        pairs = [pair for pair in (_on_topics(group, committed, topics) for group, committed in pairs) if pair]
    return groups.with_items(pairs).with_failures(failures)


def _on_topics(group: Group, commits: GroupCommits, topics: frozenset[str]) -> _Pair | None:
    """The pair with only what concerns these topics; ``None`` when nothing does."""
    kept = commits._replace(
        topics={topic: commits.topics[topic] for topic in commits.topics if topic in topics},
        unset={topic: commits.unset[topic] for topic in commits.unset if topic in topics},
    )
    assigned = any(entry.topic in topics for member in group.members or () for entry in member.assignment.topics)
    return (group, kept) if kept.topics or kept.unset or assigned else None


_partition = attrgetter("partition")
_group_id = attrgetter("group_id")


def _pair_name(pair: _Pair) -> GroupId:
    return pair[0].group_id


def _partitions(pairs: Iterable[_Pair], topics: frozenset[str]) -> dict[str, set[int]]:
    """The union of all partitions that any group has a commit or an assignment on; of some topics, where given."""
    wanted: dict[str, set[int]] = {}
    for group, commits in pairs:
        for topic, committed in commits.topics.items():
            wanted.setdefault(topic, set()).update(map(_partition, committed))
        for topic, unset in commits.unset.items():
            wanted.setdefault(topic, set()).update(unset)
        for member in group.members or ():
            for entry in member.assignment.topics:
                if not topics or entry.topic in topics:
                    wanted.setdefault(entry.topic, set()).update(entry.partitions)
    return wanted
