"""Bytes of logs, in each of the three formats, as producers and brokers write them; checksums are left out."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import cramjam

from kgroups.protocol.compression import Codec

APPEND_TIME, TRANSACTIONAL, CONTROL = 0x08, 0x10, 0x20


class Batch(NamedTuple):
    """One batch of a log: its first and last offset, which need not have records, and its bytes."""

    base: int
    last: int
    data: bytes


def compress(codec: Codec, data: bytes, *, xerial: bool = True) -> bytes:
    match codec:
        case Codec.GZIP:
            return gzip.compress(data)
        case Codec.SNAPPY if xerial:
            half = len(data) // 2
            blocks = [bytes(cramjam.snappy.compress_raw(part)) for part in (data[:half], data[half:])]
            head = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
            return head + b"".join(struct.pack(">i", len(block)) + block for block in blocks)
        case Codec.SNAPPY:
            return bytes(cramjam.snappy.compress_raw(data))
        case Codec.LZ4:
            return bytes(cramjam.lz4.compress(data))
        case Codec.ZSTD:
            return bytes(cramjam.zstd.compress(data))
    return data


def batch(
    base: int,
    records: Sequence[tuple[int, int]],
    *,
    last: int | None = None,
    codec: Codec = Codec.NONE,
    attributes: int = 0,
    producer: int = -1,
    append_time: int | None = None,
    value: bytes | None = b"value",
    key: bytes | None = None,
    xerial: bool = True,
) -> Batch:
    """Format 2, of (offset, timestamp); ``last`` is the batch's last offset where compaction took its record."""
    last = last if last is not None else max([base, *(offset for offset, _ in records)])
    first_time = records[0][1] if records else -1
    body = b"".join(_record(offset - base, time - first_time, value, key) for offset, time in records)
    attributes |= int(codec) | (0 if append_time is None else APPEND_TIME)
    largest = append_time if append_time is not None else max((time for _, time in records), default=-1)
    rest = struct.pack(">hiqqqhii", attributes, last - base, first_time, largest, producer, 0, 0, len(records))
    payload = struct.pack(">ibI", 0, 2, 0) + rest + compress(codec, body, xerial=xerial)
    return Batch(base, last, struct.pack(">qi", base, len(payload)) + payload)


def marker(offset: int, producer: int, time: int = 0) -> Batch:
    """Return the marker that ends a transaction; its key, commit or abort, is not read."""
    return batch(offset, [(offset, time)], attributes=TRANSACTIONAL | CONTROL, producer=producer, value=b"")


def message(
    offset: int, time: int | None, *, attributes: int = 0, value: bytes = b"value", key: bytes | None = None
) -> Batch:
    """Format 1, or 0 where there is no time."""
    head = struct.pack(">IbB", 0, 0 if time is None else 1, attributes)
    head += b"" if time is None else struct.pack(">q", time)
    body = head + _nullable(key) + _nullable(value)
    return Batch(offset, offset, struct.pack(">qi", offset, len(body)) + body)


def message_set(
    records: Sequence[tuple[int, int]], codec: Codec, *, append_time: int | None = None, key: bytes | None = None
) -> Batch:
    """Format 1, compressed: a message around messages, whose offsets count from the first."""
    base, last = records[0][0], records[-1][0]
    inner = b"".join(message(offset - base, time).data for offset, time in records)
    outer = append_time if append_time is not None else max(time for _, time in records)
    attributes = int(codec) | (0 if append_time is None else APPEND_TIME)
    made = message(last, outer, attributes=attributes, value=compress(codec, inner), key=key)
    return made._replace(base=base)


def log_bytes(batches: Iterable[Batch]) -> bytes:
    return b"".join(each.data for each in batches)


def _record(offset_delta: int, time_delta: int, value: bytes | None, key: bytes | None) -> bytes:
    words = b"".join(_varint(-1) if each is None else _varint(len(each)) + each for each in (key, value))
    body = b"\0" + _varint(time_delta) + _varint(offset_delta) + words + _varint(0)
    return _varint(len(body)) + body


def _varint(number: int) -> bytes:
    number = (number << 1) ^ (number >> 63)
    data = b""
    while number >= 0x80:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def _nullable(data: bytes | None) -> bytes:
    return struct.pack(">i", -1 if data is None else len(data)) + (data or b"")
