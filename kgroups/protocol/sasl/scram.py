"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677), in Kafka's form.

Without channel binding, and without SASLprep of names and passwords. Both sides prove that they know the password, and
neither sends it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from typing import NamedTuple

from kgroups.config.security import Password
from kgroups.errors import AuthenticationFailed, RemoteProtocolError
from kgroups.model.visible import one_line

from . import Dialogue

FEWEST, MOST = 4096, 1_000_000
"""Accepted numbers of iterations. Kafka's brokers use 4,096 to 16,384. A million take a second, and fewer than Kafka's
minimum would help an attacker guess the password."""

LONGEST = 4096
"""Bytes of a broker's message."""
_SHORTEST_SALT = 8

_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_HEADER = "n,,"
"""No channel binding, no authorization identity."""
_BY_TOKEN = ",tokenauth=true"
_BASE64 = "[A-Za-z0-9+/]+={0,2}"
_EXTENSIONS = "(?:,(?![rsimve]=)[A-Za-z]=[^,\0]+)*"
_SERVER_FIRST = re.compile(rf"r=([!-+\--~]+),s=({_BASE64}),i=([0-9]{{1,19}}){_EXTENSIONS}", re.ASCII)
_SERVER_FINAL = re.compile(rf"v=([^,\0]*){_EXTENSIONS}", re.ASCII)


class _First(NamedTuple):
    """A server's first message."""

    nonce: str
    salt: bytes
    iterations: int


def scram(mechanism: str, credentials: Password) -> Dialogue:
    """Authenticate with ``SCRAM-SHA-256`` or ``SCRAM-SHA-512``."""
    algorithm, nonce = _HASHES[mechanism], _nonce()
    bare = f"n={credentials.username.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
    if credentials.token_auth:  # KIP-48; an extension, which follows the nonce (RFC 5802)
        bare += _BY_TOKEN
    try:
        sent, password = f"{_HEADER}{bare}".encode(), credentials.password.reveal().encode()
    except UnicodeEncodeError:  # its message would contain the password
        raise AuthenticationFailed("the user name or the password is not valid UTF-8") from None
    response = _text((yield sent))
    first = _first(response, nonce)
    final = f"c={base64.b64encode(_HEADER.encode()).decode()},r={first.nonce}"
    exchange = f"{bare},{response},{final}".encode()
    salted = hashlib.pbkdf2_hmac(algorithm, password, first.salt, first.iterations)
    client_key = hmac.digest(salted, b"Client Key", algorithm)
    signature = hmac.digest(hashlib.new(algorithm, client_key).digest(), exchange, algorithm)
    proof = bytes(left ^ right for left, right in zip(client_key, signature, strict=True))
    last = _text((yield f"{final},p={base64.b64encode(proof).decode()}".encode()))
    found = _SERVER_FINAL.fullmatch(last)
    if found is None:
        raise RemoteProtocolError("the broker's last message is not SCRAM's")
    expected = hmac.digest(hmac.digest(salted, b"Server Key", algorithm), exchange, algorithm)
    if not hmac.compare_digest(base64.b64encode(expected).decode(), found[1]):
        raise AuthenticationFailed(
            "the broker's signature does not verify: it does not know the password, and may not be the broker"
        )


def _nonce() -> str:
    return secrets.token_hex(32)


def _text(message: bytes) -> str:
    if len(message) > LONGEST:
        raise RemoteProtocolError(f"the broker's message has {len(message):,} bytes; SCRAM's are short")
    try:
        text = message.decode()
    except UnicodeDecodeError:
        raise RemoteProtocolError("the broker's message is not UTF-8") from None
    if text.startswith("e="):
        raise AuthenticationFailed(f"the broker reports {one_line(text[2:])}")
    return text


def _first(message: str, nonce: str) -> _First:
    """Decode a server's first message.

    :raises RemoteProtocolError: when it is invalid, or does not continue the client's nonce.
    :raises AuthenticationFailed: when its number of iterations is not safe.
    """
    found = _SERVER_FIRST.fullmatch(message)
    if found is None:
        raise _not_first("it is not r=NONCE,s=SALT,i=ITERATIONS")
    theirs, iterations = found[1], int(found[3])
    if not theirs.startswith(nonce):
        raise _not_first("it does not continue the client's nonce")
    if theirs == nonce:
        raise _not_first("the broker adds nothing to the client's nonce")
    try:
        salt = base64.b64decode(found[2], validate=True)
    except binascii.Error:
        raise _not_first("the salt is not base64") from None
    if len(salt) < _SHORTEST_SALT:
        raise _not_first("the salt is too short")
    if not FEWEST <= iterations <= MOST:
        raise AuthenticationFailed(
            f"the broker requests {iterations:,} iterations of SCRAM; between {FEWEST:,} and {MOST:,} are safe"
        )
    return _First(theirs, salt, iterations)


def _not_first(why: str) -> RemoteProtocolError:
    return RemoteProtocolError(f"the broker's first message is not SCRAM's: {why}")
