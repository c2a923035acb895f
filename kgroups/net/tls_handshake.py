"""The TLS handshake with a broker, and what to say when there is none."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from kgroups.config.security import Tls
from kgroups.errors import Reason, TlsRefused

from .tls import tls_context

if TYPE_CHECKING:
    from .certificates import Certificate

P = TypeVar("P", bound=asyncio.Protocol)

NEVER = 3600.0
"""Seconds after which asyncio gives a handshake up: the caller's clock is quicker."""

LOOK = 3.0
"""Seconds that a look at a certificate that was not accepted may take."""


class Untrusted(TlsRefused):
    """A broker's certificate was not accepted; ``shown``: that and those that came with it, where they could be had."""

    def __init__(self, text: str, shown: Sequence[Certificate], *, reason: Reason, hint: str) -> None:
        super().__init__(text, reason=reason, hint=hint)
        self.shown = tuple(shown)


class TlsConnector:
    """By which all connections of one command go.

    :raises ConfigError: when the settings cannot be.
    """

    def __init__(self, tls: Tls) -> None:
        self._tls = tls
        self._context = tls_context(tls)

    async def connect(self, make: Callable[[], P], host: str, address: str, port: int) -> P:
        """A protocol on a connection to one of a host's addresses; its certificate must be the host's.

        :raises OSError: when nobody accepts the connection.
        :raises TlsRefused: when the handshake fails; its text is without the broker.
        """
        loop = asyncio.get_running_loop()
        # By hand, so that what goes wrong from here on is known to be the handshake.
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
            from .tls_errors import untrusted

            shown = await shown_chain(name, address, port)
            why = untrusted(error, name, shown)
            return Untrusted(why.text, shown, reason=why.reason, hint=why.hint)
        return self.refusal(error)

    def refusal(self, error: OSError) -> TlsRefused:
        """Why there is no TLS, or no longer; without the broker."""
        from .tls_errors import handshake_failure

        why = handshake_failure(error, ours=bool(self._tls.certificate))
        return TlsRefused(why.text, reason=why.reason, hint=why.hint)


async def shown_chain(name: str, address: str, port: int) -> list[Certificate]:
    """The certificates that a broker sends, believed or not, its own first; none when it sends none in time.

    ssl tells nothing of a certificate that it refuses, so the broker is asked once more. On that connection nothing is
    sent but the handshake, in which we show no certificate of ours; it ends here.
    """
    from .certificates import shown_by

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
