"""Records of MirrorMaker 2: decoded values, byte by byte, and what is rejected."""

from __future__ import annotations

import pytest

from kgroups.errors import UndecodableRecord
from kgroups.model.translation.syncs import Checkpoint, OffsetSync
from kgroups.protocol.mirror import decode_checkpoint, decode_offset_sync

SYNC_KEY = bytes.fromhex("0006") + b"orders" + bytes.fromhex("00000002")
SYNC = bytes.fromhex("00000000000001f4 00000000000001c2")
CHECKPOINT_KEY = bytes.fromhex("0003") + b"b\xc3\xbc" + bytes.fromhex("0008") + b"A.orders" + bytes.fromhex("00000002")
CHECKPOINT = bytes.fromhex("0000") + SYNC + bytes.fromhex("0001") + b"m"


def test_offset_sync_is_decoded() -> None:
    assert decode_offset_sync(SYNC_KEY, SYNC) == OffsetSync("orders", 2, 500, 450)


def test_checkpoint_is_decoded() -> None:
    assert decode_checkpoint(CHECKPOINT_KEY, CHECKPOINT) == Checkpoint("bü", "A.orders", 2, 500, 450, "m")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"", SYNC),
        (SYNC_KEY[:-1], SYNC),
        (SYNC_KEY + b"\0", SYNC),
        (b"\xff\xff" + SYNC_KEY, SYNC),
        (b"\0\1\xff" + bytes(4), SYNC),
        (SYNC_KEY[:-4] + b"\xff" * 4, SYNC),
        (SYNC_KEY, b""),
        (SYNC_KEY, SYNC[:-1]),
        (SYNC_KEY, SYNC + b"\0"),
        (SYNC_KEY, b"\xff" * 8 + SYNC[8:]),
    ],
)
def test_other_bytes_are_no_offset_sync(key: bytes, value: bytes) -> None:
    with pytest.raises(UndecodableRecord):
        decode_offset_sync(key, value)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        (SYNC_KEY, CHECKPOINT, "undecodable key (it ends too soon)"),
        (CHECKPOINT_KEY, b"\0\1" + CHECKPOINT[2:], "undecodable value (version 1 is unknown)"),
        (CHECKPOINT_KEY, CHECKPOINT[:-1], "undecodable value (it ends too soon)"),
        (CHECKPOINT_KEY, b"", "undecodable value (it ends too soon)"),
    ],
)
def test_other_bytes_are_no_checkpoint(key: bytes, value: bytes, text: str) -> None:
    with pytest.raises(UndecodableRecord) as caught:
        decode_checkpoint(key, value)
    assert str(caught.value) == text
