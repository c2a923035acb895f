"""The first step of every change: look up topics, groups with their offsets, and logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from kgroups.model.counts import count
from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE, Group, GroupId, GroupState, GroupType, ListedGroup
from kgroups.model.offsets import Commit, GroupCommits, Logs
from kgroups.model.outcome import NO_MATCH, NOT_FOUND, Failure, Outcome, Scope
from kgroups.net.cluster import Cluster
from kgroups.protocol.error_codes import Code, kafka_error

from ...query import group_types
from ...query.describe import describe_with_offsets
from ...query.describe_groups import NO_TYPES
from ...query.group_offsets import fetch_commits
from ...query.group_types import describer_for
from ...query.log_offsets import fetch_logs, fetch_logs_at
from ...query.select_groups import Selection, resolve
from ...routing.partition_leaders import NO_TOPICS, TopicPartition, Topics, by_topic
from ...routing.query_coordinators import GroupResults, query_coordinators

Committed = Mapping[GroupId, Mapping[TopicPartition, Commit | None]]
"""Committed offsets by group; groups whose offsets could not be read are absent. ``None``: a partition of a share group
without a start offset."""

Pending = Mapping[GroupId, Set[TopicPartition]]
"""The partitions of groups with an offset in an open transaction; groups of which that is unknown are absent."""

Times = Mapping[TopicPartition, int | None]
"""The first offset of each partition at some time; ``None`` if every record is older."""


async def groups_with_offsets(
    cluster: Cluster, selection: Selection, types: Mapping[GroupId, str | None] = NO_TYPES
) -> tuple[Outcome[Group], Committed, Pending]:
    """Return the selected groups, their committed offsets, and where open transactions will replace these.

    Of the groups that were not named, only consumer groups. A group that does not exist has no offsets, and is a
    failure (GROUP_ID_NOT_FOUND).

    :param types: the types that named groups had a moment ago.
    """
    resolved = await resolve(cluster, selection)
    selection.check_complete(resolved.failures)
    unmatched = selection.unmatched(group.group for group in resolved.listed)
    kept, notices = consumer_groups(resolved.listed, selection)
    resolved = resolved._replace(listed=tuple(kept), types=types)
    groups, commits = await describe_with_offsets(cluster, resolved)
    empty = selection.among.states and not (groups.items or groups.failures or unmatched)
    groups = groups.with_failures(unmatched, (*notices, NO_MATCH) if empty else notices)
    reported = {failure.name for failure in groups.failures}
    committed = committed_by_group(commits)
    unread = [failure for name, failure in commits.failed.items() if name not in reported and name not in committed]
    pending = {name: each.pending for name, (_, each) in commits.found.items() if each.pending is not None}
    return groups.with_failures(unread), committed, pending


async def committed_offsets(cluster: Cluster, groups: Iterable[GroupId]) -> Committed:
    """Return the committed offsets of groups that commit."""
    commits = await fetch_commits(cluster, dict.fromkeys(groups))
    return committed_by_group(commits)


async def start_offsets(cluster: Cluster, groups: Iterable[GroupId]) -> Committed:
    """Return the start offsets of share groups."""
    starts = group_types.offsets_query_for(GroupType.SHARE)
    return committed_by_group(await query_coordinators(cluster, starts, dict.fromkeys(groups)))


def committed_by_group(commits: GroupResults[GroupCommits]) -> dict[GroupId, dict[TopicPartition, Commit | None]]:
    """Return committed offsets by group and partition; a group that does not exist has none."""
    found: dict[GroupId, dict[TopicPartition, Commit | None]] = {}
    pairs: dict[TopicPartition, TopicPartition] = {}  # one object for all groups
    for _, each in commits.found.values():
        found[each.group] = {
            pairs.setdefault((pair := (topic, commit.partition)), pair): commit
            for topic, made in each.topics.items()
            for commit in made
        }
        found[each.group].update(
            ((topic, partition), None) for topic, partitions in each.unset.items() for partition in partitions
        )
    found.update({name: {} for name, failure in commits.failed.items() if failure.error == NOT_FOUND})
    return found


async def logs_at(
    cluster: Cluster, pairs: Iterable[TopicPartition], ms: int | None, known: Topics = NO_TOPICS
) -> tuple[Logs, Times, tuple[Failure, ...]]:
    """Return log start and end offsets, and with ``ms`` (epoch milliseconds) the first offset at that time.

    :param known: what was reported a moment ago about some topics.
    """
    partitions = by_topic(pairs)
    if ms is not None:
        return await fetch_logs_at(cluster, partitions, ms, known=known)
    logs, holes = await fetch_logs(cluster, partitions, known=known)
    return logs, {}, holes


async def committed_now(cluster: Cluster, groups: Iterable[GroupId]) -> Committed:
    """Return the committed offsets of groups."""
    _, committed, _ = await groups_with_offsets(cluster, Selection(tuple(groups)))
    return committed


def consumer_groups(listed: Iterable[ListedGroup], selection: Selection) -> tuple[list[ListedGroup], tuple[str, ...]]:
    """Return the groups to change, and a notice about those left out.

    Without ``--type``, groups that were not named are left out unless they are consumer groups: the offsets of others
    have a meaning of their own.
    """
    if selection.among.types:
        return list(listed), ()
    named = set(selection.names)
    kept: list[ListedGroup] = []
    others = 0
    for group in listed:
        known = group.type in (None, GroupType.CLASSIC, GroupType.CONSUMER)
        if group.group in named or (known and group.protocol_type in (CONSUMER_PROTOCOL_TYPE, "")):
            kept.append(group)
        else:
            others += 1
    return kept, (
        f"{count(others, 'group')} of other types (Connect, share, streams) skipped; select them by name",
    ) if others else ()


def without_members(groups: Iterable[Group]) -> tuple[list[Group], list[Failure]]:
    """Return the groups without members, which can be changed, and a failure for each of the others."""
    empty: list[Group] = []
    failures: list[Failure] = []
    for group in groups:
        if group.state in GroupState.WITHOUT_MEMBERS:
            empty.append(group)
        else:
            failures.append(has_members(group))
    return empty, failures


def has_members(group: Group) -> Failure:
    """Return the failure of a group that cannot be changed because it has members."""
    error = kafka_error(Code.non_empty_group, f"the group has active members (state {group.state}); stop them first")
    api = describer_for(group.type).query.api.name  # the API that reported the state
    failure = error.failure(Scope.GROUP, group.group, api=api, broker=group.coordinator.id)
    return failure._replace(state=group.state)
