"""Texts that nobody may see: passwords, keys, tokens."""

from __future__ import annotations

MASK = "****"


class Veiled(dict[str, str]):
    """A dict that shows its keys, and of its values nothing."""

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{key}: {MASK}' for key in self)}}}"


class Secret:
    """Holds a text and shows it to nobody who does not ask by name: not to ``repr``, ``str``, ``format``, logs, JSON.

    It can be pickled: Spark's executors need what the driver was given.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself. Whoever calls this answers for where it goes."""
        return self._text

    def __repr__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __reduce__(self) -> tuple[type[Secret], tuple[str]]:
        return Secret, (self._text,)
