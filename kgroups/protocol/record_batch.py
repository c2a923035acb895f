"""Finds records in the bytes of a log, as Fetch gives them: when was the first one written that a consumer would see?

Three formats: batches (v2, Kafka 0.11; KIP-98), and the message sets of older logs, v1 with timestamps (Kafka 0.10;
KIP-32) and v0 without. A broker gives what its log holds, whatever version it was asked in.

Rule: what bytes announce is never trusted, and what is not such bytes is a :class:`RemoteProtocolError`. Checksums are
not looked at: a mistaken bit could cost a wrong time, never more. The last batch may be cut off; it is left alone.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from kgroups.errors import RemoteProtocolError

from .budget import Budget
from .compression import Codec, decompress

PREFIX = struct.Struct(">qi")
"""Offset of the batch, and how many bytes follow; of every format."""
MAGIC_AT = 16
_OLDEST, _OLD, BATCH = 0, 1, 2

HEADER = struct.Struct(">hiqqqhii")
"""Of a batch, from its attributes on: last offset delta, base and largest timestamp, producer id and epoch, sequence,
number of records."""
HEADER_AT = 21
RECORDS_AT = HEADER_AT + HEADER.size

CODEC, APPEND_TIME, TRANSACTIONAL, CONTROL = 0x07, 0x08, 0x10, 0x20
"""Bits of the attributes. Where retention of a marker is planned (bit 6, KIP-534) the base timestamp is another one,
and the deltas are of that one: nothing to do."""

_LENGTH = struct.Struct(">i")
_TIMESTAMP = struct.Struct(">q")
_ATTRIBUTES_AT, _TIMESTAMP_AT = 17, 18


class Aborted(NamedTuple):
    """A transaction that was aborted, as a leader tells under read_committed: whose, and where it began."""

    producer_id: int
    first_offset: int


class Record(NamedTuple):
    """``timestamp`` in milliseconds since 1970, by the producer's clock or, as the topic says, by the broker's;
    ``None`` where the log has none."""

    offset: int
    timestamp: int | None


class Scan(NamedTuple):
    """Each offset asked for with the first record at or behind it; the others have none below ``until``."""

    found: Mapping[int, Record]
    until: int


class _Batch(NamedTuple):
    """Some records of one producer, which ends at offset ``last``; ``records`` unpacks them."""

    last: int
    records: Callable[[], Iterator[Record]]
    producer_id: int = -1
    transactional: bool = False
    control: bool = False


def first_records(
    data: bytes, offsets: Iterable[int], aborted: Iterable[Aborted] = (), budget: Budget | None = None
) -> Scan:
    """The first record at or behind each of these offsets that a consumer would be given.

    Transaction markers are none; nor are records of the transactions in ``aborted``, which a leader tells when it is
    asked under read_committed. ``data`` is what a leader gave from the smallest of ``offsets`` on.

    :raises RemoteProtocolError: when the bytes are no records.
    :raises ResponseTooLarge: (one of them) when they unpack to more than the budget has room for.
    :raises DecodingTimeout: when the budget's time is used up.
    """
    budget = budget or Budget()
    pending = deque(sorted(set(offsets)))
    until = pending[0]
    begun = deque(sorted(aborted, key=lambda each: each.first_offset))
    doomed: set[int] = set()
    found: dict[int, Record] = {}
    try:
        for batch in _batches(data, budget):
            while begun and begun[0].first_offset <= batch.last:
                doomed.add(begun.popleft().producer_id)
            if batch.control:
                doomed.discard(batch.producer_id)  # its transaction ends here, and another one may be committed
            elif batch.last >= pending[0] and not (batch.transactional and batch.producer_id in doomed):
                for record in batch.records():
                    while pending and pending[0] <= record.offset:
                        found[pending.popleft()] = record
                    if not pending:
                        return Scan(found, max(until, record.offset + 1))
            until = max(until, batch.last + 1)
    except (IndexError, ValueError, struct.error) as error:
        raise RemoteProtocolError(f"undecodable records ({error or type(error).__name__})") from error
    return Scan(found, until)


def _batches(data: bytes, budget: Budget) -> Iterator[_Batch]:
    """The whole ones."""
    at = 0
    while at + MAGIC_AT < len(data):
        budget.check()
        base, size = PREFIX.unpack_from(data, at)
        end = at + PREFIX.size + size
        if size <= MAGIC_AT - PREFIX.size:
            raise ValueError(f"a batch of {size} bytes")
        if end > len(data):
            return
        magic = data[at + MAGIC_AT]
        if magic > BATCH:
            raise ValueError(f"format {magic} is not known")
        made = _batch if magic == BATCH else _message
        yield made(base, data[at:end], budget)
        at = end


def _batch(base: int, data: bytes, budget: Budget) -> _Batch:
    attributes, delta, first_time, largest_time, producer, _, _, count = HEADER.unpack_from(data, HEADER_AT)
    if delta < 0 or count < 0:
        raise ValueError("a batch with less than no records")
    append_time = largest_time if attributes & APPEND_TIME else None

    def records() -> Iterator[Record]:
        body = decompress(attributes & CODEC, data[RECORDS_AT:], budget)
        at = 0
        for _ in budget.turns(count):
            size, start = varint(body, at)
            at = start + size
            if not start < at <= len(body):
                raise ValueError("a record ends too soon")
            time_delta, next_at = varint(body, start + 1)  # behind attributes that mean nothing yet
            offset_delta, _ = varint(body, next_at)
            yield Record(base + offset_delta, _known(first_time + time_delta if append_time is None else append_time))

    transactional, control = bool(attributes & TRANSACTIONAL), bool(attributes & CONTROL)
    return _Batch(base + delta, records, producer, transactional, control)


def _message(offset: int, data: bytes, budget: Budget) -> _Batch:
    """A message of the old formats: a record, or a wrapper around a set of them, which has the offset of the last."""
    if data[MAGIC_AT] == _OLDEST:
        # A wrapper too: it ends in a record with its own offset, and no record of it has a timestamp.
        return _Batch(offset, lambda: iter((Record(offset, None),)))
    attributes, timestamp = data[_ATTRIBUTES_AT], _timestamp(data)
    if not attributes & CODEC:
        return _Batch(offset, lambda: iter((Record(offset, timestamp),)))

    def records() -> Iterator[Record]:
        inner = list(_inner(decompress(attributes & CODEC, _value(data), budget), budget))
        if not inner:
            raise ValueError("an empty message set")
        base = offset - inner[-1].offset  # inside, offsets count from the first one (KIP-31)
        for record in inner:
            yield Record(base + record.offset, timestamp if attributes & APPEND_TIME else record.timestamp)

    return _Batch(offset, records)


def _inner(data: bytes, budget: Budget) -> Iterator[Record]:
    """The messages of a set that was compressed; offsets as they are written."""
    at = 0
    while at < len(data):
        budget.check()
        offset, size = PREFIX.unpack_from(data, at)
        end = at + PREFIX.size + size
        if size <= _TIMESTAMP_AT - PREFIX.size or end > len(data):
            raise ValueError("a message ends too soon")
        message = data[at:end]
        if message[MAGIC_AT] != _OLD or message[_ATTRIBUTES_AT] & CODEC != Codec.NONE:
            raise ValueError("a message set inside a message set")
        yield Record(offset, _timestamp(message))
        at = end


def _timestamp(message: bytes) -> int | None:
    (timestamp,) = _TIMESTAMP.unpack_from(message, _TIMESTAMP_AT)
    return _known(timestamp)


def _known(timestamp: int) -> int | None:
    """-1 is the word for none; a producer may say so."""
    return None if timestamp < 0 else timestamp


def _value(message: bytes) -> bytes:
    """The value of a message with a timestamp; its key comes first."""
    at = _TIMESTAMP_AT + _TIMESTAMP.size
    (key,) = _LENGTH.unpack_from(message, at)
    at += _LENGTH.size + max(key, 0)
    (size,) = _LENGTH.unpack_from(message, at)
    at += _LENGTH.size
    if not 0 <= size <= len(message) - at:
        raise ValueError("a value ends too soon")
    return message[at : at + size]


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number as records hold it (zigzag, of at most ten bytes), and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than ten bytes")
