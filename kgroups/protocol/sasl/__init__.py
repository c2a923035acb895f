"""SASL mechanisms, one per file, without I/O: the messages of SaslAuthenticate requests and responses.

Each is a generator: it yields a message for the broker and receives the broker's response, until it is authenticated.
"""

from __future__ import annotations

from collections.abc import Generator

Dialogue = Generator[bytes, bytes, None]
"""A mechanism. It raises :class:`AuthenticationFailed` when the broker cannot prove its identity or the mechanism
cannot carry the credentials, and :class:`RemoteProtocolError` for an invalid response."""
