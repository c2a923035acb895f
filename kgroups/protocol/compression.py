"""The codecs of record batches: gzip from the standard library, the others from cramjam.

No output is larger than :data:`LARGEST`, and all outputs of one response together are not larger than its budget: a
few bytes could unpack to all of the memory.
"""

from __future__ import annotations

import struct
import zlib
from enum import IntEnum
from typing import Any

from kgroups.errors import RemoteProtocolError, ResponseTooLarge

from .budget import Budget

LARGEST = 64 * 1024 * 1024
"""Bytes that one batch may unpack to."""

_FIRST_GUESS = 64 * 1024
_GZIP_WINDOW = 31
_XERIAL = b"\x82SNAPPY\0"
_XERIAL_HEADER = 16
_BLOCK = struct.Struct(">i")
_OUT_OF_ROOM = "failed to write whole buffer"


class Codec(IntEnum):
    """A codec, by its number in the lowest bits of a batch's attributes; zstd since Kafka 2.1 (KIP-110)."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def decompress(codec: int, data: bytes, budget: Budget | None = None) -> bytes:
    """Return the decompressed data.

    :param budget: the number of bytes that the response may still unpack to; by default :data:`LARGEST`.
    :raises RemoteProtocolError: when the data is invalid, or the codec is unknown.
    :raises ResponseTooLarge: (a subclass) when it is larger than :data:`LARGEST`, or than the budget has room for.
    :raises DecodingTimeout: when the budget's time is used up.
    """
    budget = budget or Budget(unpacked=LARGEST)
    budget.check()
    try:
        known = Codec(codec)
    except ValueError:
        raise RemoteProtocolError(f"there is no codec {codec}") from None
    if known is Codec.NONE:
        return data
    try:
        found = _DECOMPRESS[known](data, min(LARGEST, budget.room))
    except ResponseTooLarge:
        if budget.room < LARGEST:
            budget.unpacked(budget.room + 1)  # raises: the response is too large, not the batch
        budget.room = 0
        raise
    except (RemoteProtocolError, MemoryError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # native code may panic on invalid data, outside of Exception
        raise RemoteProtocolError(f"not {known.name.lower()}: {error}") from error
    budget.unpacked(len(found))
    return found


def _gzip(data: bytes, room: int) -> bytes:
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    found = unpacker.decompress(data, room + 1)  # 0 would mean no limit
    if len(found) > room:
        raise _too_large()
    if not unpacker.eof:
        raise ValueError("it ends too soon")
    return found


def _snappy(data: bytes, room: int) -> bytes:
    """Decompress Java's sequence of blocks (xerial's frame), or the single block of other clients."""
    if not data.startswith(_XERIAL):
        return _snappy_block(data, room)
    found = bytearray()
    at = _XERIAL_HEADER
    while at < len(data):
        (size,) = _BLOCK.unpack_from(data, at)
        at += _BLOCK.size
        if not 0 < size <= len(data) - at:
            raise ValueError(f"a block of {size} bytes in {len(data) - at}")
        found += _snappy_block(data[at : at + size], room - len(found))
        at += size
    return bytes(found)


def _codec(name: str) -> Any:
    import cramjam

    return getattr(cramjam, name)


def _snappy_block(block: bytes, room: int) -> bytes:
    snappy = _codec("snappy")
    if snappy.decompress_raw_len(block) > room:  # cramjam reserves it before it checks the data
        raise _too_large()
    return bytes(snappy.decompress_raw(block))


def _lz4(data: bytes, room: int) -> bytes:
    return _into(_codec("lz4").decompress_into, data, room)


def _zstd(data: bytes, room: int) -> bytes:
    return _into(_codec("zstd").decompress_into, data, room)


def _into(decompress_into: Any, data: bytes, most: int) -> bytes:
    """Decompress into a buffer that grows while it is too small: a frame may not announce its size."""
    room = min(most, max(_FIRST_GUESS, 8 * len(data)))
    while True:
        buffer = bytearray(room)
        try:
            size = decompress_into(data, buffer)
        except Exception as error:
            if _OUT_OF_ROOM not in str(error):
                raise
        else:
            return bytes(memoryview(buffer)[:size])
        if room == most:
            raise _too_large()
        room = min(most, 8 * room)


def _too_large() -> ResponseTooLarge:
    return ResponseTooLarge(f"a batch unpacks to more than {LARGEST:,} bytes")


_DECOMPRESS = {Codec.GZIP: _gzip, Codec.SNAPPY: _snappy, Codec.LZ4: _lz4, Codec.ZSTD: _zstd}
