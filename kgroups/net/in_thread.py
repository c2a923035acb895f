"""Run blocking work in a thread that the end of the program does not wait for.

The program waits for asyncio's own threads: one that hangs would delay the end of a command long after its time limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from kgroups.errors import BrokerUnavailable, Reason

T = TypeVar("T")
Run = Callable[[], None]


class Crew:
    """A limited number of threads of the process; further work waits for one of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._working = 0
        self._waiting: deque[Run] = deque()

    def start(self, run: Run, name: str) -> None:
        """Run the work, now or later.

        :raises RuntimeError: if no thread can be started, and none exists.
        """
        with self._lock:
            if self._working >= self._most:
                self._waiting.append(run)
                return
            self._working += 1
        try:
            threading.Thread(target=self._work, args=(run,), name=name, daemon=True).start()
        except RuntimeError:
            with self._lock:
                self._working -= 1
                if self._working:
                    self._waiting.append(run)
                    return
            raise

    def _work(self, run: Run | None) -> None:
        while run:
            run()
            with self._lock:
                run = self._waiting.popleft() if self._waiting else None
                if run is None:
                    self._working -= 1


def _start(run: Run, name: str) -> None:
    threading.Thread(target=run, name=name, daemon=True).start()


async def run_in_thread(work: Callable[[], T], name: str, crew: Crew | None = None) -> T:
    """Return what the work returns, or raise what it raises. A caller that is canceled leaves the work running.

    :param name: what the work does, with a verb: "resolve kafka-1".
    :param crew: the threads to use; without one, a new thread.
    :raises BrokerUnavailable: if no thread can be started.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def done(found: T | None, error: BaseException | None) -> None:
        if answer.done():  # no caller waits anymore
            return
        if error:
            answer.set_exception(error)
        else:
            answer.set_result(found)  # type: ignore[arg-type]  # None is what the work returned

    def run() -> None:
        if answer.done():
            return
        found, failed = None, None
        try:
            found = work()
        except BaseException as error:  # any exception belongs to the caller
            failed = error
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(done, found, failed)

    try:
        (crew.start if crew else _start)(run, name)
    except RuntimeError as error:
        text = f"cannot start a thread to {name}: {error}"
        raise BrokerUnavailable(text, reason=Reason.OUT_OF_RESOURCES) from None
    return await answer
