"""The operations that a principal is authorized for, as brokers report them on request (KIP-430): one bit for each."""

from __future__ import annotations

_NAMES = {
    3: "READ",
    4: "WRITE",
    5: "CREATE",
    6: "DELETE",
    7: "ALTER",
    8: "DESCRIBE",
    9: "CLUSTER_ACTION",
    10: "DESCRIBE_CONFIGS",
    11: "ALTER_CONFIGS",
    12: "IDEMPOTENT_WRITE",
    13: "CREATE_TOKENS",
    14: "DESCRIBE_TOKENS",
}
"""By Java's code of the operation, which is the number of its bit."""

UNAVAILABLE = -(1 << 31)
"""Not supported or not requested. A principal without DESCRIBE receives 0."""


def operations_of(bits: int) -> frozenset[str] | None:
    """Return Kafka's names of the operations, or ``None`` if they are unavailable."""
    return None if bits == UNAVAILABLE else frozenset([name for bit, name in _NAMES.items() if bits >> bit & 1])
