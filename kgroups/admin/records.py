"""Read records of logs and of groups: only the wire client does. Over librdkafka, they are unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kgroups.model.group_log import GroupLogs, Key, ReadBudget
from kgroups.model.groups import GroupId
from kgroups.model.offsets import Isolation
from kgroups.model.operations.committing import RecentCommits
from kgroups.model.outcome import Failure, Scope
from kgroups.model.time_lag import FirstUnread, Position

from .offsets_topic import reader
from .offsets_topic import recent_commits as log_of_groups
from .query import first_unread

if TYPE_CHECKING:
    from .client import Client

UNREAD = "librdkafka does not read records, so the time lag is unknown; --transport wire reads them"
UNREAD_LOG = "librdkafka does not read records, so those of __consumer_offsets are unknown; --transport wire reads them"


async def find_unread(
    admin: Client, positions: Iterable[Position], *, isolation: Isolation
) -> tuple[Mapping[Position, FirstUnread], tuple[Failure, ...]]:
    """Return the first unread record at each position, and the failures; see :mod:`.query.first_unread`."""
    if admin.cluster:
        return await first_unread.find_unread(admin.cluster, positions, isolation=isolation)
    unknown = dict.fromkeys(positions, FirstUnread(failed=UNREAD))
    return unknown, (Failure(Scope.CLUSTER, admin.name, UNREAD),) if unknown else ()


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
