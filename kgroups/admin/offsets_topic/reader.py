"""Read the records of groups in their partitions of ``__consumer_offsets``, each from its end backwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kgroups.errors import UndecodableRecord
from kgroups.model.group_log import CommitTimes, GroupLog, GroupLogs, Key, ReadBudget, Timeouts
from kgroups.model.groups import GroupId, GroupState
from kgroups.model.operations.origin import topic_id_of
from kgroups.model.placement import OFFSETS_TOPIC, partition_of
from kgroups.net.cluster import Cluster
from kgroups.protocol.offsets_topic import decode
from kgroups.protocol.record_schemas import NO_TOPIC_ID, group_of

from ..log_search.backward_reader import Records, Search
from ..log_search.search_logs import count_partitions, search_logs
from .retention import offsets_retention


class Found(NamedTuple):
    """The newest record of a key: its timestamp in milliseconds since 1970, and its value; ``None`` for a tombstone."""

    timestamp: int
    value: Mapping[str, Any] | None


class NewestRecords(Search):
    """The newest records of the requested keys."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: set[GroupId] = set()
        self.newest: dict[Key, Found] = {}
        self._sought: set[Key] = set()
        self._names: set[bytes] = set()
        self._known: set[bytes] = set()
        """The keys of ``newest``, as bytes."""

    def request(self, group: GroupId, keys: Iterable[Key]) -> None:
        """Search for the newest records with these keys, which belong to the group."""
        self.groups.add(group)
        self._sought.update(keys)
        name = group.encode("utf-8", "surrogatepass")
        self._names.add(len(name).to_bytes(2, "big") + name)

    def identity(self, key: bytes) -> bytes | None:
        # Every key begins with its type and the group's name; records of other groups are skipped.
        if len(key) < 4 or key[2 : 4 + int.from_bytes(key[2:4], "big")] not in self._names:
            return None
        return None if key in self._known else key

    def missing(self) -> int:
        return len(self._sought - self.newest.keys())

    def keep(self, records: Records) -> None:
        """Keep the newest record of each key that can be decoded."""
        for key, entries in records.items():
            for entry in reversed(entries):
                try:
                    record = decode(key, entry.value)
                except UndecodableRecord:
                    self.unreadable += 1
                    continue
                if group_of(record.key) in self.groups:
                    self._known.add(key)
                    self.newest[record.record_type, *record.key.values()] = Found(entry.timestamp, record.value)
                break


async def read_group_logs(
    cluster: Cluster, wanted: Mapping[GroupId, frozenset[Key]], limits: ReadBudget, *, retention: bool = False
) -> GroupLogs:
    """Return the facts about groups in the offsets topic. Errors are notices: the other results are valid without it.

    :param wanted: group -> the keys of the records to find.
    :param retention: whether to fetch the broker's retention time of offsets as well.
    """
    count = await count_partitions(cluster, OFFSETS_TOPIC)
    if isinstance(count, str):
        return nothing_read(wanted, count)
    searches: dict[int, NewestRecords] = {}
    for group, keys in wanted.items():
        if not keys:
            continue  # such as a share group, which has no commits: do not read the log for nothing
        searches.setdefault(partition_of(group, count), NewestRecords()).request(group, keys)
    if not searches:
        return GroupLogs({}, ())
    searched = await search_logs(cluster, OFFSETS_TOPIC, searches, limits)
    notices = [f"--deep: {text}" for text in searched.reached]
    unread = {group: reason for number, reason in searched.reasons.items() for group in searches[number].groups}
    before = {group: older for number, older in searched.before.items() for group in searches[number].groups}
    found = {group: log for search in searches.values() for group, log in _logs(search)}
    kept = await offsets_retention(cluster) if retention else None
    if isinstance(kept, str):
        notices.append(f"--deep: the expiration time of offsets is unknown: {kept}")
    return GroupLogs(found, tuple(notices), kept if isinstance(kept, int) else None, unread, before)


def nothing_read(groups: Iterable[GroupId], reason: str) -> GroupLogs:
    """Return the result if no log can be read, for one reason."""
    return GroupLogs({}, (f"--deep: {reason}",), unread=dict.fromkeys(groups, reason))


def _logs(search: NewestRecords) -> Iterable[tuple[GroupId, GroupLog]]:
    own: dict[object, dict[Key, Found]] = defaultdict(dict)
    for key, found in search.newest.items():
        own[key[1]][key] = found
    return ((group, log_of(own[group], group)) for group in search.groups)


_COMMIT, _CLASSIC = 1, 2
_MEMBERS = (5, 19)
_TARGETS = (6, 12, 20)
"""The record types with the time of an assignment: for consumer, share, and streams groups."""


def log_of(newest: Mapping[Key, Found], group: GroupId) -> GroupLog:
    """Return the facts in the newest records of a group.

    :param newest: the records of this group only, by key.
    """
    existing = {key: found for key, found in newest.items() if found.value is not None}
    classic = existing.get((_CLASSIC, group))
    value: Mapping[str, Any] = (classic.value if classic else None) or {}
    timeouts = {member["memberId"]: _timeouts(member) for member in value.get("members", ())}
    commits: dict[tuple[str, int], CommitTimes] = {}
    rebalanced = classic.timestamp if classic else None
    for key, (timestamp, fields) in existing.items():
        if fields is None:
            continue
        if key[0] == _COMMIT:
            expires = fields.get("expireTimestamp", -1)
            commits[str(key[2]), int(str(key[3]))] = CommitTimes(
                fields["commitTimestamp"],
                expires if expires >= 0 else None,
                topic_id_of(fields.get("topicId") or NO_TOPIC_ID) or None,
            )
        elif key[0] in _MEMBERS:
            timeouts[str(key[2])] = _modern_timeouts(fields)
        elif key[0] in _TARGETS:
            rebalanced = fields.get("AssignmentTimestamp") or timestamp
    return GroupLog(
        generation=value.get("generation"),
        leader=value.get("leader"),
        state_since=_known(value.get("currentStateTimestamp")),
        rebalanced=_known(rebalanced),
        timeouts=timeouts,
        commits=commits,
        state=None if classic is None else GroupState.STABLE if value.get("members") else GroupState.EMPTY,
    )


def _timeouts(member: Mapping[str, Any]) -> Timeouts:
    return Timeouts(_known(member.get("sessionTimeout")), _known(member.get("rebalanceTimeout")))


def _modern_timeouts(member: Mapping[str, Any]) -> Timeouts:
    """Return the timeouts of a KIP-848 member.

    Only members that use the classic protocol have their own session timeout; for others, the broker's applies.
    """
    classic = member.get("ClassicMemberMetadata") or {}
    return Timeouts(_known(classic.get("SessionTimeoutMs")), _known(member.get("RebalanceTimeoutMs")))


def _known(value: int | None) -> int | None:
    return None if value is None or value < 0 else value
