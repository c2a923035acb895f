"""A value that is a list of values."""

from __future__ import annotations


class ValueList(tuple[object, ...]):
    """A list of values, in JSON a list, in text separated by commas. Plain tuples, in contrast, are records."""

    def __str__(self) -> str:
        return ",".join(map(str, self))
