"""Formatting shared by the output of Kafka's own tools: missing values, widths, and padding like Java.

Names are not escaped, so that scripts get them unchanged; for a terminal, ``show`` escapes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kgroups.model.assignment import Assignment
from kgroups.model.groups import Group

Show = Callable[[str], str]

ABSENT = "-"
UNKNOWN = "Unknown"
"""A type or a state that the broker does not report, in a list."""

NAME = 15
COORDINATOR = 25
"""Minimum widths of the columns of names and of coordinators."""


def or_dash(value: object) -> str:
    """Return the value as text; ``-`` if it is absent."""
    return ABSENT if value is None else str(value)


def coordinator_text(group: Group, show: Show = str) -> str:
    node = group.coordinator
    return f"{show(node.host)}:{node.port}  ({node.id})"


def assignment_text(assignment: Assignment | None, nothing: str = ABSENT) -> str:
    """Return ``t-a:0,1;t:4``, sorted as text, in which dashes, dots, and digits sort before the colon of a topic."""
    if assignment is None or not (assignment.topics or assignment.raw):
        return nothing
    if assignment.raw:
        return str(assignment.raw)
    return ";".join(sorted(f"{entry.topic}:{','.join(map(str, entry.partitions))}" for entry in assignment.topics))


def java_length(text: str) -> int:
    """Return the length in UTF-16 code units, like Java."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def pad(text: str, width: int) -> str:
    return text.ljust(width) if text.isascii() else text + " " * (width - java_length(text))


def widest(minimum: int, texts: Iterable[str]) -> int:
    """Return the width of a column of these texts."""
    return max(minimum, *map(java_length, texts), 0)
