"""The questions that any transport can be asked. One port, two adapters: :mod:`.wire` and :mod:`.rdkafka`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from kgroups.model.groups import Group, ListedGroup
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure, Outcome
from kgroups.model.rows import GroupOffsets
from kgroups.model.time_lag import FirstUnread, Position

from .list_groups import ListFilter
from .select_groups import Selection


class GroupAdmin(Protocol):
    """An open door to a cluster. All answers are sorted by group; what failed is in them."""

    @property
    def cluster_id(self) -> str | None: ...

    async def list_groups(self, wanted: ListFilter) -> Outcome[ListedGroup]: ...

    async def describe(self, selection: Selection) -> Outcome[Group]: ...

    async def describe_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> Outcome[GroupOffsets]: ...

    async def find_unread(
        self, positions: Iterable[Position], *, isolation: Isolation
    ) -> tuple[Mapping[Position, FirstUnread], tuple[Failure, ...]]: ...

    async def close(self) -> None: ...
