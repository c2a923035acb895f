"""SCRAM-SHA-256 and -512 (RFC 5802, RFC 7677) as Kafka has them: no channel binding, and names and passwords as they
are, without SASLprep. Both sides prove that they know the password, and neither tells it.
"""

from __future__ import annotations

import re

from scramp import ScramClient, ScramException
from scramp.core import Password as ScramPassword
from scramp.core import Username

from kgroups.config.security import Password
from kgroups.errors import AuthenticationFailed, RemoteProtocolError

from . import Dialogue

FEWEST, MOST = 4096, 1_000_000
"""Iterations that we go along with. Kafka's own brokers take 4,096 to 16,384; a million are a second of work, and fewer
than Kafka's least would help whoever listens to guess the password."""

LONGEST = 4096
"""Bytes of a broker's message."""


class _Name(Username):  # type: ignore[misc]  # scramp has no types
    def __init__(self, text: str) -> None:
        self.username = text


class _Password(ScramPassword):  # type: ignore[misc]
    def __init__(self, text: str) -> None:
        self.password = text


def scram(mechanism: str, credentials: Password) -> Dialogue:
    """:param mechanism: ``SCRAM-SHA-256`` or ``SCRAM-SHA-512``."""
    client = ScramClient([mechanism], "-", "-")
    client.username, client.password = _Name(credentials.username), _Password(credentials.password.reveal())
    try:
        first = client.get_client_first()
        if credentials.token_auth:  # KIP-48; an extension, which RFC 5802 has behind the nonce
            first += _BY_TOKEN
            client.client_first_bare += _BY_TOKEN
        sent = first.encode()
        credentials.password.reveal().encode()
    except UnicodeEncodeError:  # its text would hold the password
        raise AuthenticationFailed("the user name or the password is no UTF-8") from None
    server_first = _text((yield sent))
    _check_iterations(server_first)
    try:
        client.set_server_first(server_first)
        final = client.get_client_final()
    except ScramException as error:
        raise RemoteProtocolError(f"the broker's first message is not SCRAM's: {error}") from None
    server_final = _text((yield final.encode()))
    try:
        client.set_server_final(server_final)
    except ScramException as error:
        if server_final.startswith("v="):
            raise AuthenticationFailed(
                "the broker's signature does not verify: it does not know the password, and may not be the broker"
            ) from None
        raise RemoteProtocolError(f"the broker's last message is not SCRAM's: {error}") from None


_BY_TOKEN = ",tokenauth=true"


def _text(message: bytes) -> str:
    if len(message) > LONGEST:
        raise RemoteProtocolError(f"the broker's message has {len(message):,} bytes; SCRAM's are short")
    try:
        text = message.decode()
    except UnicodeDecodeError:
        raise RemoteProtocolError("the broker's message is no UTF-8") from None
    if text.startswith("e="):
        raise AuthenticationFailed(f"the broker says {text[2:]}")
    return text


def _check_iterations(server_first: str) -> None:
    """scramp would do ten million."""
    found = re.search(r"(?:^|,)i=([0-9]{1,19})(?:,|$)", server_first)
    if found and not FEWEST <= int(found[1]) <= MOST:
        raise AuthenticationFailed(
            f"the broker asks for {int(found[1]):,} iterations of SCRAM; between {FEWEST:,} and {MOST:,} are safe"
        )
