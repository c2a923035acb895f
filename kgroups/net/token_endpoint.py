"""Get tokens from an OAuth server with the client's own credentials (client credentials: RFC 6749, 4.4; KIP-768).

Strategy: one small request with ``http.client`` in a thread. One clock bounds all of it: when time is up, the socket is
shut down, which ends the thread. Redirects are not followed: they would carry the secret elsewhere. Errors name the
endpoint and OAuth's error code, never the secret, nor what is before an ``@`` or after a ``?`` in the address.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import socket
import ssl
import string
import threading
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPSConnection, InvalidURL
from typing import Any
from urllib.parse import quote, quote_plus, urlencode, urlsplit

from kgroups.config.formats.jwt import expiry_of
from kgroups.config.placeholders import placeholder_hint
from kgroups.config.secret import MASK, Secret
from kgroups.config.security import ClientCredentials, Tls
from kgroups.errors import AuthenticationFailed, ConfigError, Reason
from kgroups.model.visible import one_line

from .http_answer import Answer, BadAnswer, BoundedResponse, read_answer
from .in_thread import run_in_thread
from .tls import tls_context
from .token import Token

LONGEST_WORD = 200
"""Characters of the endpoint's message that are shown."""

SHORTEST_SECRET = 4
"""Characters; shorter secrets occur in any text by chance."""


_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_CHECK = "check sasl.oauthbearer.token.endpoint.url, and that the endpoint responds"
_CREDENTIALS = "check the client ID, the secret or the assertion, and the scope"
_TRUST = "if you trust it, add its certificate authority to the truststore for the token endpoint"


class TokenEndpoint:
    """Fetches tokens from one endpoint.

    :raises ConfigError: if the address is not an http or https URL, or the TLS settings are invalid.
    """

    def __init__(self, credentials: ClientCredentials) -> None:
        self._credentials = credentials
        self._assertion: Secret | None = None
        try:
            url = urlsplit(credentials.endpoint)
            port = url.port
        except ValueError:
            raise ConfigError("sasl.oauthbearer.token.endpoint.url: invalid address") from None
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ConfigError("sasl.oauthbearer.token.endpoint.url must be https://HOST[:PORT]/PATH")
        self._host = url.hostname
        self._port = port or (443 if url.scheme == "https" else 80)
        # http.client takes ASCII without spaces; what is encoded already stays as it is.
        self._path = quote((url.path or "/") + (f"?{url.query}" if url.query else ""), safe=string.punctuation)
        self._authority = f"[{self._host}]" if ":" in self._host else self._host
        if port:
            self._authority += f":{port}"
        self._name = f"token endpoint {url.scheme}://{self._authority}{url.path}"
        self._context: ssl.SSLContext | None = None
        if url.scheme == "https":
            self._context = tls_context(credentials.tls or Tls())

    async def fetch(self) -> Token:
        """Return a new token.

        :raises AuthenticationFailed: if there is none, or none in time.
        """
        seconds = self._credentials.timeout
        sockets: list[socket.socket] = []
        ended = threading.Event()
        try:
            async with asyncio.timeout(seconds):
                answer = await run_in_thread(lambda: self._answer(sockets, ended), f"get a token from {self._host}")
        except TimeoutError:
            raise self._failed(f"no complete response within {seconds:g} s") from None
        except ssl.SSLCertVerificationError as error:
            raise self._failed(f"its certificate is not accepted: {error.verify_message}", _TRUST) from None
        except ssl.SSLError as error:
            raise self._failed(f"TLS failed: {error.reason or 'closed'}") from None
        except OSError as error:
            refused = isinstance(error, ConnectionRefusedError)
            text = "connection refused" if refused else (error.strerror or "closed the connection").lower()
            raise self._failed(text) from None
        except BadAnswer as error:
            raise self._failed(str(error)) from None
        except (InvalidURL, ValueError):  # for example, a label of the host name is too long
            raise self._failed("invalid address") from None
        finally:
            ended.set()
            for each in sockets:  # a thread that still waits for it ends; closed already, if there is an answer
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(each, socket.SHUT_RDWR)
        return self._token(answer)

    def _answer(self, sockets: list[socket.socket], ended: threading.Event) -> Answer:
        """Send the request and read the response. Blocks.

        :param sockets: takes the socket, as soon as it is connected.
        :param ended: set when the caller no longer waits for the response: then the secret is not sent.
        """
        connection = HTTPConnection(self._host, self._port, timeout=self._credentials.timeout)
        if self._context:
            connection = HTTPSConnection(
                self._host, self._port, timeout=self._credentials.timeout, context=self._context
            )
        connection.response_class = BoundedResponse
        try:
            connection.connect()
            sockets.append(connection.sock)
            if ended.is_set():
                raise TimeoutError
            connection.request("POST", self._path, self._body, self._headers)
            return read_answer(connection.getresponse)
        finally:
            connection.close()

    def _failed(
        self, text: str, hint: str | None = None, reason: Reason = Reason.TOKEN_UNAVAILABLE
    ) -> AuthenticationFailed:
        return AuthenticationFailed(text, peer=self._name, reason=reason, hint=hint or _CHECK)

    @property
    def _basic(self) -> tuple[str, str]:
        """Return the secret as the header contains it, and the encoded credentials."""
        client_id, secret = self._credentials.client_id, self._credentials.client_secret.reveal()
        if self._credentials.url_encode:
            client_id, secret = quote_plus(client_id), quote_plus(secret)
        return secret, base64.b64encode(f"{client_id}:{secret}".encode()).decode()

    @property
    def _placeholder(self) -> str | None:
        client_id, secret = self._credentials.client_id, self._credentials.client_secret.reveal()
        return placeholder_hint("the client ID", client_id) or placeholder_hint("the client secret", secret)

    @property
    def _body(self) -> bytes:
        client = self._credentials
        fields = {"grant_type": _BEARER if client.bearer else "client_credentials"}
        if client.assertion:
            from kgroups.config.formats.assertion import assertion_of

            self._assertion = assertion_of(client.assertion, time.time())
            if client.bearer:
                fields["assertion"] = self._assertion.reveal()
            else:
                fields |= {"client_assertion_type": _ASSERTION_TYPE, "client_assertion": self._assertion.reveal()}
                fields |= {"client_id": client.client_id} if client.client_id else {}
        if self._credentials.scope:
            fields["scope"] = self._credentials.scope
        return urlencode(fields).encode()

    @property
    def _headers(self) -> dict[str, str]:
        identity = {} if self._credentials.assertion else {"Authorization": f"Basic {self._basic[1]}"}
        return {
            **identity,
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/json",
            "Cache-Control": "no-cache",
            "User-Agent": "kgroups",
            "Connection": "close",
        }

    def _token(self, answer: Answer) -> Token:
        response = _json(answer.body)
        if answer.status != 200:
            reason = Reason.AUTHENTICATION_FAILED if answer.status in (400, 401) else Reason.TOKEN_UNAVAILABLE
            raise self._failed(
                _refusal(answer.status, response, self._masked), self._placeholder or _CREDENTIALS, reason
            )
        token = response.get("access_token")
        if not isinstance(token, str) or not token.strip():
            raise self._failed("the response is not JSON with an access_token")
        token = token.strip()
        return Token(Secret(token), _life(token, time.time()) or _seconds(response.get("expires_in")))

    def _masked(self, words: str) -> str:
        """Return the endpoint's message without the secrets that were sent to it."""
        sent = self._assertion.reveal() if self._assertion else ""
        for secret in (self._credentials.client_secret.reveal(), *self._basic, sent):
            if len(secret) >= SHORTEST_SECRET:
                words = words.replace(secret, MASK)
        return one_line(words)[:LONGEST_WORD]


def _life(token: str, now: float) -> float | None:
    """Return the lifetime that the token itself contains, which brokers and Java's clients use.

    ``None``: it contains none, or has expired by the local clock, which is then wrong.
    """
    ends = expiry_of(token)
    return ends - now if ends is not None and ends > now else None


def _seconds(value: object) -> float | None:
    """Return ``expires_in``, which some endpoints send as a string; ``None`` if it is invalid."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        value = int(value)
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e9
    return float(value) if good else None  # type: ignore[arg-type]  # it is a number


def _json(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _refusal(status: int, fields: dict[str, Any], masked: Callable[[str], str]) -> str:
    """Return OAuth's error code and description (RFC 6749, 5.2), if the response has them."""
    words = [masked(str(fields[key])) for key in ("error", "error_description") if fields.get(key)]
    if words:
        return f"HTTP {status}, " + ": ".join(words)
    if 300 <= status < 400:
        return f"HTTP {status}, a redirect, which is not followed: it would carry the secret elsewhere"
    return f"HTTP {status} without an OAuth error response"
