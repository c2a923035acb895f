"""Work that blocks, in a thread that nobody waits for.

asyncio's own threads are waited for at the end of the program: one that hangs would keep a command for long after its
time-out.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def aside(work: Callable[[], T], name: str) -> T:
    """What the work gives, or raises. Who gives up waiting leaves it to itself."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def done(found: T | None, error: BaseException | None) -> None:
        if answer.done():  # nobody waits any more
            return
        if error:
            answer.set_exception(error)
        else:
            answer.set_result(found)  # type: ignore[arg-type]  # None is what the work gave

    def run() -> None:
        found, failed = None, None
        try:
            found = work()
        except BaseException as error:  # whatever it is, it is the asker's
            failed = error
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(done, found, failed)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await answer
