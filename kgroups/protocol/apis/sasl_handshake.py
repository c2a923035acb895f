"""SaslHandshake (key 17): select a SASL mechanism.

v1  the mechanism's messages follow in SaslAuthenticate requests (KIP-152, Kafka 1.0); v0: in frames without a header
"""

from __future__ import annotations

from typing import NamedTuple

from ..error_codes import Code
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(17, "SaslHandshake", 1, 1, flexible=2)


class Mechanisms(NamedTuple):
    """The error, and the mechanisms that the broker supports; it does not report them with some errors."""

    error: Code
    offered: tuple[str, ...]


class SaslHandshake(NamedTuple):
    """Select this mechanism for authentication."""

    mechanism: str

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return 0

    def encode(self, version: int) -> bytes:
        return form_of(API, version).string(self.mechanism)

    def decode(self, version: int, data: bytes, offset: int) -> Mechanisms:
        with reader_of(API, version, data, offset) as reader:
            error = Code(reader.int16())
            offered = tuple([reader.string() for _ in reader.turns(reader.count())])
            reader.end()
        return Mechanisms(error, offered)
