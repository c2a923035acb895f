"""The partitions that members of a sticky group report to own, without conflicts.

A partition that two members claim belongs to the one with the newer generation, or to none if the generations are
equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from .java_order import grown, hash_of_text
from .shape import Participant, TopicPartition, Topics

NO_GENERATION = -1


class Claims:
    """The claims of all members.

    ``owned``: by member, in Java's iteration order. ``disputed``: partitions claimed twice in the same generation.
    ``latest``: the newest generation.
    """

    def __init__(self, members: Sequence[Participant], topics: Topics) -> None:
        by_id = {member.member_id: member for member in members}
        self.members = {name: by_id[name] for name in grown(by_id, hash_of_text)}
        subscribed = {topic for member in members for topic in member.topics}
        self.counts = {topic: topics[topic].partitions for topic in subscribed if topic in topics}
        self.owned: dict[str, list[TopicPartition]] = {}
        self.disputed: set[TopicPartition] = set()
        self.latest = NO_GENERATION
        self.equal_subscriptions = self._same_topics()
        owner: dict[TopicPartition, str] = {}
        for name, member in self.members.items():
            self.latest = max(self.latest, generation_of(member))
            self.owned[name] = []
            for partition in member.owned:
                if partition[0] in self.counts:
                    self._claim(partition, member, owner)

    def _same_topics(self) -> bool:
        subscribed: set[str] = set()
        for member in self.members.values():
            if not subscribed:
                subscribed = set(member.topics)
            elif len(member.topics) != len(subscribed) or not subscribed.issuperset(member.topics):
                return False
        return True

    def _claim(self, partition: TopicPartition, member: Participant, owner: dict[TopicPartition, str]) -> None:
        name, before = member.member_id, owner.get(partition)
        if before is None:
            self.owned[name].append(partition)
            owner[partition] = name
            return
        own, other = generation_of(member), generation_of(self.members[before])
        if own < other:
            return
        if own == other:
            self.disputed.add(partition)
        else:
            self.owned[name].append(partition)
        if partition in self.owned[before]:
            self.owned[before].remove(partition)
        owner[partition] = name


def generation_of(member: Participant) -> int:
    return NO_GENERATION if member.generation is None else member.generation
