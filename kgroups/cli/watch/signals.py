"""Signals that end a process, for what has changed the terminal and must first put it back."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Ended(BaseException):
    """The process was told to end."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP raise :class:`Ended` inside the block; once that is left, the process ends by the signal.

    A signal that is ignored (``nohup``) stays ignored.
    """
    received: list[int] = []
    before = {each: signal.getsignal(each) for each in _ENDING if signal.getsignal(each) is signal.SIG_DFL}

    def hear(number: int, frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_IGN)  # a second one is not to disturb what the first one set off
        received.append(number)
        raise Ended

    for each in before:
        signal.signal(each, hear)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        if received:
            os.kill(os.getpid(), received[0])
