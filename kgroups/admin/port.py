"""The questions that any transport can be asked. One port, two adapters: :mod:`.wire` and :mod:`.rdkafka`."""

from __future__ import annotations

from typing import Protocol

from kgroups.model.groups import Group, ListedGroup
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Outcome
from kgroups.model.rows import GroupOffsets

from .list_groups import ListFilter
from .select_groups import Selection


class GroupAdmin(Protocol):
    """An open door to a cluster. All answers are sorted by group; what failed is in them."""

    @property
    def cluster_id(self) -> str | None: ...

    async def list_groups(self, wanted: ListFilter) -> Outcome[ListedGroup]: ...

    async def describe(self, selection: Selection) -> Outcome[Group]: ...

    async def describe_offsets(self, selection: Selection, *, isolation: Isolation) -> Outcome[GroupOffsets]: ...

    async def close(self) -> None: ...
