"""The mechanisms by which a client proves who it is, one a file; sans I/O: what goes into SaslAuthenticate, and back.

Each is a generator: it yields a message for the broker and is sent the broker's answer, until it ends, signed in.
"""

from __future__ import annotations

from collections.abc import Generator

Dialogue = Generator[bytes, bytes, None]
"""What it raises: :class:`AuthenticationFailed` when the broker is not who it should be, or what we have cannot be said
in that mechanism; :class:`RemoteProtocolError` for an answer that the mechanism does not have."""
