"""The type of a group."""

from __future__ import annotations

from collections.abc import Iterator

from ..groups import GroupType, canonical_word
from .check import Check, Evidence, Flag, either
from .findings import Finding


def parse_type(value: object) -> str:
    """Parse a group type.

    :raises ValueError: if it is unknown.
    """
    found = canonical_word(value, GroupType.ALL) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{value!r} is not a group type; use one of {', '.join(GroupType.ALL)}")
    return found


def _judge(evidence: Evidence) -> Iterator[Finding]:
    expected, found = evidence.limits.type, evidence.last.offsets.group.type
    yield either(evidence, "type", found == expected, f"{found}", f"{expected} is expected")


CHECK = Check(
    "type",
    "type",
    Flag("Require this group type: classic, consumer, share, or streams.", "TYPE"),
    "a type",
    parse_type,
    judge=_judge,
    about_offsets=False,
)
