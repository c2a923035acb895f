"""CreateTopics (key 19): create topics; the controller places the replicas.

v2  throttle time; the newest version of Kafka 1.1. Before Kafka 2.6, only the controller accepts the request
v4  defaults for partitions and replicas (KIP-464); not needed
v5  flexible form; the response contains the topics' configuration (KIP-525); not used
v7  topic IDs (KIP-516); not used
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.protocol.error_codes import KafkaError, kafka_error
from kgroups.protocol.reader import Reader, reader_of
from kgroups.protocol.versions import Api
from kgroups.protocol.writer import form_of, int16, int32

API = Api(19, "CreateTopics", 2, 7, flexible=5)

_CONFIGURATION, _IDS = 5, 7
"""The first version that has each."""

_TIMEOUT_MS = int32(30_000)
_ONE_REPLICA = int16(1)
_CREATE = b"\0"
"""Not only validate."""


class CreateTopics(NamedTuple):
    """Create these topics, name -> number of partitions, each with one replica."""

    topics: Mapping[str, int]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.topics)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        defaults = _ONE_REPLICA + form.array(()) + form.array(()) + form.tags  # assignments and configuration
        topics = form.array(
            form.string(name) + int32(partitions) + defaults for name, partitions in self.topics.items()
        )
        return topics + _TIMEOUT_MS + _CREATE + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[str, KafkaError | None]:
        """Return topic -> its error, or ``None`` if it was created."""
        errors: dict[str, KafkaError | None] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            for _ in reader.turns(reader.count()):
                name = reader.string()
                reader.skip(16 if version >= _IDS else 0)
                code, message = reader.int16(), reader.nullable_string()
                if version >= _CONFIGURATION:
                    _skip_configuration(reader)
                reader.tags()
                errors[name] = kafka_error(code, message) if code else None
            reader.tags()
            reader.end()
        return errors


def _skip_configuration(reader: Reader) -> None:
    reader.skip(4 + 2)  # number of partitions, replication factor
    for _ in reader.turns(reader.nullable_count() or 0):
        reader.string()
        reader.nullable_string()
        reader.skip(3)  # read-only, source, sensitive
        reader.tags()
