"""ListOffsets (key 2): where partitions' logs start, end, or were at a time; many a request, asked of their leader.

v1  one offset a partition, by timestamp or by the words -2 (start) and -1 (end)
v2  isolation level (KIP-98, Kafka 0.11): under read_committed the end is the last stable offset
v4  leader epochs (KIP-320); we do not fence
v10 newest; remote-storage words (KIP-405, KIP-1005) that we do not ask for

By hand: every partition of a cluster may pass here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from kgroups.model.offsets import Isolation

from ..error_codes import KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of, int32

API = Api(2, "ListOffsets", 1, 10, flexible=6)

_THROTTLE, _ISOLATION, _EPOCHS, _TIMEOUT = 2, 2, 4, 10
"""The first version that has each."""

_NOT_A_REPLICA = _NO_EPOCH = b"\xff\xff\xff\xff"
_REMOTE_STORAGE_TIMEOUT = (30_000).to_bytes(4, "big")


class Where(IntEnum):
    """The wire's words for the two ends of a log."""

    START = -2
    END = -1


NOWHERE = -1
"""The answer about a time after which there is no record."""


class Found(NamedTuple):
    """An offset, and the leader epoch that it was told with: of the end of a log, the current one (KIP-320, v4)."""

    offset: int
    leader_epoch: int | None = None


class ListOffsets(NamedTuple):
    """Where does the log of these partitions, which you lead, start or end? Or, given milliseconds since 1970: which
    is the first record of that time or later?"""

    partitions: Mapping[str, tuple[int, ...]]
    where: Where | int = Where.END
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
        behind = epoch + int(self.where).to_bytes(8, "big", signed=True) + form.tags
        topics = form.array(
            form.string(name) + form.array(int32(index) + behind for index in indexes) + form.tags
            for name, indexes in self.partitions.items()
        )
        isolation = int(self.isolation).to_bytes(1, "big") if version >= _ISOLATION else b""
        timeout = _REMOTE_STORAGE_TIMEOUT if version >= _TIMEOUT else b""
        return _NOT_A_REPLICA + isolation + topics + timeout + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[tuple[str, int], Found | KafkaError]:
        """(topic, partition) -> offset, or the error given for it."""
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
