"""The types of record schemas, with the terms of Kafka's message definitions (``*.json``)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

NO_TOPIC_ID: Final = "A" * 22
"""Sixteen zero bytes: the topic ID is unknown."""


class Versions(NamedTuple):
    """A range of versions, both ends included; ``last`` is ``None`` if it is open."""

    first: int
    last: int | None

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version and (self.last is None or version <= self.last)

    def __str__(self) -> str:
        if self.last is None:
            return f"{self.first}+"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def versions(text: str) -> Versions:
    """Parse ``"3+"``, ``"1"``, or ``"0-4"``, as in Kafka's definitions; ``"none"`` is the empty range."""
    if text == "none":
        return Versions(0, -1)
    if text.endswith("+"):
        return Versions(int(text[:-1]), None)
    first, _, last = text.partition("-")
    return Versions(int(first), int(last or first))


class Field(NamedTuple):
    """One field of a record or of a struct in it."""

    name: str
    type: str
    """``int8 int16 uint16 int32 int64 string bytes uuid``, or the name of a struct; with ``[]`` first, an array."""
    fields: tuple[Field, ...] = ()
    """The fields of the struct."""
    versions: str = "0+"
    nullable: bool = False
    """In all versions of the field."""
    tag: int | None = None
    """A tagged field is written only if it differs from its ``default``."""
    default: int | None = None
    """The default of a number; see :func:`default_of`."""


def default_of(field: Field) -> Any:
    """Return the value of a tagged field that is not written: zero, empty, or a struct of defaults; never null.

    Some definitions have ``"default": null``. Kafka's generator treats that as no default, and brokers write null.
    """
    if field.type.startswith("[]"):
        return []
    if field.fields:
        return {each.name: default_of(each) for each in field.fields}
    return _ZEROES.get(field.type, field.default or 0)


_ZEROES = {"string": "", "bytes": b"", "uuid": NO_TOPIC_ID}


class RecordType(NamedTuple):
    """The records of one type. A key has one version, and is never flexible."""

    id: int
    name: str
    key: tuple[Field, ...]
    value: tuple[Field, ...]
    valid: str = "0"
    """The versions of the value."""
    flexible: str = "0+"
    """The versions with compact strings and tagged fields."""
