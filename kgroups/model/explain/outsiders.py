"""Clients that commit for a group without being members of it: consumers that use ``assign()``, and Flink."""

from __future__ import annotations

from collections.abc import Iterator

from .facts import GroupFacts
from .findings import Finding, warning


def find(facts: GroupFacts) -> Iterator[Finding]:
    if facts.outsiders:
        yield warning(
            "not-stopped",
            "it has no members, but a client that is not a member commits offsets for it, such as a consumer that uses "
            f"assign(), or Flink: {facts.outsiders}; the group is in use, and that client would overwrite a reset of "
            "its offsets",
        )
