"""Tokens for OAUTHBEARER: one for all connections of a command, renewed before it expires."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from kgroups.config.aws import signed_token
from kgroups.config.secret import Secret
from kgroups.config.security import (
    AwsIam,
    ClientCredentials,
    Credentials,
    StaticToken,
    TokenFile,
    UnsecuredToken,
)
from kgroups.config.unsecured import unsecured_jws
from kgroups.errors import AuthenticationFailed, Reason

from .in_thread import run_in_thread
from .token import Token

USED_UP = 0.8
"""Part of a token's lifetime after which no broker gets it anymore: sessions are renewed later, and need a new one."""

GRACE = 5.0
"""Seconds for which a failure is kept: other brokers need not wait for the same unresponsive endpoint."""

LONG = 60.0
"""Seconds to use a token with an unknown lifetime."""

LARGEST = 1024 * 1024
"""Maximum size of a token file in bytes."""


class Tokens:
    """Returns the current token; callers that ask while it is being fetched wait for the same one."""

    def __init__(self, get: Callable[[], Awaitable[Token]], extensions: Mapping[str, str], *, keep: bool) -> None:
        """:param keep: whether a token can be used more than once."""
        self.extensions = extensions
        self._get = get
        self._keep = keep
        self._task: asyncio.Task[Secret] | None = None
        self._good_until = 0.0

    async def token(self) -> Secret:
        """Return the current token.

        :raises AuthenticationFailed: if there is none.
        """
        now = asyncio.get_running_loop().time()
        if self._task is None or (self._task.done() and now >= self._good_until):
            self._task = asyncio.ensure_future(self._fetch())
            self._task.add_done_callback(_looked_at)
        return await asyncio.shield(self._task)

    async def _fetch(self) -> Secret:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            value, lifetime = await self._get()
        except AuthenticationFailed:
            self._good_until = loop.time() + GRACE
            raise
        usable = 0.0 if not self._keep else LONG if lifetime is None else lifetime * USED_UP
        self._good_until = began + usable
        return value


def _looked_at(task: asyncio.Task[Secret]) -> None:
    """Read the exception: asyncio logs one that is never read, as when all callers were canceled."""
    if not task.cancelled():
        task.exception()


def tokens_of(credentials: Credentials, host: str) -> Tokens | None:
    """Return the source of tokens for some credentials; ``None`` if they are not for tokens.

    :param host: the first broker's host: for MSK it contains the region.
    """
    match credentials:
        case StaticToken(token, extensions):
            return Tokens(lambda: _done(Token(token)), extensions, keep=True)
        case TokenFile(path, extensions):
            return Tokens(lambda: _done(_from_file(path)), extensions, keep=False)
        case UnsecuredToken():
            return Tokens(lambda: _done(_unsecured(credentials)), credentials.extensions, keep=True)
        case ClientCredentials():
            from .token_endpoint import TokenEndpoint

            return Tokens(TokenEndpoint(credentials).fetch, credentials.extensions, keep=True)
        case AwsIam():
            return Tokens(lambda: _signed(credentials, host), {}, keep=True)
    return None


async def _done(token: Token) -> Token:
    return token


def _from_file(path: str) -> Token:
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
        value = data.decode("ascii").strip()
    except OSError as error:
        raise AuthenticationFailed(
            f"no token: cannot read {path}: {error.strerror}", reason=Reason.TOKEN_UNAVAILABLE
        ) from None
    except UnicodeDecodeError:
        raise AuthenticationFailed(
            f"no token: {path} contains characters that are not allowed in a token", reason=Reason.TOKEN_UNAVAILABLE
        ) from None
    if not value or len(data) > LARGEST:
        raise _unavailable(f"no token: {path} is {'too long' if value else 'empty'}")
    return Token(Secret(value))


def _unavailable(text: str) -> AuthenticationFailed:
    return AuthenticationFailed(text, reason=Reason.TOKEN_UNAVAILABLE)


def _unsecured(claims: UnsecuredToken) -> Token:
    return Token(unsecured_jws(claims, time.time()), claims.lifetime)


async def _signed(credentials: AwsIam, host: str) -> Token:
    token, ends = await run_in_thread(lambda: signed_token(credentials, host), "sign a token for AWS")
    return Token(token, max(0.0, ends - time.time()))
