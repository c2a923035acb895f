"""Query and change groups over kgroups' own batched wire client. Each operation is imported on its first use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

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
from kgroups.model.groups import GroupId, ListedGroup
from kgroups.model.outcome import Failure, Outcome
from kgroups.model.placement import OFFSETS_TOPIC
from kgroups.net.cluster import Cluster
from kgroups.net.connection import Observer
from kgroups.protocol import required
from kgroups.protocol.apis import describe_groups, list_groups, metadata
from kgroups.protocol.versions import BrokerVersions

from .query.select_groups import ResolvedSelection, Selection, keep_described, list_selected

if TYPE_CHECKING:
    from kgroups.model.explain.facts import GroupFacts
    from kgroups.model.group_log import GroupLogs, Key, ReadBudget
    from kgroups.model.groups import Group
    from kgroups.model.headroom import Retention
    from kgroups.model.offsets import Commit, Isolation
    from kgroups.model.operations.committing import RecentCommits
    from kgroups.model.operations.reset import PlannedOffset
    from kgroups.model.operations.results import (
        AppliedOffset,
        DeletedGroup,
        DeletedOffset,
        DeletedTopic,
        ForgottenTopic,
        GroupDeletion,
        MemberRemoval,
        RemovedMember,
        TopicDeletion,
    )
    from kgroups.model.permissions import Acl, HiddenTopics
    from kgroups.model.settings.change import AppliedSetting, PlannedSetting, Wish
    from kgroups.model.settings.setting import GroupSettings
    from kgroups.model.time_lag import FirstUnread, Position
    from kgroups.model.topic_scope import TopicScope
    from kgroups.model.unread_count import UnreadCount
    from kgroups.model.verdicts.facts import PartitionFacts
    from kgroups.model.views.offset_row import GroupOffsets
    from kgroups.protocol.apis.metadata import TopicLeaders

    from .change.alter_settings import SettingsJournal
    from .change.delete_groups import DeleteJournal
    from .change.remove_members import RemovalJournal, WantedMembers
    from .change.reset_request import ResetRequest
    from .change.writers.ledger import WriteJournal
    from .port import GroupAdmin
    from .share_state.gather import Gathered

T = TypeVar("T")

NEEDED = (
    metadata.API,
    required.FIND_COORDINATOR,
    list_groups.API,
    describe_groups.API,
    required.OFFSET_FETCH,
    required.LIST_OFFSETS,
)
"""The APIs that the wire client requires; without a common version, librdkafka may work."""


class WireAdmin:
    """An admin over the wire client, which knows whether the principal can see all groups and topics."""

    def __init__(self, cluster: Cluster, operations: frozenset[str] | None = None) -> None:
        """Create an admin.

        :param operations: the authorized operations on the cluster; ``None`` if brokers do not report them.
        """
        self.cluster = cluster
        self._operations = operations
        self._hidden: dict[frozenset[str], HiddenTopics] = {}
        """The hidden topics among the selected ones, or among all."""

    @classmethod
    async def connect(cls, settings: ClientSettings, observer: Observer | None = None) -> WireAdmin:
        """Connect to the cluster.

        :raises ClusterUnreachable: if no bootstrap server responds.
        :raises UnsupportedVersion: if the broker that responded has no version of a required API in common with
            kgroups.
        """
        cluster, answer = await Cluster.connect(settings, topics=(OFFSETS_TOPIC,), observer=observer)
        try:
            node, versions = await _first_versions(cluster)
            for api in NEEDED:
                # Without the API at all, librdkafka cannot help either, and only the requests that need it fail.
                if api.key in versions.ranges and not versions.speaks(api):
                    raise UnsupportedVersion(f"{node} and kgroups have no common version of {api}")
        except BaseException:
            await cluster.close()
            raise
        return cls(cluster, answer.operations)

    async def renew(self) -> None:
        answer = await self.cluster.renew()
        self._operations = answer.operations
        self._hidden.clear()

    def remember(self) -> None:
        from kgroups.protocol.repeats import RepeatsByApi

        self.cluster.repeats = RepeatsByApi()

    @property
    def cluster_id(self) -> str | None:
        return self.cluster.cluster_id

    async def list_selected(self, selection: Selection) -> Outcome[ListedGroup]:
        found = await self._with_list_notice(None, await list_selected(self.cluster, selection))
        if not selection.topics:
            return found
        from .query.describe import describe_located

        located = ResolvedSelection(found.items)
        return keep_described(found, await describe_located(self.cluster, located, topics=selection.topics))

    async def describe(self, selection: Selection) -> Outcome[Group]:
        from .query import describe

        answer = await self._with_list_notice(selection, await describe.describe(self.cluster, selection))
        return await self._with_commit_notice(selection, answer) if selection.topics else answer

    async def describe_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> Outcome[GroupOffsets]:
        from .query.stream import collect

        return await collect(self.stream_offsets(selection, isolation=isolation, whole_topics=whole_topics))

    async def describe_nodes(self, groups: Sequence[Group]) -> Outcome[Group]:
        from .query import topology_nodes

        return await topology_nodes.describe_nodes(self.cluster, groups)

    async def stream_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> AsyncGenerator[Outcome[GroupOffsets]]:
        from contextlib import aclosing

        from .query import describe

        hidden = asyncio.ensure_future(self._hidden_topics(selection))  # meanwhile
        batches = describe.stream_offsets(self.cluster, selection, isolation=isolation, whole_topics=whole_topics)
        try:
            async with aclosing(batches):
                async for batch in batches:
                    yield self._with_hidden(batch, await hidden)
            last: Outcome[GroupOffsets] = await self._with_list_notice(selection, Outcome())
            await hidden
            yield await self._with_commit_notice(selection, last)
        finally:
            hidden.cancel()

    async def find_unread(
        self, positions: Iterable[Position], *, isolation: Isolation, checksums: bool = False
    ) -> tuple[Mapping[Position, FirstUnread], tuple[Failure, ...]]:
        from .query import first_unread

        return await first_unread.find_unread(self.cluster, positions, isolation=isolation, checksums=checksums)

    async def count_unread(
        self, positions: Iterable[Position], ends: Mapping[tuple[str, int], int], *, isolation: Isolation
    ) -> tuple[Mapping[Position, UnreadCount], tuple[Failure, ...]]:
        from .query.count_unread import count_unread

        return await count_unread(self.cluster, positions, ends, isolation=isolation)

    async def retention(self, pairs: Iterable[tuple[str, int]]) -> tuple[Retention, tuple[Failure, ...]]:
        from .query.retention import fetch_retention

        return await fetch_retention(self.cluster, pairs)

    async def read_group_logs(
        self, wanted: Mapping[GroupId, frozenset[Key]], limits: ReadBudget, *, retention: bool = False
    ) -> GroupLogs:
        from .offsets_topic import reader as group_log

        return await group_log.read_group_logs(self.cluster, wanted, limits, retention=retention)

    async def recent_commits(self, groups: Sequence[GroupId], since: int) -> RecentCommits:
        from .offsets_topic import recent_commits

        return await recent_commits.recent_commits(self.cluster, groups, since)

    async def committed(self, groups: Sequence[GroupId]) -> Mapping[GroupId, Mapping[tuple[str, int], Commit | None]]:
        from .change.lookups import WireLookups

        return (await WireLookups(self.cluster).groups(Selection(tuple(groups))))[1]

    async def pause(self, seconds: float, passed: float = 0.0) -> None:
        self.cluster.deadline.extend(passed)
        self.cluster.deadline.extend_by_wait(seconds)
        await asyncio.sleep(seconds)

    async def plan_reset(self, request: ResetRequest) -> Outcome[PlannedOffset]:
        from .change.lookups import WireLookups
        from .change.needs_kafka import acls_of_offsets, supported_writes
        from .change.plan_reset import plan_reset
        from .change.restore import for_cluster

        request, notices = for_cluster(request, self.cluster_id)
        planned = await supported_writes(self.cluster, await plan_reset(WireLookups(self.cluster), request))
        planned = (await self._deletable(planned)).with_failures((), notices)
        return await self._planned(request.selection, planned, acls_of_offsets(planned.items))

    async def topics(self, names: Sequence[str]) -> Mapping[str, TopicLeaders]:
        from .change.lookups import WireLookups

        return await WireLookups(self.cluster).topics(names)

    async def topic_ids(self, topics: Sequence[str]) -> Mapping[str, int]:
        metadata_of = await self.topics(topics)
        return {name: entry.topic_id for name, entry in metadata_of.items() if entry.topic_id}

    async def plan_delete_offsets(self, selection: Selection, topics: TopicScope) -> Outcome[PlannedOffset]:
        from .change import delete_offsets
        from .change.needs_kafka import acls_of_offsets

        planned = await delete_offsets.plan_delete_offsets(self.cluster, selection, topics)
        planned = await self._deletable(planned)
        return await self._planned(selection, planned, acls_of_offsets(planned.items))

    async def revalidate(
        self, planned: Sequence[PlannedOffset], *, with_members: bool = False, force: bool = False
    ) -> Outcome[PlannedOffset]:
        from .change.lookups import WireLookups
        from .change.revalidate import revalidate_offsets

        return await revalidate_offsets(WireLookups(self.cluster), planned, with_members=with_members, force=force)

    async def apply_offsets(
        self,
        planned: Sequence[PlannedOffset],
        journal: WriteJournal | None = None,
        *,
        with_members: bool = False,
        force: bool = False,
        amend: Callable[[Sequence[PlannedOffset]], None] = lambda entries: None,
    ) -> Outcome[AppliedOffset]:
        from .change import apply_offsets

        return await apply_offsets.apply_offsets(
            self.cluster, planned, journal, with_members=with_members, force=force, amend=amend
        )

    async def plan_delete(self, selection: Selection) -> Outcome[GroupDeletion]:
        from kgroups.model.permissions import needed_acls
        from kgroups.protocol.apis.delete_groups import API

        from .change import delete_groups
        from .change.lookups import WireLookups
        from .change.needs_kafka import supported_changes

        planned = await delete_groups.plan_delete(WireLookups(self.cluster), selection)
        planned = await supported_changes(self.cluster, planned, API, lambda each: each.group.group_id)
        needed = (acl for each in planned.items for acl in needed_acls(API.name, each.group.group_id))
        return await self._planned(selection, planned, needed)

    async def hidden_offsets(
        self, seen: Mapping[GroupId, Mapping[tuple[str, int], object]], way: str
    ) -> Mapping[GroupId, Failure]:
        from .change import hidden_offsets

        topics = await self._find_hidden_topics(frozenset()) if seen else frozenset()
        return await hidden_offsets.hidden_offsets(self.cluster, topics, seen, way)

    async def delete_offsets_now(self, group: GroupId, topics: TopicScope) -> Outcome[DeletedOffset]:
        from .change import delete_now

        return await delete_now.delete_offsets_now(self.cluster, group, topics)

    async def delete_share_offsets(self, group: GroupId, topics: Sequence[str]) -> Outcome[ForgottenTopic]:
        from .change import delete_now

        return await delete_now.delete_share_offsets(self.cluster, group, topics)

    async def delete_groups(
        self,
        names: Sequence[GroupId],
        journal: DeleteJournal | None = None,
        *,
        planned: Sequence[GroupDeletion] = (),
        force: bool = False,
        amend: Callable[[Sequence[PlannedOffset]], None] = lambda entries: None,
    ) -> Outcome[DeletedGroup]:
        from .change import delete_groups

        return await delete_groups.delete_groups(
            self.cluster, names, journal, planned=planned, force=force, amend=amend
        )

    async def delete_topics(self, deletions: Sequence[TopicDeletion]) -> Outcome[DeletedTopic]:
        from .change import delete_now

        return await delete_now.delete_topics(self.cluster, deletions)

    async def plan_removal(self, selection: Selection, wanted: WantedMembers) -> Outcome[MemberRemoval]:
        from kgroups.model.permissions import needed_acls
        from kgroups.protocol.apis.leave_group import API

        from .change import remove_members
        from .change.needs_kafka import members_that_can_be_removed

        planned = await remove_members.plan_removal(self.cluster, selection, wanted)
        planned = await members_that_can_be_removed(self.cluster, planned)
        needed = (acl for each in planned.items for acl in needed_acls(API.name, each.group_id))
        return await self._planned(selection, planned, needed, commits=False)

    async def remove_members(
        self, members: Sequence[MemberRemoval], reason: str, journal: RemovalJournal | None = None
    ) -> Outcome[RemovedMember]:
        from .change import remove_members

        return await remove_members.remove_members(self.cluster, members, reason, journal)

    async def gather_facts(self, selection: Selection) -> Outcome[GroupFacts]:
        from .query.explain import gather_facts

        facts = await self._with_list_notice(selection, await gather_facts(self.cluster, selection))
        return await self._with_commit_notice(selection, facts)

    async def partition_facts(
        self, selection: Selection, wanted: Mapping[str, frozenset[int] | None] | None
    ) -> Outcome[PartitionFacts]:
        from kgroups.model.offsets import Isolation

        from .verdicts.gather import partition_facts

        described = await self.describe_offsets(
            selection, isolation=Isolation.READ_UNCOMMITTED, whole_topics=wanted is None
        )
        return await partition_facts(self.cluster, described, wanted)

    async def group_configs(
        self, groups: Sequence[Group]
    ) -> tuple[Mapping[GroupId, Mapping[str, str | None]], tuple[Failure, ...]]:
        from .query.group_configs import fetch_group_configs

        return await fetch_group_configs(self.cluster, groups)

    async def gather_share_facts(self, items: Sequence[GroupOffsets], limits: ReadBudget) -> Gathered:
        from .share_state.gather import gather_share_facts

        return await gather_share_facts(self.cluster, items, limits)

    async def describe_settings(self, selection: Selection) -> Outcome[GroupSettings]:
        from .query.group_configs import describe_settings

        return await self._with_list_notice(selection, await describe_settings(self.cluster, selection))

    async def plan_settings(self, selection: Selection, wish: Wish) -> Outcome[PlannedSetting]:
        from .change.alter_settings import plan_settings

        return await self._planned(selection, await plan_settings(self.cluster, selection, wish), commits=False)

    async def alter_settings(
        self, planned: Sequence[PlannedSetting], journal: SettingsJournal | None = None
    ) -> Outcome[AppliedSetting]:
        from .change.alter_settings import alter_settings

        return await alter_settings(self.cluster, planned, journal)

    async def _deletable(self, planned: Outcome[PlannedOffset]) -> Outcome[PlannedOffset]:
        """Remove deletions from a plan that the brokers do not support."""
        if all(entry.before and entry.after for entry in planned.items):
            return planned
        from .change.needs_kafka import offsets_that_can_be_deleted

        return await offsets_that_can_be_deleted(self.cluster, planned)

    async def _planned(
        self, selection: Selection, plan: Outcome[T], needed: Iterable[Acl] = (), *, commits: bool = True
    ) -> Outcome[T]:
        """Add the notices about omitted groups and offsets to a plan, and about ACLs that the change will lack.

        :param needed: the ACLs that the change needs.
        """
        plan = await self._with_needed(plan, needed)
        self.cluster.progress.clear()  # the revalidation before the change counts the groups again
        plan = await self._with_list_notice(selection, plan)
        return await self._with_commit_notice(selection, plan) if commits else plan

    async def _with_needed(self, plan: Outcome[T], needed: Iterable[Acl]) -> Outcome[T]:
        if not plan.items or not await self._checks_acls():
            return plan
        from kgroups.model.permissions import rejection_notices

        from .query.authorization import rejected_without

        lacking = await rejected_without(self.cluster, needed)
        return plan.with_failures((), rejection_notices(lacking))._replace(needed=lacking)

    async def _with_list_notice(self, selection: Selection | None, outcome: Outcome[T]) -> Outcome[T]:
        """Add a notice if groups may be missing in the list from which the selection was made.

        Groups selected by name need none: they have their own failures.
        """
        if selection and not selection.needs_list:
            return outcome
        if self._operations is None and await self._lists_in_part():
            from .query.authorization import may_list_all

            self._operations = frozenset({"DESCRIBE"} if await may_list_all(self.cluster) else ())
        if self._operations is None or "DESCRIBE" in self._operations:
            return outcome  # the usual case: do not load the module
        from .query.authorization import missing_acls, note_omitted_groups

        return note_omitted_groups(outcome, missing_acls(self._operations))

    async def _lists_in_part(self) -> bool:
        node = self.cluster.nodes_by_health()[0]
        return await self.cluster.speaks(node, list_groups.API, list_groups.FILTERED)

    async def _with_commit_notice(self, selection: Selection, outcome: Outcome[T]) -> Outcome[T]:
        hidden = await self._hidden_topics(selection)
        if not hidden:
            return outcome
        from .query.authorization import note_omitted_offsets

        return note_omitted_offsets(outcome, hidden)

    def _with_hidden(self, batch: Outcome[GroupOffsets], hidden: HiddenTopics) -> Outcome[GroupOffsets]:
        if not hidden:
            return batch
        from kgroups.model.permissions import omitted_commits

        why = omitted_commits(hidden)
        return batch.with_items(item._replace(hidden=why) for item in batch.items)

    async def _hidden_topics(self, selection: Selection) -> HiddenTopics:
        topics = selection.topics
        if topics not in self._hidden:
            self._hidden[topics] = await self._find_hidden_topics(topics)
        return self._hidden[topics]

    async def _find_hidden_topics(self, selected: frozenset[str]) -> HiddenTopics:
        if not await self._checks_acls():
            return frozenset()  # the usual case: do not load the module
        from .query.authorization import hidden_topics, missing_acls

        return await hidden_topics(self.cluster, missing_acls(self._operations), selected)

    async def _checks_acls(self) -> bool:
        """Return whether brokers may check ACLs."""
        from kgroups.protocol.apis.describe_acls import authorizes

        lists_acls = self._operations is None or "DESCRIBE" in self._operations
        return not lists_acls or await authorizes(self.cluster.call_any)

    async def close(self) -> None:
        await self.cluster.close()


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


async def open_admin(
    settings: ClientSettings, observer: Observer | None = None, tell: Callable[[str], None] = lambda note: None
) -> tuple[GroupAdmin, object]:
    """Return a connected admin, and its progress, which ``str()`` shows at any time.

    :param observer: is called for every request of the wire client.
    :param tell: is called with a notice if librdkafka is used instead of the wire client.
    :raises KgroupsError: if the cluster cannot be reached, or rejects the client.
    """
    if settings.transport is Transport.WIRE:
        try:
            admin = await WireAdmin.connect(settings, observer)
            return admin, admin.cluster.progress
        except (UnsupportedVersion, UnsupportedMechanism) as error:
            tell(f"{error}; using librdkafka instead, with one group per request")
    from .rdkafka.client import RdkafkaAdmin

    return await RdkafkaAdmin.connect(settings), OVER_LIBRDKAFKA
