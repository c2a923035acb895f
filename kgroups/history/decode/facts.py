"""Types and functions to extract table rows from decoded records of groups.

Strategy: an *extractor* takes one decoded record and yields facts: the name of a table, and the values of a row. Absent
values are omitted; the caller adds the position in the log and the group. ``classic``, ``modern``, and ``streams`` have
the extractors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

GROUP_METADATA = "group_metadata"
MEMBERS = "members"
ASSIGNMENTS = "assignments"
EPOCHS = "epochs"


class Body(NamedTuple):
    """A decoded record, as JSON of Kafka's converters with bytes in base64; ``value`` is ``None`` for a tombstone."""

    key: Mapping[str, Any]
    value: Mapping[str, Any] | None


Fact = tuple[str, dict[str, Any]]
"""Table, and its values by column."""

Extractor = Callable[[Body], Iterator[Fact]]


def none_if_empty(text: str | None) -> str | None:
    """Return the text; ``None`` if it is empty, which brokers write for an absent optional field."""
    return text or None


def none_if_absent(number: int | None) -> int | None:
    """Return the number; ``None`` if it is -1, which Kafka writes for an absent number."""
    return None if number == -1 else number


def epoch_extractor(kind: str, subject: str, field: str) -> Extractor:
    """Make an extractor of the epoch in ``field``, of a group or of its target assignment."""

    def extract(body: Body) -> Iterator[Fact]:
        epoch = body.value[field] if body.value else None
        yield EPOCHS, {"kind": kind, "subject": subject, "epoch": epoch}

    return extract


LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999. Old clients could write any time; -1 means absent."""


def micros(milliseconds: int | None) -> int | None:
    """Convert to microseconds since 1970; ``None`` if absent, negative, or after :data:`LAST_MS`."""
    if milliseconds is None or not 0 <= milliseconds <= LAST_MS:
        return None
    return milliseconds * 1000
