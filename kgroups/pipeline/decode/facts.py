"""What the records of groups put into the tables, row by row; and how JSON becomes rows.

Strategy: a *teller* takes one decoded record and yields its facts, each a table's name and those of its columns that
have a value; place and group are added for all alike. ``classic``, ``modern`` and ``streams`` have the tellers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

GROUP_METADATA = "group_metadata"
MEMBERS = "members"
ASSIGNMENTS = "assignments"
EPOCHS = "epochs"


class Body(NamedTuple):
    """A decoded record; ``value`` is as Kafka's converters write it, bytes in base64, and ``None`` for a tombstone."""

    key: Mapping[str, Any]
    value: Mapping[str, Any] | None


Fact = tuple[str, dict[str, Any]]
"""Table, and column -> value."""

Teller = Callable[[Body], Iterator[Fact]]


def ascending(partitions: Sequence[int]) -> list[int]:
    return sorted(partitions)


def some(text: str | None) -> str | None:
    """The text; ``None`` for the empty one too, with which brokers say the same in optional fields."""
    return text or None


def known(number: int | None) -> int | None:
    """The number; ``None`` for -1, with which Kafka says that there is none."""
    return None if number == -1 else number


def epoch_teller(kind: str, subject: str, field: str) -> Teller:
    """Tells the epoch that stands in ``field``, of a group or of its target assignment."""

    def tell(body: Body) -> Iterator[Fact]:
        epoch = body.value[field] if body.value else None
        yield EPOCHS, {"kind": kind, "subject": subject, "epoch": epoch}

    return tell
