"""DescribeAcls (key 29): the ACLs on resources that match a filter (KIP-140, Kafka 0.11).

Requires DESCRIBE on CLUSTER. A broker without an authorizer responds with SECURITY_DISABLED.

v1  pattern types (KIP-290, Kafka 2.0)
v2  flexible form
v3  resources of type USER
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from kgroups.errors import KgroupsError
from kgroups.model.placement import OFFSETS_TOPIC

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(29, "DescribeAcls", 0, 3, flexible=2, throttled_from=1)

_PATTERNS = 1
_TOPIC, _LITERAL, _ANY = b"\2", b"\3", b"\1"


class DescribeAcls(NamedTuple):
    """Request the ACLs on exactly this topic."""

    topic: str

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return 1

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        pattern = _LITERAL if version >= _PATTERNS else b""
        principal = host = form.null_string
        return _TOPIC + form.string(self.topic) + pattern + principal + host + _ANY * 2 + form.tags  # any operation

    def decode(self, version: int, data: bytes, offset: int) -> int | KafkaError:
        """Return the number of ACLs, or the error."""
        acls = 0
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            error, message = reader.int16(), reader.nullable_string()
            for _ in reader.turns(reader.count()):
                reader.skip(1)  # resource type
                reader.string()
                if version >= _PATTERNS:
                    reader.skip(1)
                for _ in reader.turns(reader.count()):
                    reader.string()  # principal
                    reader.string()  # host
                    reader.skip(2)  # operation, permission type
                    reader.tags()
                    acls += 1
                reader.tags()
            reader.tags()
            reader.end()
        return kafka_error(error, message) if error else acls


async def authorizes(send: Callable[[DescribeAcls], Awaitable[int | KafkaError]]) -> bool:
    """Return whether brokers may check ACLs: ``False`` only if one reports that it has no authorizer."""
    try:
        found = await send(DescribeAcls(OFFSETS_TOPIC))
    except KgroupsError:
        return True
    return not (isinstance(found, KafkaError) and found.code == Code.security_disabled)
