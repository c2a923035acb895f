"""A table of a configuration file that records which keys were read, so that none is dropped silently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_TRUE, _FALSE = ("true", "yes", "on", "y"), ("false", "no", "off", "n")


class KeyedTable:
    """A mapping with nested tables. What nobody reads is returned by :meth:`take_unread`.

    Methods raise :exc:`TypeError` or :exc:`ValueError` if a value has another structure than requested.
    """

    def __init__(self, values: Any, path: str = "", *, folded: bool = False) -> None:
        """Create a table.

        :param path: the start of the keys' paths: ``tls.``.
        :param folded: whether the case of keys does not matter.
        """
        if not isinstance(values, Mapping):
            raise TypeError
        self._values = values
        self._path = path
        self._folded = folded
        self._names = {self._fold(key): key for key in values}
        self._read: set[Any] = set()
        self._tables: dict[Any, KeyedTable] = {}

    def _fold(self, key: Any) -> Any:
        return str(key).casefold() if self._folded else key

    def __contains__(self, key: str) -> bool:
        return self._values.get(self._names.get(self._fold(key))) is not None

    def peek(self, key: str) -> str | None:
        """Return a value as text without marking it as read."""
        value = self._values.get(self._names.get(self._fold(key)))
        return None if value is None else str(value)

    def get(self, key: str) -> Any:
        """Return a value; ``None`` if it is missing."""
        name = self._names.get(self._fold(key))
        if name is None:
            return None
        self._read.add(name)
        return self._values[name]

    def text(self, key: str) -> str | None:
        """Return a value as text; ``None`` if it is missing or empty."""
        value = self.get(key)
        if isinstance(value, Mapping | list):
            raise TypeError
        return None if value is None or value == "" else str(value)

    def flag(self, key: str) -> bool | None:
        """Return a boolean; ``None`` if it is missing."""
        value = self.get(key)
        word = str(value).casefold()
        if value is None or value == "":
            return None
        if word not in (*_TRUE, *_FALSE):
            raise ValueError
        return word in _TRUE

    def texts(self, key: str) -> list[str]:
        """Return a list of texts."""
        value = self.get(key)
        values = value if isinstance(value, list) else [] if value is None else [value]
        if any(isinstance(each, Mapping | list) for each in values):
            raise TypeError
        return [str(each) for each in values]

    def table(self, key: str) -> KeyedTable:
        """Return a nested table; an empty one if it is missing. Its unread keys are unread keys of this table."""
        name = self._names.get(self._fold(key), key)
        if name not in self._tables:
            self._tables[name] = KeyedTable(self.get(key) or {}, f"{self._path}{name}.", folded=self._folded)
        return self._tables[name]

    def items(self, key: str) -> list[KeyedTable]:
        """Return the tables of a list, each of which reports its own unread keys."""
        value = self.get(key)
        if not isinstance(value, list):
            raise TypeError
        return [KeyedTable(each, folded=self._folded) for each in value]

    def named_tables(self, key: str) -> dict[str, KeyedTable]:
        """Return the tables of a table, each of which reports its own unread keys."""
        value = self.get(key)
        if not isinstance(value, Mapping):
            raise TypeError
        return {str(name): KeyedTable(each, folded=self._folded) for name, each in value.items()}

    def take_unread(self) -> Iterator[str]:
        """Yield the paths of the values that were not read, and mark them as read; empty values set nothing."""
        for name, value in self._values.items():
            if name in self._tables:
                yield from self._tables[name].take_unread()
            elif name not in self._read:
                self._read.add(name)
                yield from _paths(value, f"{self._path}{name}")


def _paths(value: Any, path: str) -> Iterator[str]:
    """Yield the path of each value that is not empty."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _paths(each, f"{path}.{name}")
    elif isinstance(value, list) and any(isinstance(each, Mapping | list) for each in value):
        for at, each in enumerate(value):
            yield from _paths(each, f"{path}[{at}]")
    elif not (value is None or value in ("", [])):
        yield path
