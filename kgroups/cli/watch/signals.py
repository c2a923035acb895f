"""Signals that end the process, after the state of the terminal is restored."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Ended(BaseException):
    """The process received a signal to end."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raise :class:`Ended` in the block on SIGTERM and SIGHUP; after the block, end the process by the signal.

    A terminal that is gone (EIO) counts as SIGHUP. An ignored signal (``nohup``) stays ignored.
    """
    received: list[int] = []
    before = {each: signal.getsignal(each) for each in _ENDING if signal.getsignal(each) is signal.SIG_DFL}

    def handle(number: int, frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_IGN)  # a second signal must not interrupt the cleanup
        received.append(number)
        raise Ended

    for each in before:
        signal.signal(each, handle)
    try:
        yield
    except OSError as error:
        if error.errno != errno.EIO or signal.SIGHUP not in before:
            raise
        received.append(
            signal.SIGHUP
        )  # the terminal is gone; the kernel sends SIGHUP only to processes that it controls
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        if received:
            os.kill(os.getpid(), received[0])
