"""Single keys from a terminal, while something else goes on."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

ESCAPE = "\x1b"
ENTER = ("\r", "\n")
ERASE = ("\x7f", "\x08")


class Keyboard:
    """What is typed; nothing where there is no terminal to type at."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def pressed(self, seconds: float) -> Iterator[str]:
        """The keys that are pressed in that time, which ends with the first of them; an arrow is no key."""
        if self._descriptor is None:
            select.select([], [], [], seconds)
            return
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        if not ready:
            return
        data = self._read(self._descriptor)
        if not data:  # the terminal is gone; who does not have it as its own is sent no signal
            self._descriptor = None
            os.kill(os.getpid(), signal.SIGHUP)
        text = data.decode("utf-8", "ignore")
        if text.startswith(ESCAPE) and len(text) > 1:
            return
        yield from text

    @staticmethod
    def _read(descriptor: int) -> bytes:
        try:
            return os.read(descriptor, 64)
        except OSError:
            return b""


@contextmanager
def keyboard() -> Iterator[Keyboard]:
    """Keys come as they are pressed while this is open, and are not shown; Ctrl-C stays what it is."""
    if not sys.stdin.isatty():
        yield Keyboard(None)
        return
    descriptor = sys.stdin.fileno()
    before: list[Any] = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield Keyboard(descriptor)
    finally:
        with suppress(termios.error):  # of a terminal that is gone
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
