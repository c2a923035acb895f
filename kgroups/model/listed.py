"""A value that is a list of values."""

from __future__ import annotations


class ValueList(tuple[object, ...]):
    """In JSON a list, in text its values with commas. Plain tuples are records, and say what their fields mean."""

    def __str__(self) -> str:
        return ",".join(map(str, self))
