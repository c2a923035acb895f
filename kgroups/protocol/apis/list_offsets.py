"""ListOffsets (key 2): log start and end offsets, and offsets by time, of several partitions with the same leader.

v1  one offset per partition, by timestamp; -2 (start) and -1 (end) are special
v2  isolation level (KIP-98, Kafka 0.11): under read_committed, the end is the last stable offset
v4  leader epochs (KIP-320); not used to fence
v8  special timestamps of remote storage (KIP-405; more in v9, KIP-1005, and in v11, KIP-1023); not used
v10 time limit for remote storage (KIP-1075, Kafka 4.0)
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from kgroups.model.offsets import Isolation

from ..error_codes import KafkaError, kafka_error
from ..reader import reader_of
from ..versions import LIST_OFFSETS, Api
from ..writer import form_of, int32, int64

API = LIST_OFFSETS

_THROTTLE, _ISOLATION, _EPOCHS, _TIMEOUT = 2, 2, 4, 10
"""The first version that has each."""

_NOT_A_REPLICA = _NO_EPOCH = b"\xff\xff\xff\xff"
_REMOTE_STORAGE_TIMEOUT = (30_000).to_bytes(4, "big")


class Where(IntEnum):
    """The special timestamps of the log start offset and the log end offset."""

    START = -2
    END = -1


NOWHERE = -1
"""The offset that a broker returns if there is no record at or after a time."""


class Found(NamedTuple):
    """An offset, and its leader epoch: for the end of a log, the current one (KIP-320, v4)."""

    offset: int
    leader_epoch: int | None = None


class ListOffsets(NamedTuple):
    """Request the log start or end offsets of these partitions, whose leader accepts the request.

    If ``where`` is a number of milliseconds since 1970, request the first record at that time or later. A mapping of
    topic and partition to such a time has another one for each.
    """

    partitions: Mapping[str, tuple[int, ...]]
    where: Where | int | Mapping[tuple[str, int], int] = Where.END
    isolation: Isolation = Isolation.READ_UNCOMMITTED

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return sum(map(len, self.partitions.values()))

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        epoch = _NO_EPOCH if version >= _EPOCHS else b""
        where, tags = self.where, form.tags
        if isinstance(where, Mapping):
            times = {pair: epoch + int64(ms) + tags for pair, ms in where.items()}
        else:
            rest = epoch + int64(int(where)) + tags
            times = {(name, index): rest for name, indexes in self.partitions.items() for index in indexes}
        topics = form.array(
            form.string(name) + form.array(int32(index) + times[name, index] for index in indexes) + form.tags
            for name, indexes in self.partitions.items()
        )
        isolation = int(self.isolation).to_bytes(1, "big") if version >= _ISOLATION else b""
        timeout = _REMOTE_STORAGE_TIMEOUT if version >= _TIMEOUT else b""
        return _NOT_A_REPLICA + isolation + topics + timeout + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[tuple[str, int], Found | KafkaError]:
        """Return (topic, partition) -> its offset, or its error."""
        found: dict[tuple[str, int], Found | KafkaError] = {}
        with reader_of(API, version, data, offset) as reader:
            if version >= _THROTTLE:
                reader.skip(4)
            for _ in reader.turns(reader.count()):
                topic = reader.string()
                for _ in reader.turns(reader.count()):
                    partition, error = reader.int32(), reader.int16()
                    reader.skip(8)  # timestamp
                    end = reader.int64()
                    epoch = reader.int32() if version >= _EPOCHS else -1
                    reader.tags()
                    found[topic, partition] = kafka_error(error) if error else Found(end, None if epoch < 0 else epoch)
                reader.tags()
            reader.tags()
            reader.end()
        return found
