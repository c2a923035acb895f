"""Frames: whatever pieces the bytes arrive in, the same frames, or the same refusal."""

from __future__ import annotations

from collections.abc import Iterator

from kgroups.errors import RemoteProtocolError
from kgroups.protocol.framing import FrameReader, correlation_id_of

LIMIT = 4096


def seeds() -> Iterator[bytes]:
    yield b"\x03\0\0\0\x04abcd\0\0\0\x05abcde"
    yield b"\x01HTTP/1.1 400"
    yield b"\xff\xff\xff\xff\xff"


def one(data: bytes) -> None:
    if not data:
        return
    step, stream = data[0] % 64 + 1, data[1:]
    whole = _read([stream])
    assert whole == _read([stream[at : at + step] for at in range(0, len(stream), step)])


def _read(pieces: list[bytes]) -> tuple[list[bytes], bool]:
    reader = FrameReader(LIMIT)
    frames: list[bytes] = []
    try:
        for piece in pieces:
            found = reader.feed(piece)
            assert reader.pending <= LIMIT + len(piece) + 4
            frames += found
            for frame in found:
                correlation_id_of(frame)
    except RemoteProtocolError:
        return [], False
    return frames, True
