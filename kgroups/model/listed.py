"""Values that are lists."""

from __future__ import annotations


class ValueList(tuple[object, ...]):
    """A list of values, in JSON a list, in text separated by commas. Plain tuples, in contrast, are records."""

    def __str__(self) -> str:
        return ",".join(map(str, self))


class Records(tuple[object, ...]):
    """A list of rows, which are named tuples; in JSON a list of objects."""
