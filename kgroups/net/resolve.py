"""Resolve host names in threads, so that an unresponsive name server does not block a command."""

from __future__ import annotations

import contextlib
import socket
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .in_thread import Crew

LOOKUPS = 256
"""Names to resolve at the same time: metadata may name any number of hosts, and some may take long."""


async def addresses(host: str, port: int) -> list[str]:
    """Return the addresses of a host, in the order in which to try them.

    :raises OSError: if it cannot be resolved.
    :raises ValueError: if it is not a valid name.
    :raises BrokerUnavailable: if no thread can be started.
    """
    if _is_address(host):
        return [host]
    from .in_thread import run_in_thread

    found = await run_in_thread(
        lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), f"resolve {host}", _crew()
    )
    return list(dict.fromkeys(str(entry[4][0]) for entry in found or ()))


@cache
def _crew() -> Crew:
    from .in_thread import Crew

    return Crew(LOOKUPS)


def _is_address(host: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        with contextlib.suppress(OSError, ValueError):
            socket.inet_pton(family, host)
            return True
    return False
