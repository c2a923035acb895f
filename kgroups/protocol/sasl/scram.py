"""SCRAM-SHA-256 and -512 (RFC 5802, RFC 7677) as Kafka has them: no channel binding, and names and passwords as they
are, without SASLprep. Both sides prove that they know the password, and neither tells it.
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
"""Iterations that we go along with. Kafka's own brokers take 4,096 to 16,384; a million are a second of work, and fewer
than Kafka's least would help whoever listens to guess the password."""

LONGEST = 4096
"""Bytes of a broker's message."""
_SHORTEST_SALT = 8

_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_HEADER = "n,,"
"""No channel binding, and nobody else's name to act in."""
_BY_TOKEN = ",tokenauth=true"
_BASE64 = "[A-Za-z0-9+/]+={0,2}"
_EXTENSIONS = "(?:,(?![rsimve]=)[A-Za-z]=[^,\0]+)*"
_SERVER_FIRST = re.compile(rf"r=([!-+\--~]+),s=({_BASE64}),i=([0-9]{{1,19}}){_EXTENSIONS}", re.ASCII)
_SERVER_FINAL = re.compile(rf"v=([^,\0]*){_EXTENSIONS}", re.ASCII)


class _First(NamedTuple):
    """What a server's first message holds."""

    nonce: str
    salt: bytes
    iterations: int


def scram(mechanism: str, credentials: Password) -> Dialogue:
    """:param mechanism: ``SCRAM-SHA-256`` or ``SCRAM-SHA-512``."""
    algorithm, nonce = _HASHES[mechanism], _nonce()
    bare = f"n={credentials.username.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
    if credentials.token_auth:  # KIP-48; an extension, which RFC 5802 has behind the nonce
        bare += _BY_TOKEN
    try:
        sent, password = f"{_HEADER}{bare}".encode(), credentials.password.reveal().encode()
    except UnicodeEncodeError:  # its text would hold the password
        raise AuthenticationFailed("the user name or the password is no UTF-8") from None
    said = _text((yield sent))
    first = _first(said, nonce)
    final = f"c={base64.b64encode(_HEADER.encode()).decode()},r={first.nonce}"
    exchange = f"{bare},{said},{final}".encode()
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
        raise RemoteProtocolError("the broker's message is no UTF-8") from None
    if text.startswith("e="):
        raise AuthenticationFailed(f"the broker says {one_line(text[2:])}")
    return text


def _first(said: str, nonce: str) -> _First:
    """A server's first message.

    :raises RemoteProtocolError: when it is none, or does not go on from our nonce.
    :raises AuthenticationFailed: when it asks for iterations that are not safe.
    """
    found = _SERVER_FIRST.fullmatch(said)
    if found is None:
        raise _not_first("it is not r=NONCE,s=SALT,i=ITERATIONS")
    theirs, iterations = found[1], int(found[3])
    if not theirs.startswith(nonce):
        raise _not_first("it does not go on from the client's nonce")
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
            f"the broker asks for {iterations:,} iterations of SCRAM; between {FEWEST:,} and {MOST:,} are safe"
        )
    return _First(theirs, salt, iterations)


def _not_first(why: str) -> RemoteProtocolError:
    return RemoteProtocolError(f"the broker's first message is not SCRAM's: {why}")
