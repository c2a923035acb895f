"""What is not done over librdkafka: the acts.

It can neither take a commit away nor remove a member, deletes groups one by one, and does not tell what became of a
request that it gave up on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from kgroups.errors import UsageError
from kgroups.model.groups import GroupId
from kgroups.model.reset import PlannedOffset
from kgroups.model.topic_scope import TopicScope

from ..remove_members import WantedMembers
from ..reset_plan import ResetRequest
from ..select_groups import Selection


class NoActs:
    """Refuses each act, plan and all: :class:`UsageError`."""

    async def plan_reset(self, request: ResetRequest) -> NoReturn:
        _refuse("offsets are reset")

    async def plan_delete_offsets(self, selection: Selection, topics: TopicScope) -> NoReturn:
        _refuse("offsets are deleted")

    async def still_true(self, planned: Sequence[PlannedOffset], *, with_members: bool = False) -> NoReturn:
        _refuse("offsets are written")

    async def apply_offsets(self, planned: Sequence[PlannedOffset]) -> NoReturn:
        _refuse("offsets are written")

    async def plan_delete(self, selection: Selection) -> NoReturn:
        _refuse("groups are deleted")

    async def forget_offsets(self, group: GroupId, topics: TopicScope) -> NoReturn:
        _refuse("offsets are deleted")

    async def delete_groups(self, names: Sequence[GroupId]) -> NoReturn:
        _refuse("groups are deleted")

    async def plan_removal(self, selection: Selection, wanted: WantedMembers) -> NoReturn:
        _refuse("members are removed")

    async def remove_members(self, leavers: Sequence[object], reason: str) -> NoReturn:
        _refuse("members are removed")


def _refuse(what: str) -> NoReturn:
    raise UsageError(f"--transport librdkafka: {what} by the wire client only")
