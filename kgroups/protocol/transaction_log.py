"""The records of ``__transaction_state``, in which transaction coordinators store the state of transactional IDs.

The record type is as in Kafka's message definitions (``TransactionLogKey.json``, ``TransactionLogValue.json``).
"""

from __future__ import annotations

from typing import Final

from .record_schemas import Field, RecordDecoder, RecordType

EMPTY = 0
"""The status of a transactional ID whose producer has not begun a transaction since it was initialized."""
ONGOING = 1
PREPARED = (2, 3)
"""The statuses of a transaction that is being committed or aborted. Its record names all of its partitions."""
COMPLETE = (4, 5)
"""The statuses of a transaction that is committed or aborted. Its record names no partition."""

_STATUS_AT = 16
"""Bytes before the status in a value of any version."""

TRANSACTION: Final = RecordType(
    0,
    "TransactionLog",
    (Field("TransactionalId", "string"),),
    (
        Field("ProducerId", "int64"),
        # The tagged fields exist since Kafka 4.0 (KIP-890) or later.
        Field("PreviousProducerId", "int64", versions="1+", tag=0, default=-1),
        Field("NextProducerId", "int64", versions="1+", tag=1, default=-1),
        Field("ProducerEpoch", "int16"),
        Field("NextProducerEpoch", "int16", versions="1+", tag=3, default=-1),
        Field("TransactionTimeoutMs", "int32"),
        Field("TransactionStatus", "int8"),
        # Records of complete transactions contain none.
        Field(
            "TransactionPartitions",
            "[]PartitionsSchema",
            (Field("Topic", "string"), Field("PartitionIds", "[]int32")),
            nullable=True,
        ),
        Field("TransactionLastUpdateTimestampMs", "int64"),
        Field("TransactionStartTimestampMs", "int64"),
        Field("ClientTransactionVersion", "int16", versions="1+", tag=2, default=0),
    ),
    valid="0-1",
    flexible="1+",
)

decode: Final = RecordDecoder([TRANSACTION]).decode


def status_of(value: bytes) -> int | None:
    """Return the status in the value of a record without decoding the rest; ``None`` if the value is too short."""
    return value[_STATUS_AT] if len(value) > _STATUS_AT else None
