"""The text of partitions."""

from __future__ import annotations


def place_name(topic: str, partition: int) -> str:
    """Return ``orders-3``; ``orders partition -1`` for a number that no partition has, but that clients may commit."""
    return f"{topic}-{partition}" if partition >= 0 else f"{topic} partition {partition}"
