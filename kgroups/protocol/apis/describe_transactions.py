"""DescribeTransactions (key 65): the state of transactions, from their coordinator (KIP-664, Kafka 3.0).

Requires DESCRIBE on each transactional ID. v0 is the only version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..error_codes import KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(65, "DescribeTransactions", 0, 0, flexible=0, throttled_from=0)


class Transaction(NamedTuple):
    """The state of a transactional ID. ``started``: in milliseconds since 1970, ``None`` if no transaction is open."""

    producer_id: int
    state: str
    timeout_ms: int
    started: int | None


class DescribeTransactions(NamedTuple):
    """Request the state of these transactional IDs."""

    transactional_ids: tuple[str, ...]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.transactional_ids)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        return form.array(map(form.string, self.transactional_ids)) + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[str, Transaction | KafkaError]:
        """Return transactional ID -> its state, or its error."""
        found: dict[str, Transaction | KafkaError] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            for _ in reader.turns(reader.count()):
                error = reader.int16()
                name, state = reader.string(), reader.string()
                timeout, started, producer_id = reader.int32(), reader.int64(), reader.int64()
                reader.skip(2)  # epoch
                for _ in reader.turns(reader.count()):
                    reader.string()
                    reader.int32s()
                    reader.tags()
                reader.tags()
                transaction = Transaction(producer_id, state, timeout, None if started < 0 else started)
                found[name] = kafka_error(error) if error else transaction
            reader.tags()
            reader.end()
        return found
