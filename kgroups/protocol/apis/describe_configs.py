"""DescribeConfigs (key 32): the configuration of brokers, topics, and groups.

v1  synonyms and the source of each value (KIP-226, Kafka 1.1)
v3  types and documentation (KIP-569); not requested
v4  flexible form
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import Reader, reader_of
from ..versions import Api
from ..writer import form_of

API = Api(32, "DescribeConfigs", 1, 4, flexible=4, throttled_from=2)

_DOCUMENTATION = 3
"""The first version that has it."""

TOPIC, BROKER, GROUP = 2, 4, 32
"""Types of resources. Only the broker itself returns its configuration, by its ID."""

DYNAMIC_GROUP = 8
"""The source of values that were set for one group (KIP-848)."""

_NO, _YES = b"\0", b"\1"
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

Wanted = Mapping[Resource, tuple[str, ...] | None]
"""Resource -> the names of settings; ``None``: all settings."""


class Synonym(NamedTuple):
    """A setting that supplies the value of another setting, unless a setting with precedence is set."""

    name: str
    value: str | None
    source: int


class Entry(NamedTuple):
    """A setting of a resource, and the source of its value.

    ``synonyms``: in the order of their precedence, the one in effect first. ``value`` is ``None`` if it is secret or
    not set.
    """

    name: str
    value: str | None
    source: int
    synonyms: tuple[Synonym, ...] = ()


class DescribeConfigs(NamedTuple):
    """Request these settings of these resources. The response omits settings that a resource does not have."""

    wanted: Wanted

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.wanted)

    def encode(self, version: int) -> bytes:
        return _encode(self.wanted, version, _NO)

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[Resource, Settings | KafkaError]:
        """Return resource -> its settings, or its error."""
        return {
            resource: found if isinstance(found, KafkaError) else {entry.name: entry.value for entry in found}
            for resource, found in _decode(version, data, offset).items()
        }


class DescribeGroupConfigs(NamedTuple):
    """Request all settings of these groups, with their synonyms (Kafka 4.0). Groups need not exist."""

    groups: tuple[GroupId, ...]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        return _encode({Resource(GROUP, name): None for name in self.groups}, version, _YES)

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, tuple[Entry, ...] | KafkaError]:
        """Return group -> its settings, or its error."""
        return {resource.name: found for resource, found in _decode(version, data, offset).items()}


def _encode(wanted: Wanted, version: int, synonyms: bytes) -> bytes:
    form = form_of(API, version)
    no_array = _NO if version >= API.flexible else _NULL_ARRAY
    resources = form.array(
        bytes((resource.type,))
        + form.string(resource.name)
        + (no_array if names is None else form.array(map(form.string, names)))
        + form.tags
        for resource, names in wanted.items()
    )
    return resources + synonyms + (_NO if version >= _DOCUMENTATION else b"") + form.tags


def _decode(version: int, data: bytes, offset: int) -> dict[Resource, tuple[Entry, ...] | KafkaError]:
    with reader_of(API, version, data, offset) as reader:
        reader.skip(4)  # throttle time
        results = dict([_result(reader, version) for _ in reader.turns(reader.count())])
        reader.tags()
        reader.end()
    return results


def _result(reader: Reader, version: int) -> tuple[Resource, tuple[Entry, ...] | KafkaError]:
    error, message = reader.int16(), reader.nullable_string()
    resource = Resource(reader.int8(), reader.string())
    entries = tuple([_entry(reader, version) for _ in reader.turns(reader.count())])
    reader.tags()
    return resource, kafka_error(error, message, _MESSAGES) if error else entries


def _entry(reader: Reader, version: int) -> Entry:
    name, value = reader.string(), reader.nullable_string()
    reader.skip(1)  # read-only
    source = reader.int8()
    reader.skip(1)  # sensitive
    synonyms = tuple([_synonym(reader) for _ in reader.turns(reader.count())])
    if version >= _DOCUMENTATION:
        reader.skip(1)  # type
        reader.nullable_string()
    reader.tags()
    return Entry(name, value, source, synonyms)


def _synonym(reader: Reader) -> Synonym:
    synonym = Synonym(reader.string(), reader.nullable_string(), reader.int8())
    reader.tags()
    return synonym
