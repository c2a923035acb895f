"""SaslAuthenticate (key 36): one message of a SASL mechanism to the broker, and one back.

v0  all supported brokers
v1  session lifetime (KIP-368, Kafka 2.2)
v2  flexible form
"""

from __future__ import annotations

from typing import NamedTuple

from ..error_codes import Code
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(36, "SaslAuthenticate", 0, 2, flexible=2)

_LIFETIME = 1


class Authentication(NamedTuple):
    """The broker's message; with the last one, the session lifetime in seconds, or ``None`` if it is unlimited."""

    error: Code
    reason: str | None
    message: bytes
    lifetime: float | None


class SaslAuthenticate(NamedTuple):
    """A message of the mechanism, which may contain a password or a token: its repr is masked."""

    message: bytes

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "SaslAuthenticate(****)"

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        return form.binary(self.message) + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Authentication:
        with reader_of(API, version, data, offset) as reader:
            error, reason, message = Code(reader.int16()), reader.nullable_string(), reader.binary()
            milliseconds = reader.int64() if version >= _LIFETIME else 0
            reader.tags()
            reader.end()
        return Authentication(error, reason, message, milliseconds / 1000 if milliseconds > 0 else None)
