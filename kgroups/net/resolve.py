"""Names to addresses, without holding anybody up.

asyncio asks in a thread that the end of the program waits for: a name server that does not answer would keep a command
for long after its time-out. Nobody waits for this one.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from typing import Any


async def addresses(host: str, port: int) -> list[str]:
    """The addresses of a host, in the order in which they are to be tried.

    :raises OSError: when it cannot be resolved.
    :raises ValueError: when it cannot be a name.
    """
    if _is_address(host):
        return [host]
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[Any]] = loop.create_future()

    def done(found: list[Any] | None, error: Exception | None) -> None:
        if answer.done():  # nobody waits any more
            return
        if error:
            answer.set_exception(error)
        else:
            answer.set_result(found or [])

    def ask() -> None:
        found, failed = None, None
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except Exception as error:  # whatever it is, it is the asker's
            failed = error
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(done, found, failed)

    threading.Thread(target=ask, name=f"resolve {host}", daemon=True).start()
    return list(dict.fromkeys(entry[4][0] for entry in await answer))


def _is_address(host: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        with contextlib.suppress(OSError, ValueError):
            socket.inet_pton(family, host)
            return True
    return False
