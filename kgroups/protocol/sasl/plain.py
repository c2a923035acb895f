"""PLAIN (RFC 4616): user name and password in plain text. Without TLS, anyone on the network can read them."""

from __future__ import annotations

from kgroups.config.security import Password
from kgroups.errors import AuthenticationFailed, RemoteProtocolError

from . import Dialogue


def plain(credentials: Password) -> Dialogue:
    username, password = credentials.username, credentials.password.reveal()
    if "\0" in username + password:
        raise AuthenticationFailed("PLAIN does not allow NUL in the user name or password")
    try:
        message = f"\0{username}\0{password}".encode()
    except UnicodeEncodeError:  # its message would contain the password
        raise AuthenticationFailed("the user name or the password is not valid UTF-8") from None
    response = yield message
    if response:
        raise RemoteProtocolError(f"responds to PLAIN with {len(response)} bytes; the mechanism requires none")
