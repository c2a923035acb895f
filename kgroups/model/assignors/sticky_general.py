"""The sticky assignor for different subscriptions.

Members keep the partitions that they may keep. The others go to the members with the fewest. Then partitions move one
by one until no member has two more than another member that could have one of them.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator, Sequence

from .java_order import grown, hash_of_partition
from .shape import Assigned, TopicPartition, in_java
from .sticky_claims import Claims, generation_of

Pair = tuple[str, str]


def assign_general(claims: Claims) -> Assigned:
    group = _Group(claims)
    group.take_back()
    unassigned = group.unassigned()
    _balance(group, unassigned)
    return group.assigned


class _Group:
    """The state of the assignment.

    ``assigned``: by member. ``owner``: by partition. ``readers``: by topic. ``reads``: the topics of each member.
    """

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        self.counts = claims.counts
        self.readers: dict[str, list[str]] = {topic: [] for topic in claims.counts}
        self.reads: dict[str, frozenset[str]] = {}
        for name, member in claims.members.items():
            self.reads[name] = frozenset(topic for topic in member.topics if topic in claims.counts)
            for topic in self.reads[name]:
                self.readers[topic].append(name)
        self.capacity = {name: sum(self.counts[topic] for topic in topics) for name, topics in self.reads.items()}
        self.assigned: Assigned = {name: list(owned) for name, owned in claims.owned.items()}
        self.owner = {each: name for name, owned in claims.owned.items() for each in owned}
        self.must_revoke = False
        rarest = sorted(self.counts, key=lambda topic: (len(self.readers[topic]), in_java(topic)))
        self.all = [(topic, partition) for topic in rarest for partition in range(self.counts[topic])]
        self.earlier = _earlier(claims)
        self.moves = _Moves()

    def take_back(self) -> None:
        """Revoke partitions of topics that their owner no longer subscribes to; keep it as their last owner."""
        for name, owned in self.assigned.items():
            kept = [each for each in owned if each[0] in self.reads[name]]
            self.must_revoke = self.must_revoke or len(kept) < len(owned)
            owned[:] = kept

    def unassigned(self) -> list[TopicPartition]:
        assigned = {each for partitions in self.assigned.values() for each in partitions}
        return [each for each in self.all if each not in assigned]

    def shared(self, topic: str) -> bool:
        """Return whether several members subscribe to a topic."""
        return len(self.readers[topic]) > 1

    def can_change(self, name: str) -> bool:
        """Return whether a member could get more partitions, or has some that another could have."""
        assigned = self.assigned[name]
        return len(assigned) < self.capacity[name] or any(self.shared(topic) for topic, _ in assigned)


def _earlier(claims: Claims) -> dict[TopicPartition, tuple[str, int]]:
    """Return the previous owners that members of older generations report: they missed a rebalance."""
    found: dict[TopicPartition, tuple[str, int]] = {}
    for name, member in claims.members.items():
        generation = generation_of(member)
        if generation < claims.latest:
            for partition in member.owned:
                if partition not in found or generation > found[partition][1]:
                    found[partition] = (name, generation)
    return found


class _Ranking:
    """Members by their number of partitions, then by ID, and the moves between them."""

    def __init__(self, group: _Group, names: Sequence[str]) -> None:
        self._group = group
        self._order: list[tuple[int, bytes, str]] = []
        for name in names:
            self._enter(name)

    def _key(self, name: str) -> tuple[int, bytes, str]:
        return len(self._group.assigned[name]), in_java(name), name

    def _enter(self, name: str) -> None:
        insort(self._order, self._key(name))

    def leave(self, name: str) -> None:
        place = bisect_left(self._order, self._key(name))
        if place < len(self._order) and self._order[place][2] == name:
            del self._order[place]

    def __iter__(self) -> Iterator[str]:
        return (name for _, _, name in self._order)

    def __len__(self) -> int:
        return len(self._order)

    def spread(self) -> int:
        """Return the difference between the largest and the smallest number of partitions."""
        return self._order[-1][0] - self._order[0][0]

    def is_empty(self) -> bool:
        return self._order[-1][0] == 0

    def least_of(self, topic: str) -> str | None:
        """Return the subscriber of a topic with the fewest partitions."""
        return next((name for name in self if topic in self._group.reads[name]), None)

    def give(self, partition: TopicPartition, name: str) -> None:
        self.leave(name)
        self._group.assigned[name].append(partition)
        self._group.owner[partition] = name
        self._enter(name)

    def move(self, partition: TopicPartition, name: str) -> None:
        before = self._group.owner[partition]
        self.leave(before)
        self._group.moves.note(partition, before, name)
        self._group.assigned[before].remove(partition)
        self._enter(before)
        self.give(partition, name)


def _balance(group: _Group, unassigned: list[TopicPartition]) -> None:
    ranking = _Ranking(group, list(group.assigned))
    initial = ranking.is_empty()
    for partition in unassigned:
        name = ranking.least_of(partition[0])
        if name is not None:
            ranking.give(partition, name)
    fixed = {name: assigned for name, assigned in group.assigned.items() if not group.can_change(name)}
    for name in fixed:
        ranking.leave(name)
        del group.assigned[name]
    before = {name: list(assigned) for name, assigned in group.assigned.items()}
    if len(ranking):
        if not group.must_revoke:
            _even_out(group, ranking, [each for each in unassigned if group.shared(each[0])])
        moved = _even_out(group, ranking, [each for each in group.all if group.shared(each[0])])
        if not initial and moved and _unevenness(group.assigned) >= _unevenness(before):
            group.assigned.update(before)
    group.assigned.update(fixed)


def _even_out(group: _Group, ranking: _Ranking, partitions: Sequence[TopicPartition]) -> bool:
    """Move partitions in rounds until no move improves the balance; return whether any was moved."""
    any_moved, modified = False, True
    while modified:
        modified = False
        for partition in partitions:
            if _is_even(group, ranking):
                break
            name = _better_owner(group, ranking, partition)
            if name is not None:
                ranking.move(group.moves.instead_of(partition, group.owner[partition], name), name)
                any_moved = modified = True
    return any_moved


def _better_owner(group: _Group, ranking: _Ranking, partition: TopicPartition) -> str | None:
    """Return a better owner for a partition whose owner has at least two more, or ``None``.

    It is the owner in an older generation, or otherwise the subscriber with the fewest.
    """
    assigned = len(group.assigned[group.owner[partition]])
    if partition in group.earlier:
        earlier = group.earlier[partition][0]
        if earlier in group.assigned and assigned > len(group.assigned[earlier]) + 1:  # in that case, Java fails
            return earlier
    if any(assigned > len(group.assigned[other]) + 1 for other in group.readers[partition[0]]):
        return ranking.least_of(partition[0])
    return None


def _is_even(group: _Group, ranking: _Ranking) -> bool:
    if ranking.spread() <= 1:
        return True
    fullest: dict[str, int] = {}
    for assigned in group.assigned.values():
        for topic, _ in assigned:
            fullest[topic] = max(fullest.get(topic, 0), len(assigned))
    for name in ranking:
        size = len(group.assigned[name])
        if size != group.capacity[name] and any(size + 1 < fullest.get(topic, 0) for topic in group.reads[name]):
            return False
    return True


def _unevenness(assigned: Assigned) -> int:
    """Return the sum of the differences between all pairs of members."""
    sizes = sorted(map(len, assigned.values()))
    return sum(size * (2 * place - len(sizes) + 1) for place, size in enumerate(sizes))


class _Moves:
    """The moves so far, to avoid moving partitions of a topic both from one member to another and back."""

    def __init__(self) -> None:
        self._last: dict[TopicPartition, Pair] = {}
        self._by_pair: dict[str, dict[Pair, dict[TopicPartition, None]]] = defaultdict(dict)

    def note(self, partition: TopicPartition, source: str, target: str) -> None:
        before = self._last.pop(partition, None)
        if before is not None:
            pairs = self._by_pair[partition[0]]
            del pairs[before][partition]
            if not pairs[before]:
                del pairs[before]
            source = before[0]
        if source != target:
            self._last[partition] = (source, target)
            self._by_pair[partition[0]].setdefault((source, target), {})[partition] = None

    def instead_of(self, partition: TopicPartition, source: str, target: str) -> TopicPartition:
        """Return a partition of the topic that moved in the opposite direction and can move back, else this one."""
        if partition in self._last:
            source = self._last[partition][0]
        back = self._by_pair[partition[0]].get((target, source))
        return grown(back, hash_of_partition)[0] if back else partition
