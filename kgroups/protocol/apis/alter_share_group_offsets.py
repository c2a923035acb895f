"""AlterShareGroupOffsets (key 91): set the start offsets of a share group without members, one group per request.

v0  the only version (KIP-932, Kafka 4.1); a group that does not exist is created
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId

from ..error_codes import Code, KafkaError, kafka_error
from ..partition_errors import PartitionErrors
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(91, "AlterShareGroupOffsets", 0, 0, flexible=0, waits=True, throttled_from=0)

NOWHERE = -1
"""The start offset of a partition that a group has not started to read: share.auto.offset.reset decides."""

_MESSAGES = {
    Code.non_empty_group: "the group has members",
    Code.group_id_not_found: "the group is not a share group",
    Code.group_authorization_failed: "not authorized: needs the ACL READ on this group",
    Code.topic_authorization_failed: "not authorized: needs the ACL READ on this topic",
}


class AlterShareGroupOffsets(NamedTuple):
    """Set start offsets: topic -> partition and start offset of each."""

    group: GroupId
    starts: Mapping[str, Iterable[tuple[int, int]]]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return sum(len(tuple(each)) for each in self.starts.values())

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        topics = (
            form.string(topic)
            + form.array(
                partition.to_bytes(4, "big", signed=True) + offset.to_bytes(8, "big", signed=True) + form.tags
                for partition, offset in starts
            )
            + form.tags
            for topic, starts in self.starts.items()
        )
        return form.string(self.group) + form.array(topics) + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, PartitionErrors | KafkaError]:
        """Return the group -> the error of each partition, or the error of the whole group."""
        errors: dict[tuple[str, int], KafkaError | None] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            whole, reason = reader.int16(), reader.nullable_string()
            for _ in reader.turns(reader.count()):
                topic = reader.string()
                reader.skip(16)  # topic ID
                for _ in reader.turns(reader.count()):
                    partition, code, message = reader.int32(), reader.int16(), reader.nullable_string()
                    reader.tags()
                    errors[topic, partition] = kafka_error(code, message, _MESSAGES) if code else None
                reader.tags()
            reader.tags()
            reader.end()
        return {self.group: kafka_error(whole, reason, _MESSAGES) if whole else errors}
