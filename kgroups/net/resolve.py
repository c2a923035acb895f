"""Names to addresses, without holding anybody up: a name server that does not answer keeps no command."""

from __future__ import annotations

import contextlib
import socket
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .in_thread import Crew

LOOKUPS = 16
"""Names that are looked up at a time: a broker may name any number of others."""


async def addresses(host: str, port: int) -> list[str]:
    """The addresses of a host, in the order in which they are to be tried.

    :raises OSError: when it cannot be resolved.
    :raises ValueError: when it cannot be a name.
    :raises BrokerUnavailable: when no thread can be started for it.
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
