"""Read records of logs and of groups: only the wire client does. Over librdkafka, they are unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kgroups.errors import Reason
from kgroups.model.group_log import GroupLogs, Key, ReadBudget
from kgroups.model.groups import GroupId, GroupType
from kgroups.model.offsets import Isolation
from kgroups.model.operations.committing import RecentCommits
from kgroups.model.outcome import Failure, Scope
from kgroups.model.time_lag import FirstUnread, Position
from kgroups.model.views.offset_row import GroupOffsets

from .client import Client, WireOnly, wire_of
from .offsets_topic import reader
from .offsets_topic import recent_commits as log_of_groups
from .query import first_unread
from .share_state.gather import Gathered, gather_share_facts

UNREAD = "librdkafka does not read records, so the time lag is unknown; --transport wire reads them"
UNREAD_LOG = "librdkafka does not read records, so those of __consumer_offsets are unknown; --transport wire reads them"


async def find_unread(
    admin: Client, positions: Iterable[Position], *, isolation: Isolation
) -> tuple[Mapping[Position, FirstUnread], tuple[Failure, ...]]:
    """Return the first unread record at each position, and the failures; see :mod:`.query.first_unread`."""
    if admin.cluster:
        return await first_unread.find_unread(admin.cluster, positions, isolation=isolation)
    unknown = dict.fromkeys(positions, FirstUnread(failed=UNREAD))
    return unknown, (Failure(Scope.CLUSTER, admin.name, UNREAD, reason=Reason.VERSION_UNSUPPORTED),) if unknown else ()


async def read_group_logs(
    admin: Client, wanted: Mapping[GroupId, frozenset[Key]], limits: ReadBudget, *, retention: bool = False
) -> GroupLogs:
    """Read records of groups in the offsets topic, or return a notice; see :mod:`.offsets_topic.reader`."""
    if admin.cluster:
        return await reader.read_group_logs(admin.cluster, wanted, limits, retention=retention)
    return GroupLogs({}, (f"--deep: {UNREAD_LOG}",), unread=dict.fromkeys(wanted, UNREAD_LOG))


async def commit_history(admin: Client, groups: Sequence[GroupId]) -> RecentCommits:
    """Return the commits and membership changes of groups in the newest part of the log."""
    if admin.cluster:
        return await log_of_groups.commit_history(admin.cluster, groups)
    return RecentCommits({}, dict.fromkeys(groups, UNREAD_LOG))


async def share_facts(admin: Client, items: Iterable[GroupOffsets], limits: ReadBudget) -> Gathered:
    """Return what is known about the partitions of share groups; groups of other types are ignored.

    :raises UsageError: if there are share groups, and the transport does not support them.
    """
    shared = [item for item in items if item.group.type == GroupType.SHARE]
    if not shared:
        return Gathered({}, ())
    return await gather_share_facts(wire_of(admin, WireOnly.SHARE_STATES), shared, limits)
