"""Query groups over kgroups' own batched wire client; connect over it, or over librdkafka if it cannot serve."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from kgroups.config.settings import ClientSettings, Transport
from kgroups.errors import (
    BrokerUnavailable,
    ClusterUnreachable,
    KgroupsError,
    Reason,
    UnsupportedMechanism,
    UnsupportedVersion,
)
from kgroups.model.cluster import Node
from kgroups.model.groups import ListedGroup
from kgroups.model.outcome import Outcome
from kgroups.model.placement import OFFSETS_TOPIC
from kgroups.net.cluster import Cluster
from kgroups.net.connection import Observer
from kgroups.protocol.apis import describe_groups, list_groups, metadata
from kgroups.protocol.versions import FIND_COORDINATOR, LIST_OFFSETS, OFFSET_FETCH, BrokerVersions

from .query.select_groups import ResolvedSelection, Selection, keep_described, list_selected, note_missing_groups

if TYPE_CHECKING:
    from kgroups.model.groups import Group
    from kgroups.model.offsets import Isolation
    from kgroups.model.permissions import HiddenTopics
    from kgroups.model.views.offset_row import GroupOffsets
    from kgroups.protocol.apis.metadata import TopicLeaders

    from .client import Client

NEEDED = (
    metadata.API,
    FIND_COORDINATOR,
    list_groups.API,
    describe_groups.API,
    OFFSET_FETCH,
    LIST_OFFSETS,
)
"""The APIs that the wire client requires; without a common version, librdkafka may work."""


class WireClient:
    """An admin over the wire client."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    @classmethod
    async def connect(cls, settings: ClientSettings, observer: Observer | None = None) -> WireClient:
        """Connect to the cluster.

        :raises ClusterUnreachable: if no bootstrap server responds.
        :raises UnsupportedVersion: if the broker that responded has no version of a required API in common with
            kgroups.
        """
        cluster, _ = await Cluster.connect(settings, topics=(OFFSETS_TOPIC,), observer=observer)
        try:
            node, versions = await _first_versions(cluster)
            for api in NEEDED:
                # Without the API at all, librdkafka cannot help either, and only the requests that need it fail.
                if api.key in versions.ranges and not versions.speaks(api):
                    raise UnsupportedVersion(f"{node} and kgroups have no common version of {api}")
        except BaseException:
            await cluster.close()
            raise
        return cls(cluster)

    @property
    def cluster_id(self) -> str | None:
        return self.cluster.cluster_id

    @property
    def name(self) -> str:
        return self.cluster_id or self.cluster.settings.bootstrap_servers

    async def list_selected(self, selection: Selection) -> Outcome[ListedGroup]:
        found = await list_selected(self.cluster, selection)
        if not selection.topics and selection.members is None:
            return found
        from .query import describe, group_offsets

        located = ResolvedSelection(found.items, members=selection.members)
        described = await describe.describe_located(self.cluster, located, topics=selection.topics)
        kept = keep_described(found, described)
        return await group_offsets.note_missing_offsets(self.cluster, selection, kept) if selection.topics else kept

    async def describe(self, selection: Selection) -> Outcome[Group]:
        from .query import describe, group_offsets

        answer = await note_missing_groups(self.cluster, selection, await describe.describe(self.cluster, selection))
        return await group_offsets.note_missing_offsets(self.cluster, selection, answer) if selection.topics else answer

    async def describe_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> Outcome[GroupOffsets]:
        from .query.stream import collect

        return await collect(self.stream_offsets(selection, isolation=isolation, whole_topics=whole_topics))

    async def stream_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> AsyncGenerator[Outcome[GroupOffsets]]:
        from .query import describe, group_offsets

        hidden = asyncio.ensure_future(group_offsets.hidden_topics_of(self.cluster, selection.topics))  # meanwhile
        batches = describe.stream_offsets(self.cluster, selection, isolation=isolation, whole_topics=whole_topics)
        try:
            async with aclosing(batches):
                async for batch in batches:
                    yield _with_hidden(batch, await hidden)
            last: Outcome[GroupOffsets] = await note_missing_groups(self.cluster, selection, Outcome())
            await hidden
            yield await group_offsets.note_missing_offsets(self.cluster, selection, last)
        finally:
            hidden.cancel()

    async def topics(self, names: Sequence[str]) -> dict[str, TopicLeaders]:
        from .routing.partition_leaders import topic_leaders

        return await topic_leaders(self.cluster, names)

    async def close(self) -> None:
        await self.cluster.close()


def _with_hidden(batch: Outcome[GroupOffsets], hidden: HiddenTopics) -> Outcome[GroupOffsets]:
    if not hidden:
        return batch
    from kgroups.model.permissions import omitted_commits

    why = omitted_commits(hidden)
    return batch.with_items(item._replace(hidden=why) for item in batch.items)


async def _first_versions(cluster: Cluster) -> tuple[Node, BrokerVersions]:
    """Return the API versions of the first broker that responds.

    None may be connected yet: brokers may advertise other addresses than those of the bootstrap servers.
    """
    reason: KgroupsError | None = None
    for node in cluster.nodes_by_health():
        try:
            return node, await cluster.versions(node)
        except KgroupsError as error:
            reason = error
            if isinstance(error, BrokerUnavailable) and (node.host, node.port) not in cluster.settings.bootstrap:
                text = f"{error.text} (the address that the broker advertises)"
                hint = "run kgroups config check"
                reason = BrokerUnavailable(text, peer=error.peer, reason=error.reason, hint=hint)
    raise reason or ClusterUnreachable("the cluster has no brokers", reason=Reason.NO_BROKERS)


OVER_LIBRDKAFKA = "waiting for librdkafka"


async def open_client(
    settings: ClientSettings, observer: Observer | None = None, tell: Callable[[str], None] = lambda note: None
) -> tuple[Client, object]:
    """Return a connected admin, and its progress, which ``str()`` shows at any time.

    :param observer: is called for every request of the wire client.
    :param tell: is called with a notice if librdkafka is used instead of the wire client.
    :raises KgroupsError: if the cluster cannot be reached, or rejects the client.
    """
    if settings.positions:
        return await _open_with_positions(settings, observer)
    if settings.transport is Transport.WIRE:
        try:
            admin = await WireClient.connect(settings, observer)
            return admin, admin.cluster.progress
        except (UnsupportedVersion, UnsupportedMechanism) as error:
            tell(f"{error}; using librdkafka instead, with one group per request")
    from .rdkafka.client import LibrdkafkaClient

    return await LibrdkafkaClient.connect(settings), OVER_LIBRDKAFKA


async def _open_with_positions(settings: ClientSettings, observer: Observer | None) -> tuple[Client, object]:
    """Return a client that also shows groups outside Kafka, and its progress.

    :raises UsageError: over librdkafka.
    """
    from .client import WireOnly
    from .with_positions import ClientWithPositions

    WireOnly.POSITIONS.check(settings)
    client = await WireClient.connect(settings, observer)
    return ClientWithPositions(client, client.cluster, settings.positions), client.cluster.progress
