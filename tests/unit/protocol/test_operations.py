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
def test_a_bit_for_each_operation(bits: int, operations: set[str]) -> None:
    assert operations_of(bits) == operations


def test_nothing_told_is_not_nothing_allowed() -> None:
    assert operations_of(UNAVAILABLE) is None
