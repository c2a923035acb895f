"""ApiVersions (key 18): the API versions that a broker supports.

v0  all supported brokers; the response to a version that the broker does not know is a v0 error
v3  flexible form; contains the client's name and version (KIP-511, Kafka 2.4)
"""

from __future__ import annotations

from typing import NamedTuple

from kgroups.version import __version__

from ..error_codes import Code
from ..reader import reader_of
from ..versions import Api, BrokerVersions, VersionRange
from ..writer import form_of

API = Api(18, "ApiVersions", 0, 3, flexible=3)

_THROTTLE = 1
_THROTTLED_AFTER = 2
"""The first version whose response precedes the pause, see :meth:`.Api.pause_of`."""

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
            reader.tags()  # features of the cluster, not of its APIs
            reader.end()
        return BrokerVersions(ranges, max(0, throttled) / 1000 if version >= _THROTTLED_AFTER else 0.0)
