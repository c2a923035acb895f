"""The sticky assignor for equal subscriptions: members keep at most an equal share; the rest is distributed."""

from __future__ import annotations

from .shape import Assigned, TopicPartition, by_name, in_java
from .sticky_claims import Claims


def assign_equal(claims: Claims) -> tuple[Assigned, dict[TopicPartition, str]]:
    """Return the assignment, and partition -> next owner for partitions that another member must revoke first."""
    return _Deal(claims).done()


class _Deal:
    """Distribute partitions to ``below``, members with less than the equal share, then to ``even``.

    ``even``: the members with exactly that share, who may get one more.
    """

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        total = sum(claims.counts.values())
        members = len(claims.members)
        self._least, self._with_more = divmod(total, members) if members else (0, 0)
        self._most = self._least + (self._with_more > 0)
        self._members_with_more = 0
        self._assigned: Assigned = {name: [] for name in claims.owned}
        self._revoked: dict[TopicPartition, str] = {}
        self._changing: dict[TopicPartition, str] = {}
        self._below: list[str] = []
        self._even: list[str] = []

    def done(self) -> tuple[Assigned, dict[TopicPartition, str]]:
        for name, owned in self._claims.owned.items():
            kept = [partition for partition in owned if partition not in self._claims.disputed]
            self._keep(name, sorted(kept, key=lambda each: (each[1], in_java(each[0]))))
        self._below.sort(key=in_java)
        self._even.sort(key=in_java)
        self._deal()
        return self._assigned, self._changing

    def _keep(self, name: str, owned: list[TopicPartition]) -> None:
        if len(owned) < self._least:
            self._assigned[name] += owned
            self._below.append(name)
            return
        if len(owned) >= self._most and self._members_with_more < self._with_more:
            self._members_with_more += 1
            if self._members_with_more == self._with_more:
                self._even.clear()
            share = self._most
        else:
            share = self._least
            if self._members_with_more < self._with_more:
                self._even.append(name)
        self._assigned[name] += owned[:share]
        self._revoked.update(dict.fromkeys(owned[share:], name))

    def _deal(self) -> None:
        """Fill up each member below its share in turn, then give one more to each even member."""
        turn = 0
        for partition in self._unassigned():
            if self._below:
                turn %= len(self._below)
                name = self._below[turn]
                self._give(partition, name)
                if len(self._assigned[name]) == self._least:
                    del self._below[turn]
                    self._even.append(name)
                else:
                    turn += 1
            elif self._even:
                self._give(partition, self._even.pop(0))

    def _give(self, partition: TopicPartition, name: str) -> None:
        self._assigned[name].append(partition)
        if self._revoked.get(partition, name) != name or partition in self._claims.disputed:
            self._changing[partition] = name

    def _unassigned(self) -> list[TopicPartition]:
        assigned = {partition for partitions in self._assigned.values() for partition in partitions}
        counts = self._claims.counts
        every = ((topic, partition) for topic in by_name(counts) for partition in range(counts[topic]))
        return [partition for partition in every if partition not in assigned]
