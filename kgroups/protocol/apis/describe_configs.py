"""DescribeConfigs (key 32): what a broker or a topic is set to.

v1  synonyms and where a value comes from (KIP-226, Kafka 1.1)
v3  types and documentation (KIP-569); we do not ask for them
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

TOPIC, BROKER = 2, 4
"""Types of resources. A broker's settings are asked of that broker, by its id."""

_NO = b"\0"

_WORDS = {
    Code.cluster_authorization_failed: "not authorized: needs the ACL DESCRIBE_CONFIGS on the cluster",
    Code.topic_authorization_failed: "not authorized: needs the ACL DESCRIBE_CONFIGS on this topic",
}


class Resource(NamedTuple):
    """``type`` and name of what is configured."""

    type: int
    name: str


Settings = Mapping[str, str | None]
"""By name; ``None`` for what brokers keep secret, and what is not set."""


class DescribeConfigs(NamedTuple):
    """What are these settings of these resources? What a resource does not have is left out of the answer."""

    wanted: Mapping[Resource, tuple[str, ...]]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.wanted)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        resources = form.array(
            bytes((resource.type,)) + form.string(resource.name) + form.array(map(form.string, names)) + form.tags
            for resource, names in self.wanted.items()
        )
        return resources + _NO + (_NO if version >= _DOCUMENTATION else b"") + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[Resource, Settings | KafkaError]:
        """Resource -> its settings, or the error given for it."""
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            told = dict([_result(reader, version) for _ in reader.turns(reader.count())])
            reader.tags()
            reader.end()
        return told


def _result(reader: Reader, version: int) -> tuple[Resource, Settings | KafkaError]:
    error, message = reader.int16(), reader.nullable_string()
    resource = Resource(reader.int8(), reader.string())
    settings = dict([_setting(reader, version) for _ in reader.turns(reader.count())])
    reader.tags()
    return resource, kafka_error(error, message, _WORDS) if error else settings


def _setting(reader: Reader, version: int) -> tuple[str, str | None]:
    name, value = reader.string(), reader.nullable_string()
    reader.skip(3)  # whether it is read-only, where it comes from, whether it is a secret
    for _ in reader.turns(reader.count()):  # synonyms
        reader.string()
        reader.nullable_string()
        reader.skip(1)
        reader.tags()
    if version >= _DOCUMENTATION:
        reader.skip(1)  # its type
        reader.nullable_string()
    reader.tags()
    return name, value
