"""What the texts of Kafka's own tools share: absent values, widths, and padding as Java pads.

Names are written as they are, so that scripts get what was committed; for a terminal ``show`` makes them harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kgroups.model.assignment import Assignment
from kgroups.model.groups import Group

Show = Callable[[str], str]

ABSENT = "-"
UNKNOWN = "Unknown"
"""A type or a state that the broker does not tell, in a list."""

NAME = 15
COORDINATOR = 25
"""The least widths of the columns of names and of coordinators."""


def or_dash(value: object) -> str:
    """Return the value as text; ``-`` if it is absent."""
    return ABSENT if value is None else str(value)


def coordinator_text(group: Group, show: Show = str) -> str:
    node = group.coordinator
    return f"{show(node.host)}:{node.port}  ({node.id})"


def assignment_text(assignment: Assignment | None, nothing: str = ABSENT) -> str:
    """``t-a:0,1;t:4``. Sorted as texts: before a topic's colon come dashes, dots and digits."""
    if assignment is None or not (assignment.topics or assignment.raw):
        return nothing
    if assignment.raw:
        return str(assignment.raw)
    return ";".join(sorted(f"{entry.topic}:{','.join(map(str, entry.partitions))}" for entry in assignment.topics))


def java_length(text: str) -> int:
    """In UTF-16 units, as Java counts and pads."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def pad(text: str, width: int) -> str:
    return text.ljust(width) if text.isascii() else text + " " * (width - java_length(text))


def widest(least: int, texts: Iterable[str]) -> int:
    """The width of a column that holds these texts."""
    return max(least, *map(java_length, texts), 0)
