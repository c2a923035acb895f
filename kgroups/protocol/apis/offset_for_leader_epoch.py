"""OffsetForLeaderEpoch (key 23): where the records of leader epochs end, of several partitions with the same leader.

v2  throttle time; consumers use it to detect truncated logs (KIP-320, Kafka 2.1). Commits have no epochs before
v3  replica ID
v4  flexible (KIP-482)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..error_codes import KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of, int32

API = Api(23, "OffsetForLeaderEpoch", 2, 4, flexible=4, throttled_from=2)

_REPLICA = 3
"""The first version that has it."""

_A_CONSUMER = _NOT_FENCED = b"\xff\xff\xff\xff"


class EpochEnd(NamedTuple):
    """The largest epoch in the log that is not above the requested one, and the offset after its last record.

    A request for an epoch below all epochs of the log returns that epoch, and the offset at which the first one begins.
    """

    epoch: int
    end: int


class OffsetForLeaderEpoch(NamedTuple):
    """Request the end of one leader epoch of each partition."""

    epochs: Mapping[str, Iterable[tuple[int, int]]]
    """Topic -> its partitions, each with an epoch."""

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return sum(len(list(each)) for each in self.epochs.values())

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        topics = form.array(
            form.string(topic)
            + form.array(int32(index) + _NOT_FENCED + int32(epoch) + form.tags for index, epoch in partitions)
            + form.tags
            for topic, partitions in self.epochs.items()
        )
        return (_A_CONSUMER if version >= _REPLICA else b"") + topics + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[tuple[str, int], EpochEnd | KafkaError]:
        """Return (topic, partition) -> the end of the epoch, or its error. Unknown epochs have an end of -1."""
        found: dict[tuple[str, int], EpochEnd | KafkaError] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)
            for _ in reader.turns(reader.count()):
                topic = reader.string()
                for _ in reader.turns(reader.count()):
                    error, partition = reader.int16(), reader.int32()
                    end = EpochEnd(reader.int32(), reader.int64())
                    reader.tags()
                    found[topic, partition] = kafka_error(error) if error else end
                reader.tags()
            reader.tags()
            reader.end()
        return found
