"""The passwords and tokens of a secure sandbox: new for each, and recorded, so that tests can search for leaks."""

from __future__ import annotations

import secrets
from collections.abc import Iterator


class Secrets:
    """Creates and records secrets."""

    def __init__(self) -> None:
        self._made: list[str] = []

    def new(self) -> str:
        """Return a new password of letters and digits, which openssl, keytool, and Kafka's tools accept."""
        made = secrets.token_hex(12)
        self._made.append(made)
        return made

    def awkward(self) -> str:
        """Return a new password with characters that must be escaped in quotes, JAAS entries, or properties files."""
        made = f"{secrets.token_hex(8)} \"b\\a=c:k;s'l#a!s,h\\\\é"
        self._made.append(made)
        return made

    def keep(self, text: str) -> str:
        """Record a secret that was created elsewhere, and return it."""
        self._made.append(text)
        return text

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)
