"""OffsetCommit (key 8): commit offsets for a group, one group per request.

v2  retention time; the broker's setting is used. Removed in v5 (KIP-211)
v3  throttle time; the newest version of Kafka 1.1
v6  leader epoch of each commit (KIP-320)
v7  group instance ID (KIP-345); not needed without a member
v9  member epoch instead of the generation (KIP-848)
v10 topic IDs instead of names (Kafka 4.1): the broker rejects a commit to a topic that was deleted and recreated
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.model.offsets import Commit

from ..error_codes import Code, KafkaError, kafka_error
from ..partition_errors import PartitionErrors, read_partition_errors
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(8, "OffsetCommit", 2, 9, flexible=8, throttled_from=4)
WITH_TOPIC_IDS = API._replace(newest=10)

_THROTTLE, _NO_RETENTION, _EPOCHS, _INSTANCES, _TOPIC_IDS = 3, 5, 6, 7, 10
"""The first version that has each."""

NO_MEMBER, NO_GENERATION = "", -1
"""For a client that is not a member; the broker then rejects the commit if the group has members."""

_BROKERS_RETENTION = (-1).to_bytes(8, "big", signed=True)

_MESSAGES = {
    Code.unknown_member_id: "the group has members now; nothing was written",
    Code.group_id_not_found: "the group does not exist, or does not commit offsets",
    Code.unknown_topic_id: "the topic was deleted, and perhaps created again; nothing was written to it",
    Code.offset_metadata_too_large: "the commit's metadata is larger than the broker accepts",
}


class OffsetCommit(NamedTuple):
    """Commit these offsets, by topic.

    Without a member ID, the group must be empty; it is created if it does not exist.
    """

    group: GroupId
    topics: Mapping[str, Sequence[Commit]]
    member_id: str = NO_MEMBER
    generation: int = NO_GENERATION
    topic_ids: Mapping[str, int] = MappingProxyType({})
    """The 128-bit IDs of all topics, or of none."""

    @property
    def api(self) -> Api:
        return WITH_TOPIC_IDS if self.topics.keys() <= self.topic_ids.keys() else API

    @property
    def keys(self) -> int:
        return sum(map(len, self.topics.values()))

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        instance = form.null_string if version >= _INSTANCES else b""
        retention = _BROKERS_RETENTION if version < _NO_RETENTION else b""
        topics = form.array(
            self._topic(topic, version) + form.array(_commit(commit, version) for commit in commits) + form.tags
            for topic, commits in self.topics.items()
        )
        generation = self.generation.to_bytes(4, "big", signed=True)
        member = form.string(self.member_id) + instance
        return form.string(self.group) + generation + member + retention + topics + form.tags

    def _topic(self, name: str, version: int) -> bytes:
        if version < _TOPIC_IDS:
            return form_of(API, version).string(name)
        return self.topic_ids[name].to_bytes(16, "big")

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, PartitionErrors | KafkaError]:
        """Return the group -> the error of each partition, or the error of the whole group."""
        with reader_of(API, version, data, offset) as reader:
            if version >= _THROTTLE:
                reader.skip(4)
            names = {topic_id: name for name, topic_id in self.topic_ids.items()}
            topic = (lambda: names.get(reader.uuid(), "")) if version >= _TOPIC_IDS else reader.string
            errors = read_partition_errors(reader, lambda code: kafka_error(code, messages=_MESSAGES), topic)
            reader.tags()
            reader.end()
        return {self.group: errors}


def _commit(commit: Commit, version: int) -> bytes:
    form = form_of(API, version)
    epoch = -1 if commit.leader_epoch is None else commit.leader_epoch
    return (
        commit.partition.to_bytes(4, "big", signed=True)
        + commit.offset.to_bytes(8, "big", signed=True)
        + (epoch.to_bytes(4, "big", signed=True) if version >= _EPOCHS else b"")
        + form.string(commit.metadata or "")
        + form.tags
    )
