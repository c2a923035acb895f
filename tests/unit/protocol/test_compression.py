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
def test_decompress_restores_compressed_data(codec: Codec, data: bytes) -> None:
    assert decompress(codec, compress(codec, data)) == data


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
def test_decompress_rejects_bomb(codec: Codec, mocker: MockerFixture) -> None:
    mocker.patch.object(compression, "LARGEST", 100_000)
    with pytest.raises(RemoteProtocolError, match="more than 100,000 bytes"):
        decompress(codec, compress(codec, bytes(100_002), xerial=False))


def test_decompress_counts_snappy_blocks_together(mocker: MockerFixture) -> None:
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
def test_decompress_rejects_corrupt_data(codec: int, data: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        decompress(codec, data)
