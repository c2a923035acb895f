"""What a principal may do to a resource, as brokers tell it when asked to (KIP-430): a bit for each operation."""

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

UNTOLD = -(1 << 31)
"""Of who does not tell, or was not asked. Nothing at all, 0, is what one sees who may not DESCRIBE."""


def operations_of(bits: int) -> frozenset[str] | None:
    """The operations, in Kafka's words; ``None`` where nobody tells them."""
    return None if bits == UNTOLD else frozenset([name for bit, name in _NAMES.items() if bits >> bit & 1])
