"""ApiVersions (key 18): the API versions that a broker supports.

v0  all supported brokers; the response to a version that the broker does not know is a v0 error
v3  flexible form; contains the client's name and version (KIP-511, Kafka 2.4), and in tagged fields the features of
    the cluster (KIP-584, Kafka 2.7)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.errors import RemoteProtocolError
from kgroups.version import __version__

from ..error_codes import Code
from ..reader import Reader, reader_of
from ..versions import Api, BrokerVersions, VersionRange
from ..writer import form_of

API = Api(18, "ApiVersions", 0, 3, flexible=3)

_THROTTLE = 1
_THROTTLED_AFTER = 2
"""The first version whose response precedes the pause, see :meth:`.Api.pause_of`."""

_FEATURES_EPOCH, _FEATURES = 1, 2
"""Tags."""

UNSUPPORTED = int(Code.unsupported_version).to_bytes(2, "big")
"""The start of a response body, of any version, when the broker does not know the request's version."""


class ApiVersions(NamedTuple):
    """Request the API versions that the broker supports."""

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return 0

    def encode(self, version: int) -> bytes:
        if version < API.flexible:
            return b""
        form = form_of(API, version)
        return form.string("kgroups") + form.string(__version__) + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> BrokerVersions:
        with reader_of(API, version, data, offset) as reader:
            Code(reader.int16())
            ranges: dict[int, VersionRange] = {}
            for _ in reader.turns(reader.count()):
                key = reader.int16()
                ranges[key] = VersionRange(reader.int16(), reader.int16())
                reader.tags()
            throttled = reader.int32() if version >= _THROTTLE else 0
            places = reader.tagged()
            reader.end()
        try:
            with reader:
                features = _features(reader, places)
        except RemoteProtocolError:  # a broker that garbles its features is used nevertheless
            features = None
        return BrokerVersions(ranges, max(0, throttled) / 1000 if version >= _THROTTLED_AFTER else 0.0, features)


def _features(reader: Reader, places: Mapping[int, int]) -> Mapping[str, int] | None:
    """Return the levels of the finalized features; ``None`` if the broker does not know them."""
    if _FEATURES_EPOCH not in places:
        return None
    reader.at = places[_FEATURES_EPOCH]
    if reader.int64() < 0:
        return None
    found: dict[str, int] = {}
    if _FEATURES in places:
        reader.at = places[_FEATURES]
        for _ in reader.turns(reader.count()):
            name = reader.string()
            found[name] = reader.int16()
            reader.skip(2)  # the lowest level
            reader.tags()
    reader.inside()
    return found
