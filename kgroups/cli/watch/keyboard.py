"""Read single keys from a terminal, without blocking the display."""

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
    """The pressed keys; none if standard input is not a terminal."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def pressed(self, seconds: float) -> Iterator[str]:
        """Wait for at most this time and yield the first pressed keys; ignore escape sequences (arrows)."""
        if self._descriptor is None:
            select.select([], [], [], seconds)
            return
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        if not ready:
            return
        data = self._read(self._descriptor)
        if not data:  # the terminal is gone; the kernel sends SIGHUP only to processes that it controls
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
    """Read keys without Enter and without echo inside the block; Ctrl-C still interrupts."""
    if not sys.stdin.isatty():
        yield Keyboard(None)
        return
    descriptor = sys.stdin.fileno()
    before: list[Any] = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield Keyboard(descriptor)
    finally:
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
