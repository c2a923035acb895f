"""Walk the record batches of a log, as returned by Fetch, and the records of each.

Batches are of format 2 (Kafka 0.11; KIP-98). Older logs contain messages of format 1, with timestamps (Kafka 0.10;
KIP-32), and 0, without. A broker returns what its log contains, whichever version the request has.

Announced sizes are never trusted. Checksums are not verified: a flipped bit can at most yield a wrong time or text. The
last batch may be truncated; it is ignored.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from kgroups.errors import RemoteProtocolError

from .budget import Budget
from .compression import decompress

PREFIX = struct.Struct(">qi")
"""Offset of the batch, and the number of bytes that follow, in every format."""
MAGIC_AT = 16
BATCH = 2
_CRC_AT = (12, 17)
"""In a message of an older format, and in a batch."""

_HEADER = struct.Struct(">hiqqqhii")
"""Of a batch, from its attributes on: last offset delta, base and maximum timestamp, producer ID and epoch, sequence,
number of records."""
_HEADER_AT = 21
_EPOCH_AT = 12
_RECORDS_AT = _HEADER_AT + _HEADER.size

CODEC, APPEND_TIME, _TRANSACTIONAL, _CONTROL = 0x07, 0x08, 0x10, 0x20
"""Bits of the attributes. Bit 6 (KIP-534) changes the meaning of the base timestamp of a transaction marker only."""


class Aborted(NamedTuple):
    """An aborted transaction, as reported by a leader under read_committed: its producer and first offset."""

    producer_id: int
    first_offset: int


class Batch(NamedTuple):
    """A complete batch, or a message of an older format (``magic`` below :data:`BATCH`), and its offsets.

    A consumer does not receive the records of a batch that is not ``visible``: transaction markers, and records of
    aborted transactions.
    """

    magic: int
    base: int
    last: int
    visible: bool
    data: bytes

    @property
    def crc(self) -> int:
        """The checksum that its header contains; not verified."""
        at = _CRC_AT[self.magic >= BATCH]
        return int.from_bytes(self.data[at : at + 4])

    @property
    def records(self) -> int:
        """The number of records that the header of a batch of format 2 contains."""
        return int.from_bytes(self.data[_RECORDS_AT - 4 : _RECORDS_AT])


@contextmanager
def undecodable() -> Iterator[None]:
    """Convert the errors of decoding to :class:`RemoteProtocolError`."""
    try:
        yield
    except (IndexError, ValueError, struct.error) as error:
        raise RemoteProtocolError(f"undecodable records ({error or type(error).__name__})") from error


def read_batches(data: bytes, aborted: Iterable[Aborted], budget: Budget) -> Iterator[Batch]:
    """Yield each complete batch; ignore a truncated last batch."""
    begun = deque(sorted(aborted, key=lambda each: each.first_offset))
    aborting: set[int] = set()
    at = 0
    while at + MAGIC_AT < len(data):
        budget.check()
        base, size = PREFIX.unpack_from(data, at)
        end = at + PREFIX.size + size
        if size <= MAGIC_AT - PREFIX.size:
            raise ValueError(f"a batch of {size} bytes")
        if end > len(data):
            return
        magic, last, control, aborts = data[at + MAGIC_AT], base, False, False
        batch = data[at:end]
        if magic > BATCH:
            raise ValueError(f"unknown record format {magic}")
        if magic == BATCH:
            attributes, delta, _, _, producer, _, _, count = _HEADER.unpack_from(batch, _HEADER_AT)
            if delta < 0 or count < 0:
                raise ValueError("a batch with a negative number of records")
            last = base + delta
            while begun and begun[0].first_offset <= last:
                aborting.add(begun.popleft().producer_id)
            control = bool(attributes & _CONTROL)
            if control:
                aborting.discard(producer)  # its transaction ends here; the next one may be committed
            aborts = bool(attributes & _TRANSACTIONAL) and producer in aborting
        yield Batch(magic, base, last, not (control or aborts), batch)
        at = end


def transaction_of(batch: Batch) -> int | None:
    """Return the producer ID of a batch that belongs to a transaction, also of its marker; otherwise ``None``."""
    if batch.magic < BATCH:
        return None
    attributes, _, _, _, producer, _, _, _ = _HEADER.unpack_from(batch.data, _HEADER_AT)
    return producer if attributes & _TRANSACTIONAL else None


def is_marker(batch: Batch) -> bool:
    """Return whether a batch is the marker of a transaction."""
    return batch.magic >= BATCH and bool(_HEADER.unpack_from(batch.data, _HEADER_AT)[0] & _CONTROL)


def has_append_time(batch: Batch) -> bool:
    """Return whether the times of its records are those at which the broker appended them."""
    return batch.magic >= BATCH and bool(_HEADER.unpack_from(batch.data, _HEADER_AT)[0] & APPEND_TIME)


def epoch_of(batch: Batch) -> int | None:
    """Return the leader epoch in which a batch was written; ``None`` if it has none, as in older formats."""
    epoch = int.from_bytes(batch.data[_EPOCH_AT : _EPOCH_AT + 4], signed=True)
    return None if batch.magic < BATCH or epoch < 0 else epoch


def is_commit_marker(batch: Batch, budget: Budget) -> bool:
    """Return whether an invisible batch is the marker that commits a transaction."""
    attributes = _HEADER.unpack_from(batch.data, _HEADER_AT)[0]
    if not attributes & _CONTROL:
        return False
    for _, _, body, at, _ in batch_records(batch, budget):
        size, at = varint(body, at)
        return size >= 4 and body[at + 2 : at + 4] == _COMMITTED
    return False


_COMMITTED = b"\0\1"
"""The type of a marker, in its key after the version."""


def producer_of(batch: Batch) -> int | None:
    """Return the producer ID of a batch; ``None`` if it has none, as without idempotence and in older formats."""
    if batch.magic < BATCH:
        return None
    _, _, _, _, producer, _, _, _ = _HEADER.unpack_from(batch.data, _HEADER_AT)
    return None if producer < 0 else producer


Located = tuple[int, int, bytes, int, int]
"""A record: offset, timestamp (milliseconds since 1970, negative: none), and where in some bytes its key begins and it
ends."""


def batch_records(batch: Batch, budget: Budget) -> Iterator[Located]:
    """Yield the records of a batch of format 2."""
    attributes, _, first_time, largest_time, _, _, _, count = _HEADER.unpack_from(batch.data, _HEADER_AT)
    base, append_time = batch.base, attributes & APPEND_TIME
    body = decompress(attributes & CODEC, batch.data[_RECORDS_AT:], budget)
    at = 0
    for _ in budget.turns(count):
        size, start = varint(body, at)
        at = start + size
        if not start < at <= len(body):
            raise ValueError("a record ends too soon")
        time_delta, key_at = varint(body, start + 1)  # after the attributes, which are unused
        offset_delta, key_at = varint(body, key_at)
        yield base + offset_delta, largest_time if append_time else first_time + time_delta, body, key_at, at


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a zigzag number of at most ten bytes, as in records, and the offset after it."""
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
