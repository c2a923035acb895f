from __future__ import annotations

import gzip
import struct

import cramjam
import pytest
from pytest_mock import MockerFixture

from kgroups.errors import RemoteProtocolError
from kgroups.protocol import compression
from kgroups.protocol.compression import Codec, decompress
from tests.fakes.record_batches import compress

TEXT = b"some text " * 1000


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("data", [b"", b"x", TEXT, bytes(1_000_000)], ids=["empty", "byte", "text", "zeros"])
def test_what_was_compressed_comes_back(codec: Codec, data: bytes) -> None:
    assert decompress(codec, compress(codec, data)) == data


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
def test_a_bomb_is_not_unpacked(codec: Codec, mocker: MockerFixture) -> None:
    mocker.patch.object(compression, "LARGEST", 100_000)
    with pytest.raises(RemoteProtocolError, match="more than 100,000 bytes"):
        decompress(codec, compress(codec, bytes(100_002), xerial=False))


def test_the_blocks_of_a_bomb_count_together(mocker: MockerFixture) -> None:
    mocker.patch.object(compression, "LARGEST", 100_000)
    with pytest.raises(RemoteProtocolError, match="more than 100,000 bytes"):
        decompress(Codec.SNAPPY, compress(Codec.SNAPPY, bytes(100_002)))


@pytest.mark.parametrize(
    ("codec", "data"),
    [
        (Codec.GZIP, gzip.compress(TEXT)[:-9]),
        (Codec.GZIP, b""),
        (Codec.SNAPPY, b"\xff\xff\xff\xff\x0f"),
        (Codec.SNAPPY, b""),
        (Codec.SNAPPY, b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, 900) + b"xx"),
        (Codec.SNAPPY, b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, 0)),
        (Codec.LZ4, bytes(cramjam.lz4.compress(TEXT))[:-9]),
        (Codec.ZSTD, bytes(cramjam.zstd.compress(TEXT))[:-9]),
        (7, b""),
    ],
)
def test_rubbish_is_refused(codec: int, data: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        decompress(codec, data)
