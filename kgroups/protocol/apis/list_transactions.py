"""ListTransactions (key 66): the transactional IDs that a broker coordinates (KIP-664, Kafka 3.0).

Brokers omit transactional IDs on which DESCRIBE is missing, without an error.

v0  filters by state and producer ID
v1  filter by duration (KIP-994, Kafka 3.8); not used
v2  filter by a pattern (KIP-1152, Kafka 4.1); not used
"""

from __future__ import annotations

from typing import NamedTuple

from ..error_codes import KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of, int64

API = Api(66, "ListTransactions", 0, 0, flexible=0, throttled_from=0)


class ListTransactions(NamedTuple):
    """Request the transactional IDs of these producers."""

    producer_ids: tuple[int, ...]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.producer_ids)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        return form.array(()) + form.array(map(int64, self.producer_ids)) + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> dict[int, str] | KafkaError:
        """Return producer ID -> transactional ID, or the error of the broker."""
        found: dict[int, str] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            error = reader.int16()
            for _ in reader.turns(reader.count()):
                reader.string()  # an unknown state in the filter
            for _ in reader.turns(reader.count()):
                transactional_id, producer_id = reader.string(), reader.int64()
                reader.string()  # state
                reader.tags()
                found[producer_id] = transactional_id
            reader.tags()
            reader.end()
        return kafka_error(error) if error else found
