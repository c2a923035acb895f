"""Takes commits of a group away, which it may do for topics that no member is subscribed to (KIP-496, Kafka 2.4)."""

from __future__ import annotations

from kgroups.model.outcome import Outcome
from kgroups.model.reset import PlannedOffset
from kgroups.model.topic_scope import TopicScope
from kgroups.net.cluster import Cluster

from .select_groups import Selection


async def plan_delete_offsets(cluster: Cluster, selection: Selection, topics: TopicScope) -> Outcome[PlannedOffset]:
    """The commits that would go, each with an ``after`` of ``None``; to be written by ``apply_offsets``.

    :raises UsageError: when ``topics`` names a topic that neither exists nor has a commit.
    """
    raise NotImplementedError
