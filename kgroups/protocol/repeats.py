"""Take groups from the previous responses if their bytes are the same: repeated polls decode only what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from .reader import Reader

T = TypeVar("T")


class _Decoded(NamedTuple):
    version: int
    data: bytes
    value: Any


class Repeats:
    """The groups of the newest responses of one API: their bytes, and the values decoded from them.

    A group that no response contained since :meth:`turn` was called twice is dropped.
    """

    def __init__(self) -> None:
        self._before: dict[str, _Decoded] = {}
        self._now: dict[str, _Decoded] = {}

    def turn(self) -> None:
        """Begin the next poll."""
        self._before, self._now = self._now, {}

    def read(self, reader: Reader, version: int, name: str, read: Callable[[], T]) -> T:
        """Return what ``read`` returns, or the same object as in the previous poll if it was read from the same bytes.

        :param name: identifies the bytes to compare with; the value must depend on the bytes and the version only.
        """
        start = reader.at
        known = self._before.get(name)
        if known is not None and known.version == version and reader.data.startswith(known.data, start):
            reader.skip(len(known.data))
            self._now[name] = known
            return known.value  # type: ignore[no-any-return]
        value = read()
        reader.inside()
        self._now[name] = _Decoded(version, reader.data[start : reader.at], value)
        return value

    def read_in_order(self, reader: Reader, version: int, names: Iterable[str], read: Callable[[], T]) -> list[T]:
        """Read an array whose elements name their groups later; brokers mostly answer in the order of the request."""
        expected = iter(names)
        return [self.read(reader, version, next(expected, ""), read) for _ in reader.turns(reader.count())]


class RepeatsByApi(dict[int, Repeats]):
    """The newest responses of each API, by key."""

    def __missing__(self, key: int) -> Repeats:
        return self.setdefault(key, Repeats())

    def turn(self) -> None:
        """Begin the next poll."""
        for repeats in self.values():
            repeats.turn()
