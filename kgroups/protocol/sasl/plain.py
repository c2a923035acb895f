"""PLAIN (RFC 4616): the name and the password, as they are. Without TLS whoever listens has them."""

from __future__ import annotations

from kgroups.config.security import Password
from kgroups.errors import AuthenticationFailed, RemoteProtocolError

from . import Dialogue


def plain(credentials: Password) -> Dialogue:
    username, password = credentials.username, credentials.password.reveal()
    if "\0" in username + password:
        raise AuthenticationFailed("a user name or password with a NUL in it cannot be said in PLAIN")
    try:
        message = f"\0{username}\0{password}".encode()
    except UnicodeEncodeError:  # its text would hold the password
        raise AuthenticationFailed("the user name or the password is no UTF-8") from None
    answer = yield message
    if answer:
        raise RemoteProtocolError(f"answers PLAIN with {len(answer)} bytes, where the mechanism has none")
