"""DescribeConfigs (key 32): the configuration of brokers, topics, and groups.

v1  synonyms and the source of each value (KIP-226, Kafka 1.1)
v3  types and documentation (KIP-569); not requested
v4  flexible form
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import Reader, reader_of
from ..versions import Api
from ..writer import form_of

API = Api(32, "DescribeConfigs", 1, 4, flexible=4)

_DOCUMENTATION = 3
"""The first version that has it."""

TOPIC, BROKER, GROUP = 2, 4, 32
"""Types of resources. Only the broker itself returns its configuration, by its ID."""

DYNAMIC_GROUP = 8
"""The source of values that were set for one group (KIP-848)."""

_NO = b"\0"
_NULL_ARRAY = b"\xff\xff\xff\xff"

_MESSAGES = {
    Code.cluster_authorization_failed: "not authorized: needs the ACL DESCRIBE_CONFIGS on the cluster",
    Code.topic_authorization_failed: "not authorized: needs the ACL DESCRIBE_CONFIGS on this topic",
}


class Resource(NamedTuple):
    """The type and name of a configured resource."""

    type: int
    name: str


Settings = Mapping[str, str | None]
"""Name -> value; ``None`` if it is secret or not set."""


class DescribeConfigs(NamedTuple):
    """Request these settings of these resources. The response omits settings that a resource does not have.

    ``None``: all settings. ``source``: only values from this source, such as :data:`DYNAMIC_GROUP`.
    """

    wanted: Mapping[Resource, tuple[str, ...] | None]
    source: int | None = None

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.wanted)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        no_array = _NO if version >= API.flexible else _NULL_ARRAY
        resources = form.array(
            bytes((resource.type,))
            + form.string(resource.name)
            + (no_array if names is None else form.array(map(form.string, names)))
            + form.tags
            for resource, names in self.wanted.items()
        )
        return resources + _NO + (_NO if version >= _DOCUMENTATION else b"") + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[Resource, Settings | KafkaError]:
        """Return resource -> its settings, or its error."""
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            results = dict([_result(reader, version, self.source) for _ in reader.turns(reader.count())])
            reader.tags()
            reader.end()
        return results


def _result(reader: Reader, version: int, source: int | None) -> tuple[Resource, Settings | KafkaError]:
    error, message = reader.int16(), reader.nullable_string()
    resource = Resource(reader.int8(), reader.string())
    found = [_setting(reader, version) for _ in reader.turns(reader.count())]
    settings = {name: value for name, value, origin in found if source in (None, origin)}
    reader.tags()
    return resource, kafka_error(error, message, _MESSAGES) if error else settings


def _setting(reader: Reader, version: int) -> tuple[str, str | None, int]:
    name, value = reader.string(), reader.nullable_string()
    reader.skip(1)  # read-only
    source = reader.int8()
    reader.skip(1)  # sensitive
    for _ in reader.turns(reader.count()):  # synonyms
        reader.string()
        reader.nullable_string()
        reader.skip(1)
        reader.tags()
    if version >= _DOCUMENTATION:
        reader.skip(1)  # type
        reader.nullable_string()
    reader.tags()
    return name, value, source
