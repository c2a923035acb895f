"""The codecs of record batches. gzip is of the standard library, the others of cramjam.

No output is larger than :data:`LARGEST`, and those of one response together not larger than its budget: a few bytes
could unpack to all of the memory.
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
    """As the lowest bits of a batch's attributes name it; zstd since Kafka 2.1 (KIP-110)."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def decompress(codec: int, data: bytes, budget: Budget | None = None) -> bytes:
    """What was compressed.

    :param budget: what the response may still unpack to; by default :data:`LARGEST` bytes.
    :raises RemoteProtocolError: when it was not, or was with no codec that we know.
    :raises ResponseTooLarge: (one of them) when it is more than :data:`LARGEST`, or than the budget has room for.
    :raises DecodingTimeout: when the budget's time is used up.
    """
    budget = budget or Budget(unpacked=LARGEST)
    budget.check()
    try:
        kind = Codec(codec)
    except ValueError:
        raise RemoteProtocolError(f"there is no codec {codec}") from None
    if kind is Codec.NONE:
        return data
    try:
        found = _DECOMPRESS[kind](data, min(LARGEST, budget.room))
    except ResponseTooLarge:
        if budget.room < LARGEST:
            budget.unpacked(budget.room + 1)  # raises: it is the response that is too large
        budget.room = 0
        raise
    except (RemoteProtocolError, MemoryError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # native code may panic on rubbish, outside of Exception
        raise RemoteProtocolError(f"not {kind.name.lower()}: {error}") from error
    budget.unpacked(len(found))
    return found


def _gzip(data: bytes, room: int) -> bytes:
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    found = unpacker.decompress(data, room + 1)  # 0 would be without a limit
    if len(found) > room:
        raise _too_large()
    if not unpacker.eof:
        raise ValueError("it ends too soon")
    return found


def _snappy(data: bytes, room: int) -> bytes:
    """Java writes blocks, each led by its length (xerial's frame); others write one block and no frame."""
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


def _snappy_block(block: bytes, room: int) -> bytes:
    from cramjam import snappy

    if snappy.decompress_raw_len(block) > room:  # it would be reserved before it is looked at
        raise _too_large()
    return bytes(snappy.decompress_raw(block))


def _lz4(data: bytes, room: int) -> bytes:
    from cramjam import lz4

    return _into(lz4.decompress_into, data, room)


def _zstd(data: bytes, room: int) -> bytes:
    from cramjam import zstd

    return _into(zstd.decompress_into, data, room)


def _into(decompress_into: Any, data: bytes, most: int) -> bytes:
    """Into room that grows while it is too little: a frame need not say how much it holds."""
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
