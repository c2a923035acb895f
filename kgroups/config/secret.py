"""Hold passwords, keys, and tokens so that they are not shown by accident."""

from __future__ import annotations

MASK = "****"


class SecretDict(dict[str, str]):
    """A dict whose ``repr`` shows its keys and masks its values."""

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{key}: {MASK}' for key in self)}}}"


class Secret:
    """A text that only :meth:`reveal` returns; ``repr``, ``str``, ``format``, logs, and JSON do not show it.

    It can be pickled: Spark's executors need the secrets of the driver.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text itself; the caller is responsible for not exposing it."""
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
