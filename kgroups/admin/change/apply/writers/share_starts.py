"""Set start offsets of share groups: AlterShareGroupOffsets; DeleteShareGroupOffsets to delete them.

If the group has members at that moment, the broker rejects the request and nothing is changed. It deletes the offsets
of whole topics only: if other partitions of a topic remain, a partition is reset to its state before the first read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.model.operations.reset import by_group
from kgroups.model.outcome import Failure
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import alter_share_group_offsets, delete_share_group_offsets
from kgroups.protocol.apis.alter_share_group_offsets import NOWHERE, AlterShareGroupOffsets
from kgroups.protocol.apis.delete_share_group_offsets import DeleteShareGroupOffsets
from kgroups.protocol.error_codes import KafkaError
from kgroups.protocol.partition_errors import PartitionErrors
from kgroups.protocol.versions import Api

from ....query.group_types.share import STARTS
from ....routing.partition_leaders import TopicPartition
from ....routing.query_coordinators import query_coordinators
from .ledger import Ledger, Part


async def write_starts(cluster: Cluster, ledger: Ledger, entries: Part) -> None:
    """Delete the offsets of whole topics first, then set the others."""
    parts = dict(by_group(entries))
    removing = {name: part for name, part in parts.items() if any(entry.after is None for entry in part)}
    held, unread = await _held(cluster, removing)
    for name, failure in unread.items():
        ledger.give_up(name, failure, parts.pop(name))
    whole = {name: _whole_topics(part, held[name]) for name, part in removing.items() if name in held}
    going = {
        name: [entry for entry in parts[name] if entry.topic in topics] for name, topics in whole.items() if topics
    }
    await ledger.send(cluster, delete_share_group_offsets.API, _DeleteTopics, going, gone_is_done=True)
    moving = {name: [entry for entry in part if entry.topic not in whole.get(name, ())] for name, part in parts.items()}
    moving = {name: part for name, part in moving.items() if part}
    await ledger.send(cluster, alter_share_group_offsets.API, _alter, moving)


async def _held(
    cluster: Cluster, groups: Mapping[GroupId, Part]
) -> tuple[dict[GroupId, set[TopicPartition]], dict[GroupId, Failure]]:
    """Return the partitions with start offsets now, and why those of other groups are unknown."""
    if not groups:
        return {}, {}
    answers = await query_coordinators(cluster, STARTS, dict.fromkeys(groups))
    held = {}
    for name, (_, found) in answers.found.items():
        held[name] = {(topic, commit.partition) for topic, made in found.topics.items() for commit in made}
        held[name].update((topic, each) for topic, partitions in found.unset.items() for each in partitions)
    return held, answers.failed


def _whole_topics(part: Part, held: set[TopicPartition]) -> frozenset[str]:
    """Return the topics of which no partition remains."""
    going = {(entry.topic, entry.partition) for entry in part if entry.after is None}
    staying = {entry.topic for entry in part if entry.after} | {topic for topic, _ in held - going}
    return frozenset(topic for topic, _ in going) - staying


def _alter(group: GroupId, part: Part) -> AlterShareGroupOffsets:
    starts: dict[str, list[tuple[int, int]]] = {}
    for entry in part:
        starts.setdefault(entry.topic, []).append((entry.partition, entry.after.offset if entry.after else NOWHERE))
    return AlterShareGroupOffsets(group, starts)


class _DeleteTopics(NamedTuple):
    """A request whose result for a topic is that of each of its planned partitions."""

    group: GroupId
    part: Part

    @property
    def _call(self) -> DeleteShareGroupOffsets:
        return DeleteShareGroupOffsets(self.group, tuple(dict.fromkeys(entry.topic for entry in self.part)))

    @property
    def api(self) -> Api:
        return delete_share_group_offsets.API

    @property
    def keys(self) -> int:
        return self._call.keys

    def encode(self, version: int) -> bytes:
        return self._call.encode(version)

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, PartitionErrors | KafkaError]:
        result = self._call.decode(version, data, offset)[self.group]
        if isinstance(result, KafkaError):
            return {self.group: result}
        return {
            self.group: {(each.topic, each.partition): result[each.topic] for each in self.part if each.topic in result}
        }
