"""The client's identity: the SASL messages of each mechanism, and what of them may appear in errors."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from kgroups.config.placeholders import placeholder_hint
from kgroups.config.secret import MASK, Secret
from kgroups.config.security import Credentials, Kerberos, Mechanism, Password, Sasl, StaticToken
from kgroups.errors import AuthenticationFailed, ConfigError, MissingPackage, Reason, install_command
from kgroups.model.visible import one_line
from kgroups.protocol.sasl import Dialogue
from kgroups.protocol.sasl.oauthbearer import oauthbearer
from kgroups.protocol.sasl.plain import plain

from .deadline import Deadline

if TYPE_CHECKING:
    from .tokens import Tokens

LONGEST_REASON = 500
"""Characters of a broker's message that are shown."""

ENDPOINT_LOG = "check that the token endpoint responds"

SHORTEST_SECRET = 4
"""Characters; shorter secrets occur in any text by chance."""


class Identity:
    """The identity of one command. Tokens are fetched on demand, and again before they expire."""

    def __init__(self, sasl: Sasl) -> None:
        self._sasl = sasl
        self._tokens: Tokens | None = None
        self._token: Secret | None = None

    @property
    def placeholder(self) -> str | None:
        """The hint if the user name, the password, or the token is a placeholder that was not resolved."""
        match self._sasl.credentials:
            case Password(username, password):
                return placeholder_hint("the user name", username) or placeholder_hint(
                    "the password", password.reveal()
                )
            case StaticToken(token):
                return placeholder_hint("the token", token.reveal())
        return None

    async def dialogue(self, name: str, host: str, allowed: Deadline) -> Dialogue:
        """Return the messages of the configured mechanism.

        :param name: the broker's name, for errors.
        :raises AuthenticationFailed: if there is no token, or none in time.
        :raises ConfigError: if the credentials belong to another mechanism.
        :raises MissingPackage: without python-gssapi.
        """
        mechanism, credentials = self._sasl
        if isinstance(credentials, Password) and mechanism == Mechanism.PLAIN:
            return plain(credentials)
        if isinstance(credentials, Password) and mechanism in (Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512):
            from kgroups.protocol.sasl.scram import scram

            return scram(mechanism, credentials)
        if isinstance(credentials, Kerberos) and mechanism == Mechanism.GSSAPI:
            try:
                from kgroups.protocol.sasl.kerberos import kerberos
            except ImportError as error:  # python-gssapi, or the system's library
                text = f"GSSAPI requires a Kerberos library ({error}): {install_command('gssapi')}"
                raise MissingPackage(text) from None
            return kerberos(credentials, host)
        if mechanism == Mechanism.OAUTHBEARER and not isinstance(credentials, Password | Kerberos):
            return await self._bearing(name, credentials, host, allowed)
        raise ConfigError(f"sasl.jaas.config has no credentials for {mechanism}")

    async def _bearing(self, name: str, credentials: Credentials, host: str, allowed: Deadline) -> Dialogue:
        from .tokens import tokens_of

        self._tokens = self._tokens or tokens_of(credentials, host)
        assert self._tokens
        try:
            async with asyncio.timeout(allowed.remaining()):
                self._token = await self._tokens.token()
        except TimeoutError:
            text = f"{self.who}: no token in time"
            raise AuthenticationFailed(text, peer=name, reason=Reason.TOKEN_UNAVAILABLE, hint=ENDPOINT_LOG) from None
        return oauthbearer(self._token, self._tokens.extensions)

    @property
    def who(self) -> str:
        """Return the mechanism and the user, for errors."""
        credentials = self._sasl.credentials
        user = credentials.username if isinstance(credentials, Password) else None
        if isinstance(credentials, Kerberos):
            user = credentials.principal
        return f"{self._sasl.mechanism} as {user}" if user else self._sasl.mechanism

    @property
    def over(self) -> str | None:
        """Return when the token expired, or ``None``. Brokers do not report it for a token that they reject."""
        if self._token is None:
            return None
        from kgroups.config.formats.jwt import expired_at

        return expired_at(self._token.reveal(), time.time())

    def masked(self, reason: str) -> str:
        """Return a broker's message without the secrets that were sent to it."""
        credentials = self._sasl.credentials
        secret = credentials.password if isinstance(credentials, Password) else self._token
        if secret and len(secret.reveal()) >= SHORTEST_SECRET:
            reason = reason.replace(secret.reveal(), MASK)
        return one_line(reason)[:LONGEST_REASON]
