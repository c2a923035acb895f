"""Brokers, as reported by the cluster's metadata."""

from __future__ import annotations

from typing import NamedTuple


class Node(NamedTuple):
    """One broker: its ID, and the address that it advertises to clients."""

    id: int
    host: str
    port: int

    @property
    def address(self) -> str:
        """``host:port``; an IPv6 host in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"broker {self.id} ({self.address})"


NO_NODE = Node(-1, "", -1)
"""No broker, as in Kafka's protocol: the coordinator of a group outside Kafka."""
