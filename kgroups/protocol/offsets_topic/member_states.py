"""The values of the field ``State`` in a member's current assignment (``MemberState`` of the group coordinator)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MODERN: Final[Mapping[int, str]] = {
    0: "stable",
    1: "unrevoked_partitions",
    2: "unreleased_partitions",
    127: "unknown",
}
"""Of consumer and share groups: ``org.apache.kafka.coordinator.group.modern.MemberState``."""

# Unlike the numbers above, shifted by one.
STREAMS: Final[Mapping[int, str]] = {
    1: "stable",
    2: "unrevoked_tasks",
    3: "unreleased_tasks",
    127: "unknown",
}
"""Of streams groups: ``org.apache.kafka.coordinator.group.streams.MemberState``."""

_STREAMS_RECORD: Final = 22


def state_name(record_type: int, state: int) -> str:
    """Return the name of a state, or its number if it is unknown."""
    return (STREAMS if record_type == _STREAMS_RECORD else MODERN).get(state, str(state))
