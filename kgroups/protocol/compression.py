"""The codecs of record batches. gzip is of the standard library, the others of cramjam.

No output is larger than :data:`LARGEST`: a few bytes could unpack to all of the memory.
"""

from __future__ import annotations

import struct
import zlib
from enum import IntEnum
from typing import Any

from kgroups.errors import RemoteProtocolError

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


def decompress(codec: int, data: bytes) -> bytes:
    """What was compressed.

    :raises RemoteProtocolError: when it was not, was with no codec that we know, or is more than :data:`LARGEST`.
    """
    try:
        kind = Codec(codec)
    except ValueError:
        raise RemoteProtocolError(f"there is no codec {codec}") from None
    if kind is Codec.NONE:
        return data
    try:
        return _DECOMPRESS[kind](data)
    except RemoteProtocolError:
        raise
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # native code may panic on rubbish, outside of Exception
        raise RemoteProtocolError(f"not {kind.name.lower()}: {error}") from error


def _gzip(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    found = unpacker.decompress(data, LARGEST)
    if not unpacker.eof:
        raise _too_large() if unpacker.unconsumed_tail else ValueError("it ends too soon")
    return found


def _snappy(data: bytes) -> bytes:
    """Java writes blocks, each led by its length (xerial's frame); others write one block and no frame."""
    if not data.startswith(_XERIAL):
        return _snappy_block(data, LARGEST)
    found = bytearray()
    at = _XERIAL_HEADER
    while at < len(data):
        (size,) = _BLOCK.unpack_from(data, at)
        at += _BLOCK.size
        if not 0 < size <= len(data) - at:
            raise ValueError(f"a block of {size} bytes in {len(data) - at}")
        found += _snappy_block(data[at : at + size], LARGEST - len(found))
        at += size
    return bytes(found)


def _snappy_block(block: bytes, room: int) -> bytes:
    from cramjam import snappy

    if snappy.decompress_raw_len(block) > room:  # it would be reserved before it is looked at
        raise _too_large()
    return bytes(snappy.decompress_raw(block))


def _lz4(data: bytes) -> bytes:
    from cramjam import lz4

    return _into(lz4.decompress_into, data)


def _zstd(data: bytes) -> bytes:
    from cramjam import zstd

    return _into(zstd.decompress_into, data)


def _into(decompress_into: Any, data: bytes) -> bytes:
    """Into room that grows while it is too little: a frame need not say how much it holds."""
    room = min(LARGEST, max(_FIRST_GUESS, 8 * len(data)))
    while True:
        buffer = bytearray(room)
        try:
            size = decompress_into(data, buffer)
        except Exception as error:
            if _OUT_OF_ROOM not in str(error):
                raise
        else:
            return bytes(memoryview(buffer)[:size])
        if room == LARGEST:
            raise _too_large()
        room = min(LARGEST, 8 * room)


def _too_large() -> RemoteProtocolError:
    return RemoteProtocolError(f"a batch unpacks to more than {LARGEST:,} bytes")


_DECOMPRESS = {Codec.GZIP: _gzip, Codec.SNAPPY: _snappy, Codec.LZ4: _lz4, Codec.ZSTD: _zstd}
