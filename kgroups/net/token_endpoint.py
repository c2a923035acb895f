"""Gets tokens from an OAuth server as a client of its own (client credentials: RFC 6749, 4.4; KIP-768).

Strategy: one small HTTP request on asyncio, so that the whole of it, the handshake and each byte of the answer, is
bounded by one clock. No redirect is followed: it would carry the secret elsewhere. Errors name the endpoint and OAuth's
error code; never the secret, nor what stands in the address before an ``@`` or behind a ``?``.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

from kgroups.config.formats.jwt import end_of
from kgroups.config.secret import MASK, Secret
from kgroups.config.security import ClientCredentials, Tls
from kgroups.errors import AuthenticationFailed, ConfigError
from kgroups.model.visible import one_line

from .http_answer import Answer, BadAnswer, read_answer
from .resolve import addresses
from .token import Token

LARGEST = 1024 * 1024
"""Bytes of an answer; tokens of cluster-wide services have some thousands."""

LONGEST_WORD = 200
"""Characters of the endpoint's own words that are shown."""

SHORTEST_SECRET = 4
"""Characters: what is shorter is found in any words."""


class TokenEndpoint:
    """:raises ConfigError: for an address that is not one of http or https, or TLS settings that cannot be."""

    def __init__(self, credentials: ClientCredentials) -> None:
        self._credentials = credentials
        try:
            url = urlsplit(credentials.endpoint)
            port = url.port
        except ValueError:
            raise ConfigError("sasl.oauthbearer.token.endpoint.url: that is no address") from None
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ConfigError("sasl.oauthbearer.token.endpoint.url: it must be https://HOST[:PORT]/PATH")
        self._host = url.hostname
        self._port = port or (443 if url.scheme == "https" else 80)
        self._path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        self._authority = f"[{self._host}]" if ":" in self._host else self._host
        if port:
            self._authority += f":{port}"
        self._name = f"token endpoint {url.scheme}://{self._authority}{url.path}"
        self._context: ssl.SSLContext | None = None
        if url.scheme == "https":
            from .tls import tls_context

            self._context = tls_context(credentials.tls or Tls())

    async def fetch(self) -> Token:
        """A new token.

        :raises AuthenticationFailed: when there is none to be had in time.
        """
        seconds = self._credentials.timeout
        try:
            async with asyncio.timeout(seconds):
                answer = await self._asked()
        except TimeoutError:
            raise AuthenticationFailed(f"{self._name}: no whole answer within {seconds:g} s") from None
        except ssl.SSLCertVerificationError as error:
            raise AuthenticationFailed(
                f"{self._name}: its certificate is not accepted: {error.verify_message}"
            ) from None
        except ssl.SSLError as error:
            raise AuthenticationFailed(f"{self._name}: TLS failed: {error.reason or 'closed'}") from None
        except OSError as error:
            refused = isinstance(error, ConnectionRefusedError)
            reason = "connection refused" if refused else (error.strerror or "closed the connection").lower()
            raise AuthenticationFailed(f"{self._name}: {reason}") from None
        except BadAnswer as error:
            raise AuthenticationFailed(f"{self._name}: {error}") from None
        except ValueError:  # no host name: a label too long, a blank in it
            raise AuthenticationFailed(f"{self._name}: that cannot be an address") from None
        return self._token(answer)

    async def _asked(self) -> Answer:
        unreached: OSError | None = None
        for address in await addresses(self._host, self._port):
            try:
                reader, writer = await asyncio.open_connection(
                    address,
                    self._port,
                    ssl=self._context,
                    server_hostname=self._host if self._context else None,
                    limit=LARGEST,
                )
            except ssl.SSLError:
                raise
            except OSError as error:
                unreached = error
                continue
            try:
                writer.write(self._request())
                return await read_answer(reader, LARGEST)
            finally:
                writer.transport.abort()
        raise unreached or OSError("no address")

    @property
    def _basic(self) -> tuple[str, str]:
        """The secret as it is put into the header, and all that stands there."""
        who, secret = self._credentials.client_id, self._credentials.client_secret.reveal()
        if self._credentials.url_encode:
            who, secret = quote_plus(who), quote_plus(secret)
        return secret, base64.b64encode(f"{who}:{secret}".encode()).decode()

    def _request(self) -> bytes:
        asked = {"grant_type": "client_credentials"}
        if self._credentials.scope:
            asked["scope"] = self._credentials.scope
        body = urlencode(asked).encode()
        _, basic = self._basic
        lines = (
            f"POST {self._path} HTTP/1.1",
            f"Host: {self._authority}",
            f"Authorization: Basic {basic}",
            "Content-Type: application/x-www-form-urlencoded",
            f"Content-Length: {len(body)}",
            "Accept: application/json",
            "Cache-Control: no-cache",
            "User-Agent: kgroups",
            "Connection: close",
            "",
            "",
        )
        return "\r\n".join(lines).encode() + body

    def _token(self, answer: Answer) -> Token:
        said = _json(answer.body)
        if answer.status != 200:
            raise AuthenticationFailed(f"{self._name}: {_refusal(answer.status, said, self._masked)}")
        token = said.get("access_token")
        if not isinstance(token, str) or not token.strip():
            raise AuthenticationFailed(f"{self._name}: the answer is no JSON with an access_token")
        token = token.strip()
        return Token(Secret(token), _life(token, time.time()) or _seconds(said.get("expires_in")))

    def _masked(self, words: str) -> str:
        """The endpoint's words, without what we told it in confidence."""
        for secret in (self._credentials.client_secret.reveal(), *self._basic):
            if len(secret) >= SHORTEST_SECRET:
                words = words.replace(secret, MASK)
        return one_line(words)[:LONGEST_WORD]


def _life(token: str, now: float) -> float | None:
    """As the token itself says, which is what brokers go by, and Java's clients; ``None`` where it does not, or where
    it is over by our clock: a token that was given just now is not."""
    ends = end_of(token)
    return ends - now if ends is not None and ends > now else None


def _seconds(said: object) -> float | None:
    """How long a token is good for; some endpoints say it in a string."""
    if isinstance(said, str) and said.isascii() and said.isdigit() and len(said) < 12:
        said = int(said)
    good = isinstance(said, int | float) and not isinstance(said, bool) and 0 < said < 1e9
    return float(said) if good else None  # type: ignore[arg-type]  # a number, then


def _json(body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _refusal(status: int, said: dict[str, Any], masked: Callable[[str], str]) -> str:
    """An error in OAuth's words (RFC 6749, 5.2), where the endpoint has some."""
    words = [masked(str(said[key])) for key in ("error", "error_description") if said.get(key)]
    if words:
        return f"HTTP {status}, " + ": ".join(words)
    if 300 <= status < 400:
        return f"HTTP {status}, a redirect, which is not followed: it would take the secret elsewhere"
    return f"HTTP {status}, and not a word of OAuth"
