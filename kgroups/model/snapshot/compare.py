"""Compare two states of groups. What is unknown on a side is neither equal nor different."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from ..groups import Group, GroupId, GroupType, Member
from ..lag import compute_lag
from ..offsets import Commit, LogOffsets
from ..operations.origin import topic_id_text
from ..outcome import Scope, hides_groups
from ..time_lag import FirstUnread, position
from ..views.offset_row import GroupOffsets
from .rows import DiffRow
from .snapshot import Snapshot, commits_of, has_configs


class What(StrEnum):
    """The parts of a state that can be compared. The existence of groups is always compared."""

    STATE = "state"
    MEMBERS = "members"
    CONFIGS = "configs"
    OFFSETS = "offsets"
    LAG = "lag"
    TOPICS = "topics"
    RECORDS = "records"


class _Unknown:
    """A value that a side does not know."""


UNKNOWN = _Unknown()
Pair = tuple[str, int]


class _Side:
    """One state, and its unknown parts."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.groups: dict[GroupId, GroupOffsets] = {each.group.group: each for each in snapshot.groups}
        partial = snapshot.partial
        self.unlisted = any(map(hides_groups, partial))
        self.hidden = any(each.scope is Scope.CLUSTER for each in partial)
        self.failed: Mapping[Scope, set[str]] = {
            scope: {each.name for each in partial if each.scope is scope} for scope in Scope
        }
        self.missing = {each.name for each in {*snapshot.failures} - {*partial}}

    def lacks(self, group: GroupId, other: _Side) -> bool:
        """Return whether a group that is not in this state did not exist."""
        if group in self.missing:
            return True
        if group in self.failed[Scope.GROUP] or self.unlisted:
            return False
        return self.snapshot.extent.covers(group, other.snapshot.extent)

    def commit(self, group: GroupId, commits: Mapping[Pair, Commit], pair: Pair) -> Commit | _Unknown | None:
        """Return a commit; ``None`` if there is none."""
        if found := commits.get(pair):
            return found
        topic, partition = pair
        topics = self.snapshot.extent.topics
        unknown = (
            self.hidden
            or group in self.failed[Scope.GROUP]
            or topic in self.failed[Scope.TOPIC]
            or f"{topic}-{partition}" in self.failed[Scope.PARTITION]
            or (topics and topic not in topics)
        )
        return UNKNOWN if unknown else None

    def lag(self, group: GroupOffsets, pair: Pair, commit: Commit) -> int | _Unknown | None:
        """Return the lag; ``None`` on a topic that did not exist."""
        if pair[0] in self.snapshot.missing_topics:
            return None
        if group.group.type == GroupType.SHARE and group.commits.lags:
            return group.commits.lags.get(pair, UNKNOWN)
        found = compute_lag(commit.offset, self._log(pair).end)
        return UNKNOWN if found is None else found

    def _log(self, pair: Pair) -> LogOffsets:
        topic, partition = pair
        return self.snapshot.logs.offsets.get(topic, {}).get(partition, LogOffsets())

    def record(self, pair: Pair, commit: Commit) -> FirstUnread | _Unknown | None:
        """Return the first record at a commit; ``None`` if there is none."""
        log = self._log(pair)
        at = position(*pair, commit.offset, log)
        if at is None:
            return UNKNOWN if log.end is None and pair[0] not in self.snapshot.missing_topics else None
        return self.snapshot.records.get(at, UNKNOWN)


def compare(a: Snapshot, b: Snapshot, what: Collection[What] = tuple(What)) -> Iterator[DiffRow]:
    """Yield the differences between two states, and unknown values, sorted by group, topic, and partition.

    Topic IDs are compared only within one cluster.
    """
    sides = _Sides(_Side(a), _Side(b), frozenset(what))
    if What.TOPICS in what and a.source.cluster_id is not None and a.source.cluster_id == b.source.cluster_id:
        yield from _topics(a, b)
    for name in sorted({*sides.a.groups, *sides.b.groups, *sides.a.failed[Scope.GROUP], *sides.b.failed[Scope.GROUP]}):
        yield from sides.group(name)


class _Sides(NamedTuple):
    a: _Side
    b: _Side
    what: frozenset[What]

    def group(self, name: GroupId) -> Iterator[DiffRow]:
        a, b = self.a.groups.get(name), self.b.groups.get(name)
        if a is None or b is None:
            values = [
                side.groups[name].group.state if name in side.groups else None if side.lacks(name, other) else UNKNOWN
                for side, other in ((self.a, self.b), (self.b, self.a))
            ]
            if values != [None, None]:
                yield _row((name, None, None), "group", *values)
            return
        if What.STATE in self.what:
            for key in ("type", "state", "protocol_type", "protocol"):
                yield from _difference(
                    (name, None, None), key.replace("_", "-"), *(_known(getattr(each.group, key)) for each in (a, b))
                )
        if What.MEMBERS in self.what:
            yield from _members(a.group, b.group)
        if What.CONFIGS in self.what:
            yield from self._configs(a.group, b.group)
        if self.what & {What.OFFSETS, What.LAG, What.RECORDS}:
            yield from self._offsets(a, b)

    def _configs(self, a: Group, b: Group) -> Iterator[DiffRow]:
        place = (a.group, None, None)
        found = [
            side.snapshot.configs.get(a.group, UNKNOWN if has_configs(group.type) else {})
            for side, group in ((self.a, a), (self.b, b))
        ]
        first, second = found
        if isinstance(first, _Unknown) or isinstance(second, _Unknown):
            yield _row(place, "configs", *(each if isinstance(each, _Unknown) else len(each) for each in found))
            return
        for name in sorted({*first, *second}):
            yield from _difference(place, f"config {name}", first.get(name), second.get(name))

    def _offsets(self, a: GroupOffsets, b: GroupOffsets) -> Iterator[DiffRow]:
        name = a.group.group
        ours, theirs = commits_of(a), commits_of(b)
        limits = [set(side.snapshot.extent.topics) for side in (self.a, self.b) if side.snapshot.extent.topics]
        for pair in sorted({*ours, *theirs}):
            if limits and not all(pair[0] in limit for limit in limits):
                continue  # one of the states was limited to other topics
            place = (name, *pair)
            left, right = self.a.commit(name, ours, pair), self.b.commit(name, theirs, pair)
            if not (isinstance(left, Commit) and isinstance(right, Commit)):
                if What.OFFSETS in self.what:
                    yield _row(
                        place, "offset", *(each.offset if isinstance(each, Commit) else each for each in (left, right))
                    )
                continue
            if What.OFFSETS in self.what:
                yield from _difference(place, "offset", left.offset, right.offset)
                yield from _difference(place, "leader-epoch", left.leader_epoch, right.leader_epoch)
                yield from _difference(place, "metadata", *map(_metadata, (left, right)))
            if What.LAG in self.what:
                yield from _difference(place, "lag", self.a.lag(a, pair, left), self.b.lag(b, pair, right))
            if What.RECORDS in self.what and self.a.snapshot.records and self.b.snapshot.records:
                found = self.a.record(pair, left), self.b.record(pair, right)
                for key, what in (("timestamp", "record timestamp"), ("crc", "record checksum")):
                    yield from _difference(place, what, *(getattr(each, key, each) for each in found))


def _topics(a: Snapshot, b: Snapshot) -> Iterator[DiffRow]:
    """Yield the topics of the groups that were deleted and created again."""
    used = {topic for state in (a, b) for each in state.groups for topic in _topics_of(each)}
    for topic in sorted(used & {*a.source.topic_ids} & {*b.source.topic_ids}):
        ids = (topic_id_text(each.source.topic_ids[topic]) for each in (a, b))
        yield from _difference((None, topic, None), "topic-id", *ids)


def _topics_of(offsets: GroupOffsets) -> Iterator[str]:
    yield from offsets.commits.topics
    yield from offsets.commits.unset
    for member in offsets.group.members or ():
        yield from (entry.topic for entry in member.assignment.topics)


def _members(a: Group, b: Group) -> Iterator[DiffRow]:
    place = (a.group, None, None)
    if a.members is None or b.members is None:
        yield _row(place, "members", *(_known(None if each.members is None else len(each.members)) for each in (a, b)))
        return
    first, second = ({_member_name(each): each for each in group.members or ()} for group in (a, b))
    for name in sorted({*first, *second}):
        left, right = first.get(name), second.get(name)
        if left is None or right is None:
            yield _row(place, "member", *(None if each is None else name for each in (left, right)))
            continue
        for what, value in _MEMBER.items():
            yield from _difference(place, f"{what} of {name}", value(left), value(right))


def _member_name(member: Member) -> str:
    """Return the name of a member; the name of a static member survives a restart."""
    return member.instance_id or member.member_id


_MEMBER: Mapping[str, Callable[[Member], object]] = {
    "client-id": lambda member: member.client_id,
    "host": lambda member: member.host,
    "assignment": lambda member: str(member.assignment),
}


def _metadata(commit: Commit) -> object:
    return UNKNOWN if commit.metadata is None else commit.metadata or None


def _known(value: object) -> object:
    return UNKNOWN if value is None else value


def _difference(place: tuple[str | None, str | None, int | None], what: str, a: object, b: object) -> Iterator[DiffRow]:
    """Yield a row unless both values are known and equal."""
    if isinstance(a, _Unknown) or isinstance(b, _Unknown) or a != b:
        yield _row(place, what, a, b)


def _row(place: tuple[str | None, str | None, int | None], what: str, a: Any, b: Any) -> DiffRow:
    unknown = isinstance(a, _Unknown) or isinstance(b, _Unknown)
    result = "unknown" if unknown else "only in B" if a is None else "only in A" if b is None else "differs"
    left, right = (None if value is None or isinstance(value, _Unknown) else str(value) for value in (a, b))
    return DiffRow(*place, what, left, right, result)
