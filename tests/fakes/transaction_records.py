"""Records of ``__transaction_state`` as a transaction coordinator would write them."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from kgroups.protocol.record_schemas.encode import encode_struct, encode_value
from kgroups.protocol.transaction_log import TRANSACTION

from .record_batches import Batch, batch

ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT = 1, 2, 4


def transaction_key(name: str) -> bytes:
    return struct.pack(">h", 0) + encode_struct(TRANSACTION.key, {"TransactionalId": name}, 0, False)


def transaction(
    at: int,
    name: str,
    written: Mapping[str, tuple[int, ...]] | None = None,
    *,
    status: int = PREPARE_COMMIT,
    producer: int = 7,
    epoch: int = 1,
    version: int = 1,
) -> Batch:
    """The record at an offset; ``written`` are the partitions of the transaction by topic."""
    value = {
        "ProducerId": producer,
        "ProducerEpoch": epoch,
        "TransactionTimeoutMs": 60_000,
        "TransactionStatus": status,
        "TransactionPartitions": None
        if written is None
        else [{"Topic": topic, "PartitionIds": list(partitions)} for topic, partitions in written.items()],
        "TransactionLastUpdateTimestampMs": 1000 * at,
        "TransactionStartTimestampMs": 1000 * at,
    }
    data = encode_value(TRANSACTION, version, value)
    return batch(at, [(at, 1000 * at)], key=transaction_key(name), value=data)


def expired(at: int, name: str) -> Batch:
    return batch(at, [(at, 1000 * at)], key=transaction_key(name), value=None)
