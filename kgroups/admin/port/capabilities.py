"""The operations that only the wire client supports, and why librdkafka does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast, runtime_checkable

from kgroups.config.settings import ClientSettings, Transport
from kgroups.errors import UsageError

from . import GroupAdmin

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from kgroups.model.explain.facts import GroupFacts
    from kgroups.model.group_log import ReadBudget
    from kgroups.model.groups import Group, GroupId
    from kgroups.model.headroom import Retention
    from kgroups.model.offsets import Isolation
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
    from kgroups.model.outcome import Failure, Outcome
    from kgroups.model.settings.change import AppliedSetting, PlannedSetting, Wish
    from kgroups.model.settings.setting import GroupSettings
    from kgroups.model.time_lag import Position
    from kgroups.model.topic_scope import TopicScope
    from kgroups.model.unread_count import UnreadCount
    from kgroups.model.verdicts.facts import PartitionFacts
    from kgroups.model.views.offset_row import GroupOffsets

    from ..change.alter_settings import SettingsJournal
    from ..change.delete_groups import DeleteJournal
    from ..change.remove_members import RemovalJournal, WantedMembers
    from ..change.reset_request import ResetRequest
    from ..change.writers.ledger import WriteJournal
    from ..query.select_groups import Selection
    from ..share_state.gather import Gathered

C = TypeVar("C")
T = TypeVar("T")


@runtime_checkable
class GroupChanger(GroupAdmin, Protocol):
    """An admin that changes groups. Plans change nothing; exactly what a plan contains is written."""

    async def plan_reset(self, request: ResetRequest) -> Outcome[PlannedOffset]: ...

    async def topic_ids(self, topics: Sequence[str]) -> Mapping[str, int]:
        """Return the IDs of these topics; those whose ID is unknown (before Kafka 2.8) are absent."""

    async def revalidate(
        self, planned: Sequence[PlannedOffset], *, with_members: bool = False, force: bool = False
    ) -> Outcome[PlannedOffset]: ...

    async def apply_offsets(
        self,
        planned: Sequence[PlannedOffset],
        journal: WriteJournal | None = None,
        *,
        with_members: bool = False,
        force: bool = False,
        amend: Callable[[Sequence[PlannedOffset]], None] = ...,
    ) -> Outcome[AppliedOffset]:
        """Write planned offsets; each group is checked again right before it is written."""

    async def plan_delete_offsets(self, selection: Selection, topics: TopicScope) -> Outcome[PlannedOffset]: ...

    async def delete_offsets_now(self, group: GroupId, topics: TopicScope) -> Outcome[DeletedOffset]: ...

    async def delete_share_offsets(self, group: GroupId, topics: Sequence[str]) -> Outcome[ForgottenTopic]: ...

    async def plan_delete(self, selection: Selection) -> Outcome[GroupDeletion]: ...

    async def hidden_offsets(
        self, seen: Mapping[GroupId, Mapping[tuple[str, int], object]], way: str
    ) -> Mapping[GroupId, Failure]: ...

    async def delete_groups(
        self,
        names: Sequence[GroupId],
        journal: DeleteJournal | None = None,
        *,
        planned: Sequence[GroupDeletion] = (),
        force: bool = False,
        amend: Callable[[Sequence[PlannedOffset]], None] = ...,
    ) -> Outcome[DeletedGroup]:
        """Delete groups; those of a plan are checked again right before."""

    async def delete_topics(self, deletions: Sequence[TopicDeletion]) -> Outcome[DeletedTopic]: ...

    async def plan_removal(self, selection: Selection, wanted: WantedMembers) -> Outcome[MemberRemoval]: ...

    async def remove_members(
        self, members: Sequence[MemberRemoval], reason: str, journal: RemovalJournal | None = None
    ) -> Outcome[RemovedMember]: ...


@runtime_checkable
class FactGatherer(Protocol):
    async def gather_facts(self, selection: Selection) -> Outcome[GroupFacts]:
        """Return the facts about groups that the rules of ``explain`` need."""

    async def partition_facts(
        self, selection: Selection, wanted: Mapping[str, frozenset[int] | None] | None
    ) -> Outcome[PartitionFacts]:
        """Return the facts about partitions, topic -> numbers, or ``None`` for all; or about those that lag."""


@runtime_checkable
class ConfigReader(Protocol):
    async def group_configs(
        self, groups: Sequence[Group]
    ) -> tuple[Mapping[GroupId, Mapping[str, str | None]], tuple[Failure, ...]]:
        """Return the dynamic configuration of groups, and the failures of those for which it is unknown."""


@runtime_checkable
class ShareFactGatherer(Protocol):
    async def gather_share_facts(self, items: Sequence[GroupOffsets], limits: ReadBudget) -> Gathered:
        """Return what is known about the partitions of these share groups."""


@runtime_checkable
class RetentionReader(Protocol):
    async def retention(self, pairs: Iterable[tuple[str, int]]) -> tuple[Retention, tuple[Failure, ...]]:
        """Return what decides when the records of partitions are deleted, and the failures."""


@runtime_checkable
class RecordCounter(Protocol):
    async def count_unread(
        self, positions: Iterable[Position], ends: Mapping[tuple[str, int], int], *, isolation: Isolation
    ) -> tuple[Mapping[Position, UnreadCount], tuple[Failure, ...]]:
        """Return the number of unread records at positions up to the ends of partitions, and the failures."""


@runtime_checkable
class SettingsAdmin(Protocol):
    async def describe_settings(self, selection: Selection) -> Outcome[GroupSettings]:
        """Return the settings of groups, sorted by group."""

    async def plan_settings(self, selection: Selection, wish: Wish) -> Outcome[PlannedSetting]: ...

    async def alter_settings(
        self, planned: Sequence[PlannedSetting], journal: SettingsJournal | None = None
    ) -> Outcome[AppliedSetting]: ...


class Capability(Generic[C]):
    """An operation that some transports support."""

    def __init__(self, protocol: type, without: str) -> None:
        """Create a capability.

        :param protocol: the runtime-checkable protocol of admins that support it.
        :param without: the reason why librdkafka does not support it.
        """
        self._protocol = protocol
        self.without = without

    def of(self, admin: GroupAdmin) -> C:
        """Return the admin as one that supports the operation.

        :raises UsageError: if its transport does not.
        """
        if isinstance(admin, self._protocol):
            return cast("C", admin)
        raise self.refusal

    @property
    def refusal(self) -> UsageError:
        return UsageError(f"--transport librdkafka: {self.without}")

    def check(self, settings: ClientSettings) -> None:
        """Check the requested transport, before anything is sent.

        :raises UsageError: if it does not support the operation.
        """
        if settings.transport is Transport.LIBRDKAFKA:
            raise self.refusal


CHANGES: Capability[GroupChanger] = Capability(
    GroupChanger, "kgroups only reads over librdkafka; to change groups, use --transport wire"
)
GROUP_CONFIGS: Capability[ConfigReader] = Capability(ConfigReader, "snapshots and kgroups diff require the wire client")
RETENTION: Capability[RetentionReader] = Capability(RetentionReader, "headroom requires the wire client")
RECORD_COUNTS: Capability[RecordCounter] = Capability(RecordCounter, "counting records requires the wire client")
SETTINGS: Capability[SettingsAdmin] = Capability(SettingsAdmin, "settings of groups require the wire client")
FACTS: Capability[FactGatherer] = Capability(FactGatherer, "explain requires the wire client")
SHARE_FACTS: Capability[ShareFactGatherer] = Capability(
    ShareFactGatherer, "the state of share groups requires the wire client"
)


def changing(query: Callable[[GroupChanger], Awaitable[T]]) -> Callable[[GroupAdmin], Awaitable[T]]:
    """Return the query for any admin; it raises a usage error if the admin only reads."""

    async def run(admin: GroupAdmin) -> T:
        return await query(CHANGES.of(admin))

    return run
