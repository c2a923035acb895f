"""Connect to a broker: TLS, API versions, and authentication."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kgroups.config.settings import ClientSettings
from kgroups.errors import ProtocolError
from kgroups.protocol.apis import api_versions
from kgroups.protocol.budget import Budget
from kgroups.protocol.framing import decode_response
from kgroups.protocol.versions import BrokerVersions

from .connection import Connection, ConnectionLost, Observer
from .deadline import Deadline
from .dial import dial
from .pace import Pace

if TYPE_CHECKING:
    from .authenticator import Authenticator
    from .tls_handshake import TlsConnector


class ReadyConnection(NamedTuple):
    """An authenticated connection, and the API versions of its broker."""

    connection: Connection
    versions: BrokerVersions


class Connector:
    """Opens all connections of one command.

    :raises ConfigError: if the TLS settings are invalid.
    :raises UnsupportedMechanism: for a SASL mechanism that the wire client does not support.
    """

    def __init__(self, settings: ClientSettings, observer: Observer | None, pace: Pace | None = None) -> None:
        self._client_id = settings.client_id
        self._observer = observer
        self._pace = pace
        self._tls: TlsConnector | None = None
        self._authenticator: Authenticator | None = None
        self._answered: set[tuple[str, int]] = set()
        if settings.security and settings.security.tls:
            from .tls_handshake import TlsConnector

            self._tls = TlsConnector(settings.security.tls)
        if settings.security and settings.security.sasl:
            from .authenticator import Authenticator

            self._authenticator = Authenticator(settings.security.sasl)

    async def link(
        self, host: str, port: int, name: str, allowed: Deadline, versions: BrokerVersions | None = None
    ) -> ReadyConnection:
        """Return a new connection, ready for requests.

        :param versions: those of the broker, if they are known from another open connection.
        :raises BrokerUnavailable: (or a subclass) if the broker cannot be reached, or rejects the client.
        :raises ProtocolError: if the response is not a Kafka broker's.
        """
        connection = await dial(
            host,
            port,
            name=name,
            client_id=self._client_id,
            timeout=allowed.remaining(),
            observer=self._observer,
            tls=self._tls,
        )
        connection.pace = self._pace
        try:
            try:
                link = ReadyConnection(connection, versions or await negotiate(connection, allowed))
                self._answered.add((host, port))
                connection.throttled(link.versions.pause)
            except ConnectionLost as error:
                if (host, port) in self._answered:
                    raise  # not because of the settings
                raise self._with_tls_hint(error) from None
            if self._authenticator:
                await self._authenticator.on(connection, link.versions, host, allowed)
            connection.trust()
            return link
        except BaseException:
            connection.close()
            raise

    # What a closed connection may mean: brokers do not report it.

    def _with_tls_hint(self, error: ConnectionLost) -> ConnectionLost:
        """Return the error of a connection closed at ApiVersions, which requires no authentication: TLS may differ."""
        hint = "if the listener uses TLS, set security.protocol to SSL or SASL_SSL"
        if self._tls:
            hint = "if the broker requires a client certificate, set ssl.keystore.location to one that it trusts"
        return ConnectionLost(error.text, peer=error.peer, hint=hint)

    def with_authentication_hint(self, error: ConnectionLost) -> ConnectionLost:
        """Return the error of a connection closed at the second request, the first that requires authentication."""
        if self._authenticator:
            return error
        wanted = "SASL_SSL" if self._tls else "SASL_PLAINTEXT"
        hint = f"if the listener requires authentication, set security.protocol to {wanted}, and sasl.mechanism"
        return ConnectionLost(error.text, peer=error.peer, hint=hint)


async def negotiate(connection: Connection, allowed: Deadline) -> BrokerVersions:
    """Return the API versions of a broker: ask in the newest version, and in v0 if the broker does not support that."""
    call = api_versions.ApiVersions()
    frame = await connection.exchange(call, api_versions.API.newest, allowed.remaining())
    if frame[4:6] == api_versions.UNSUPPORTED:
        return await connection.call(call, 0, allowed.remaining())
    try:
        return decode_response(call, api_versions.API.newest, frame, Budget(allowed))
    except ProtocolError as error:
        error.within("not a valid ApiVersions response").at(connection.name)
        raise
