"""What groups have committed: OffsetFetch, many groups a request where the broker can (KIP-709)."""

from __future__ import annotations

from collections.abc import Mapping

from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId
from kgroups.model.offsets import GroupCommits
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import offset_fetch

from .ask_coordinators import Answers, Question, ask_coordinators

COMMITS = Question("offsets", offset_fetch.API, offset_fetch.OffsetFetch, offset_fetch.BATCHED)


async def fetch_commits(cluster: Cluster, where: Mapping[GroupId, Node | None]) -> Answers[GroupCommits]:
    """The commits of groups, on every topic, asked of their coordinators."""
    return await ask_coordinators(cluster, COMMITS, where)
