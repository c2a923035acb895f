"""OffsetCommit (key 8): keep these offsets for a group.

v2  how long to keep them; left to the broker's setting, and gone in v5 (KIP-211)
v3  throttle time; what Kafka 1.1 speaks
v6  leader epoch of each commit (KIP-320)
v7  group instance id (KIP-345)
v9  member epoch in the place of the generation (KIP-848)
v10 topic ids instead of names; we stay with names
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.protocol.error_codes import KafkaError, kafka_error
from kgroups.protocol.schema import build, nested, read_response, request_type, write_request
from kgroups.protocol.versions import Api

API = Api(8, "OffsetCommit", 2, 9, flexible=8)

_NO_MEMBER = ""
_NO_GENERATION = -1


class OffsetCommit(NamedTuple):
    """Keep these offsets, topic -> partition -> offset.

    Without a member's id and generation, the group must be empty; if it does not exist, it is made.
    """

    group: GroupId
    offsets: Mapping[str, Mapping[int, int]]
    member_id: str = _NO_MEMBER
    generation: int = _NO_GENERATION
    metadata: str = ""

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return sum(map(len, self.offsets.values()))

    def encode(self, version: int) -> bytes:
        kind = request_type(API.key, version)
        topic = nested(kind, "OffsetCommitRequestTopic")
        partition = nested(kind, "OffsetCommitRequestPartition")
        return write_request(
            API,
            version,
            group_id=self.group,
            generation_id_or_member_epoch=self.generation,
            member_id=self.member_id,
            topics=tuple(
                build(
                    topic,
                    name=name,
                    partitions=tuple(
                        build(
                            partition, partition_index=index, committed_offset=offset, committed_metadata=self.metadata
                        )
                        for index, offset in offsets.items()
                    ),
                )
                for name, offsets in self.offsets.items()
            ),
        )

    def decode(self, version: int, data: bytes, offset: int) -> KafkaError | None:
        """The first error given for any partition, or ``None`` when all is kept."""
        response = read_response(API, version, data, offset)
        errors = (entry.error_code for topic in response.topics for entry in topic.partitions if entry.error_code)
        return next((kafka_error(code) for code in errors), None)
