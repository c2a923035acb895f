"""What members of a sticky group say that they own, put in order: a partition that two claim goes to the younger
generation, and to nobody where both are of one."""

from __future__ import annotations

from collections.abc import Sequence

from .java_order import grown, hash_of_text
from .shape import Participant, TopicPartition, Topics

NO_GENERATION = -1


class Claims:
    """``owned`` by member, in the order in which Java comes to the members; ``disputed``: claimed twice in one
    generation; ``latest``: the youngest generation."""

    def __init__(self, members: Sequence[Participant], topics: Topics) -> None:
        by_id = {member.member_id: member for member in members}
        self.members = {name: by_id[name] for name in grown(by_id, hash_of_text)}
        wanted = {topic for member in members for topic in member.topics}
        self.counts = {topic: topics[topic].partitions for topic in wanted if topic in topics}
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
        told: set[str] = set()
        for member in self.members.values():
            if not told:
                told = set(member.topics)
            elif len(member.topics) != len(told) or not told.issuperset(member.topics):
                return False
        return True

    def _claim(self, partition: TopicPartition, member: Participant, owner: dict[TopicPartition, str]) -> None:
        name, before = member.member_id, owner.get(partition)
        if before is None:
            self.owned[name].append(partition)
            owner[partition] = name
            return
        mine, other = generation_of(member), generation_of(self.members[before])
        if mine < other:
            return
        if mine == other:
            self.disputed.add(partition)
        else:
            self.owned[name].append(partition)
        if partition in self.owned[before]:
            self.owned[before].remove(partition)
        owner[partition] = name


def generation_of(member: Participant) -> int:
    return NO_GENERATION if member.generation is None else member.generation
