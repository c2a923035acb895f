"""Decode the records of MirrorMaker 2: offset syncs and checkpoints.

Strings have two bytes of length. The key of a sync is topic and partition, its value the offsets of source and copy,
without a version. The key of a checkpoint is group, topic, and partition; its value a version, both offsets, and the
metadata of the commit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kgroups.errors import RemoteProtocolError, UndecodableRecord
from kgroups.model.translation.syncs import Checkpoint, OffsetSync

from .reader import Reader

T = TypeVar("T")


def decode_offset_sync(key: bytes, value: bytes) -> OffsetSync:
    """Decode a record of ``mm2-offset-syncs.<alias>.internal``.

    :raises UndecodableRecord: if the key or the value is not that of an offset sync.
    """
    topic, partition = decode_sync_key(key)
    return OffsetSync(topic, partition, *decode_sync_value(value))


def decode_sync_key(key: bytes) -> tuple[str, int]:
    """Return the topic and the partition of an offset sync.

    :raises UndecodableRecord: if it is not the key of one.
    """
    return _whole("key", key, lambda reader: (reader.string(), _natural(reader.int32())))


def decode_sync_value(value: bytes) -> tuple[int, int]:
    """Return the offsets of source and copy.

    :raises UndecodableRecord: if it is not the value of an offset sync.
    """
    return _whole("value", value, _offsets)


def decode_checkpoint(key: bytes, value: bytes) -> Checkpoint:
    """Decode a record of ``<alias>.checkpoints.internal``.

    :raises UndecodableRecord: if the key or the value is not that of a checkpoint of version 0.
    """
    group, topic, partition = _whole("key", key, _checkpoint_key)
    return Checkpoint(group, topic, partition, *_whole("value", value, _checkpoint_value, group))


def _checkpoint_key(reader: Reader) -> tuple[str, str, int]:
    return reader.string(), reader.string(), _natural(reader.int32())


def _checkpoint_value(reader: Reader) -> tuple[int, int, str]:
    version = reader.int16()
    if version:
        raise ValueError(f"version {version} is unknown")
    upstream, downstream = _offsets(reader)
    return upstream, downstream, reader.string()


def _offsets(reader: Reader) -> tuple[int, int]:
    return _natural(reader.int64()), _natural(reader.int64())


def _natural(number: int) -> int:
    if number < 0:
        raise ValueError(f"a partition or an offset of {number}")
    return number


def _whole(part: str, data: bytes, read: Callable[[Reader], T], group: str | None = None) -> T:
    try:
        with Reader(part, data, 0) as reader:
            fields = read(reader)
            reader.end()
    except RemoteProtocolError as error:
        raise UndecodableRecord(error.text, group=group) from None
    return fields
