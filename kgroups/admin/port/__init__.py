"""The interface of a connected cluster, with two implementations: :mod:`..wire` and :mod:`..rdkafka`.

Both implement :class:`GroupAdmin`, which only reads. What only the wire client supports is a capability:
``CHANGES.of(admin)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence

    from kgroups.model.group_log import GroupLogs, Key, ReadBudget
    from kgroups.model.groups import Group, GroupId, ListedGroup
    from kgroups.model.offsets import Commit, Isolation
    from kgroups.model.operations.committing import RecentCommits
    from kgroups.model.outcome import Failure, Outcome
    from kgroups.model.time_lag import FirstUnread, Position
    from kgroups.model.views.offset_row import GroupOffsets
    from kgroups.protocol.apis.metadata import TopicLeaders

    from ..query.select_groups import Selection


class GroupAdmin(Protocol):
    """The queries that every transport supports. All outcomes are sorted by group, and contain the failures."""

    @property
    def cluster_id(self) -> str | None: ...

    async def list_selected(self, selection: Selection) -> Outcome[ListedGroup]:
        """Return the selected groups of the list; a named group that is not in it is a failure."""

    async def describe(self, selection: Selection) -> Outcome[Group]: ...

    async def describe_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> Outcome[GroupOffsets]: ...

    async def describe_nodes(self, groups: Sequence[Group]) -> Outcome[Group]: ...

    def stream_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> AsyncGenerator[Outcome[GroupOffsets]]:
        """Yield what :meth:`describe_offsets` returns in batches, sorted by group within and across them.

        Failures and notices that concern no group come last.
        """
        ...

    async def find_unread(
        self, positions: Iterable[Position], *, isolation: Isolation, checksums: bool = False
    ) -> tuple[Mapping[Position, FirstUnread], tuple[Failure, ...]]: ...

    async def read_group_logs(
        self, wanted: Mapping[GroupId, frozenset[Key]], limits: ReadBudget, *, retention: bool = False
    ) -> GroupLogs: ...

    async def recent_commits(self, groups: Sequence[GroupId], since: int) -> RecentCommits: ...

    async def committed(
        self, groups: Sequence[GroupId]
    ) -> Mapping[GroupId, Mapping[tuple[str, int], Commit | None]]: ...

    async def pause(self, seconds: float, passed: float = 0.0) -> None:
        """Sleep; neither this time nor the seconds that have ``passed`` before count toward the deadline."""

    async def topics(self, names: Sequence[str]) -> Mapping[str, TopicLeaders]:
        """Return these topics, each with its partitions or its error.

        :raises KgroupsError: if no broker responds.
        """

    async def close(self) -> None: ...


@runtime_checkable
class Renewable(Protocol):
    """An admin whose connections can serve another command."""

    def remember(self) -> None:
        """Keep the last responses, so that repeated polls decode only what changed. Costs memory."""

    async def renew(self) -> None:
        """Restart the deadline, and refresh the metadata and the authorized operations.

        :raises KgroupsError: if no broker responds over the open connections or new ones.
        """
