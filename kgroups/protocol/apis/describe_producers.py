"""DescribeProducers (key 61): the producers of partitions that a broker leads (KIP-664, Kafka 2.8).

Requires READ on the topics. v0 is the only version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..error_codes import KafkaError, kafka_error
from ..reader import Reader, reader_of
from ..versions import Api
from ..writer import form_of, int32

API = Api(61, "DescribeProducers", 0, 0, flexible=0, throttled_from=0)


class Producer(NamedTuple):
    """A producer, with the time of its last batch in milliseconds since 1970.

    ``began_at``: the first offset of its open transaction in this partition; ``None`` if it has none.
    """

    producer_id: int
    last_timestamp: int
    began_at: int | None


class DescribeProducers(NamedTuple):
    """Request the producers of these partitions, topic -> partitions, from their leader."""

    partitions: Mapping[str, tuple[int, ...]]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return sum(map(len, self.partitions.values()))

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        topics = (
            form.string(name) + form.array(map(int32, indexes)) + form.tags for name, indexes in self.partitions.items()
        )
        return form.array(topics) + form.tags

    def decode(
        self, version: int, data: bytes, offset: int
    ) -> Mapping[tuple[str, int], tuple[Producer, ...] | KafkaError]:
        """Return (topic, partition) -> its producers, or its error."""
        found: dict[tuple[str, int], tuple[Producer, ...] | KafkaError] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            for _ in reader.turns(reader.count()):
                topic = reader.string()
                for _ in reader.turns(reader.count()):
                    partition, error = reader.int32(), reader.int16()
                    message = reader.nullable_string()
                    producers = tuple([_producer(reader) for _ in reader.turns(reader.count())])
                    reader.tags()
                    found[topic, partition] = kafka_error(error, message) if error else producers
                reader.tags()
            reader.tags()
            reader.end()
        return found


def _producer(reader: Reader) -> Producer:
    producer_id = reader.int64()
    reader.skip(8)  # epoch, last sequence number
    last_timestamp = reader.int64()
    reader.skip(4)  # epoch of the coordinator
    began_at = reader.int64()
    reader.tags()
    return Producer(producer_id, last_timestamp, None if began_at < 0 else began_at)
