"""Read the newest commits of groups from ``__consumer_offsets``, from a point in time to the end of the log."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import NamedTuple

from kgroups.errors import KgroupsError, RemoteProtocolError
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId
from kgroups.model.operations.committing import CommitMade, Pair, RecentCommits
from kgroups.model.placement import OFFSETS_TOPIC, partition_of
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis.fetch import Fetch, Fetched
from kgroups.protocol.error_codes import NOT_AUTHORIZED, Code, KafkaError
from kgroups.protocol.record_entries import Entry, read_entries

from ..query.log_offsets import fetch_ends_at
from ..routing.partition_leaders import find_leaders

MOST_RECORDS = 400_000
"""Records to be read in all; of a busy log only the newest part of the window is read."""
LEAST_RECORDS = 5_000
"""Of one partition."""
MOST_OF_ALL = 5_000_000
"""Records of one partition, where all commits of a group are looked for."""
PORTION = 1024 * 1024
OF_WHAT_IS_LEFT = 0.5
"""So much of what ``--timeout`` leaves may be read for, at most."""

_COMMITS = (0, 1)
_MEMBERSHIP = frozenset({2, 3, 5, 6, 7, 8, 17, 19, 20, 21, 22})
"""Records that are written when members join, leave, or are assigned something, whatever the type of the group."""

NEEDS_READ = f"reading {OFFSETS_TOPIC} needs the ACL READ on it"


class _Range(NamedTuple):
    """What is to be read of a partition: ``end`` is not included."""

    number: int
    start: int
    end: int
    cut: bool


async def recent_commits(
    cluster: Cluster, groups: Collection[GroupId], since: int, *, everything: bool = False
) -> RecentCommits:
    """Return the commits of these groups from a time on, in milliseconds since 1970.

    Uncommitted and aborted ones count: somebody has made them. Nothing is raised: what cannot be read is in ``unread``.

    :param everything: also commits from before the group's last membership record, and of many more records.
    """
    try:
        told = (await cluster.refresh((OFFSETS_TOPIC,))).topics[0]
    except (KgroupsError, IndexError) as error:
        return _unread(groups, str(error))
    if told.error and told.error.code == Code.unknown_topic_or_partition:
        return RecentCommits({})  # no offset was ever committed in this cluster
    if told.error or not told.leaders:
        refused = told.error is None or told.error.code in NOT_AUTHORIZED
        return _unread(groups, NEEDS_READ if refused else f"{OFFSETS_TOPIC}: {told.error and told.error.message}")
    homes: dict[int, set[GroupId]] = {}
    for group in groups:
        homes.setdefault(partition_of(group, len(told.leaders)), set()).add(group)
    return await _read(cluster, homes, since, everything)


def _unread(groups: Collection[GroupId], why: str) -> RecentCommits:
    return RecentCommits({}, dict.fromkeys(groups, why))


async def _read(cluster: Cluster, homes: Mapping[int, set[GroupId]], since: int, everything: bool) -> RecentCommits:
    ends, starts, holes = await fetch_ends_at(cluster, {OFFSETS_TOPIC: list(homes)}, since)
    by_leader = await find_leaders(cluster, [(OFFSETS_TOPIC, number) for number in homes])
    leaders = {number: node for node, pairs in by_leader.leaders.items() for _, number in pairs}
    why = {int(hole.name.rpartition("-")[2]): hole.message for hole in holes if "-" in hole.name}
    most = MOST_OF_ALL if everything else max(LEAST_RECORDS, MOST_RECORDS // len(homes))
    until = time.monotonic() + cluster.deadline.remaining() * OF_WHAT_IS_LEFT
    unread: dict[GroupId, str] = {}
    jobs = []
    for number, groups in homes.items():
        end = ends.get((OFFSETS_TOPIC, number))
        start = starts.get((OFFSETS_TOPIC, number), -1)
        node = leaders.get(number)
        if start == -1 or end is None or node is None:
            reason = why.get(number, "its leader could not be asked")
            unread.update(dict.fromkeys(groups, f"{OFFSETS_TOPIC}-{number}: {reason}"))
        elif start is not None and start < end:
            part = _Range(number, max(start, end - most), end, end - most > start)
            reader = _Reader(groups, everything)
            jobs.append(((number, part, reader), reader.read(cluster, node, part, until)))
    made: dict[GroupId, Mapping[Pair, list[CommitMade]]] = {}
    later: dict[GroupId, int] = {}
    for (number, part, reader), answer in await fan_out(jobs):
        groups = homes[number]
        if answer is None:
            made.update(reader.made())
            if part.cut and reader.oldest is not None:
                later.update(dict.fromkeys(groups, reader.oldest))
        else:
            unread.update(dict.fromkeys(groups, str(answer)))
    return RecentCommits(made, unread, later)


class _Reader:
    """The records of some groups in one partition."""

    def __init__(self, groups: Collection[GroupId], everything: bool) -> None:
        self._everything = everything
        self.oldest: int | None = None
        self._names: dict[bytes, GroupId] = {}
        for group in groups:
            name = group.encode("utf-8", "surrogatepass")
            self._names[len(name).to_bytes(2, "big") + name] = group
        self._found: dict[GroupId, dict[bytes, list[CommitMade]]] = {}

    async def read(self, cluster: Cluster, node: Node, part: _Range, until: float) -> str | None:
        """Return why the end was not reached; ``None`` if it was."""
        name = f"{OFFSETS_TOPIC}-{part.number}"
        at = part.start
        while at < part.end:
            if time.monotonic() >= until:
                return f"{name}: reading it took too long"
            call = Fetch({OFFSETS_TOPIC: {part.number: at}}, PORTION)
            try:
                answer = (await cluster.call(node, call)).get((OFFSETS_TOPIC, part.number))
                if isinstance(answer, KafkaError):
                    return NEEDS_READ if answer.code in NOT_AUTHORIZED else f"{name}: {answer.message}"
                if not isinstance(answer, Fetched):
                    return f"{name}: an answer that left it out"
                entries, after = read_entries(answer.records, at)
            except (KgroupsError, RemoteProtocolError) as error:
                return f"{name}: {error}"
            if after == at:
                if not answer.records:
                    return None  # compacted to its end
                return f"{name}: a batch larger than a request"
            for entry in entries:
                self._note(entry)
            at = after
        return None

    def _note(self, entry: Entry) -> None:
        if self.oldest is None:
            self.oldest = entry.timestamp
        key = entry.key
        if key is None or len(key) < 4:
            return
        group = self._names.get(key[2 : 4 + int.from_bytes(key[2:4], "big")])
        if group is None:
            return
        kind = int.from_bytes(key[:2], "big")
        if kind in _MEMBERSHIP:
            if not self._everything:
                self._found.pop(group, None)
        elif kind in _COMMITS:
            commits = self._found.setdefault(group, {})
            if entry.value is None or len(entry.value) < 10:
                commits.pop(key, None)
            else:
                # In every version of the value the offset comes first.
                made = (entry.timestamp, int.from_bytes(entry.value[2:10], "big", signed=True))
                commits.setdefault(key, []).append(made)

    def made(self) -> dict[GroupId, Mapping[Pair, list[CommitMade]]]:
        return {
            group: {_pair(key): made for key, made in commits.items()}
            for group, commits in self._found.items()
            if commits
        }


def _pair(key: bytes) -> Pair:
    """The topic and partition of a commit's key: the type, then the group's name, both gone over."""
    at = 4 + int.from_bytes(key[2:4], "big")
    size = int.from_bytes(key[at : at + 2], "big")
    topic = key[at + 2 : at + 2 + size].decode("utf-8", "replace")
    return topic, int.from_bytes(key[at + 2 + size :][:4], "big")
