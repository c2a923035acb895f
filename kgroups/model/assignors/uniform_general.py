"""The uniform assignor for different subscriptions.

Members keep the partitions that they may keep. Unassigned partitions go, topic by topic, to the members with the
fewest. Then partitions of each topic move from the subscribers with the most to those with the fewest while that
improves the balance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .shape import Assigned, Participant, Topics

ROUNDS = 16
"""The same number as in Kafka."""


def assign_general(members: Sequence[Participant], topics: Topics) -> Assigned:
    """Assign partitions; ``members`` has the order of the broker, which decides between members of equal size."""
    group = _Group(members, topics)
    group.deal(group.sorted_topics(group.owners))
    group.balance()
    return {
        member.member_id: [(topic, number) for topic, owners in group.owners.items() for number in _of(owners, place)]
        for place, member in enumerate(members)
    }


def _of(owners: Iterable[int], member: int) -> Iterable[int]:
    return (number for number, owner in enumerate(owners) if owner == member)


class _Group:
    """The state of the assignment; members are indexes. ``owners``: member of each partition by topic, -1 for none."""

    def __init__(self, members: Sequence[Participant], topics: Topics) -> None:
        self._topics = topics
        self.sizes = [0] * len(members)
        self.readers: dict[str, list[int]] = {}
        for place, member in enumerate(members):
            for topic in dict.fromkeys(member.topics):
                if topic in topics:
                    self.readers.setdefault(topic, []).append(place)
        self.owners = {topic: [-1] * topics[topic].partitions for topic in self.readers}
        for place, member in enumerate(members):
            for topic, partition in member.owned:
                if topic in member.topics and topic in topics and partition < topics[topic].partitions:
                    self.owners[topic][partition] = place
                    self.sizes[place] += 1

    def sorted_topics(self, names: Iterable[str]) -> list[str]:
        """Return topics sorted by partitions per subscriber, largest first."""

        def key(name: str) -> tuple[float, int, int, int]:
            readers, topic = len(self.readers[name]), self._topics[name]
            return -topic.partitions / readers, readers, *_signed_halves(topic.id)

        return sorted(names, key=key)

    def deal(self, names: Sequence[str]) -> None:
        for name in names:
            levels = _Levels(self, name)
            for partition, owner in enumerate(self.owners[name]):
                if owner < 0:
                    self.give(name, partition, levels.emptiest())

    def give(self, topic: str, partition: int, member: int) -> None:
        before = self.owners[topic][partition]
        if before >= 0:
            self.sizes[before] -= 1
        self.owners[topic][partition] = member
        self.sizes[member] += 1

    def balance(self) -> None:
        """Balance topics in rounds, until the topic of the last move is reached again."""
        names = self.sorted_topics(name for name, readers in self.readers.items() if len(readers) > 1)
        last: str | None = None
        for _ in range(ROUNDS):
            for name in names:
                if name == last:
                    return
                if self._balance_topic(name) or last is None:
                    last = name

    def _balance_topic(self, name: str) -> bool:
        """Return whether any partition was moved."""
        levels = _Levels(self, name)
        if levels.spread <= 1:
            return False
        assigned: dict[int, list[int]] = {}
        for partition, owner in enumerate(self.owners[name]):
            assigned.setdefault(owner, []).append(partition)
        moved = False
        while not levels.are_even():
            giver = levels.fullest(assigned)
            if giver is None:
                break
            partition = assigned[giver].pop()
            taker = levels.emptiest()
            if levels.are_even():
                break
            self.give(name, partition, taker)
            moved = True
        return moved


class _Levels:
    """The subscribers of a topic, by their number of partitions, as levels from low to high.

    Takers are those at the lowest level; all are raised to the next level before the next member is considered. Givers
    are those at the highest level, which are lowered in the same way.
    """

    def __init__(self, group: _Group, topic: str) -> None:
        self._sizes = group.sizes
        self._row = sorted(group.readers[topic], key=lambda member: (group.sizes[member], member))
        low, high = self._sizes[self._row[0]], self._sizes[self._row[-1]]
        self.spread = high - low
        self._low_end, self._low_level, self._next_low = 0, low - 1, 0
        self._high_start = self._high_end = len(self._row)
        self._high_level, self._next_high = high + 1, len(self._row) - 1

    def are_even(self) -> bool:
        return self._high_level - self._low_level <= 1

    def emptiest(self) -> int:
        """Return the member that takes the next partition."""
        if self._next_low >= self._low_end:
            self._low_level += 1
            while self._low_end < len(self._row) and self._sizes[self._row[self._low_end]] == self._low_level:
                self._low_end += 1
            self._next_low = 0
        self._next_low += 1
        return self._row[self._next_low - 1]

    def fullest(self, assigned: dict[int, list[int]]) -> int | None:
        """Return the member that gives the next partition, among the members with a partition of the topic."""
        while True:
            if self._next_high < self._high_start:
                self._lower()
            if self._next_high < 0:
                return None
            member = self._row[self._next_high]
            self._next_high -= 1
            if assigned.get(member):
                return member
            self._high_end -= 1
            here = self._next_high + 1
            self._row[here], self._row[self._high_end] = self._row[self._high_end], self._row[here]

    def _lower(self) -> None:
        if self._high_end <= self._high_start and self._high_start > 0:
            self._high_level = self._sizes[self._row[self._high_start - 1]]
        else:
            self._high_level -= 1
        while self._high_start > 0 and self._sizes[self._row[self._high_start - 1]] == self._high_level:
            self._high_start -= 1
        self._next_high = self._high_end - 1


def _signed_halves(value: int) -> tuple[int, int]:
    """Return two signed 64-bit numbers, as Java compares IDs."""
    high, low = value >> 64, value & 0xFFFFFFFFFFFFFFFF
    return (high ^ 1 << 63), (low ^ 1 << 63)
