"""Authenticate to brokers with SASL, and again before a session ends. Imported only if SASL is configured.

Rule: rejected credentials are not sent again. Until one broker has accepted them, at most :data:`TRIES` brokers see
them at the same time, and the first rejection ends the command: a wrong password on many brokers locks an account.
"""

from __future__ import annotations

import asyncio
import random
from typing import TypeVar

from kgroups.config.security import Mechanism, Sasl
from kgroups.errors import (
    AuthenticationFailed,
    BrokerUnavailable,
    KgroupsError,
    ProtocolError,
    Reason,
    UnsupportedMechanism,
    UnsupportedVersion,
)
from kgroups.model.visible import one_line
from kgroups.protocol.apis import sasl_authenticate, sasl_handshake
from kgroups.protocol.call import Call
from kgroups.protocol.error_codes import Code
from kgroups.protocol.sasl import Dialogue
from kgroups.protocol.versions import BrokerVersions

from .connection import Connection, ConnectionLost
from .deadline import Deadline
from .identity import LONGEST_REASON, Identity
from .in_thread import run_in_thread

T = TypeVar("T")

TRIES = 2
"""Brokers that may see the credentials before one has accepted them. Two: the first may hang."""

ROUNDS = 16
"""Round trips that a mechanism may take; Kerberos, the longest, takes four."""

RENEW_FROM, RENEW_TO = 0.85, 0.95
"""Part of a session's lifetime after which it is renewed, random in this range as in Java: not all clients at once."""

CHECK_CREDENTIALS = (
    "check sasl.mechanism, the credentials (sasl.jaas.config), and that the broker knows this user or token"
)

SHORTEST = 1.2
"""Seconds. A broker rejects reauthentication within one second; shorter sessions get a new connection."""


class Authenticator:
    """Authenticates all connections of one command, with one mechanism and one principal.

    :raises UnsupportedMechanism: for a mechanism that the wire client does not support.
    """

    def __init__(self, sasl: Sasl) -> None:
        if sasl.mechanism not in list(Mechanism):
            raise UnsupportedMechanism(
                f"the wire client does not support SASL mechanism {sasl.mechanism}; it supports {', '.join(Mechanism)}"
            )
        self._sasl = sasl
        self._accepted = False
        self._rejected: AuthenticationFailed | None = None
        self._gate = asyncio.Semaphore(TRIES)
        self._identity = Identity(sasl)

    async def on(self, connection: Connection, versions: BrokerVersions, host: str, allowed: Deadline) -> None:
        """Authenticate a connection, and renew the session as long as the connection is open.

        :raises AuthenticationFailed: if this broker or an earlier one rejects the credentials, or there is no token.
        :raises MissingPackage: if the mechanism requires an extra.
        :raises BrokerUnavailable: if the broker does not respond in time or closes the connection.
        """
        if self._accepted:
            await self._first(connection, versions, host, allowed)
            return
        try:
            async with asyncio.timeout(allowed.remaining()):
                await self._gate.acquire()
        except TimeoutError:
            text = "timed out while waiting for other brokers to authenticate this client"
            raise BrokerUnavailable(text, peer=connection.name, reason=Reason.NO_RESPONSE) from None
        try:
            await self._first(connection, versions, host, allowed)
        finally:
            self._gate.release()

    async def _first(self, connection: Connection, versions: BrokerVersions, host: str, allowed: Deadline) -> None:
        if self._rejected:
            raise self._rejected
        try:
            lifetime = await self._talk(connection, versions, host, allowed)
        except ConnectionLost as error:  # not retried, unlike the loss of a connection that has worked
            text = f"{error.text}, during authentication ({self._identity.who})"
            raise BrokerUnavailable(text, peer=error.peer, reason=error.reason, hint=error.hint) from None
        except AuthenticationFailed as error:
            if not self._accepted:
                self._rejected = error
            raise
        self._accepted = True
        if lifetime is not None:
            connection.keep(self._renew(connection, versions, host, lifetime, allowed.seconds))

    async def _renew(
        self, connection: Connection, versions: BrokerVersions, host: str, lifetime: float, patience: float
    ) -> None:
        """Reauthenticate before each session ends (KIP-368); other requests wait meanwhile.

        If the broker closes the connection, the waiting requests are sent on a new one.
        """
        left: float | None = lifetime
        try:
            while left is not None and left * RENEW_FROM > SHORTEST:
                await asyncio.sleep(left * random.uniform(RENEW_FROM, RENEW_TO))
                connection.hold()
                left = await self._talk(connection, versions, host, Deadline(patience))
                connection.release()
        except ConnectionLost:
            pass
        except KgroupsError as error:
            failed = error if isinstance(error, BrokerUnavailable) else _failed(error, error.text)
            if isinstance(failed, AuthenticationFailed):
                self._rejected = failed
            connection.fail(failed)
        finally:
            connection.release()

    async def _talk(
        self, connection: Connection, versions: BrokerVersions, host: str, allowed: Deadline
    ) -> float | None:
        """Authenticate; return the seconds until the session ends, or ``None`` if it does not end.

        :raises ConnectionLost: if the broker closes the connection.
        """
        began = asyncio.get_running_loop().time()
        try:
            await self._agree(connection, versions, allowed)
            dialogue = await self._identity.dialogue(connection.name, host, allowed)
            lifetime = await self._converse(connection, versions, dialogue, allowed)
        except ProtocolError as error:
            raise _failed(error, f"{error.text}, during authentication ({self._identity.who})") from None
        connection.ends = None if lifetime is None else began + lifetime
        return lifetime

    async def _agree(self, connection: Connection, versions: BrokerVersions, allowed: Deadline) -> None:
        """Negotiate the mechanism: only the configured one."""
        mechanism = self._sasl.mechanism
        answer = await _ask(connection, versions, sasl_handshake.SaslHandshake(mechanism), allowed)
        if answer.error == Code.unsupported_sasl_mechanism:
            offered = one_line(", ".join(answer.offered))[:LONGEST_REASON] or "none"
            raise AuthenticationFailed(
                f"SASL mechanism {mechanism} is not enabled on this port; the broker offers {offered}",
                peer=connection.name,
                reason=Reason.MECHANISM_UNSUPPORTED,
                hint="set sasl.mechanism to a mechanism that the broker offers, with credentials for it",
            )
        if answer.error == Code.illegal_sasl_state:
            raise AuthenticationFailed(
                "the listener on this port does not use SASL",
                peer=connection.name,
                reason=Reason.AUTHENTICATION_NOT_SUPPORTED,
                hint="set security.protocol to PLAINTEXT or SSL",
            )
        if answer.error:
            raise self._refusal(connection, answer.error.name)

    async def _converse(
        self, connection: Connection, versions: BrokerVersions, dialogue: Dialogue, allowed: Deadline
    ) -> float | None:
        message = await self._step(connection, dialogue, None, allowed)
        for _ in range(ROUNDS):
            assert message is not None
            answer = await _ask(connection, versions, sasl_authenticate.SaslAuthenticate(message), allowed)
            if answer.error:
                raise self._refusal(
                    connection, self._identity.masked(answer.reason or answer.error.name.replace("_", " "))
                )
            message = await self._step(connection, dialogue, answer.message, allowed)
            if message is None:
                return answer.lifetime
        text = f"{self._identity.who}: authentication did not complete after {ROUNDS} messages"
        raise AuthenticationFailed(text, peer=connection.name, reason=Reason.INVALID_RESPONSE)

    def _refusal(self, connection: Connection, why: str) -> AuthenticationFailed:
        text = f"SASL authentication failed ({self._identity.who}): {why}"
        if over := self._identity.over:
            text = f"{text}; the token expired at {over}"
            return AuthenticationFailed(text, peer=connection.name, reason=Reason.TOKEN_EXPIRED, hint="get a new token")
        error = AuthenticationFailed(text, peer=connection.name, hint=self._identity.placeholder or CHECK_CREDENTIALS)
        error.received = why
        return error

    async def _step(
        self, connection: Connection, dialogue: Dialogue, answer: bytes | None, allowed: Deadline
    ) -> bytes | None:
        """Return the mechanism's next message; ``None`` if authentication is complete."""

        def step() -> bytes | None:
            try:
                return next(dialogue) if answer is None else dialogue.send(answer)
            except StopIteration:
                return None

        try:
            if self._sasl.mechanism != Mechanism.GSSAPI:
                return step()
            async with asyncio.timeout(allowed.remaining()):
                return await run_in_thread(step, "authenticate with Kerberos")
        except TimeoutError:
            text = f"{self._identity.who}: no response from Kerberos in time"
            raise AuthenticationFailed(text, peer=connection.name, reason=Reason.NO_RESPONSE) from None
        except (AuthenticationFailed, ProtocolError) as error:
            raise _failed(error, f"{self._identity.who}: {self._identity.masked(error.text)}").at(
                connection.name
            ) from None


def _failed(error: KgroupsError, text: str) -> AuthenticationFailed:
    """Convert an error to an authentication failure, which is not retried."""
    return AuthenticationFailed(text, peer=error.peer, reason=error.reason, hint=error.hint)


async def _ask(connection: Connection, versions: BrokerVersions, call: Call[T], allowed: Deadline) -> T:
    try:
        version = versions.pick(call.api)
    except UnsupportedVersion as error:
        raise _failed(error, f"does not support SASL: {error.text}").at(connection.name) from None
    return await connection.call(call, version, allowed.remaining(), ahead=True)
