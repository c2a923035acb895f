"""Search for secrets in the output of programs and in their command lines (ps) while they run."""

from __future__ import annotations

import base64
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from kgroups.sandbox.security import Secure
from tests.integration.bad_configs import WRONG

_TOKEN = re.compile(r"eyJ[\w-]{20,}")
"""The start of every JWT: the token server keeps no list of the tokens that it issues."""

_OFTEN = 0.02
"""Seconds between two scans: the shortest program runs ten times as long."""


class Leaks:
    """All secrets, also in the forms in which they are sent."""

    def __init__(self, secure: Secure) -> None:
        self._texts = {WRONG, *secure.secrets, *_packed(secure), *_keys(secure)}

    def in_(self, text: str) -> list[str]:
        """The secrets that a text shows."""
        return [secret for secret in self._texts if secret in text] + _TOKEN.findall(text)


def _packed(secure: Secure) -> Iterator[str]:
    """As HTTP and SASL send them."""
    clients = secure.tokens.clients if secure.tokens else {}
    for name, password in (*secure.users.items(), *clients.items()):
        for text in (f"{name}:{password}", f"\0{name}\0{password}"):
            yield base64.b64encode(text.encode()).decode().rstrip("=")
        yield repr(password)[1:-1]


def _keys(secure: Secure) -> Iterator[str]:
    """A line from the middle of each private key."""
    for file in secure.certificates.folder.glob("*.key"):
        yield file.read_text().splitlines()[5]


class CommandLines:
    """Every command line that this machine shows while the ``with`` lasts."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.is_set():
            for process in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    self.seen.add(process.read_bytes().decode(errors="replace").replace("\0", " "))
                except OSError:
                    continue  # it has ended
            time.sleep(_OFTEN)
