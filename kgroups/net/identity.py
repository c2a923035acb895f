"""Who we are to brokers: what we say to sign in, by each mechanism, and what of it may be told to others."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from kgroups.config.secret import MASK, Secret
from kgroups.config.security import Credentials, Kerberos, Mechanism, Password, Sasl
from kgroups.errors import AuthenticationFailed, ConfigError, Reason
from kgroups.model.visible import one_line
from kgroups.protocol.sasl import Dialogue

from .deadline import Deadline

if TYPE_CHECKING:
    from .tokens import Tokens

LONGEST_REASON = 500
"""Characters of a broker's own words that are shown."""

ENDPOINT_LOG = "check that the token endpoint responds"

SHORTEST_SECRET = 4
"""Characters: what is shorter is found in any words."""


class Identity:
    """That of one command. Tokens are got when first needed, and again before they end."""

    def __init__(self, sasl: Sasl) -> None:
        self._sasl = sasl
        self._tokens: Tokens | None = None
        self._token: Secret | None = None

    async def dialogue(self, name: str, host: str, allowed: Deadline) -> Dialogue:
        """What we say, by the mechanism that was asked for.

        :param name: the broker's, for errors.
        :raises AuthenticationFailed: when there is no token to be had in time.
        :raises ConfigError: for credentials of another mechanism.
        """
        mechanism, credentials = self._sasl
        if isinstance(credentials, Password) and mechanism == Mechanism.PLAIN:
            from kgroups.protocol.sasl.plain import plain

            return plain(credentials)
        if isinstance(credentials, Password) and mechanism in (Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512):
            from kgroups.protocol.sasl.scram import scram

            return scram(mechanism, credentials)
        if isinstance(credentials, Kerberos) and mechanism == Mechanism.GSSAPI:
            from kgroups.protocol.sasl.kerberos import kerberos

            return kerberos(credentials, host)
        if mechanism == Mechanism.OAUTHBEARER and not isinstance(credentials, Password | Kerberos):
            return await self._bearing(name, credentials, host, allowed)
        raise ConfigError(f"{mechanism} cannot be spoken with what there is to sign in with (sasl.jaas.config)")

    async def _bearing(self, name: str, credentials: Credentials, host: str, allowed: Deadline) -> Dialogue:
        from kgroups.protocol.sasl.oauthbearer import oauthbearer

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
        """Mechanism and user, for errors."""
        credentials = self._sasl.credentials
        user = credentials.username if isinstance(credentials, Password) else None
        if isinstance(credentials, Kerberos):
            user = credentials.principal
        return f"{self._sasl.mechanism} as {user}" if user else self._sasl.mechanism

    @property
    def over(self) -> str | None:
        """Since when the token is over, which brokers do not say of one that they refuse; ``None`` when it is not."""
        if self._token is None:
            return None
        from kgroups.config.formats.jwt import over_since

        return over_since(self._token.reveal(), time.time())

    def masked(self, reason: str) -> str:
        """A broker's words, without what we told it in confidence."""
        credentials = self._sasl.credentials
        secret = credentials.password if isinstance(credentials, Password) else self._token
        if secret and len(secret.reveal()) >= SHORTEST_SECRET:
            reason = reason.replace(secret.reveal(), MASK)
        return one_line(reason)[:LONGEST_REASON]
