"""Find clients that the members of groups do not show, in the records of the last minutes.

These are clients that commit without being members, and clients that use one instance ID in turn.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

from kgroups.model.explain.facts import GroupFacts
from kgroups.model.groups import GroupId, GroupState, GroupType
from kgroups.model.outcome import Outcome
from kgroups.model.stays import RECENT, Instances, is_static, shared_instances
from kgroups.net.cluster import Cluster

from .offsets_topic.recent_commits import recent_commits
from .query import explain
from .query.select_groups import Selection
from .records import UNREAD_LOG
from .still_committing import Committed, still_committing


async def instances_of(cluster: Cluster | None, groups: Collection[GroupId]) -> Mapping[GroupId, Instances]:
    """Return what is known about the instance IDs of groups with static members.

    Without groups, nothing is requested. Errors are in the results.

    :param cluster: ``None`` over librdkafka, which reads no records.
    """
    if not groups:
        return {}
    if cluster is None:
        return dict.fromkeys(groups, Instances((), UNREAD_LOG))
    recent = await recent_commits(cluster, tuple(groups), int(time.time() * 1000) - RECENT)
    return {
        name: Instances(tuple(shared_instances(recent.stays.get(name, ()))), recent.unread.get(name)) for name in groups
    }


async def gather_facts(cluster: Cluster, selection: Selection, described: explain.Described) -> Outcome[GroupFacts]:
    """Return all facts about the selected groups that ``explain`` needs, sorted by name.

    :param described: the offsets of these groups.
    """
    offsets = None if selection.topics else described
    return await _with_clients(cluster, await explain.gather_facts(cluster, selection, offsets))


async def _with_clients(cluster: Cluster, outcome: Outcome[GroupFacts]) -> Outcome[GroupFacts]:
    """Add these clients to the facts about groups: to empty groups, and to those with static members."""
    idle: Committed = {
        facts.group.group: {}
        for facts in outcome.items
        if facts.group.state == GroupState.EMPTY and facts.group.type != GroupType.SHARE
    }
    activity = await still_committing(cluster, idle, watch=False)
    outsiders = {**activity.perhaps, **activity.found}
    instances = await instances_of(cluster, [each.group.group for each in outcome.items if is_static(each.group)])
    nothing = Instances()
    return outcome.with_items(
        facts._replace(
            outsiders=outsiders.get(facts.group.group),
            instances=instances.get(facts.group.group, nothing),
        )
        for facts in outcome.items
    )
