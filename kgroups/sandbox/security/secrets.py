"""The passwords and tokens of a secure sandbox: made anew for each, and all known, so that a test can look for them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator


class Secrets:
    """Makes secrets, and remembers what it made."""

    def __init__(self) -> None:
        self._made: list[str] = []

    def new(self) -> str:
        """A password of letters and digits, as openssl, keytool and Kafka's tools all take it."""
        made = secrets.token_hex(12)
        self._made.append(made)
        return made

    def awkward(self) -> str:
        """One with everything in it that quotes, JAAS lines and properties files must escape."""
        made = f"{secrets.token_hex(8)} \"b\\a=c:k;s'l#a!s,h\\\\é"
        self._made.append(made)
        return made

    def keep(self, text: str) -> str:
        """Remembers one that somebody else made."""
        self._made.append(text)
        return text

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)
