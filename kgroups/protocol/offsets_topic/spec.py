"""The words in which record schemas are written down: those of Kafka's message definitions (``*.json``)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

NO_TOPIC_ID: Final = "A" * 22
"""Sixteen zero bytes, which stand for a topic id that is not known."""


class Versions(NamedTuple):
    """A range of versions, both ends included; ``last`` is ``None`` where it is open."""

    first: int
    last: int | None

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version and (self.last is None or version <= self.last)

    def __str__(self) -> str:
        if self.last is None:
            return f"{self.first}+"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def versions(text: str) -> Versions:
    """``"3+"``, ``"1"``, ``"0-4"`` as Kafka's definitions write them; ``"none"`` holds no version at all."""
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
    """``int8 int16 uint16 int32 int64 string bytes uuid``, or the name of a struct; with ``[]`` before it, many."""
    fields: tuple[Field, ...] = ()
    """Of the struct."""
    versions: str = "0+"
    nullable: bool = False
    """In all versions that have it."""
    tag: int | None = None
    """A tagged field is written only where it differs from its ``default``."""
    default: int | None = None
    """Of a number; where none is given, and of all other types, :func:`default_of` knows."""


def default_of(field: Field) -> Any:
    """What a tagged field is where it is not written: zero, empty, a struct of such; never null, as brokers have it.

    (Some definitions say ``"default": null``; Kafka's generator takes that for no default at all, and has brokers write
    null out.)
    """
    if field.type.startswith("[]"):
        return []
    if field.fields:
        return {each.name: default_of(each) for each in field.fields}
    return _ZEROES.get(field.type, field.default or 0)


_ZEROES = {"string": "", "bytes": b"", "uuid": NO_TOPIC_ID}


class RecordType(NamedTuple):
    """The records of one type id. Keys have one version each, and are never flexible."""

    id: int
    name: str
    key: tuple[Field, ...]
    value: tuple[Field, ...]
    valid: str = "0"
    """The versions of the value."""
    flexible: str = "0+"
    """Those with compact strings and tagged fields."""
