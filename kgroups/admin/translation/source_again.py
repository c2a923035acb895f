"""Check the groups of the source: that no member is left, and, right before a write, that they are as translated."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

from kgroups.errors import Reason
from kgroups.model.groups import Group, GroupId
from kgroups.model.offsets import Commit, place_name
from kgroups.model.operations.committing import pending_words
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope
from kgroups.net.cluster import Cluster

from ..change.plan.lookups import groups_with_offsets, has_members, without_members
from ..query.describe import describe
from ..query.select_groups import Selection
from ..routing.partition_leaders import TopicPartition, Topics, topic_leaders
from .log_reader import SOURCE, on_side

AGAIN = "nothing was written; run the command again"

Planned = Mapping[GroupId, Mapping[TopicPartition, int]]
"""Group -> topic and partition of the source -> the committed offset that was translated."""


async def find_members(source: Cluster, selection: Selection) -> Outcome[Group]:
    """Return the selected groups without members, and a failure for each of the others."""
    groups = await describe(source, selection)
    empty, failures = without_members(groups.items)
    return Outcome(tuple(empty), tuple(on_side(SOURCE, failure) for failure in failures))


async def check_source(
    source: Cluster, planned: Planned, topics: Topics, live: Collection[GroupId]
) -> dict[GroupId, Failure]:
    """Return a failure for each group whose topics or offsets on the source are not as they were translated.

    The offsets of groups with members go on: those that were translated are earlier ones, which skip nothing.

    :param topics: the topics of the source when the groups were translated.
    :param live: the groups that had members then.
    """
    names = sorted({topic for offsets in planned.values() for topic, _ in offsets})
    (groups, committed, pending), now = await asyncio.gather(
        groups_with_offsets(source, Selection(tuple(sorted(planned)))), topic_leaders(source, names)
    )
    unread = {failure.name: failure for failure in groups.failures if failure.error != NOT_FOUND}
    by_name = {group.group: group for group in groups.items}
    found: dict[GroupId, Failure] = {}
    for name, offsets in planned.items():
        if name in unread or name not in committed:
            why = unread[name].message if name in unread else "they are missing in the response"
            text = f"whether its offsets have changed is unknown: {why}; {AGAIN}"
        elif gone := _created_again(offsets, topics, now):
            text = f"topic {gone} was deleted and created again since it was read; {AGAIN}"
        elif changed := _changed(offsets, committed[name], name in live):
            text = f"its offset on {place_name(*changed)} has changed since it was translated; {AGAIN}"
        elif held := pending.get(name, frozenset()) & offsets.keys():
            text = f"{pending_words(sorted(held))}; {AGAIN}"
        elif name not in live and name in by_name and without_members([by_name[name]])[1]:
            text = f"{has_members(by_name[name]).message}; {AGAIN}"
        else:
            continue
        found[name] = on_side(SOURCE, Failure(Scope.GROUP, name, text, reason=Reason.CHANGED))
    return found


def _created_again(offsets: Collection[TopicPartition], before: Topics, now: Topics) -> str | None:
    for topic, _ in sorted(offsets):
        was, is_now = before[topic].topic_id, now[topic].topic_id
        if now[topic].error or (was and is_now and was != is_now):
            return topic
    return None


def _changed(
    offsets: Mapping[TopicPartition, int], commits: Mapping[TopicPartition, Commit | None], live: bool
) -> TopicPartition | None:
    for pair, offset in sorted(offsets.items()):
        commit = commits.get(pair)
        now = commit.offset if commit else -1
        if now < offset or (now > offset and not live):
            return pair
    return None
