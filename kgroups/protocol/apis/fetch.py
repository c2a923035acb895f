"""Fetch (key 1): the bytes of logs from given offsets on, of several partitions with the same leader.

v4  isolation level, aborted transactions (KIP-98, Kafka 0.11); the oldest version of Kafka 4
v5  log start offset
v7  sessions (KIP-227, Kafka 1.1); not used
v9  leader epochs (KIP-320); not used to fence
v11 rack, to read from a follower (KIP-392); not used
v12 flexible form; the newest version with topic names, later ones have topic IDs (KIP-516). Supported up to Kafka 4.3
v4 and later: a batch that exceeds the size is omitted, except the first of the first partition with data (KIP-74)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.errors import ResponseTooLarge
from kgroups.model.offsets import Isolation

from ..error_codes import KafkaError, kafka_error
from ..reader import Reader, reader_of
from ..record_batch import PREFIX, Aborted
from ..versions import Api
from ..writer import form_of, int32, int64

API = Api(1, "Fetch", 4, 12, flexible=12, throttled_from=8)

_LOG_STARTS, _SESSIONS, _EPOCHS, _RACKS, _LAST_EPOCHS = 5, 7, 9, 11, 12
"""The first version that has each."""

_NOT_A_REPLICA = _NO_EPOCH = b"\xff\xff\xff\xff"
_NO_LOG_START = b"\xff" * 8
_NO_SESSION = b"\0\0\0\0" + b"\xff\xff\xff\xff"
_MAX_WAIT = (500).to_bytes(4, "big")
"""Milliseconds. A broker does not wait if there is any data; one that reads remote storage has this time."""
_MIN_BYTES = (1).to_bytes(4, "big")


class Fetched(NamedTuple):
    """The log from an offset on. ``records`` can end inside a batch, even the first.

    ``last_stable`` is the last stable offset (KIP-98); ``aborted`` is reported under read_committed only.
    """

    high_watermark: int
    last_stable: int
    aborted: tuple[Aborted, ...]
    records: bytes


class Fetch(NamedTuple):
    """Fetch from these offsets, topic -> partition -> offset, at most ``partition_bytes`` of each, in this order."""

    offsets: Mapping[str, Mapping[int, int]]
    partition_bytes: int = 16_384
    isolation: Isolation = Isolation.READ_UNCOMMITTED

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return sum(map(len, self.offsets.values()))

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        epoch = _NO_EPOCH if version >= _EPOCHS else b""
        rest = _NO_EPOCH if version >= _LAST_EPOCHS else b""
        rest += _NO_LOG_START if version >= _LOG_STARTS else b""
        rest += int32(self.partition_bytes) + form.tags
        topics = form.array(
            form.string(name)
            + form.array(int32(index) + epoch + int64(offset) + rest for index, offset in partitions.items())
            + form.tags
            for name, partitions in self.offsets.items()
        )
        most = int32(min(self.partition_bytes * self.keys, 2**31 - 1))
        head = _NOT_A_REPLICA + _MAX_WAIT + _MIN_BYTES + most + int(self.isolation).to_bytes(1, "big")
        session = _NO_SESSION if version >= _SESSIONS else b""
        forgotten = form.array(()) if version >= _SESSIONS else b""
        rack = form.string("") if version >= _RACKS else b""
        return head + session + topics + forgotten + rack + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[tuple[str, int], Fetched | KafkaError]:
        """Return (topic, partition) -> its bytes, or its error.

        :raises ResponseTooLarge: when a partition has more bytes than requested, and more than one batch.
        """
        found: dict[tuple[str, int], Fetched | KafkaError] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            error = 0
            if version >= _SESSIONS:
                error = reader.int16()
                reader.skip(4)
            for _ in reader.turns(reader.count()):
                topic = reader.string()
                for _ in reader.turns(reader.count()):
                    partition = reader.int32()
                    found[topic, partition] = fetched = _partition(reader, version)
                    if isinstance(fetched, Fetched) and len(fetched.records) > self.partition_bytes:
                        _check_size(fetched.records, self.partition_bytes)
                reader.tags()
            reader.tags()
            reader.end()
            if error:
                failure = kafka_error(error)
                return {(topic, index): failure for topic, indexes in self.offsets.items() for index in indexes}
        return found


def _partition(reader: Reader, version: int) -> Fetched | KafkaError:
    error = reader.int16()
    high_watermark, last_stable = reader.int64(), reader.int64()
    if version >= _LOG_STARTS:
        reader.skip(8)
    aborted = [_aborted(reader) for _ in reader.turns(reader.nullable_count() or 0)]
    if version >= _RACKS:
        reader.skip(4)  # preferred read replica
    records = reader.nullable_bytes()
    reader.tags()
    if error:
        return kafka_error(error)
    return Fetched(high_watermark, last_stable, tuple(aborted), records or b"")


def _check_size(records: bytes, requested: int) -> None:
    """Allow a first batch that is larger than requested (KIP-74), and nothing after it."""
    batch = PREFIX.size + PREFIX.unpack_from(records)[1] if len(records) >= PREFIX.size else 0
    if len(records) > batch:
        raise ResponseTooLarge(f"{len(records):,} bytes of records of one partition; {requested:,} were requested")


def _aborted(reader: Reader) -> Aborted:
    aborted = Aborted(reader.int64(), reader.int64())
    reader.tags()
    return aborted
