"""The TLS handshake with a broker, and the error if it fails."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import TypeVar

from kgroups.config.security import Tls
from kgroups.errors import Reason, TlsRefused

from .certificates import Certificate, shown_by
from .tls import tls_context
from .tls_errors import handshake_failure, untrusted

P = TypeVar("P", bound=asyncio.Protocol)

NEVER = 3600.0
"""Seconds after which asyncio aborts a handshake; the caller's time limit is shorter."""

LOOK = 3.0
"""Seconds that reading a rejected certificate may take."""


class Untrusted(TlsRefused):
    """A broker's certificate was not accepted; ``shown`` is its chain, if that could be read."""

    def __init__(self, text: str, shown: Sequence[Certificate], *, reason: Reason, hint: str) -> None:
        super().__init__(text, reason=reason, hint=hint)
        self.shown = tuple(shown)


class TlsConnector:
    """Opens all TLS connections of one command.

    :raises ConfigError: if the settings are invalid.
    """

    def __init__(self, tls: Tls) -> None:
        self._tls = tls
        self._context = tls_context(tls)

    async def connect(self, make: Callable[[], P], host: str, address: str, port: int) -> P:
        """Return a protocol on a connection to one of a host's addresses; the certificate must match the host.

        :raises OSError: if the connection is not accepted.
        :raises TlsRefused: if the handshake fails; the error does not name the broker.
        """
        loop = asyncio.get_running_loop()
        # Connected first, so that any error from here on is known to be the handshake's.
        plain = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            plain.setblocking(False)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(plain, (address, port))
        except BaseException:
            plain.close()
            raise
        name = host.rstrip(".")
        try:
            _, protocol = await loop.create_connection(
                make, sock=plain, ssl=self._context, server_hostname=name, ssl_handshake_timeout=NEVER
            )
        except asyncio.CancelledError:
            raise
        except OSError as error:
            raise await self._not_agreed(error, name, address, port) from None
        return protocol

    async def _not_agreed(self, error: OSError, name: str, address: str, port: int) -> TlsRefused:
        if isinstance(error, ssl.SSLCertVerificationError):
            shown = await shown_chain(name, address, port)
            why = untrusted(error, name, shown)
            return Untrusted(why.text, shown, reason=why.reason, hint=why.hint)
        return self.refusal(error)

    def refusal(self, error: OSError) -> TlsRefused:
        """Return the error of a failed handshake or a TLS alert, without the broker's name."""
        why = handshake_failure(error, ours=bool(self._tls.certificate))
        return TlsRefused(why.text, reason=why.reason, hint=why.hint)


async def shown_chain(name: str, address: str, port: int) -> list[Certificate]:
    """Return the chain that a broker sends, trusted or not, its own certificate first; empty if none arrives in time.

    ``ssl`` does not expose a certificate that it rejects, so this connects a second time. Nothing is sent but the
    handshake, without a client certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(LOOK):
            transport, _ = await loop.create_connection(
                asyncio.Protocol, address, port, ssl=context, server_hostname=name
            )
    except (OSError, TimeoutError):
        return []
    try:
        return shown_by(transport.get_extra_info("ssl_object"))
    finally:
        transport.abort()
