"""OffsetDelete (key 47): delete committed offsets of a group, one group per request.

v0  the only version (KIP-496, Kafka 2.4); old form
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId

from ..error_codes import Code, KafkaError, kafka_error
from ..partition_errors import PartitionErrors, read_partition_errors
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(47, "OffsetDelete", 0, 0, flexible=1, throttled_from=0)

_MESSAGES = {
    Code.group_subscribed_to_topic: "a member of the group is subscribed to the topic",
    Code.non_empty_group: "the group has members, and is not a consumer group",
}


class OffsetDelete(NamedTuple):
    """Delete a group's committed offsets on these partitions, by topic.

    The broker deletes a group without members and offsets: at once up to Kafka 3.9, later in its periodic cleanup.
    """

    group: GroupId
    partitions: Mapping[str, tuple[int, ...]]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return sum(map(len, self.partitions.values()))

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        return form.string(self.group) + form.array(
            form.string(topic) + form.array(index.to_bytes(4, "big", signed=True) for index in indexes)
            for topic, indexes in self.partitions.items()
        )

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, PartitionErrors | KafkaError]:
        """Return the group -> the error of each partition, or the error of the whole group."""
        with reader_of(API, version, data, offset) as reader:
            code = reader.int16()
            reader.skip(4)  # throttle time
            errors = read_partition_errors(reader, lambda code: kafka_error(code, messages=_MESSAGES))
            reader.end()
        return {self.group: kafka_error(code, messages=_MESSAGES) if code else errors}
