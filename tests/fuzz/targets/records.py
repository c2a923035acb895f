"""Logs as Fetch gives them, in three formats and five codecs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from kgroups.errors import RemoteProtocolError
from kgroups.protocol.compression import Codec, decompress
from kgroups.protocol.first_records import first_records
from kgroups.protocol.record_batch import Aborted
from kgroups.protocol.record_entries import read_entries
from tests.fakes.record_batches import batch, compress, log_bytes, marker, message, message_set

ABORTED = (Aborted(7, 3),)


def seeds() -> Iterator[bytes]:
    pairs = [(5, 1000), (6, 1001), (9, 990)]
    for codec in Codec:
        yield b"\x05" + log_bytes([batch(5, pairs, codec=codec), marker(10, 7), batch(11, [(11, 5)], producer=7)])
        yield b"\x05" + compress(codec, b"words " * 100)
    for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4):
        yield b"\x05" + log_bytes([message(1, None), message(2, 5), message_set(pairs, codec)])


def one(data: bytes) -> None:
    if not data:
        return
    start, log = data[0] % 16, data[1:]
    with suppress(RemoteProtocolError):
        first_records(log, [start, start + 1, start + 100], ABORTED)
    with suppress(RemoteProtocolError):
        assert read_entries(log, start, ABORTED).until >= start
    with suppress(RemoteProtocolError):
        decompress(data[0] % 8, log)
