"""Errors of single partitions, and group errors that are repeated in each partition."""

from __future__ import annotations

import pytest

from kgroups.protocol.error_codes import Code, KafkaError, kafka_error
from kgroups.protocol.partition_errors import PartitionErrors, read_partition_errors
from kgroups.protocol.reader import Reader


def answer(*codes: int) -> PartitionErrors | KafkaError:
    partitions = b"".join(at.to_bytes(4, "big") + code.to_bytes(2, "big") for at, code in enumerate(codes))
    data = (1).to_bytes(4, "big") + b"\0\1t" + len(codes).to_bytes(4, "big") + partitions
    return read_partition_errors(Reader("OffsetCommit", data, 0), kafka_error)


@pytest.mark.parametrize("code", [Code.unknown_topic_or_partition, Code.kafka_storage_error, Code.leader_not_available])
def test_partition_error_fails_only_that_partition(code: Code) -> None:
    result = answer(0, code, 0)
    assert not isinstance(result, KafkaError)
    assert {pair: error and error.code for pair, error in result.items()} == {
        ("t", 0): None,
        ("t", 1): code,
        ("t", 2): None,
    }


def test_group_error_in_each_partition_fails_the_group() -> None:
    result = answer(Code.not_coordinator, Code.not_coordinator)
    assert isinstance(result, KafkaError) and result.code == Code.not_coordinator
