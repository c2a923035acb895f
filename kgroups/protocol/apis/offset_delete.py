"""OffsetDelete (key 47): forget what a group has committed on some partitions, one group a request.

v0  the only one (KIP-496, Kafka 2.4); of the old form
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

API = Api(47, "OffsetDelete", 0, 0, flexible=1)

_WORDS = {
    Code.group_subscribed_to_topic: "a member of the group is subscribed to the topic",
    Code.non_empty_group: "the group has members, and is not one of consumers",
}


class OffsetDelete(NamedTuple):
    """Forget this group's commits on these partitions, by topic. A group that nothing is left of goes too: up to
    Kafka 3.9 at once, later when the broker next looks for such groups."""

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
        """The group -> what is said of each partition, or the error that concerns the whole group."""
        with reader_of(API, version, data, offset) as reader:
            code = reader.int16()
            reader.skip(4)  # throttle time
            errors = read_partition_errors(reader, lambda code: kafka_error(code, words=_WORDS))
            reader.end()
        return {self.group: kafka_error(code, words=_WORDS) if code else errors}
