"""The partitions of internal topics that store groups; their leaders are the coordinators."""

from __future__ import annotations

from .groups import GroupId

OFFSETS_TOPIC = "__consumer_offsets"
"""The leaders of its partitions are the group coordinators."""
TRANSACTIONS_TOPIC = "__transaction_state"
"""The leaders of its partitions are the transaction coordinators."""
SHARE_STATE_TOPIC = "__share_group_state"
"""The leaders of its partitions are the share coordinators (KIP-932, Kafka 4.1)."""
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC, SHARE_STATE_TOPIC})
"""The topics that brokers mark as internal."""


def partition_of(group: GroupId, partitions: int) -> int:
    """Return the partition of ``__consumer_offsets``.

    This is Java's ``Utils.abs(groupId.hashCode()) % partitions``, over UTF-16 code units.
    """
    units = group.encode("utf-16-be", "surrogatepass")
    code = 0
    for at in range(0, len(units), 2):
        code = (31 * code + (units[at] << 8 | units[at + 1])) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >> 31 else code
    return 0 if signed == -(1 << 31) else abs(signed) % partitions


def share_partition_of(group: GroupId, topic_id: str, partition: int, partitions: int) -> int:
    """Return the partition of ``__share_group_state`` that stores the state of a group in a partition of a topic.

    :param topic_id: as Kafka's ``Uuid.toString()``.
    """
    return partition_of(f"{group}:{topic_id}:{partition}", partitions)
