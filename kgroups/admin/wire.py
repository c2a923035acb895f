"""The questions and acts over our own batched wire client. What answers each is imported when it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from kgroups.config.settings import ClientSettings
from kgroups.errors import ClusterUnreachable, KgroupsError, UnsupportedVersion
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId, ListedGroup
from kgroups.model.outcome import Failure, Outcome
from kgroups.net.cluster import Cluster
from kgroups.net.connection import Observer
from kgroups.protocol.apis import describe_groups, find_coordinator, list_groups, list_offsets, metadata, offset_fetch
from kgroups.protocol.versions import BrokerVersions

from .list_groups import OFFSETS_TOPIC, ListFilter, fetch_groups, missing_coordinators

if TYPE_CHECKING:
    from kgroups.model.acts import AppliedOffset, DeletedGroup, DoomedGroup, ForgottenOffset, Leaver, RemovedMember
    from kgroups.model.groups import Group
    from kgroups.model.offsets import Isolation
    from kgroups.model.reset import PlannedOffset
    from kgroups.model.rows import GroupOffsets
    from kgroups.model.time_lag import FirstUnread, Position
    from kgroups.model.topic_scope import TopicScope

    from .remove_members import WantedMembers
    from .reset_plan import ResetRequest
    from .select_groups import Selection

T = TypeVar("T")

NEEDED = (
    metadata.API,
    find_coordinator.API,
    list_groups.API,
    describe_groups.API,
    offset_fetch.API,
    list_offsets.API,
)
"""Without a common version of these the wire client cannot serve, and librdkafka may."""


class WireAdmin:
    """A cluster, and which of its coordinators were missing when it was opened."""

    def __init__(self, cluster: Cluster, missing: tuple[Failure, ...]) -> None:
        self.cluster = cluster
        self._missing = missing

    @classmethod
    async def connect(cls, settings: ClientSettings, observer: Observer | None = None) -> WireAdmin:
        """Finds the brokers.

        :raises ClusterUnreachable: when no bootstrap server answers.
        :raises UnsupportedVersion: when a broker that answered shares no version of a needed API with us.
        """
        cluster, answer = await Cluster.connect(settings, topics=(OFFSETS_TOPIC,), observer=observer)
        try:
            node, versions = await _first_versions(cluster)
            for api in NEEDED:
                if not versions.speaks(api):
                    raise UnsupportedVersion(f"{node} shares no version of {api} with kgroups")
        except BaseException:
            await cluster.close()
            raise
        return cls(cluster, missing_coordinators(answer.topics))

    @property
    def cluster_id(self) -> str | None:
        return self.cluster.cluster_id

    async def list_groups(self, wanted: ListFilter) -> Outcome[ListedGroup]:
        return (await fetch_groups(self.cluster, wanted)).with_failures(self._missing)

    async def describe(self, selection: Selection) -> Outcome[Group]:
        from . import describe

        return self._whole(selection, await describe.describe(self.cluster, selection))

    async def describe_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> Outcome[GroupOffsets]:
        from . import describe

        answer = await describe.describe_offsets(
            self.cluster, selection, isolation=isolation, whole_topics=whole_topics
        )
        return self._whole(selection, answer)

    async def find_unread(
        self, positions: Iterable[Position], *, isolation: Isolation
    ) -> tuple[Mapping[Position, FirstUnread], tuple[Failure, ...]]:
        from . import first_unread

        return await first_unread.find_unread(self.cluster, positions, isolation=isolation)

    async def plan_reset(self, request: ResetRequest) -> Outcome[PlannedOffset]:
        from . import reset_offsets

        return self._whole(request.selection, await reset_offsets.plan_reset(self.cluster, request))

    async def plan_delete_offsets(self, selection: Selection, topics: TopicScope) -> Outcome[PlannedOffset]:
        from . import delete_offsets

        return self._whole(selection, await delete_offsets.plan_delete_offsets(self.cluster, selection, topics))

    async def still_true(
        self, planned: Sequence[PlannedOffset], *, with_members: bool = False
    ) -> Outcome[PlannedOffset]:
        from . import reset_offsets

        return await reset_offsets.still_true(self.cluster, planned, with_members=with_members)

    async def apply_offsets(self, planned: Sequence[PlannedOffset]) -> Outcome[AppliedOffset]:
        from . import write_offsets

        return await write_offsets.apply_offsets(self.cluster, planned)

    async def plan_delete(self, selection: Selection) -> Outcome[DoomedGroup]:
        from . import delete_groups

        return self._whole(selection, await delete_groups.plan_delete(self.cluster, selection))

    async def forget_offsets(self, group: GroupId, topics: TopicScope) -> Outcome[ForgottenOffset]:
        from . import forget_offsets

        return await forget_offsets.forget_offsets(self.cluster, group, topics)

    async def delete_groups(self, names: Sequence[GroupId]) -> Outcome[DeletedGroup]:
        from . import delete_groups

        return await delete_groups.delete_groups(self.cluster, names)

    async def plan_removal(self, selection: Selection, wanted: WantedMembers) -> Outcome[Leaver]:
        from . import remove_members

        return self._whole(selection, await remove_members.plan_removal(self.cluster, selection, wanted))

    async def remove_members(self, leavers: Sequence[Leaver], reason: str) -> Outcome[RemovedMember]:
        from . import remove_members

        return await remove_members.remove_members(self.cluster, leavers, reason)

    def _whole(self, selection: Selection, answer: Outcome[T]) -> Outcome[T]:
        """A list that is known to be short is said to be; named groups have failures of their own."""
        return answer.with_failures(self._missing) if selection.needs_list else answer

    async def close(self) -> None:
        await self.cluster.close()


async def _first_versions(cluster: Cluster) -> tuple[Node, BrokerVersions]:
    """What the first broker that answers speaks. Brokers advertise other names than those we began with, maybe, so that
    none is connected yet; and one that is down is no reason to give up."""
    reason: KgroupsError | None = None
    for node in cluster.by_readiness():
        try:
            return node, await cluster.versions(node)
        except KgroupsError as error:
            reason = error
    raise reason or ClusterUnreachable("the cluster has no brokers")
