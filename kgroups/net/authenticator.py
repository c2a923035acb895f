"""Signs in to brokers by SASL, and again before a sign-in ends. Imported only where a cluster asks for it.

Rule: who is refused does not try again. Until one broker has let us in, no more than :data:`TRIES` are tried at a time,
and the first refusal ends the command: a wrong password on each of many brokers locks an account.
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
"""Brokers that may see our credentials before one has believed them. Two: the first may hang."""

ROUNDS = 16
"""Messages that a mechanism may take; Kerberos, the longest, takes four."""

RENEW_FROM, RENEW_TO = 0.85, 0.95
"""Parts of a sign-in's life between which it is renewed, by chance: not all clients at once, as Java has it."""

CHECK_CREDENTIALS = (
    "check sasl.mechanism, the credentials (sasl.jaas.config), and that the broker knows this user or token"
)

SHORTEST = 1.2
"""Seconds. A broker takes no second sign-in on a connection within one; what ends sooner gets a new connection."""


class Authenticator:
    """How all connections of one command sign in: by one mechanism, and no other; as one principal.

    :raises UnsupportedMechanism: for one that we do not speak.
    """

    def __init__(self, sasl: Sasl) -> None:
        if sasl.mechanism not in list(Mechanism):
            raise UnsupportedMechanism(
                f"kgroups' own client does not speak the SASL mechanism {sasl.mechanism}, but {', '.join(Mechanism)}"
            )
        self._sasl = sasl
        self._believed = False
        self._refused: AuthenticationFailed | None = None
        self._gate = asyncio.Semaphore(TRIES)
        self._we = Identity(sasl)

    async def on(self, connection: Connection, versions: BrokerVersions, host: str, allowed: Deadline) -> None:
        """Signs in on a connection, and stays signed in as long as it is open.

        :raises AuthenticationFailed: when the broker, or an earlier one, does not let us in, or there is no token.
        :raises MissingPackage: when the mechanism needs an extra.
        :raises BrokerUnavailable: when the broker does not answer in time or closes the connection.
        """
        if self._believed:
            await self._first(connection, versions, host, allowed)
            return
        try:
            async with asyncio.timeout(allowed.remaining()):
                await self._gate.acquire()
        except TimeoutError:
            text = "waited for other brokers to answer the sign-in"
            raise BrokerUnavailable(text, peer=connection.name, reason=Reason.NO_RESPONSE) from None
        try:
            await self._first(connection, versions, host, allowed)
        finally:
            self._gate.release()

    async def _first(self, connection: Connection, versions: BrokerVersions, host: str, allowed: Deadline) -> None:
        if self._refused:
            raise self._refused
        try:
            lifetime = await self._talk(connection, versions, host, allowed)
        except ConnectionLost as error:  # not to be tried again, as a connection that once worked is
            text = f"{error.text}, during the sign-in with {self._we.who}"
            raise BrokerUnavailable(text, peer=error.peer, reason=error.reason, hint=error.hint) from None
        except AuthenticationFailed as error:
            if not self._believed:
                self._refused = error
            raise
        self._believed = True
        if lifetime is not None:
            connection.keep(self._renew(connection, versions, host, lifetime, allowed.seconds))

    async def _renew(
        self, connection: Connection, versions: BrokerVersions, host: str, lifetime: float, patience: float
    ) -> None:
        """Signs in again before each sign-in ends (KIP-368); what others ask meanwhile waits.

        A broker that closes the connection over it has lost one that worked: who waits goes by a new one.
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
                self._refused = failed
            connection.fail(failed)
        finally:
            connection.release()

    async def _talk(
        self, connection: Connection, versions: BrokerVersions, host: str, allowed: Deadline
    ) -> float | None:
        """Signs in; gives how many seconds that holds: ``None`` for ever.

        :raises ConnectionLost: when the broker closes the connection.
        """
        began = asyncio.get_running_loop().time()
        try:
            await self._agree(connection, versions, allowed)
            dialogue = await self._we.dialogue(connection.name, host, allowed)
            lifetime = await self._converse(connection, versions, dialogue, allowed)
        except ProtocolError as error:
            raise _failed(error, f"{error.text}, during the sign-in with {self._we.who}") from None
        connection.ends = None if lifetime is None else began + lifetime
        return lifetime

    async def _agree(self, connection: Connection, versions: BrokerVersions, allowed: Deadline) -> None:
        """On the mechanism: ours or none."""
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
                raise self._refusal(connection, self._we.masked(answer.reason or answer.error.name.replace("_", " ")))
            message = await self._step(connection, dialogue, answer.message, allowed)
            if message is None:
                return answer.lifetime
        text = f"{self._we.who}: authentication did not complete after {ROUNDS} messages"
        raise AuthenticationFailed(text, peer=connection.name, reason=Reason.INVALID_RESPONSE)

    def _refusal(self, connection: Connection, why: str) -> AuthenticationFailed:
        text = f"SASL authentication failed ({self._we.who}): {why}"
        if over := self._we.over:
            text = f"{text}; the token expired at {over}"
            return AuthenticationFailed(text, peer=connection.name, reason=Reason.TOKEN_EXPIRED, hint="get a new token")
        return AuthenticationFailed(text, peer=connection.name, hint=CHECK_CREDENTIALS)

    async def _step(
        self, connection: Connection, dialogue: Dialogue, answer: bytes | None, allowed: Deadline
    ) -> bytes | None:
        """The mechanism's next message; ``None`` when it has none: we are signed in."""

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
            text = f"{self._we.who}: no answer from Kerberos in time"
            raise AuthenticationFailed(text, peer=connection.name, reason=Reason.NO_RESPONSE) from None
        except (AuthenticationFailed, ProtocolError) as error:
            raise _failed(error, f"{self._we.who}: {self._we.masked(error.text)}").at(connection.name) from None


def _failed(error: KgroupsError, text: str) -> AuthenticationFailed:
    """The same failure as one of authentication, which is not tried again."""
    return AuthenticationFailed(text, peer=error.peer, reason=error.reason, hint=error.hint)


async def _ask(connection: Connection, versions: BrokerVersions, call: Call[T], allowed: Deadline) -> T:
    try:
        version = versions.pick(call.api)
    except UnsupportedVersion as error:
        raise _failed(error, f"does not support SASL: {error.text}").at(connection.name) from None
    return await connection.call(call, version, allowed.remaining(), ahead=True)
