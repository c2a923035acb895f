"""Find the first record at or after an offset that a consumer would receive, in record batches and older formats."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .budget import Budget
from .compression import Codec, decompress
from .record_batch import (
    APPEND_TIME,
    BATCH,
    CODEC,
    MAGIC_AT,
    PREFIX,
    Aborted,
    Batch,
    batch_records,
    read_batches,
    undecodable,
)

_WITHOUT_TIME, _WITH_TIME = 0, 1
"""The older formats."""
_LENGTH = struct.Struct(">i")
_TIMESTAMP = struct.Struct(">q")
_ATTRIBUTES_AT, _TIMESTAMP_AT = 17, 18


class Record(NamedTuple):
    """A record's offset and timestamp.

    ``timestamp`` is in milliseconds since 1970, by the clock of the producer or, if the topic is configured so, of the
    broker; ``None`` if the record has none.
    """

    offset: int
    timestamp: int | None
    crc: int | None = None
    """The checksum of its batch, or of its message in older formats, if requested."""


class Scan(NamedTuple):
    """The first record at or after each requested offset; for the other offsets, there is none below ``until``."""

    found: Mapping[int, Record]
    until: int


def first_records(
    data: bytes,
    offsets: Iterable[int],
    aborted: Iterable[Aborted] = (),
    budget: Budget | None = None,
    *,
    checksums: bool = False,
) -> Scan:
    """Return the first record at or after each of these offsets that a consumer would receive.

    Transaction markers do not count, and neither do records of the transactions in ``aborted``, which a leader reports
    under read_committed. ``data`` is what a leader returned from the smallest of ``offsets`` on.

    :param checksums: whether the records have the checksums of their batches.

    :raises RemoteProtocolError: when the bytes are not records.
    :raises ResponseTooLarge: (a subclass) when they unpack to more than the budget has room for.
    :raises DecodingTimeout: when the budget's time is used up.
    """
    budget = budget or Budget()
    pending = deque(sorted(set(offsets)))
    until = pending[0]
    found: dict[int, Record] = {}
    with undecodable():
        for batch in read_batches(data, aborted, budget):
            if batch.visible and batch.last >= pending[0]:
                for record in records_of(batch, budget):
                    while pending and pending[0] <= record.offset:
                        found[pending.popleft()] = record._replace(crc=batch.crc) if checksums else record
                    if not pending:
                        return Scan(found, max(until, record.offset + 1))
            until = max(until, batch.last + 1)
    return Scan(found, until)


def records_of(batch: Batch, budget: Budget) -> Iterator[Record]:
    """Yield the records of a batch of any format; of wrapped messages without timestamps, only the last one."""
    if batch.magic < BATCH:
        return _message_records(batch.last, batch.data, budget)
    return (Record(offset, _known(timestamp)) for offset, timestamp, _, _, _ in batch_records(batch, budget))


def _message_records(offset: int, data: bytes, budget: Budget) -> Iterator[Record]:
    """Yield a message of an older format, or, of a wrapper around a message set, its messages.

    A wrapper has the offset of its last message.
    """
    if data[MAGIC_AT] == _WITHOUT_TIME:
        # Correct for a wrapper too: it ends with a record at its own offset, and none of its records has a timestamp.
        yield Record(offset, None)
        return
    attributes, timestamp = data[_ATTRIBUTES_AT], _timestamp(data)
    if not attributes & CODEC:
        yield Record(offset, timestamp)
        return
    inner = list(_inner(decompress(attributes & CODEC, _value(data), budget), budget))
    if not inner:
        raise ValueError("an empty message set")
    base = offset - inner[-1].offset  # inside, offsets count from the first one (KIP-31)
    for record in inner:
        yield Record(base + record.offset, timestamp if attributes & APPEND_TIME else record.timestamp)


def offsets_of(batch: Batch, budget: Budget) -> Iterator[int]:
    """Yield the offsets of all records of a batch of any format, also of wrapped messages without timestamps."""
    codec = batch.data[_ATTRIBUTES_AT] & CODEC
    if batch.data[MAGIC_AT] == _WITHOUT_TIME and codec:
        wrapped = decompress(codec, _value(batch.data, _TIMESTAMP_AT), budget)
        return (record.offset for record in _inner(wrapped, budget, _WITHOUT_TIME))
    return (record.offset for record in records_of(batch, budget))


def _inner(data: bytes, budget: Budget, magic: int = _WITH_TIME) -> Iterator[Record]:
    """Yield the messages of a decompressed set, with the offsets that they have in it."""
    at = 0
    while at < len(data):
        budget.check()
        offset, size = PREFIX.unpack_from(data, at)
        end = at + PREFIX.size + size
        if size <= _TIMESTAMP_AT - PREFIX.size or end > len(data):
            raise ValueError("a message ends too soon")
        message = data[at:end]
        if message[MAGIC_AT] != magic or message[_ATTRIBUTES_AT] & CODEC != Codec.NONE:
            raise ValueError("a message set inside a message set")
        yield Record(offset, None if magic == _WITHOUT_TIME else _timestamp(message))
        at = end


def _timestamp(message: bytes) -> int | None:
    (timestamp,) = _TIMESTAMP.unpack_from(message, _TIMESTAMP_AT)
    return _known(timestamp)


def _known(timestamp: int) -> int | None:
    """Return ``None`` for -1, by which a producer says that a record has no timestamp."""
    return None if timestamp < 0 else timestamp


def _value(message: bytes, at: int = _TIMESTAMP_AT + _TIMESTAMP.size) -> bytes:
    """Return the value of a message; its key comes first, by default after a timestamp."""
    (key,) = _LENGTH.unpack_from(message, at)
    at += _LENGTH.size + max(key, 0)
    (size,) = _LENGTH.unpack_from(message, at)
    at += _LENGTH.size
    if not 0 <= size <= len(message) - at:
        raise ValueError("a value ends too soon")
    return message[at : at + size]
