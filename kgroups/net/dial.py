"""Open a connection to a broker: resolve its name, try its addresses, negotiate TLS if configured."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from kgroups.errors import BrokerUnavailable, Reason

from .connection import Connection, Observer, Overdue, unavailable

if TYPE_CHECKING:
    from .in_thread import Crew
    from .tls_handshake import TlsConnector


async def dial(
    host: str,
    port: int,
    *,
    name: str,
    client_id: str,
    timeout: float,
    observer: Observer | None = None,
    tls: TlsConnector | None = None,
) -> Connection:
    """Return an open connection.

    :raises BrokerUnavailable: if the name cannot be resolved, or no connection is made within ``timeout`` s.
    :raises TlsRefused: (a subclass) if the TLS handshake fails.
    """
    try:
        async with asyncio.timeout(timeout):
            return await _reached(lambda: Connection(name, client_id, observer), host, port, tls)
    except TimeoutError:
        raise Overdue("no connection", timeout, peer=name) from None
    except BrokerUnavailable as error:
        error.at(name)
        raise
    except OSError as error:
        raise unavailable(error).at(name) from error
    except (ValueError, OverflowError) as error:  # a broker may advertise anything
        raise invalid_address(error).at(name) from None


async def dial_address(
    host: str, address: str, port: int, *, make: Callable[[], Connection], tls: TlsConnector | None
) -> Connection:
    """Return a connection to one of the host's addresses.

    :raises OSError: if the connection is not accepted.
    :raises TlsRefused: if the TLS handshake fails; the error does not name the broker.
    """
    if tls:
        connection = await tls.connect(make, host, address, port)
        connection.tls = tls
        return connection
    _, connection = await asyncio.get_running_loop().create_connection(make, address, port)
    return connection


async def _reached(make: Callable[[], Connection], host: str, port: int, tls: TlsConnector | None) -> Connection:
    """Return a connection to the first of the host's addresses that accepts one."""
    refused: OSError | None = None
    for address in await addresses(host, port):
        try:
            return await dial_address(host, address, port, make=make, tls=tls)
        except OSError as error:
            refused = error
    raise refused or no_address(host)


def invalid_address(error: Exception) -> BrokerUnavailable:
    return BrokerUnavailable(f"invalid address: {error}", reason=Reason.INVALID_ADDRESS)


def no_address(host: str) -> BrokerUnavailable:
    return BrokerUnavailable(f"{host} has no address", reason=Reason.NAME_NOT_RESOLVED)


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
