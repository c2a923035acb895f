from __future__ import annotations

import pytest

from kgroups.protocol.operations import UNAVAILABLE, operations_of


@pytest.mark.parametrize(
    ("bits", "operations"),
    [
        (0, set()),
        (1 << 8, {"DESCRIBE"}),
        (1 << 3 | 1 << 6 | 1 << 8, {"READ", "DELETE", "DESCRIBE"}),
        (1 << 30, set()),  # an operation of a Kafka to come
    ],
)
def test_operations_are_read_from_bits(bits: int, operations: set[str]) -> None:
    assert operations_of(bits) == operations


def test_operations_that_are_unavailable_are_none() -> None:
    assert operations_of(UNAVAILABLE) is None
